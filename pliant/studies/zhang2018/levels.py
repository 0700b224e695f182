"""Part 7: where forces act, by level: noise of markers against the size of forces.

The paper computes all candidates at once and takes those above a threshold for the places of forces. It
prints no threshold: here it has half of the force that acts, and, beside it, whichever serves it best.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pliant.errors import PliantWarning
from pliant.io.table import Table
from pliant.laws import Known
from pliant.sensing import ForceEstimator, ForceLocator
from pliant.static import static
from pliant.studies.study import Findings
from pliant.studies.zhang2018.lab import Lab

NOISES, FORCES = (0.05e-3, 0.10e-3, 0.15e-3), (0.45, 0.2)  # [m], [N]
ASKED, RATE = (0.05e-3, 0.45), 0.95
MOST = 3
DOWN = (0.0, 0.0, -1.0)
KINDS = {"sheet": "s", "robot": "r"}
DIRECTIONS = ("known", "unknown", "any")
CLAIMED = ("known", "unknown")  # forces as in the paper; some forces along the sheet's plane move no marker
TEXT = (
    "One force or two, in turn, on candidates drawn at random, all of the same size: 14 markers and 12 "
    "candidates on the sheet, 9 and 8 on the robot, whose cables pull with 2 N. 'Known': along −z, and that "
    "is known. 'Unknown': along z as in the paper, up or down, and all three components are searched. "
    "'Any': three components, drawn at random. A draw counts as right if exactly those "
    "candidates are found. 'Paper's rule' is a threshold of half the force on the plain estimate of all "
    "candidates; 'its best' is the threshold, of all, that is right most often on these very draws. Ours "
    "is the greedy search, told the noise. Same draws for all."
)


@dataclass(frozen=True)
class Score:
    """Shares of draws that were right: ours, the paper's rule, and that with its best threshold."""

    ours: float
    rule: float
    best: float


def levels(lab: Lab) -> Findings:
    """Rates by object, direction, noise and force."""
    columns = ("case", "direction", "noise [mm]", "force [N]", "paper's rule", "its best", "ours", "check")
    table, rng = Table("Right candidates, share of draws", columns), lab.setup.rng("levels")
    for what, kind in KINDS.items():
        for words in DIRECTIONS:
            for noise, force in _cells(lab):
                score = _score(_Scene(lab, kind, words, noise), force, lab.setting.located, rng)
                cells = {"paper's rule": score.rule, "its best": score.best, "ours": score.ours}
                asked = (noise, force) == ASKED and words in CLAIMED
                cells |= {"noise [mm]": 1e3 * noise, "force [N]": force}
                table.add(case=what, direction=words, check=score.ours >= RATE if asked else None, **cells)
    table.notes.append(
        f"Asked: {100 * RATE:.0f} % at 0.05 mm and 0.45 N. Each share is of {lab.setting.located} draws."
    )
    return Findings("Where forces act, by level", TEXT, [table])


def _cells(lab: Lab) -> list[tuple[float, float]]:
    every = [(noise, force) for force in FORCES for noise in NOISES]
    return every if lab.setting.thorough else [ASKED, every[-1]]


class _Scene:
    """An object with its markers and candidates: what they show, and both ways to locate."""

    def __init__(self, lab: Lab, kind: str, words: str, noise: float) -> None:
        markers, candidates = lab.searched(kind)
        laws, robot = lab.laws(f"{kind}1"), lab.build(kind)
        direction = DOWN if words == "known" else None
        options: dict[str, Any] = {"direction": direction, "laws": laws, "noise": noise}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PliantWarning)
            self.plain = ForceEstimator(robot, markers, candidates, **options)
        self.locator = ForceLocator(robot, markers, candidates, most=MOST, **options)
        self.laws, self.words, self.noise, self.count = laws, words, noise, len(candidates)

    def drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """So many forces of one newton (count, width)."""
        if self.words == "known":
            return np.ones((count, 1))
        if self.words == "unknown":
            return np.outer(rng.choice([-1.0, 1.0], count), DOWN)
        forces = rng.normal(size=(count, 3))
        return forces / np.linalg.norm(forces, axis=1, keepdims=True)

    def shown(self, forces: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Readings (m,) under forces (n, width)."""
        real = static(self.plain.robot, {**self.laws, "forces": Known(effort=forces.ravel())})
        return real.displacement["markers"] + self.noise * rng.normal(size=len(real.displacement["markers"]))

    def found(self, frame: np.ndarray) -> list[int]:
        """The candidates that our search takes."""
        self.locator.reset()
        return list(self.locator.found(self.locator.converge(frame)).candidates)

    def sizes(self, frame: np.ndarray) -> np.ndarray:
        """(n,) [N] of all candidates at once."""
        self.plain.reset()
        return np.linalg.norm(self.plain.converge(frame).forces(), axis=1)


def _score(scene: _Scene, force: float, trials: int, rng: np.random.Generator) -> Score:
    width, right, sizes, truths = scene.locator.width, 0, [], []
    for trial in range(trials):
        which = np.sort(rng.choice(scene.count, 1 + trial % 2, replace=False))
        forces = np.zeros((scene.count, width))
        forces[which] = force * scene.drawn(len(which), rng)
        frame = scene.shown(forces, rng)
        right += scene.found(frame) == list(which)
        sizes.append(scene.sizes(frame))
        truths.append(forces.any(axis=1))
    return Score(right / trials, *_thresholds(np.array(sizes), np.array(truths), 0.5 * force))


def _thresholds(sizes: np.ndarray, truths: np.ndarray, level: float) -> tuple[float, float]:
    """Share of draws (t, n) that are right with a threshold [N], and with the one that serves best."""
    rate = cache(lambda at: float(((sizes > at) == truths).all(axis=1).mean()))
    return rate(level), max(rate(float(at)) for at in np.unique(np.concatenate([[level], sizes.ravel()])))
