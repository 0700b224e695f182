"""Dynamic mode: commands to the actuators as in forward mode, and a body that moves with its inertia."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pliant.contact import Obstacle
from pliant.dynamics import Moment, Rayleigh, Simulation
from pliant.errors import ConvergenceError
from pliant.laws import Law
from pliant.robot import Robot
from pliant.session.around import arrange
from pliant.session.commands import Commands
from pliant.session.held import held, loose
from pliant.session.reading import Reading, touching
from pliant.stage import RowFacts
from pliant.state import State

DAMPING = Rayleigh(mass=1.0)  # [1/s], on top of what the scheme takes out of fast vibrations
FEW_COORDINATES = 4000  # of a robot for which two steps in time fit into a period: it swings longer
REST_SPEED = 0.02  # of the robot's length per second: slower is at rest


class Dynamic:
    """Drives a robot by commands through time; a step is one period, in one or two steps of `Simulation`."""

    def __init__(
        self,
        robot: Robot,
        actuators: Sequence[RowFacts],
        state: State,
        obstacles: Iterable[Obstacle],
        period: float,
    ) -> None:
        self.robot, self.obstacles = robot, {o.name: o for o in obstacles}
        self.period, self.substeps = period, 2 if robot.ndof < FEW_COORDINATES else 1
        still = State(state.q, np.zeros(robot.ndof), state.effort, state.internal, state.gravity)
        self.simulation = Simulation(
            robot, self.obstacles.values(), time_step=period / self.substeps, damping=DAMPING, state=still
        )
        self.commands, self.things = Commands(robot, actuators, state), loose(robot)
        self.reading = Reading.at(robot, state, self.commands.imposed)

    def drive(self, name: str, drive: str, value: np.ndarray) -> None:
        """Ask for an effort or a displacement (m,), clipped to its limits; it starts and stops gently."""
        present = self.reading.effort if drive == "effort" else self.reading.displacement
        self.commands.ask(name, drive, value, present[name])

    def step(self, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> Reading:
        """One period further, under more laws (of lost actuators, of a hand that pushes)."""
        self.obstacles = arrange(self.simulation.detector, self.obstacles, obstacles)
        moments = []
        try:
            for _ in range(self.substeps):
                hop = self.commands.eased(1.0 / self.substeps)
                moments.append(self.simulation.step({**{name: c.law for name, c in hop.items()}, **laws}))
                self.commands.impose(hop)
        except ConvergenceError:
            self._stop()
            self.reading = replace(self.reading, status="stuck", trouble="no step in time", timings={})
            return self.reading
        self.reading = self._read(moments)
        return self.reading

    def _stop(self) -> None:
        """Where a step fails the robot is held still, and goes on from there."""
        state = self.simulation.state
        self.simulation.state = state.with_(v=np.zeros(len(state.v)))

    def _read(self, moments: Sequence[Moment]) -> Reading:
        moment, detector = moments[-1], self.simulation.detector
        motion = moment.positions - self.robot.positions(self.reading.state.q)
        speed = float(np.linalg.norm(motion, axis=1).max(initial=0.0)) / self.period
        rests = speed < REST_SPEED * self.robot.length and self.commands.arrived
        return Reading(
            state=moment.state,
            effort=moment.effort,
            displacement=moment.displacement,
            command=self.commands.imposed,
            touch=touching(moment.contacts, moment.contact_force, moment.friction_force, detector),
            status="holds" if rests else "moving",
            limits=self.commands.limits(),
            timings={stage: sum(m.timings[stage] for m in moments) for stage in moment.timings},
            speed=speed,
            held=held(moment, self.things) if self.things else {},
        )
