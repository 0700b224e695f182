"""Cables with friction, over one increment of the loads: each slides one way or the other, or sticks.

A cable in the laws' conditions is at a given tension e, or its drive is at a displacement d, which with a
series stiffness 1/c asks for the tension (d − δ)/c. With m(ρ) the share of the tension that is left along the
cable on average, and δ₀ where the increment began,

    pulled in    ρ = 1         δ ≥ δ₀
    let out      ρ = −1        δ ≤ δ₀
    stuck        −1 ≤ ρ ≤ 1    δ = δ₀,    solved for x,    m(ρ) e = m(ρ₀) x

The first guess is what keeps the mean tension: m(ρ) e = m(ρ₀) e₀. Where the equilibrium contradicts a guess,
the next one is made of it (`after`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.conditions import Conditions
from pliant.robot import Robot

STUCK, PULLED, LET_OUT = 0, 1, -1
WRONG_WAY = 1e-10  # of the robot's length: a cable that slides back by more slides the other way
SAME_TENSION = 1e-10  # relative: what a stuck cable's tension and the one asked for may differ by
AT_THE_EDGE = 1e-7  # the same where it is about to slide
PRESLIDING = 1e-4  # of the robot's length: the way over which friction turns round in a step in time …
GENTLY = 1e-3  # … and in the inverse model, whose last steps to a target would else turn it to and fro
NEWTON = 30  # iterations for ρ


@dataclass(frozen=True)
class Sliding:
    """What the cables with friction do in an increment, one entry each: row, δ₀, mode and ρ.

    before: for those that stick ρ of the guess before and ln(x/e) there, else nan.
    """

    robot: Robot
    laws: Conditions
    rows: np.ndarray
    start: np.ndarray
    mode: np.ndarray
    rho: np.ndarray
    before: np.ndarray

    @classmethod
    def begun(
        cls, robot: Robot, laws: Conditions, q: np.ndarray, lam: np.ndarray, z: np.ndarray
    ) -> Sliding | None:
        """The first guess, from where the increment begins; None for a robot whose cables slide freely."""
        if not len(robot.sliding_z):
            return None
        cables, rho0 = robot.bundle.remembering(robot.bundle.positions(q)), z[robot.sliding_z]
        rows = np.array([row for row, _, _ in cables])
        start = np.array([cable.value(p)[0] for _, cable, p in cables])
        mode, rho = np.empty(len(rows), int), np.empty(len(rows))
        for k, (row, cable, p) in enumerate(cables):
            tension = _asked(laws, row, start[k])
            mean = float(lam[row]) * cable.transmitted(p, float(rho0[k]))[0]
            if tension is not None:
                mode[k], rho[k] = _guess(cable, p, tension, mean)
            else:
                way = laws.imposed[row] - start[k]
                still = abs(way) <= WRONG_WAY * robot.length
                rho[k] = rho0[k] if still and mean > 0.0 else -1.0 if way < 0.0 and mean > 0.0 else 1.0
                mode[k] = PULLED if rho[k] > 0.0 else LET_OUT
        return cls(robot, laws, rows, start, mode, rho, np.full((len(rows), 2), np.nan))

    @property
    def conditions(self) -> Conditions:
        """The laws, with cables that stick where they are."""
        c, stuck = self.laws, self.rows[self.mode == STUCK]
        if not len(stuck):
            return c
        given, imposed, compliance = c.given.copy(), c.imposed.copy(), c.compliance.copy()
        low, high = c.low.copy(), c.high.copy()
        given[stuck], imposed[stuck], compliance[stuck] = False, self.start[self.mode == STUCK], 0.0
        low[stuck], high[stuck] = 0.0, np.inf
        return replace(c, given=given, imposed=imposed, compliance=compliance, low=low, high=high)

    def internal(self, z: np.ndarray) -> np.ndarray:
        """Internal variables of the robot with the ρ that is guessed."""
        z = np.array(z)
        z[self.robot.sliding_z] = self.rho
        return z

    def after(self, q: np.ndarray, lam: np.ndarray) -> tuple[Sliding | None, np.ndarray]:
        """The next guess from an equilibrium under this one, None if that is right; and the tensions λ."""
        mode, rho, before, lam = self.mode.copy(), self.rho.copy(), self.before.copy(), lam.copy()
        right = True
        for k, (row, cable, p) in enumerate(self.robot.bundle.remembering(self.robot.bundle.positions(q))):
            tension, x = _asked(self.laws, row, self.start[k]), float(lam[row])
            if tension is None:
                continue
            if self.mode[k] != STUCK:
                slid = self.mode[k] * (float(cable.value(p)[0]) - self.start[k])
                if x > 0.0 and slid < -WRONG_WAY * self.robot.length:
                    mode[k], right = STUCK, False
                continue
            apart, edge = abs(x - tension), abs(rho[k]) == 1.0
            lam[row] = max(tension, 0.0)
            if apart <= (AT_THE_EDGE if edge else SAME_TENSION) * tension:
                continue
            right = False
            guessed, better = _guess(cable, p, tension, x * cable.transmitted(p, float(rho[k]))[0])
            if x > 0.0 and tension > 0.0:
                here = float(rho[k]), float(np.log(x / tension))
                if guessed == STUCK:
                    better = _secant(*here, float(before[k, 0]), float(before[k, 1]), better)
                before[k] = here
            # Over the edge is over the edge only with the tensions that belong there.
            mode[k] = guessed if better == rho[k] or tension <= 0.0 else STUCK
            rho[k] = better
        return (None if right else replace(self, mode=mode, rho=rho, before=before)), lam


def in_a_step(robot: Robot, laws: Conditions, q: np.ndarray, lam: np.ndarray, z: np.ndarray) -> Conditions:
    """The laws for one step in time from here: friction holds a cable as long as it can.

    A cable at a given tension e stays where it is with any x between m(1) e/m(ρ) and m(−1) e/m(ρ).
    """
    if not len(robot.sliding_z):
        return laws
    given, imposed, compliance = laws.given.copy(), laws.imposed.copy(), laws.compliance.copy()
    low, high, rho = laws.low.copy(), laws.high.copy(), z[robot.sliding_z]
    for k, (row, cable, p) in enumerate(robot.bundle.remembering(robot.bundle.positions(q))):
        m, delta = cable.transmitted(p, float(rho[k]))[0], float(cable.value(p)[0])
        tension = _asked(laws, row, delta)
        if tension is None or tension <= 0.0:
            continue
        if laws.given[row]:
            low[row], high[row] = (tension * cable.transmitted(p, way)[0] / m for way in (1.0, -1.0))
        elif _guess(cable, p, tension, float(lam[row]) * m)[0] == STUCK:
            low[row], high[row] = 0.0, np.inf
        else:
            continue
        given[row], imposed[row], compliance[row] = False, delta, 0.0
    return replace(laws, given=given, imposed=imposed, compliance=compliance, low=low, high=high)


def after_a_step(
    robot: Robot, laws: Conditions, q: np.ndarray, end: np.ndarray, lam: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Tensions λ and internal variables after a step from q to `end` under the laws of `in_a_step`."""
    if not len(robot.sliding_z):
        return lam, z
    solved, lam, z = lam, lam.copy(), z.copy()
    known, bundle = z[robot.sliding_z], robot.bundle
    begun = bundle.remembering(bundle.positions(q))
    moved, by_way = slid(robot, z, z, solved, q, end, PRESLIDING)
    for k, (row, cable, p) in enumerate(begun):
        tension = _asked(laws, row, float(cable.value(p)[0]))
        lam[row], rho = moved[row], by_way[robot.sliding_z][k]
        if tension is not None:
            mean = float(solved[row]) * cable.transmitted(p, float(known[k]))[0]
            mode, held = _guess(cable, p, tension, mean)
            if laws.given[row] or mode == STUCK:
                lam[row], rho = tension, held
        z[robot.sliding_z[k]] = rho
    return lam, z


def slid(
    robot: Robot,
    z: np.ndarray,
    used: np.ndarray,
    lam: np.ndarray,
    q: np.ndarray,
    end: np.ndarray,
    over: float,
) -> tuple[np.ndarray, np.ndarray]:
    """λ and internal variables after a motion from q to `end` by tensions λ, with which ρ was as `used`.

    ρ turns round over a short way s, `over` times the robot's length: ρ ← ρ + (δ − δ₀)/s within [−1, 1]. The
    mean tension stays.
    """
    if not len(robot.sliding_z):
        return lam, z
    lam, z, bundle = lam.copy(), z.copy(), robot.bundle
    known, began, before = z[robot.sliding_z], used[robot.sliding_z], bundle.remembering(bundle.positions(q))
    for k, (row, cable, p) in enumerate(bundle.remembering(bundle.positions(end))):
        way = float(cable.value(p)[0] - cable.value(before[k][2])[0]) / (over * robot.length)
        mean = lam[row] * cable.transmitted(p, float(began[k]))[0]
        rho = float(np.clip(known[k] + way, -1.0, 1.0))
        z[robot.sliding_z[k]], lam[row] = rho, mean / cable.transmitted(p, rho)[0]
    return lam, z


def scaled(robot: Robot, c: Conditions, q: np.ndarray, z: np.ndarray, delta: np.ndarray) -> Conditions:
    """The same laws, with those on δ of cables with friction times m(ρ).

    What their tension acts by is less than ∂δ/∂q, m of it on average: so little does it tell of δ.
    """
    if not len(robot.sliding_z):
        return c
    imposed, compliance, rho = c.imposed.copy(), c.compliance.copy(), z[robot.sliding_z]
    for k, (row, cable, p) in enumerate(robot.bundle.remembering(robot.bundle.positions(q))):
        if not c.given[row]:
            m = cable.transmitted(p, float(rho[k]))[0]
            imposed[row] = delta[row] - m * (delta[row] - imposed[row])
            compliance[row] *= m
    return replace(c, imposed=imposed, compliance=compliance)


def _asked(laws: Conditions, row: int, delta: float) -> float | None:
    """The tension that a law asks for while δ stays; None if it imposes δ."""
    if laws.given[row]:
        return float(laws.effort[row])
    c = laws.compliance[row]
    return float((laws.imposed[row] - delta) / c) if c > 0.0 else None


def _guess(cable: Any, p: np.ndarray, tension: float, mean: float) -> tuple[int, float]:
    """What a cable at this tension does if the mean along it does not change: mode and ρ."""
    if tension <= 0.0:
        return LET_OUT, -1.0
    ratio = mean / tension
    if ratio <= cable.transmitted(p, 1.0)[0]:
        return PULLED, 1.0
    if ratio >= cable.transmitted(p, -1.0)[0]:
        return LET_OUT, -1.0
    return STUCK, direction(cable, p, ratio)


def _secant(rho: float, g: float, rho0: float, g0: float, otherwise: float) -> float:
    """Where g, which grows with ρ, vanishes by its last two values, in [−1, 1]."""
    slope = (g - g0) / (rho - rho0) if rho != rho0 else np.nan
    return float(np.clip(rho - g / slope, -1.0, 1.0)) if slope > 0.0 else otherwise


def direction(cable: Any, p: np.ndarray, share: float) -> float:
    """ρ in [−1, 1] with m(ρ) = share, or the nearest."""
    rho, goal = 0.0, np.log(max(share, 1e-300))
    for _ in range(NEWTON):
        m, slope = cable.transmitted(p, rho)
        if slope == 0.0:
            return 0.0
        before, rho = rho, float(np.clip(rho - (np.log(m) - goal) * m / slope, -1.0, 1.0))
        if abs(rho - before) < 1e-15:
            break
    return rho
