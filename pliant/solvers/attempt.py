"""One descent from one point: the contacts settle, violated bounds are repaired, and the end is looked at closely."""

from __future__ import annotations

import numpy as np

from pliant.solvers.descent import MINIMUM, descend
from pliant.solvers.native import INTEGER, INTEGERS, REAL, REALS, at, native, row
from pliant.solvers.pieces import sensitivities, settle
from pliant.solvers.rows import dot, largest
from pliant.solvers.starts import chance
from pliant.solvers.tableau import (
    BEGAN,
    COUNT,
    DHI,
    DLO,
    FROM,
    HI,
    HOLDING,
    LEFT,
    LO,
    MEMBERS,
    MOVES,
    NA,
    NC,
    NE,
    RIGHT,
    STATE,
    TARGET,
    TO,
    TRAIL,
    VALUE,
    WEIGHT,
    M,
    S,
    X,
)

REPAIRS = 8  # rounds of phase 1 …
PROXIMAL = 1e-9  # … which stay near their start by this weight, in scaled units
ALLOWED = 1e-9  # violation of displacement bounds, relative to the largest displacement
SHAKES = 2  # times that efforts are moved where contacts just touch or steps stall …
SHAKE = 1e-6  # … by up to this share of their range


@native(REAL, REALS, INTEGERS)
def violated(z, j):
    """Displacements out of bounds become wanted, their bounds targets; returns the largest violation, relative."""
    na, last, repair = j[NA], j[NC] + j[NE], S + 5 * j[NA] + 2
    x, lows, highs = row(z, j, X), row(z, j, DLO), row(z, j, DHI)
    values, worst, extent = at(row(z, j, VALUE), last), 0.0, 1e-300
    for i in range(na):
        extent = max(extent, abs(x[i]), abs(values[i]))
        if abs(lows[i]) < np.inf:
            extent = max(extent, abs(lows[i]))
        if abs(highs[i]) < np.inf:
            extent = max(extent, abs(highs[i]))
    j[FROM] = last
    j[TO] = last
    for i in range(na):
        nearest = min(max(values[i], lows[i]), highs[i])
        over = abs(values[i] - nearest) / extent
        worst = max(worst, over)
        row(z, j, TARGET)[last + i] = nearest
        row(z, j, WEIGHT)[last + i] = 1.0 if over > 1e-3 * ALLOWED else 0.0
        if over > 1e-3 * ALLOWED:
            j[TO] = last + na
        row(z, j, repair + i)[i] = PROXIMAL
        row(z, j, repair + na)[i] = PROXIMAL * x[i]
    return worst


@native(REAL, REALS, INTEGERS)
def improve(z, j):
    """Repair violated displacement bounds, then descend on the task; returns the violation that is left."""
    na, nc, last = j[NA], j[NC], j[NC] + j[NE]
    limit, violation = 100 + 10 * (na + nc), violated(z, j)
    for _ in range(REPAIRS):
        if j[TO] == last:
            break
        descend(z, j, S + 5 * na + 2, limit)
        violation = violated(z, j)
    j[FROM] = nc
    j[TO] = last
    for r in range(nc, j[M]):
        row(z, j, WEIGHT)[r] = 1.0 if r < last else 0.0
        row(z, j, TARGET)[r] = 0.0
    j[STATE] = descend(z, j, S + 4 * na + 1, limit)
    return violation


@native(INTEGER, REALS, INTEGERS)
def grazes(z, j):
    """Whether a contact neither pushes nor opens and its border is not held: then multipliers may miss a way down."""
    nc, value = j[NC], row(z, j, VALUE)
    extent = 1e-12 * max(largest(row(z, j, S + 2 * j[NA]), nc), largest(value, nc))
    found = 0
    for i in range(nc):
        if abs(value[i]) <= extent and row(j, j, HOLDING)[i] == 0:
            found = 1
    return found


@native(REAL, REALS, INTEGERS, INTEGER)
def attempt(z, j, settling):
    """One descent from X; returns the violation of bounds that is left.

    Where nothing feasible was found before (`settling`), allow the smallest violation met, and make the best of it.
    """
    na, last, violation = j[NA], j[NC] + j[NE], 0.0
    x, lows, highs = row(z, j, X), row(z, j, DLO), row(z, j, DHI)
    for again in range(SHAKES + 1):
        for i in range(na):
            if again > 0:
                x[i] += SHAKE * (row(z, j, RIGHT)[i] - row(z, j, LEFT)[i]) * (2.0 * chance(j) - 1.0)
            x[i] = min(max(x[i], row(z, j, LO)[i]), row(z, j, HI)[i])
        settle(z, j)
        sensitivities(z, j)
        j[BEGAN] = j[COUNT]
        j[MOVES] = j[COUNT]
        for a in range(j[COUNT]):
            row(j, j, TRAIL)[a] = row(j, j, MEMBERS)[a] + 1
        if settling:
            for i in range(na):
                lows[i] = min(lows[i], row(z, j, VALUE)[last + i])
                highs[i] = max(highs[i], row(z, j, VALUE)[last + i])
        violation = improve(z, j)
        if j[STATE] == MINIMUM and grazes(z, j) == 0:
            break
    return violation


@native(REAL, REALS, INTEGERS)
def cost_of(z, j):
    """Effector error and effort terms at the point, up to a constant."""
    na, x, Q = j[NA], row(z, j, X), S + 4 * j[NA] + 1
    errors = at(row(z, j, VALUE), j[NC])
    total = dot(errors, errors, j[NE]) - 2.0 * dot(row(z, j, Q + na), x, na)
    for i in range(na):
        total += x[i] * dot(row(z, j, Q + i), x, na)
    return total
