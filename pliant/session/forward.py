"""Forward mode: equilibria under commanded efforts or displacements, one short hop per step.

A step has a budget of Newton iterations, so that it takes about as long as any other. A hop that needs more
goes on in the next step; meanwhile the robot is shown where it rested last. One that needs far more is not
found that way: the robot creeps there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_not

import numpy as np

from pliant.contact import Detector, Obstacle
from pliant.errors import ConvergenceError
from pliant.laws import Law
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.session.around import arrange
from pliant.session.commands import Command, Commands
from pliant.session.creep import MOST_STEPS, Creep
from pliant.session.reading import Reading, touching
from pliant.stage import RowFacts
from pliant.state import State
from pliant.static import relaxed

STEP_TOLERANCE = Tolerance(residual=1e-5, length=1e-7, iterations=4)  # of one step; finer than a screen
MOST_STEPS_OF_A_HOP = 6  # steps for one hop
SHARE_AFTER_A_HARD_HOP = 0.5  # of a whole hop: the next after one that took several steps
GROWTH_AFTER_AN_EASY_HOP = 1.25  # times the last: the next after one that did not


@dataclass(frozen=True)
class Hop:
    """A hop under way: the commands at its end, where Newton stands, and for how many steps."""

    commands: Mapping[str, Command]
    state: State
    steps: int = 0


class Forward:
    """Drives a robot by commands. Where it comes to no equilibrium it stays, until something changes."""

    def __init__(
        self, robot: Robot, actuators: Sequence[RowFacts], state: State, obstacles: Iterable[Obstacle]
    ) -> None:
        self.robot, self.state = robot, state
        self.commands = Commands(robot, actuators, state)
        self.obstacles = {o.name: o for o in obstacles}
        self.detector = robot.surroundings.detector(robot, self.obstacles.values())
        self.reading = Reading.at(robot, state, self.commands.imposed)
        self._known: tuple = ()
        self._hop: Hop | None = None
        self._creep: Creep | None = None
        self._share, self._failed = 1.0, False

    def drive(self, name: str, drive: str, value: np.ndarray) -> None:
        """Ask for an effort or a displacement (m,); it is clipped to its limits."""
        present = self.reading.effort if drive == "effort" else self.reading.displacement
        self.commands.ask(name, drive, value, present[name])
        self._failed = False

    def step(self, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> Reading:
        """One hop towards the commands, under more laws (of lost actuators, of a hand that pushes)."""
        self.obstacles = arrange(self.detector, self.obstacles, obstacles)
        before, self._known = self._known, (*laws.values(), *self.obstacles.values())
        changed = len(before) != len(self._known) or any(map(is_not, before, self._known))
        self._failed = self._failed and not changed
        if self._creep is not None:
            self.reading = self._creeping(self._creep, laws)
        elif not self._failed and (changed or self._hop or not self.commands.arrived):
            self.reading = self._hopping(laws)
        else:
            self.reading = replace(self.reading, timings={})
        return self.reading

    def _hopping(self, laws: Mapping[str, Law]) -> Reading:
        """Newton's method, as far as the budget goes."""
        hop = self._hop or Hop(self.commands.nearer(self._share), self.state)
        result = relaxed(self.robot, _under(hop.commands, laws), hop.state, self.detector, STEP_TOLERANCE)
        if result.certificate.converged:
            self._hop = None
            self._share = (
                min(SHARE_AFTER_A_HARD_HOP, self._share)
                if hop.steps
                else min(1.0, GROWTH_AFTER_AN_EASY_HOP * self._share)
            )
            self.commands.impose(hop.commands)
            return self._settled(result, self.detector)
        self._hop = replace(hop, state=result.state, steps=hop.steps + 1)
        if self._hop.steps >= MOST_STEPS_OF_A_HOP:
            self._hop = None
            self._creep = Creep(self.robot, self.state, self.obstacles.values())
        return replace(self.reading, status="moving", trouble="", timings=result.timings)

    def _creeping(self, creep: Creep, laws: Mapping[str, Law]) -> Reading:
        """By overdamped steps in time towards the commands; at rest it is back to Newton's method."""
        commands = self.commands.nearer()
        try:
            moment = creep.step(_under(commands, laws), self.obstacles.values())
        except ConvergenceError:
            return self._stuck()
        self.commands.impose(commands)
        detector = creep.simulation.detector
        if creep.rests and self.commands.arrived:
            self._creep = None
            return self._settled(moment, detector)
        if creep.steps >= MOST_STEPS:
            return self._stuck()
        return self._read(moment, detector, "moving")

    def _stuck(self) -> Reading:
        self._creep, self._failed = None, True
        return replace(self.reading, status="stuck", trouble="no equilibrium", timings={})

    def _settled(self, result: Result, detector: Detector) -> Reading:
        state = result.state
        self.state = State(state.q, np.zeros(len(state.v)), state.effort, state.internal, self.robot.gravity)
        return self._read(result, detector, "holds" if self.commands.arrived else "moving")

    def _read(self, result: Result, detector: Detector, status: str) -> Reading:
        return Reading(
            state=result.state,
            effort=result.effort,
            displacement=result.displacement,
            command=self.commands.imposed,
            touch=touching(result.contacts, result.contact_force, result.friction_force, detector),
            status=status,
            limits=self.commands.limits(),
            timings=result.timings,
        )


def _under(commands: Mapping[str, Command], laws: Mapping[str, Law]) -> dict[str, Law]:
    """The laws of commands, and others that go before."""
    return {**{name: command.law for name, command in commands.items()}, **laws}
