"""Forward mode: equilibria under commanded efforts or displacements, one short hop per step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.contact import Obstacle
from pliant.errors import ConvergenceError, InputError
from pliant.laws import Known, Law
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.scene import RowFacts
from pliant.session.reading import Reading, touching
from pliant.state import State
from pliant.static import static

HOPS = 25  # steps from one end of an actuator's range to the other
TOLERANCE = Tolerance(residual=1e-5, length=1e-7, iterations=20)  # finer than a screen; fails soon


@dataclass(frozen=True)
class Command:
    """What an actuator is told: "effort" or "displacement", the value asked for, and the one imposed now (m,)."""

    drive: str
    asked: np.ndarray
    imposed: np.ndarray

    @property
    def law(self) -> Known:
        """The law that imposes it."""
        effort = self.drive == "effort"
        return Known(effort=self.imposed) if effort else Known(displacement=self.imposed)

    def nearer(self, hop: float) -> Command:
        """Imposed value moved towards the one asked for, by at most `hop`."""
        way = self.asked - self.imposed
        return replace(self, imposed=np.where(abs(way) <= hop, self.asked, self.imposed + np.sign(way) * hop))

    @property
    def arrived(self) -> bool:
        """Whether the value asked for is imposed."""
        return np.array_equal(self.asked, self.imposed)


class Forward:
    """Drives a robot by commands. A hop that finds no equilibrium is not taken; it is tried again after another command."""

    def __init__(self, robot: Robot, actuators: Sequence[RowFacts], state: State) -> None:
        self.robot, self.state = robot, state
        self.rows = {row.name: row for row in actuators}
        delta = robot.split(robot.bundle.delta(robot.bundle.positions(state.q)))
        effort = robot.split(state.effort)
        self.commands = {
            name: _held(row.drive, (delta if row.drive == "displacement" else effort)[name])
            for name, row in self.rows.items()
        }
        self._soft = robot.surroundings.detector(robot).opponents  # what it touches beside obstacles
        self.reading: Reading | None = None
        self._known: tuple = ()
        self._failed = False

    def drive(self, name: str, drive: str, value: np.ndarray) -> None:
        """Ask for an effort or a displacement (m,); it is clipped to its limits."""
        row, now = self.rows[name], self.commands[name]
        value = np.clip(value, *row.limits(drive))
        if drive != now.drive and self.reading is not None:
            held = self.reading.effort if drive == "effort" else self.reading.displacement
            now = _held(drive, held[name])
        self.commands[name] = replace(now, asked=value)
        self._failed = False

    def step(self, laws: Mapping[str, Law], obstacles: Sequence[Obstacle]) -> Reading:
        """One hop towards the commands, under more laws (of lost actuators, of a hand that pushes)."""
        key = (*(id(law) for law in laws.values()), *(id(o) for o in obstacles))
        if key != self._known:
            self._failed = False
        arrived = all(c.arrived for c in self.commands.values())
        if self.reading is not None and key == self._known and (arrived or self._failed):
            return replace(self.reading, timings={})
        hops = {n: c.nearer(_hop(self.rows[n], c)) for n, c in self.commands.items()}
        chosen = {**{n: c.law for n, c in hops.items()}, **laws}
        try:
            result, trouble = self._solve(chosen, obstacles), ""
        except (ConvergenceError, InputError) as error:
            if self.reading is None and not isinstance(error, ConvergenceError):
                raise
            best = getattr(error, "result", None)
            trouble, self._failed = "no equilibrium for this command", True
            if self.reading is not None or best is None:
                self._known = key
                assert self.reading is not None
                self.reading = replace(self.reading, status="stuck", trouble=trouble, timings={})
                return self.reading
            result = best
        self.commands, self._known, self.state = hops, key, result.state
        self.reading = self._read(result, obstacles, trouble)
        return self.reading

    def _solve(self, laws: Mapping[str, Law], obstacles: Sequence[Obstacle]) -> Result:
        return static(self.robot, laws, obstacles=obstacles, state=self.state, tolerance=TOLERANCE)

    def _read(self, result: Result, obstacles: Sequence[Obstacle], trouble: str) -> Reading:
        arrived = all(c.arrived for c in self.commands.values())
        opponents = (*self._soft, *(o.name for o in obstacles))
        return Reading(
            state=result.state,
            effort=result.effort,
            displacement=result.displacement,
            command={name: command.imposed for name, command in self.commands.items()},
            touch=touching(result.contacts, result.contact_force, result.friction_force, opponents),
            status="stuck" if trouble else "holds" if arrived else "moving",
            limits=tuple(self._limits()),
            trouble=trouble,
            timings=result.timings,
        )

    def _limits(self) -> list[str]:
        """Which command stands at the end of its range, in words."""
        out = []
        for name, command in self.commands.items():
            low, high = self.rows[name].limits(command.drive)
            if np.isfinite(high) and (command.imposed >= high).any() and high != 0:
                out.append(f"{name}: largest {command.drive}")
            if np.isfinite(low) and (command.imposed <= low).any() and low != 0:
                out.append(f"{name}: smallest {command.drive}")
        return out


def _held(drive: str, value: np.ndarray) -> Command:
    return Command(drive, np.array(value), np.array(value))


def _hop(row: RowFacts, command: Command) -> float:
    """How far one step may go: a share of the range, or of the way where there is no range."""
    low, high = row.limits(command.drive)
    width = high - low
    if not np.isfinite(width):
        width = 4.0 * float(np.abs(np.concatenate([command.asked, command.imposed])).max(initial=0.0))
    return max(width / HOPS, 1e-12)
