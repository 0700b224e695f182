"""Emio as a model: the recorders' motor angles repeated, and what differs in the real robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.assemble import assemble
from pliant.inverse import Inverse
from pliant.io.table import Table
from pliant.laws import Known
from pliant.result import Result
from pliant.robots import emio as build
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.real.emio import DRAWS, distance, inner_first, missed
from pliant.studies.real.lab import Lab
from pliant.studies.real.recordings import emio
from pliant.studies.study import Findings

MOTORS = tuple(f"motor {n}" for n in (1, 2, 3, 4))
REACH = 2.6  # [rad] that motors may turn: the recorders' targets need 1.8
STEPS, SETTLED = (
    40,
    1e-3,
)  # of the inverse model for one target, and motion [rad] at which it has come to rest
DRUM, LEVER = 0.022, 1e-3  # [m] from a motor's axis to its leg as it is drawn, and the step of its difference
ABOUT = np.array([0.0, 0.0, -0.13])  # [m] where the tracker's turn is taken about
NOISE = 1e-3  # [m] of a coordinate: of the tracker, and what friction does to a pose
COUNTS = (10, 20)  # of inner poses
KNOWN = {"drum": 5e-3, "turn": 0.1, "shift": 0.02}  # deviations: [m], [rad], [m]
TEXT = (
    "The robot of the gallery, as its public sizes say, with the motor angles that bring it to the "
    "recorders' targets; then with what the real one may differ by, to first order: the lever from a "
    "motor's axis to its leg, and where the tracker stands. These seven numbers are fitted to some inner "
    "poses, with priors, and the outer half is scored, beside affine and quadratic maps of the targets on "
    "the same poses. Which numbers are fitted was chosen on inner poses."
)


def turned(x: np.ndarray) -> np.ndarray:
    """Positions (n, 3) with y up in our axes with z up."""
    return np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)


class Legs:
    """Where the platform is under the recorders' motor angles, and how that depends on what is not known.

    Motor angles were not recorded: ours are those with which the drawn robot reaches the targets at least
    work, as the recorders' inverse model does. What differs in the real one is the lever from a motor's axis
    to its leg and where the tracker stands: to first order, (n, 3, k) over their deviations.
    """

    def __init__(self, targets: np.ndarray) -> None:
        self.rest = self._mounted()
        self.angles = self._angles(turned(targets))
        self.drawn = self._platform(self.rest, self.angles)
        longer = self._platform(self._mounted(drum=DRUM + LEVER), self.angles)
        columns = [(longer - self.drawn) * KNOWN["drum"] / LEVER]
        for axis in np.eye(3):
            columns.append(
                np.cross(np.broadcast_to(axis, self.drawn.shape), self.drawn - ABOUT) * KNOWN["turn"]
            )
            columns.append(np.broadcast_to(axis, self.drawn.shape) * KNOWN["shift"])
        self.change = np.stack(columns, axis=2)

    def fitted(self, real: np.ndarray, known: np.ndarray, noise: float) -> np.ndarray:
        """What is not known (k,), over its deviations, from the measured positions of some poses."""
        A = self.change[known].reshape(-1, self.change.shape[2]) / noise
        b = (turned(real) - self.drawn)[known].ravel() / noise
        prior = np.eye(A.shape[1])
        return np.linalg.lstsq(np.vstack([A, prior]), np.append(b, np.zeros(len(prior))), rcond=None)[0]

    def missed(self, real: np.ndarray, x: np.ndarray, scored: np.ndarray) -> float:
        """Mean distance [m] on the scored poses."""
        ours = self.drawn + self.change @ x
        return distance(ours[scored], turned(real)[scored])

    def _mounted(self, drum: float = DRUM) -> Result:
        robot = build(limit=REACH, free=0.0, drum=drum)
        return assemble(robot, {name: Known(displacement=0.0) for name in MOTORS})

    def _angles(self, targets: np.ndarray) -> np.ndarray:
        controller, out, before = Inverse(self.rest.robot, state=self.rest.state), [], np.full(4, np.inf)
        for target in targets:
            for _ in range(STEPS):
                moved = controller.step(targets={"platform": target})
                now = np.array([moved.displacement[name][0] for name in MOTORS])
                settled, before = np.abs(now - before).max() < SETTLED, now
                if settled:
                    break
            out.append(before)
        return np.array(out)

    def _platform(self, mounted: Result, angles: np.ndarray) -> np.ndarray:
        state: Any = mounted.state
        out = []
        for turns in angles:
            laws = {name: Known(displacement=float(v)) for name, v in zip(MOTORS, turns, strict=True)}
            there = static(mounted.robot, laws, state=state, unstable="ignore")
            state = there.state
            out.append(there.displacement["platform"])
        return np.array(out)


def modelled(lab: Lab) -> Findings:
    """Ours, blind and fitted, beside the simplest fits of the same poses."""
    target, _, real = (x[:: lab.setting.thinned] for x in emio())
    rng, legs = lab.setup.rng("legs"), Legs(target)
    order = inner_first(target, rng)
    half = len(order) // 2
    table = Table("Emio: mean distance from the measured position, outer half", ("poses", "who", "mean"))
    checks = []
    for count in COUNTS:
        inner = [order[rng.choice(half, count, replace=False)] for _ in range(DRAWS)]
        fits = [legs.fitted(real, n, NOISE) for n in inner]
        means = {"ours": float(np.mean([legs.missed(real, x, order[half:]) for x in fits]))}
        for kind in ("affine", *(("quadratic",) if count > 10 else ())):
            means[kind] = float(np.mean([missed(kind, target, target, real, n, order[half:]) for n in inner]))
        for who, mean in means.items():
            table.add(poses=count, who=who, mean=1e3 * mean)
        simplest = min(mean for who, mean in means.items() if who != "ours")
        name = f"from {count} inner poses, over the best of the simplest fits"
        checks.append(Check.at_most(name, means["ours"] / simplest, 1.0))
        lever = DRUM + KNOWN["drum"] * np.array([x[0] for x in fits])
        checks.append(Check(f"lever from {count} poses, mean of draws", 1e3 * float(lever.mean()), unit="mm"))
        checks.append(Check("its deviation over draws", 1e3 * float(lever.std()), unit="mm"))
    blind = legs.missed(real, np.zeros(legs.change.shape[2]), order[half:])
    checks.append(Check("blind", 1e3 * blind, unit="mm"))
    table.notes.append("In millimetres; means of 40 draws of poses.")
    return Findings("Emio: a model fitted to a few poses", TEXT, [table], checks)
