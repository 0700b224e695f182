"""Drives that lag behind their commands, and whose teeth have play.

A motor at u pushes what it moves from below or from above:

    side 1     0 ≤ λ ⊥ δ ≥ u − backlash/2,            side −1     0 ≥ λ ⊥ δ ≤ u + backlash/2

Where it does not push, δ is free in between. Which side may push is guessed by the effort there was; an
equilibrium contradicts that where δ has gone beyond the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.conditions import Conditions
from pliant.drive import Drive
from pliant.robot import Robot

BEYOND = 1e-9  # of the backlash: by so much δ may be beyond the other side


@dataclass(frozen=True)
class Driven:
    """A row with a drive, and where its motor stands among the internal variables."""

    row: int
    drive: Drive
    slack: float
    compliance: float
    motor: int

    def side(self, effort: float, delta: float, motor: float) -> float:
        """The side that pushes, or would first."""
        return float(np.sign(effort)) or (1.0 if delta <= motor else -1.0)


def driven(robot: Robot) -> list[Driven]:
    """The rows of a robot that have a drive."""
    bundle, first, out = robot.bundle, robot.row_z.start, []
    for k in bundle.driven:
        acting: Any = bundle.interactions[k]
        place = int(bundle.row_start[k]), acting.drive, acting.slack, acting.compliance
        out.append(Driven(*place, first + bundle.own_internal[k].stop - 1))
    return out


@dataclass(frozen=True)
class Play:
    """Rows whose teeth have play, under laws that impose where their motors are: which side pushes."""

    laws: Conditions
    rows: tuple[Driven, ...]
    side: tuple[float, ...]

    @classmethod
    def of(cls, robot: Robot, laws: Conditions, effort: np.ndarray, delta: np.ndarray) -> Play | None:
        """From where efforts and δ are (m,); None if there is no play."""
        rows = tuple(d for d in driven(robot) if d.drive.backlash and not laws.given[d.row])
        side = tuple(d.side(effort[d.row], delta[d.row], laws.imposed[d.row]) for d in rows)
        return cls(laws, rows, side) if rows else None

    def on(self, laws: Conditions) -> Conditions:
        """Laws (m,) with one side of the play for each of these rows."""
        imposed, low, high = laws.imposed.copy(), laws.low.copy(), laws.high.copy()
        for d, side in zip(self.rows, self.side, strict=True):
            k, own = d.row, self.laws
            imposed[k] = own.imposed[k] - 0.5 * side * d.drive.backlash
            low[k] = max(own.low[k], 0.0) if side > 0.0 else own.low[k]
            high[k] = min(own.high[k], 0.0) if side < 0.0 else own.high[k]
        return replace(laws, imposed=imposed, low=low, high=high)

    def after(self, delta: np.ndarray) -> Play | None:
        """With other sides where an equilibrium at δ (m,) contradicts these; None where it does not."""
        beyond = [
            side * (delta[d.row] - self.laws.imposed[d.row]) > (0.5 + BEYOND) * d.drive.backlash
            for d, side in zip(self.rows, self.side, strict=True)
        ]
        if not any(beyond):
            return None
        return replace(self, side=tuple(-s if b else s for s, b in zip(self.side, beyond, strict=True)))


def following(
    robot: Robot, laws: Conditions, z: np.ndarray, effort: np.ndarray, delta: np.ndarray, time: float
) -> Conditions:
    """The laws of a step in time [s], with displacements imposed where motors come in it."""
    rows = driven(robot)
    if not rows:
        return laws
    imposed = laws.imposed.copy()
    for d in rows:
        if not laws.given[d.row]:
            imposed[d.row] = d.drive.after(z[d.motor], imposed[d.row] + d.slack, time) - d.slack
    laws = replace(laws, imposed=imposed)
    play = Play.of(robot, laws, effort, delta)
    return laws if play is None else play.on(laws)


def motors(
    robot: Robot,
    laws: Conditions,
    z: np.ndarray,
    effort: np.ndarray,
    delta: np.ndarray,
    time: float = np.inf,
) -> np.ndarray:
    """Internal variables after a time [s] that ended with these efforts and δ (m,).

    A motor whose effort is given is where what it pushes tells.
    """
    rows = driven(robot)
    if not rows:
        return z
    z = np.array(z)
    for d in rows:
        if laws.given[d.row]:
            force = float(effort[d.row])
            z[d.motor] = delta[d.row] + d.compliance * force + d.slack + d.drive.lost(force)
        else:
            command = float(laws.imposed[d.row] + d.slack)
            z[d.motor] = command if time == np.inf else d.drive.after(z[d.motor], command, time)
    return z
