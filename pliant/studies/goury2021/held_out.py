"""Held-out scores of the manipulator's basis.

The basis is one of patches, with the default fade: nothing is chosen here. All models take the same time
steps of 10 ms to the same commands, and rest. An error is the distance of a tip to that of the full model, a
share is that over the error of the model without contact. Bends count where contact matters at all. What is
asked to fall with the number of modes is the mean share, on which every bend has an influence, also one that
fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pliant.io.table import Table
from pliant.robot import Robot
from pliant.studies.check import Check
from pliant.studies.goury2021.lab import Lab
from pliant.studies.goury2021.paper import TIP_ERROR

METHOD = "patches"
CONTACT_MATTERS = 0.02  # [m] of error without contact, below which a posture says nothing about contact
LARGEST_SHARE = 0.10  # of the error without contact that may be left with 23 modes
LARGEST_RISE = 1.05  # factor by which the error of one posture alone may rise with a doubling


@dataclass(frozen=True)
class Score:
    """Errors (n,) [m] of a model and of one without contact, in postures where contact matters."""

    error: np.ndarray
    none: np.ndarray

    @classmethod
    def of(cls, lab: Lab, robot: Robot, seed: int) -> Score:
        count = lab.setting.test
        true, _ = lab.driven(lab.manipulator(), seed, count)
        none = np.linalg.norm(lab.driven(lab.manipulator(False), seed, count)[0] - true, axis=1)
        error = np.linalg.norm(lab.driven(robot, seed, count)[0] - true, axis=1)
        counts = none >= CONTACT_MATTERS
        return cls(np.where(np.isnan(error), np.inf, error)[counts], none[counts])

    @property
    def share(self) -> np.ndarray:
        return self.error / self.none

    @property
    def median(self) -> float:
        """Share of the error without contact; infinite if no posture counts."""
        return float(np.median(self.share)) if len(self.share) else np.inf

    @property
    def mean(self) -> float:
        return float(np.mean(self.share)) if len(self.share) else np.inf

    @property
    def worst(self) -> float:
        return float(self.share.max(initial=0.0)) if len(self.share) else np.inf


def falling(errors: Iterable[float], most: float = 1.0) -> bool:
    """Whether every error is below `most` times the one before."""
    return all(b < most * a for a, b in pairwise(errors))


def held_out(lab: Lab, sizes: list[int]) -> tuple[list[Table], list[Check], dict]:
    """The methods beside each other on held-out bends, checks, and the numbers behind them."""
    robots = {k: lab.fit(k, METHOD).robot for k in sizes}
    (test,) = lab.setup.seeds("bends", 1)
    scores = {k: Score.of(lab, robot, test) for k, robot in robots.items()}
    bent = {k: _bent_share(lab, robot) for k, robot in robots.items()}
    score, doubled = scores[lab.setting.modes], [scores[k].mean for k in lab.setting.sizes if k in scores]
    percents = " ".join(f"{100 * m:.1f}" for m in doubled)
    strays = lab.driven(lab.manipulator(), test, lab.setting.test)[1]
    checks = [
        Check("held-out bends in which contact matters", len(score.none)),
        Check("held out: error without contact, median", 1e3 * float(np.median(score.none)), unit="mm"),
        Check("held out: error, median", 1e3 * float(np.median(score.error)), unit="mm"),
        Check.at_most("held out: share, median", score.median, LARGEST_SHARE),
        Check("held out: share, mean", score.mean),
        Check("held out: share, worst", score.worst),
        Check.holds(
            "held out: mean share [%] falls with every doubling", falling(doubled), measured=percents
        ),
        *_bent_checks(lab, bent),
        Check(
            "held out: how far the full model's tip still strays, largest",
            1e3 * float(strays.max()),
            unit="mm",
        ),
    ]
    data = {
        "held-out shares": {str(k): s.share.tolist() for k, s in scores.items()},
        "fully bent shares of the held-out bases": {str(k): share for k, share in bent.items()},
        "held-out errors without contact": score.none.tolist(),
    }
    return [_methods(lab, test, score)], checks, data


def _methods(lab: Lab, test: int, score: Score) -> Table:
    """The paper's method with as many modes, modes of patches, and points: shares on held-out bends."""
    title = f"Held-out bends, {lab.setting.modes} modes: shares of the error without contact [%]"
    table = Table(title, ("what", "paper", "rows", "mean", "median", "worst"))
    printed = round(100 * TIP_ERROR["23 modes"] / TIP_ERROR["no contact"], 1)
    others = {
        "paper's method here": lab.fit(lab.setting.modes, "als"),
        "ours: points": lab.fit(None, "points"),
    }
    shares = {"ours: patches": (score, lab.setting.modes)}
    shares |= {name: (Score.of(lab, fit.robot, test), len(fit.basis)) for name, fit in others.items()}
    for name, (one, rows) in shares.items():
        table.add(
            what=name,
            rows=rows,
            mean=100 * one.mean,
            median=100 * one.median,
            worst=100 * one.worst,
            paper=printed if name.startswith("paper") else None,
        )
    table.notes.append("The paper's share is that of one posture, which need not be held out (Fig. 12).")
    return table


def _bent_share(lab: Lab, robot: Robot) -> float:
    """Share of the error without contact that is left fully bent, by statics."""
    tip = lambda r: lab.bent(r).displacement["tip"]
    true = tip(lab.manipulator())
    return float(np.linalg.norm(tip(robot) - true) / np.linalg.norm(tip(lab.manipulator(False)) - true))


def _bent_checks(lab: Lab, bent: dict[int, float]) -> list[Check]:
    """Checks of the bases that are scored on held-out bends, fully bent."""
    doubled = [bent[k] for k in lab.setting.sizes if k in bent]
    percents = " ".join(f"{100 * share:.1f}" for share in doubled)
    rises = f"held out: that [%] rises by less than {100 * (LARGEST_RISE - 1):.0f} % with every doubling"
    return [
        Check.at_most("held out: the same basis fully bent, share", bent[lab.setting.modes], LARGEST_SHARE),
        Check.holds(rises, falling(doubled, LARGEST_RISE), measured=percents),
    ]
