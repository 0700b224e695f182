"""What the parts of this study share: both robots, their snapshots, and their contact bases."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pliant.contact import Detector
from pliant.dynamics import Rayleigh, Simulation
from pliant.errors import ConvergenceError
from pliant.laws import Known
from pliant.reduction import ContactFit, Snapshots, collect, contact_basis, plans
from pliant.reduction.symmetry import Symmetry, multiplied
from pliant.result import Result
from pliant.robot import Robot
from pliant.robots.manipulator import manipulator
from pliant.static import static
from pliant.studies.goury2021.fingers import Finger, fingers
from pliant.studies.goury2021.postures import Laws, bend, bends
from pliant.studies.setup import Setup

PULL = 32.0  # [N] on the three tendons of one side: fully bent
TENSION = 50.0  # [N] of the design
DAMPING = Rayleigh(mass=10.0, stiffness=0.005)  # it comes to rest within a second
CREEP_STEPS = 3  # steps in time for each command of the snapshots
TIME_STEP = 0.01  # [s]


@dataclass(frozen=True)
class Setting:
    """Sizes of the samples.

    `pull` and `posture` are steps of the finger's pull and of each of the manipulator's postures; `spine` the
    manipulator's size; `sizes` and `modes` those of its bases; `frames` those in which the finger goes over
    its range, `pulls` at how many it is scored, `narrow` whether narrow joints are scored too; `test` how
    many postures the basis is scored on; `processes` those that speed is compared in; `points` those on a pad
    of the manipulator with very many; `path` and `rest` the steps to each posture, and of the rest there.
    """

    pull: int
    posture: int
    spine: dict[str, Any]
    sizes: tuple[int, ...]
    modes: int
    frames: int
    pulls: int
    narrow: bool
    test: int
    processes: int
    points: tuple[int, int]
    path: int = 120
    rest: int = 180


FULL = Setting(800, 120, {}, (4, 8, 16, 32, 64), 23, 160, 20, True, 8, 2, (14, 3))
QUICK = Setting(
    160, 10, {"length": 0.4, "vertebrae": 6}, (4, 16), 16, 80, 8, False, 2, 1, (8, 3), path=60, rest=90
)


class Lab:
    """Robots, snapshots and bases are made when first asked for."""

    def __init__(self, setting: Setting, setup: Setup | None = None) -> None:
        self.setting, self.setup = setting, setup or Setup()
        self.fingers, self.manipulator = cache(self._fingers), cache(self._manipulator)
        self.spine_shots = cache(self._spine_shots)
        self.fit, self.bent, self.driven = cache(self._fit), cache(self._bent), cache(self._driven)

    def _fingers(self) -> list[Finger]:
        (seed,) = self.setup.seeds("als of the finger", 1)
        return fingers(self.setup, self.setting.pull, seed, narrow=self.setting.narrow)

    def _manipulator(self, contact: bool = True) -> Robot:
        return manipulator(**self.setting.spine, contact=contact)

    def _spine_shots(self) -> Snapshots:
        """The twelve postures of Plackett and Burman, and their images under the threefold symmetry."""
        robot = self.manipulator()
        limits = dict.fromkeys(robot.by_role("actuator"), (0.0, TENSION))
        plan = plans.plackett_burman(robot, limits, steps=self.setting.posture)
        shots = collect(robot, plan, creep=CREEP_STEPS)
        touching = shots.take(np.flatnonzero(shots.contact.any(axis=1)))  # the others say nothing of contact
        return multiplied(touching, [Symmetry.turn(robot, s * 2 * np.pi / 3) for s in (1, -1)])

    def _fit(self, size: int | None, method: str = "hals") -> ContactFit:
        """The manipulator's basis; "als" is the paper's method, with rows Ψᵀδ and the study's seed."""
        (seed,) = self.setup.seeds("als", 1)
        paper = {"fade": np.inf, "seed": seed} if method == "als" else {}
        return contact_basis(self.manipulator(), self.spine_shots(), size, method=method, **paper)

    def _bent(self, robot: Robot) -> Result:
        """Fully bent to one side; the best state there is, should it not come to rest."""
        try:
            return static(robot, bend(PULL), load_steps=8)
        except ConvergenceError as error:
            return error.result

    def _driven(self, robot: Robot, seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Tips (count, 3) [m] of a robot brought to bends in time steps, and how far each still strays [m].

        The bends are the same for every model; numbers are nan where a step does not converge.
        """
        tips, strays = np.full((count, 3), np.nan), np.full(count, np.nan)
        for k, laws in enumerate(bends(robot, count, seed=seed)):
            with suppress(ConvergenceError):
                last = self._arrival(robot, laws)
                tips[k] = last.mean(axis=0)
                strays[k] = np.linalg.norm(last - tips[k], axis=1).max()
        return tips, strays

    def _arrival(self, robot: Robot, laws: Laws) -> np.ndarray:
        """The tip (·, 3) [m] in the last steps to a posture: forces rise in equal steps, then it rests."""
        simulation = Simulation(robot, time_step=TIME_STEP, scheme="euler", damping=DAMPING)
        steps, rest = self.setting.path, self.setting.rest
        path = []
        for share in np.minimum(np.arange(1, steps + rest + 1) / steps, 1.0):
            efforts = {name: share * law.effort for name, law in laws.items()}  # type: ignore[operator]
            commands = {name: Known(effort=float(effort)) for name, effort in efforts.items()}
            path.append(simulation.step(commands).displacement["tip"])
        return np.array(path[-max(steps // 6, 1) :])

    def depth(self, robot: Robot, q: np.ndarray) -> float:
        """Of the deepest point in another part of the robot [m], as its own full detector sees it."""
        return self._detector(robot).penetration(q)

    @staticmethod
    @cache
    def _detector(robot: Robot) -> Detector:
        return robot.surroundings.detector(robot)
