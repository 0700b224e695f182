"""Fingers and their models: full contact, none, the paper's method, and ours, all from the same snapshots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.errors import ConvergenceError
from pliant.laws import Known
from pliant.reduction import ContactFit, Snapshots, collect, contact_basis, plans
from pliant.robot import Robot
from pliant.robots.folding_finger import folding_finger
from pliant.static import static
from pliant.studies.goury2021 import authors
from pliant.studies.goury2021.paper import FINGER_MODES
from pliant.studies.setup import Setup

PULL = 0.04  # [m] of the look-alike's cable, as in the paper
NARROW, NARROW_PULL = 0.005, 0.036  # [m]: joints as first drawn, and how far these can be pulled
FULL, NONE, PAPER, SMOOTH, POINTS = "full contact", "no contact", "paper's method", "smooth", "points"


@dataclass(frozen=True)
class Finger:
    """A finger with all its models: `full` and `none` without contact, pulled in by up to `pull` [m].

    `steps` are those of the snapshots, which go over the whole range; `seed` is that of the paper's method.
    """

    name: str
    full: Robot
    none: Robot
    pull: float
    steps: int
    seed: int
    view: tuple[float, float] = (-90.0, 8.0)  # [°] azimuth and elevation from which it is drawn

    @cached_property
    def shots(self) -> Snapshots:
        """The cable pulled in over the whole range; in the paper by 0.05 mm at a time."""
        return collect(self.full, plans.pull(self.full, {"cable": (0.0, self.pull)}, steps=self.steps))

    @cached_property
    def fits(self) -> dict[str, ContactFit]:
        """Bases of the snapshots: the paper's five modes of clipped ALS with rows Ψᵀδ, and ours.

        All settings are defaults: five modes with the default fade, and as many points as are needed.
        """
        return {
            PAPER: contact_basis(
                self.full, self.shots, FINGER_MODES, method="als", seed=self.seed, fade=np.inf
            ),
            SMOOTH: contact_basis(self.full, self.shots, FINGER_MODES),
            POINTS: contact_basis(self.full, self.shots, method="points"),
        }

    @cached_property
    def models(self) -> dict[str, Robot]:
        """All models by name."""
        return {FULL: self.full, NONE: self.none, **{name: fit.robot for name, fit in self.fits.items()}}

    def tips(self, robot: Robot, pulls: np.ndarray) -> np.ndarray:
        """The tip (n, 3) [m] of a model at ascending pulls (n,) [m], by statics; nan where it has none."""
        tips, state = np.full((len(pulls), 3), np.nan), None
        for k, pull in enumerate(pulls):
            try:
                found = static(robot, {"cable": Known(displacement=float(pull))}, state=state)
            except ConvergenceError:
                continue
            tips[k], state = found.displacement["tip"], found.state
        return tips


def fingers(setup: Setup, steps: int, seed: int, *, narrow: bool) -> list[Finger]:
    """The authors' finger where the user has it, else the look-alike; `narrow`: also narrow joints."""
    path = setup.file(authors.FILE)
    if path is not None:
        full, none = authors.finger(path), authors.finger(path, contact=False)
        first = Finger("the authors' finger", full, none, authors.PULL, steps, seed, authors.VIEW)
    else:
        full, none = folding_finger(), folding_finger(contact=False)
        first = Finger("the look-alike", full, none, PULL, steps, seed)
    if not narrow:
        return [first]
    full, none = (folding_finger(opening=NARROW, contact=contact) for contact in (True, False))
    return [first, Finger("joints of 5 mm, to 36 mm", full, none, NARROW_PULL, steps // 2, seed)]
