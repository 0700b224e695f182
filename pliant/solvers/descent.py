"""Descent over the actuator efforts: a Newton step per piece, across contact borders while the cost falls.

Inside a piece this is a primal active-set method for a quadratic program. At a border the contact changes sides if
the cost keeps falling beyond it; otherwise the border is held like a limit. Where nothing on this side of the held
borders helps, the multipliers of the complementarity problem (ν of gaps, κ of contact efforts) tell whether the
other side does: the point is a local minimum when both are non-negative at every held border (strong stationarity).
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.multipliers import STAY, contact_multipliers, release
from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, native, row
from pliant.solvers.newton import gradient, hessian, newton_step
from pliant.solvers.pieces import cross, respond
from pliant.solvers.rows import add, dot, largest
from pliant.solvers.tableau import (
    FROM,
    HI,
    HOLDING,
    HOLDS,
    ITERATIONS,
    LO,
    MOST_MOVES,
    MOVES,
    NA,
    NC,
    PLACE,
    RESPONSE,
    SIDE,
    SLOPE,
    STOP,
    STUCK,
    TALLY,
    TARGET,
    TO,
    TRAIL,
    VALUE,
    WEIGHT,
    D,
    G,
    M,
    S,
    X,
)
from pliant.solvers.walk import arrive, hold, walk

STILL = 1e-13  # a slope below this share of its terms is rounding …
WRONG = 1e-9  # … and so is a multiplier of the wrong sign …
RESOLVED = 1e-3  # … where residuals count at least as this share of what they were at first
CROSSINGS = 3  # of one border without progress; then it is held

MINIMUM, UNFINISHED = 0, 1
MET, BACK, BEYOND = range(3)  # why a border is dealt with


@native(REAL, REALS, INTEGERS)
def begin(z, j):
    """Nothing is held yet; returns the least size of a residual."""
    floor, tally, holding = 0.0, row(j, j, TALLY), row(j, j, HOLDING)
    fixed, target = row(z, j, S + 2 * j[NA]), row(z, j, TARGET)
    j[HOLDS] = 0
    j[STUCK] = 0
    for r in range(j[M]):
        tally[r] = 0
        holding[r] = 0
    for r in range(j[FROM], j[TO]):
        floor = max(floor, row(z, j, WEIGHT)[r] * max(abs(fixed[r]), abs(target[r])))
    return RESOLVED * floor


@native(NOTHING, REALS, INTEGERS)
def sit_down(z, j):
    """Hold the effort bounds that the gradient pushes against."""
    x, lo, hi = row(z, j, X), row(z, j, LO), row(z, j, HI)
    g, side = row(z, j, G), row(j, j, SIDE)
    for i in range(j[NA]):
        side[i] = 0
        if lo[i] == hi[i] or (x[i] <= lo[i] and g[i] > 0.0):
            side[i] = -1
        elif x[i] >= hi[i] and g[i] < 0.0:
            side[i] = 1


@native(REAL, REALS, INTEGERS, INTEGER)
def bend(z, j, Q):
    """Curvature of the cost along d."""
    total, d, slope = 0.0, row(z, j, D), row(z, j, SLOPE)
    for i in range(j[NA]):
        total += d[i] * dot(row(z, j, Q + i), d, j[NA])
    for r in range(j[FROM], j[TO]):
        total += row(z, j, WEIGHT)[r] * slope[r] * slope[r]
    return 2.0 * total


@native(REAL, REALS, INTEGERS, INTEGER, INTEGER, REAL)
def change_sides(z, j, border, why, falling):
    """Cross a border where the cost falls beyond it, else hold it; returns how fast it falls there, 0 if held.

    `falling` is how fast the cost fell before the border.
    """
    pivot, value, target = 0.0, row(z, j, VALUE), row(z, j, TARGET)
    if why != MET or row(j, j, TALLY)[border] <= CROSSINGS:
        pivot = respond(z, j, border)
    beyond, slope, response = 1.0, row(z, j, SLOPE), row(z, j, RESPONSE)
    if why == MET and j[HOLDS] == 0 and pivot > 0.0:
        # there g changes by 2 c (u·residual) with c = −S_i / pivot: no need to cross to know
        pull = 0.0
        for r in range(j[FROM], j[TO]):
            pull += row(z, j, WEIGHT)[r] * response[r] * (value[r] - target[r])
        turn = -slope[border] / pivot
        beyond = falling - 2.0 * turn * pull
        if not beyond > 1e-10 * falling:
            pivot = 0.0
        add(slope, turn, response, j[M])
        slope[border] = turn
    if pivot > 0.0:
        cross(z, j, border, pivot)
        if j[MOVES] < j[NC] + MOST_MOVES:
            row(j, j, TRAIL)[j[MOVES]] = border + 1 if row(j, j, PLACE)[border] >= 0 else -border - 1
            j[MOVES] += 1
    if pivot == 0.0 or why == BACK:
        hold(z, j, border, 0.0, 1.0)
        beyond = 0.0
    return beyond


@native(INTEGER, REALS, INTEGERS, INTEGER, INTEGER)
def descend(z, j, Q, limit):
    """Move to a local minimum of the cost with the effort terms of block Q; returns the status."""
    na, d = j[NA], row(z, j, D)
    fresh, bent, trial = True, True, np.int64(-1)
    size, falling, floor = 0.0, 0.0, begin(z, j)
    for iteration in range(limit):
        j[ITERATIONS] += 1
        reach = 1.0
        if fresh:
            size = gradient(z, j, Q, floor)
            if bent:
                hessian(z, j, Q)
            if iteration == 0:
                sit_down(z, j)
            newton_step(z, j)
            falling, bent = -dot(row(z, j, G), d, na), False
        else:
            reach = falling / max(bend(z, j, Q), 1e-300)
        moving = falling > STILL * size * largest(d, na)
        border, why, free = np.int64(-1), MET, True
        if trial >= 0 and not (moving and row(z, j, SLOPE)[trial] > 0.0):
            border, why = trial, BACK
        elif moving:
            step = walk(z, j, reach)
            border, free = arrive(z, j, step), j[STOP] < j[M]
            falling *= 1.0 - step / reach
        if border < 0 and free and (fresh or not moving):  # here the multipliers are those of this point
            if j[HOLDS] > 0:
                contact_multipliers(z, j)
            border, why = release(z, j, WRONG * size, j[STUCK] > 2 * na + 4), BEYOND
            if border == STAY:
                return MINIMUM
            j[STUCK] += 1
        fresh, trial = True, np.int64(-1)
        if border >= 0:
            alone, bent = j[HOLDS] == 0, True
            falling = change_sides(z, j, border, why, falling)
            if why == MET and falling > 0.0:
                # held rows bend at the border, so only the next step shows whether crossing it was right
                fresh, trial = not alone, trial if alone else border
        if j[STUCK] > 10 * na + 40:
            break
    return UNFINISHED
