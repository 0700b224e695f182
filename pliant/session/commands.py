"""Commands to actuators: what each is asked for, and what is imposed on the way there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.laws import Known
from pliant.robot import Robot
from pliant.stage import RowFacts
from pliant.state import State

HOPS_PER_RANGE = 25  # steps from one end of an actuator's range to the other
GUESSED_RANGE = 4.0  # times what is asked for or imposed, where an actuator has no range
SMALLEST_HOP = 1e-12  # in the unit of the command: to where it is already
STEPS_TO_SPEED = 12  # in motion: what starts or stops at once would throw off what the robot holds


@dataclass(frozen=True)
class Command:
    """What an actuator is told: "effort" or "displacement", the value asked for, and that imposed now (m,).

    `speed` (m,): how far it went last, where it gathers speed.
    """

    drive: str
    asked: np.ndarray
    imposed: np.ndarray
    speed: np.ndarray | float = 0.0

    @property
    def law(self) -> Known:
        """The law that imposes it."""
        effort = self.drive == "effort"
        return Known(effort=self.imposed) if effort else Known(displacement=self.imposed)

    def nearer(self, hop: float) -> Command:
        """Imposed value moved towards the one asked for, by at most `hop`."""
        left = self.asked - self.imposed
        return replace(
            self, imposed=np.where(abs(left) <= hop, self.asked, self.imposed + np.sign(left) * hop)
        )

    def eased(self, hop: float, change: float) -> Command:
        """The same, with a speed that changes by at most `change`, in time to stop at what is asked for."""
        left = self.asked - self.imposed
        able = np.sqrt(change * (2.0 * abs(left) + 0.25 * change)) - 0.5 * change  # stops within what is left
        wanted = np.sign(left) * np.minimum(able, hop)
        speed = np.clip(wanted, self.speed - change, self.speed + change)
        there = (abs(left) <= change) & (abs(self.speed) <= 2.0 * change)
        imposed = np.where(there, self.asked, self.imposed + speed)
        return replace(self, imposed=imposed, speed=np.where(there, 0.0, speed))


class Commands:
    """Commands of all actuators by name. They begin with what the actuators do in a state."""

    def __init__(self, robot: Robot, actuators: Sequence[RowFacts], state: State) -> None:
        self.rows = {row.name: row for row in actuators}
        delta = robot.split(robot.bundle.delta(robot.bundle.positions(state.q)))
        present = {"displacement": delta, "effort": robot.split(state.effort)}
        self.now = {name: _at_rest(row.drive, present[row.drive][name]) for name, row in self.rows.items()}

    def ask(self, name: str, drive: str, value: np.ndarray, present: np.ndarray) -> None:
        """Ask for an effort or a displacement (m,), clipped to its limits; `present` is what it is now."""
        now = self.now[name] if drive == self.now[name].drive else _at_rest(drive, present)
        self.now[name] = replace(now, asked=np.clip(value, *self.rows[name].limits(drive)))

    def nearer(self, share: float = 1.0) -> dict[str, Command]:
        """All commands one hop, or a share of it, closer to what is asked for."""
        return {n: c.nearer(share * _hop(self.rows[n], c)) for n, c in self.now.items()}

    def eased(self, share: float) -> dict[str, Command]:
        """The same for what moves with inertia: commands gather speed, and lose it before they arrive."""
        hops = {n: share * _hop(self.rows[n], c) for n, c in self.now.items()}
        eased = {n: c.eased(hops[n], hops[n] * share / STEPS_TO_SPEED) for n, c in self.now.items()}
        return {n: replace(c, imposed=self._within(n, c)) for n, c in eased.items()}

    def _within(self, name: str, command: Command) -> np.ndarray:
        """What is imposed, within the limits: one that turns round would pass them while it slows down."""
        low, high = self.rows[name].limits(command.drive)
        return np.clip(command.imposed, np.minimum(low, command.asked), np.maximum(high, command.asked))

    def impose(self, commands: Mapping[str, Command]) -> None:
        """These are imposed now; what is asked for may have changed meanwhile."""
        for name, command in commands.items():
            if command.drive == self.now[name].drive:
                self.now[name] = replace(self.now[name], imposed=command.imposed, speed=command.speed)

    @property
    def imposed(self) -> dict[str, np.ndarray]:
        """What is imposed, by name."""
        return {name: command.imposed for name, command in self.now.items()}

    @property
    def arrived(self) -> bool:
        """Whether all that is asked for is imposed."""
        return all(np.array_equal(c.asked, c.imposed) for c in self.now.values())

    def limits(self) -> tuple[str, ...]:
        """Which command stands at the end of its range, in words."""
        out = []
        for name, command in self.now.items():
            low, high = self.rows[name].limits(command.drive)
            if np.isfinite(high) and (command.imposed >= high).any() and high != 0:
                out.append(f"{name}: largest {command.drive}")
            if np.isfinite(low) and (command.imposed <= low).any() and low != 0:
                out.append(f"{name}: smallest {command.drive}")
        return tuple(out)


def _at_rest(drive: str, value: np.ndarray) -> Command:
    return Command(drive, np.array(value), np.array(value))


def _hop(row: RowFacts, command: Command) -> float:
    """How far one step may go: a share of the range, or of the way where there is no range."""
    low, high = row.limits(command.drive)
    width = high - low
    if not np.isfinite(width):
        width = GUESSED_RANGE * float(
            np.abs(np.concatenate([command.asked, command.imposed])).max(initial=0.0)
        )
    return max(width / HOPS_PER_RANGE, SMALLEST_HOP)
