"""What the parts of this study share: both robots, their snapshots, and their contact bases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pliant.contact import Detector
from pliant.errors import ConvergenceError
from pliant.laws import Known
from pliant.reduction import ContactFit, Snapshots, collect, contact_basis, plans
from pliant.reduction.symmetry import Symmetry, multiplied
from pliant.result import Result
from pliant.robot import Robot
from pliant.robots.folding_finger import folding_finger
from pliant.robots.manipulator import manipulator
from pliant.static import static

PULL = 32.0  # [N] on the three tendons of one side: fully bent
TENSION = 50.0  # [N] of the design
CREEP = 3  # steps in time for each command of the snapshots


@dataclass(frozen=True)
class Setting:
    """Steps of the finger's pull and of each of the manipulator's postures; the manipulator's size; sizes of its bases; seeds of
    ALS; frames in which the finger goes to its target."""

    pull: int
    posture: int
    spine: dict[str, Any]
    sizes: tuple[int, ...]
    modes: int
    seeds: int
    frames: int


FULL = Setting(720, 120, {}, (4, 8, 16, 32, 64), 23, 2, 240)
QUICK = Setting(120, 10, {"length": 0.4, "vertebrae": 6}, (4, 16), 16, 1, 120)


class Lab:
    """Robots, snapshots and bases are made when first asked for."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.finger, self.manipulator = cache(self._finger), cache(self._manipulator)
        self.finger_shots, self.spine_shots = cache(self._finger_shots), cache(self._spine_shots)
        self.fit, self.bent = cache(self._fit), cache(self._bent)

    def _finger(self, contact: bool = True) -> Robot:
        return folding_finger(contact=contact)

    def _manipulator(self, contact: bool = True) -> Robot:
        return manipulator(**self.setting.spine, contact=contact)

    def _finger_shots(self) -> Snapshots:
        """The cable pulled in by 36 mm: beyond, all joints are closed."""
        robot = self.finger()
        plan = plans.pull(robot, {"cable": (0.0, 0.036)}, steps=self.setting.pull)
        return collect(robot, plan)

    def _spine_shots(self) -> Snapshots:
        """The twelve postures of Plackett and Burman, and what the threefold symmetry makes of them."""
        robot = self.manipulator()
        limits = dict.fromkeys(robot.by_role("actuator"), (0.0, TENSION))
        found = collect(robot, plans.plackett_burman(robot, limits, steps=self.setting.posture), creep=CREEP)
        touching = found.take(np.flatnonzero(found.contact.any(axis=1)))  # the others say nothing of contact
        return multiplied(touching, [Symmetry.turn(robot, s * 2 * np.pi / 3) for s in (1, -1)])

    def _fit(self, size: int, method: str = "hals", seed: int = 0) -> ContactFit:
        """The manipulator's basis."""
        return contact_basis(self.manipulator(), self.spine_shots(), size, method=method, seed=seed)

    def _bent(self, robot: Robot) -> Result:
        """Fully bent to one side; the best state there is, should it not come to rest."""
        try:
            return static(robot, bend(), load_steps=8)
        except ConvergenceError as error:
            return error.result

    def depth(self, robot: Robot, q: np.ndarray) -> float:
        """Of the deepest point in another part of the robot [m], as its own full detector sees it."""
        return self._detector(robot).penetration(q)

    @staticmethod
    @cache
    def _detector(robot: Robot) -> Detector:
        return robot.surroundings.detector(robot)


def bend(force: float = PULL) -> dict[str, Known]:
    """The laws of a bend to one side."""
    return {f"tendon {n}": Known(effort=force) for n in (1, 4, 7)}
