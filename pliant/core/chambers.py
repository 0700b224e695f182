"""Chambers behind a line: how their pressure follows their volume, as springs on δ that are linearised anew.

At δ the gas pushes with g(δ), and with the slope g' of that

    λ = g + g' (δ⁺ − δ),      as a spring:   imposed = δ − g/g',   compliance = −1/g'

In statics a chamber is closed, or settled at the pressure of what it is open to. In time gas flows, and g is
where a step leads whose volume goes evenly from where it is to the end's (`Line.after`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.conditions import Conditions
from pliant.pneumatics.fluid import REFERENCE
from pliant.pneumatics.line import Charge, Line
from pliant.robot import Robot

LEAST_VOLUME = 1e-4  # of that at rest: less is an iterate that goes too far
SMALL = 1e-5  # of a chamber's volume: the difference by which its slope in time is found


@dataclass(frozen=True)
class Chamber:
    """A row that is a chamber behind a line, and where it stands among the internal variables."""

    row: int
    line: Line
    rest: float  # volume [m³] at rest, line and syringe with it
    where: slice

    def charge(self, z: np.ndarray) -> Charge:
        """What is remembered of it."""
        return Charge(*(float(x) for x in z[self.where]))

    def volume(self, delta: np.ndarray, pushed: float) -> float:
        """Of the chamber and its line [m³]; what is on the way to less than nothing has next to nothing."""
        return max(self.rest + float(delta[self.row]) - pushed, LEAST_VOLUME * self.rest)


def chambers(robot: Robot) -> list[Chamber]:
    """Those of a robot."""
    first, bundle, out = robot.row_z.start, robot.bundle, []
    for k in bundle.lined:
        acting: Any = bundle.interactions[k]
        own, rest = bundle.own_internal[k], acting.rest_volume + acting.line.dead
        where = slice(first + own.start, first + own.stop)
        out.append(Chamber(int(bundle.row_start[k]), acting.line, rest, where))
    return out


# In statics


def opened(robot: Robot, laws: Conditions) -> Conditions:
    """The laws of statics with chambers settled that something is open to: their pressure is given then."""
    lined = chambers(robot)
    if not lined:
        return laws
    given, effort, valve = laws.given.copy(), laws.effort.copy(), laws.valve.copy()
    for chamber in lined:
        row, line, opening = chamber.row, chamber.line, laws.valve[chamber.row]
        if opening == 0.0 or line.syringe or (np.isnan(opening) and not given[row]):
            continue
        source = float(effort[row]) if given[row] else line.source(opening)
        opening = 1.0 if given[row] else opening
        given[row], effort[row], valve[row] = True, line.settled(source, opening), np.nan
    return replace(laws, given=given, effort=effort, valve=valve)


@dataclass(frozen=True)
class Closed:
    """Chambers that are closed while loads are brought up, one entry each.

    beyond: what their pressure is more [Pa] than their gas has, since they did not begin in balance.
    """

    chambers: tuple[Chamber, ...]
    charge: tuple[Charge, ...]
    beyond: tuple[float, ...]

    @classmethod
    def of(
        cls, robot: Robot, laws: Conditions, effort: np.ndarray, delta: np.ndarray, z: np.ndarray
    ) -> Closed | None:
        """Those that the laws close, from a state with these efforts and δ; None if there are none."""
        shut = tuple(c for c in chambers(robot) if laws.valve[c.row] == 0.0)
        charge = tuple(c.charge(z) for c in shut)
        gauge = [
            c.line.gauge(c.volume(delta, was.pushed), was.content)[0]
            for c, was in zip(shut, charge, strict=True)
        ]
        beyond = tuple(float(effort[c.row]) - g for c, g in zip(shut, gauge, strict=True))
        return cls(shut, charge, beyond) if shut else None

    def at(self, s: float, imposed: np.ndarray) -> Closed:
        """At a share s of the loads, their syringes pushed in as is imposed there (m,)."""
        pairs = [(was, float(imposed[c.row])) for c, was in zip(self.chambers, self.charge, strict=True)]
        pushed = tuple(was if np.isnan(new) else was._replace(pushed=new) for was, new in pairs)
        return replace(self, charge=pushed, beyond=tuple((1.0 - s) * b for b in self.beyond))

    def laws(self, laws: Conditions, delta: np.ndarray) -> Conditions:
        """The laws with the springs that the gas is at δ (m,)."""
        imposed, compliance = laws.imposed.copy(), laws.compliance.copy()
        for c, charge, beyond in zip(self.chambers, self.charge, self.beyond, strict=True):
            g, slope = c.line.gauge(c.volume(delta, charge.pushed), charge.content)
            imposed[c.row], compliance[c.row] = delta[c.row] - (g + beyond) / slope, -1.0 / slope
        return replace(laws, imposed=imposed, compliance=compliance, valve=np.full_like(laws.valve, np.nan))

    def energy(self, laws: Conditions, delta: np.ndarray) -> float:
        """Energy of the gas [J] beyond that of the springs which it is in `laws`."""
        total = 0.0
        for c, charge, beyond in zip(self.chambers, self.charge, self.beyond, strict=True):
            spring = (delta[c.row] - laws.imposed[c.row]) ** 2 / (2.0 * laws.compliance[c.row])
            volume = c.volume(delta, charge.pushed)
            total += c.line.fluid.energy(volume, charge.content) - beyond * float(delta[c.row]) - spring
        return total


def settled(robot: Robot, laws: Conditions, z: np.ndarray, lam: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Internal variables in an equilibrium with efforts and δ (m,): what chambers then contain.

    A closed one contains what it did; one at a given pressure, or held at a volume, what belongs to that.
    """
    lined = chambers(robot)
    if not lined:
        return z
    z = np.array(z)
    for c in lined:
        z[c.where] = _held(c, c.charge(z), laws.valve[c.row] == 0.0, float(lam[c.row]), delta)
    return z


def _held(c: Chamber, charge: Charge, closed: bool, gauge: float, delta: np.ndarray) -> Charge:
    """What is remembered of a chamber at a pressure [Pa] and δ: its gas, if closed, or what that takes."""
    if c.line.syringe:
        pushed = c.line.pushed(gauge, c.volume(delta, 0.0), charge.content)
        return charge._replace(pushed=pushed, sensed=gauge)
    if closed:
        return charge._replace(sensed=gauge)
    return c.line.charge(gauge, c.volume(delta, charge.pushed), charge.pushed)


# In time


def flowing(
    robot: Robot,
    laws: Conditions,
    z: np.ndarray,
    begun: np.ndarray,
    delta: np.ndarray,
    time: float,
) -> Conditions:
    """The laws of a step in time [s], with the springs that chambers are at δ; it began at δ `begun` (m,)."""
    lined = chambers(robot)
    if not lined:
        return laws
    given, effort = laws.given.copy(), laws.effort.copy()
    imposed, compliance = laws.imposed.copy(), laws.compliance.copy()
    for c in lined:
        charge = c.charge(z)
        asked = _asked(c, laws, charge)
        if asked is None:
            continue
        source, opening, pushed = asked
        if source is not None and c.line.way(opening) is None:
            given[c.row], effort[c.row] = True, _after(c, charge, begun, delta, time, *asked).source
            continue
        volume = c.volume(delta, pushed)
        g = c.line.gauge(volume, _after(c, charge, begun, delta, time, *asked).content)[0]
        step = np.zeros_like(delta)
        step[c.row] = SMALL * volume
        there = c.line.gauge(
            volume + step[c.row], _after(c, charge, begun, delta + step, time, *asked).content
        )[0]
        slope = min((there - g) / step[c.row], -SMALL * SMALL * REFERENCE / volume)
        given[c.row] = False
        imposed[c.row], compliance[c.row] = delta[c.row] - g / slope, -1.0 / slope
    valve = np.full_like(laws.valve, np.nan)
    return replace(laws, given=given, effort=effort, imposed=imposed, compliance=compliance, valve=valve)


def flowed(
    robot: Robot,
    laws: Conditions,
    z: np.ndarray,
    begun: np.ndarray,
    end: np.ndarray,
    lam: np.ndarray,
    time: float,
) -> np.ndarray:
    """Internal variables after a step in time [s] from δ `begun` to δ `end` (m,) with efforts λ."""
    lined = chambers(robot)
    if not lined:
        return z
    z = np.array(z)
    for c in lined:
        charge = c.charge(z)
        asked = _asked(c, laws, charge)
        if asked is None:  # pressure or volume of the chamber itself was imposed, by whatever that took
            z[c.where] = _held(c, charge, False, float(lam[c.row]), end)
        else:
            z[c.where] = _after(c, charge, begun, end, time, *asked)
    return z


def _asked(c: Chamber, laws: Conditions, charge: Charge) -> tuple[float | None, float, float] | None:
    """Source [Pa] or None, opening, volume pushed in, as laws ask; None if they ask of the chamber itself."""
    opening, imposed = float(laws.valve[c.row]), float(laws.imposed[c.row])
    if np.isnan(opening):
        own = c.line.syringe or not laws.given[c.row]
        return None if own else (float(laws.effort[c.row]), 1.0, charge.pushed)
    pushed = charge.pushed if np.isnan(imposed) else imposed
    return (None if opening == 0.0 else c.line.source(opening)), opening, pushed


def _after(
    c: Chamber,
    charge: Charge,
    begun: np.ndarray,
    delta: np.ndarray,
    time: float,
    source: float | None,
    opening: float,
    pushed: float,
) -> Charge:
    volumes = c.volume(begun, charge.pushed), c.volume(delta, pushed)
    after = c.line.after(charge, volumes, time, source=source, opening=opening)
    return after._replace(pushed=pushed)
