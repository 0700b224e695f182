"""Forward mode: equilibria under commanded efforts or displacements, one short hop per step.

A step has a budget of Newton iterations, so that it takes about as long as any other. A hop that needs more goes on in the next
step; meanwhile the robot is shown where it rested last. Only equilibria are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_not

from pliant.contact import Obstacle
from pliant.errors import ConvergenceError
from pliant.laws import Law
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.session.around import arrange
from pliant.session.commands import Command, Commands
from pliant.session.reading import Reading, touching
from pliant.stage import RowFacts
from pliant.state import State
from pliant.static import relaxed, static

BUDGET = Tolerance(residual=1e-5, length=1e-7, iterations=3)  # of one step; finer than a screen
EASY = 3  # iterations of a hop that may be longer next time
PATIENCE = 12  # steps for one hop
SHORTEST = 1.0 / 64.0  # of a whole hop


@dataclass(frozen=True)
class Hop:
    """A hop under way: the commands at its end, where Newton stands, and for how many steps."""

    commands: Mapping[str, Command]
    state: State
    steps: int = 0


class Forward:
    """Drives a robot by commands. A hop that finds no equilibrium is not taken; it is tried again after another command."""

    def __init__(
        self,
        robot: Robot,
        actuators: Sequence[RowFacts],
        state: State,
        laws: Mapping[str, Law],
        obstacles: Iterable[Obstacle],
    ) -> None:
        self.robot, self.state = robot, state
        self.commands = Commands(robot, actuators, state)
        self.obstacles = {o.name: o for o in obstacles}
        self.detector = robot.surroundings.detector(robot, self.obstacles.values())
        self._known = _around(laws, self.obstacles)
        self._hop: Hop | None = None
        self._share, self._failed = 1.0, False
        self.reading = self._settled(laws)

    def drive(self, name: str, drive: str, value) -> None:
        """Ask for an effort or a displacement (m,); it is clipped to its limits."""
        held = self.reading.effort if drive == "effort" else self.reading.displacement
        self.commands.ask(name, drive, value, held[name])
        self._failed = False

    def step(self, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> Reading:
        """One hop towards the commands, under more laws (of lost actuators, of a hand that pushes)."""
        self.obstacles = arrange(self.detector, self.obstacles, obstacles)
        before, self._known = self._known, _around(laws, self.obstacles)
        changed = len(before) != len(self._known) or any(map(is_not, before, self._known))
        self._failed = self._failed and not changed
        if self._failed or not (changed or self._hop or not self.commands.arrived):
            self.reading = replace(self.reading, timings={})
            return self.reading
        hop = self._hop or Hop(self.commands.nearer(self._share), self.state)
        result = relaxed(self.robot, self._laws(hop, laws), hop.state, self.detector, BUDGET)
        self.reading = (
            self._arrived(hop, result) if result.certificate.converged else self._later(hop, result)
        )
        return self.reading

    def _laws(self, hop: Hop, laws: Mapping[str, Law]) -> dict[str, Law]:
        return {**{name: command.law for name, command in hop.commands.items()}, **laws}

    def _settled(self, laws: Mapping[str, Law]) -> Reading:
        """The beginning: at rest under what the actuators hold, however long that takes."""
        hop = Hop(self.commands.now, self.state)
        thorough = replace(BUDGET, iterations=30)
        try:
            result = static(
                self.robot,
                self._laws(hop, laws),
                detector=self.detector,
                state=self.state,
                tolerance=thorough,
            )
        except ConvergenceError as error:
            return self._read(error.result, "stuck", "no equilibrium here")
        return self._arrived(hop, result)

    def _arrived(self, hop: Hop, result: Result) -> Reading:
        self._hop, self.state = None, result.state
        self._share = min(1.0, 2.0 * self._share) if result.certificate.iterations <= EASY else self._share
        self.commands.impose(hop.commands)
        return self._read(result, "holds" if self.commands.arrived else "moving")

    def _later(self, hop: Hop, result: Result) -> Reading:
        """Not there yet: go on from where Newton stands, then try shorter hops, then give up until something changes."""
        self._hop = replace(hop, state=result.state, steps=hop.steps + 1)
        if self._hop.steps >= PATIENCE:
            self._hop = None
            self._failed = self._share <= SHORTEST or self.commands.arrived
            self._share = 1.0 if self._failed else self._share / 4.0
        trouble = "no equilibrium for this command" if self._failed else ""
        status = "stuck" if self._failed else "moving"
        return replace(self.reading, status=status, trouble=trouble, timings=result.timings)

    def _read(self, result: Result, status: str, trouble: str = "") -> Reading:
        return Reading(
            state=result.state,
            effort=result.effort,
            displacement=result.displacement,
            command=self.commands.imposed,
            touch=touching(
                result.contacts, result.contact_force, result.friction_force, self.detector.opponents
            ),
            status=status,
            limits=self.commands.limits(),
            trouble=trouble,
            timings=result.timings,
        )


def _around(laws: Mapping[str, Law], obstacles: Mapping[str, Obstacle]) -> tuple:
    """What a step depends on beside the commands."""
    return *laws.values(), *obstacles.values()
