"""Environments of finite-element robots: what they see of a row, and their picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.dynamics import KelvinVoigt, Motion, Simulation
from pliant.frame import Frame, Touch
from pliant.laws import Law
from pliant.learning.drives import Drive
from pliant.learning.episode import Environment
from pliant.robot import Robot
from pliant.stage import Stage, polylines
from pliant.state import State
from pliant.static import static

TIME_STEP = 0.02  # [s] of one action
VISCOSITY = 0.02  # [s]: what silicone takes out of its vibrations
PICTURE_SIZE = (480, 360)  # pixels
PICTURE_MARGIN = 0.15  # of the robot's length, around it in the picture


class Robotic(Environment):
    """A robot of which some rows are observed: their δ from rest, in units of its length, and their speed."""

    def __init__(
        self,
        robot: Robot,
        drives: Sequence[Drive],
        observations: int,
        render_mode: str | None,
        *,
        time_step: float = TIME_STEP,
        settling: float = 0.0,
        holding: Mapping[str, Law] | None = None,
    ) -> None:
        """settling [s]: how long a robot that nothing supports comes to rest; 0: it rests in equilibrium.

        holding: laws at rest, where the rows' own would let the robot fall.
        """
        self.robot, self._painter = robot, None
        viscous = {
            n: KelvinVoigt(VISCOSITY) for n, body in enumerate(robot.bodies) if isinstance(body, Solid)
        }
        # The scheme is part of what an environment of this version is: policies were made for its damping.
        simulation = Simulation(robot, time_step=time_step, scheme="euler", damping=viscous)
        if settling:
            for _ in range(round(settling / time_step)):
                simulation.step(holding)
            simulation.state = simulation.state.with_(v=np.zeros(robot.ndof))
        else:
            simulation.state = static(robot, holding).state
        super().__init__(simulation, drives, observations, render_mode)
        self.metadata = {**self.metadata, "render_fps": round(1 / time_step)}
        self.rest = self.deltas()

    def deltas(self, state: State | None = None) -> dict[str, np.ndarray]:
        """δ of every row by name, now or in a state."""
        bundle, at = self.robot.bundle, self.simulation.state if state is None else state
        return self.robot.split(bundle.delta(bundle.positions(at.q)))

    def rates(self) -> dict[str, np.ndarray]:
        """δ̇ of every row by name, now."""
        bundle, motion = self.robot.bundle, self.simulation.state
        p = bundle.positions(motion.q)
        return self.robot.split(bundle.jacobian(motion.q, bundle.gradient(p)).dot(motion.v))

    def picture(self) -> np.ndarray:
        """(rows, columns, 3) of now, with the targets of the task."""
        if self._painter is None:
            from pliant.io.stills import Stills

            stage = self.stage()
            margin = PICTURE_MARGIN * stage.length
            box = stage.rest.min(axis=0) - margin, stage.rest.max(axis=0) + margin
            self._painter = Stills("", stage, size=PICTURE_SIZE, box=box)
        self._painter.trail = []
        return np.asarray(self._painter.image(self.frame(self._painter.stage)))

    def goals(self) -> Mapping[str, np.ndarray]:
        """Where rows should go, for the picture."""
        return {}

    def stage(self) -> Stage:
        """The robot."""
        return Stage.of(self.robot)

    def frame(self, stage: Stage) -> Frame:
        """The robot now, its obstacles, and the targets of the task."""
        motion: Motion = self.simulation.state
        cables = [name for name, _ in stage.cables]
        goals, now = self.goals(), self.deltas()
        obstacles: dict[str, Any] = self.simulation.detector.obstacles
        return Frame(
            step=round(motion.t * self.metadata["render_fps"]),
            time=motion.t,
            mode="dynamic",
            positions=self.robot.positions(motion.q),
            lines=polylines(self.robot, motion.q, cables),
            effort=self.robot.split(motion.effort),
            displacement=now,
            command={},
            target=goals,
            error={name: goal - now[name] for name, goal in goals.items()},
            touch=Touch.none(),
            status="moving",
            words="",
            obstacles={name: o.data() for name, o in obstacles.items()},
        )
