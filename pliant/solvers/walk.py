"""Along the step of a descent until a bound, a limit or a contact border stops it."""

from __future__ import annotations

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, native, row
from pliant.solvers.rows import add, largest
from pliant.solvers.tableau import (
    DHI,
    DLO,
    HELD,
    HI,
    HOLDING,
    HOLDS,
    LEFT,
    LEVEL,
    LO,
    NA,
    NC,
    NE,
    PUSH,
    RIGHT,
    SIDE,
    SIGN,
    SLOPE,
    STOP,
    STUCK,
    TALLY,
    VALUE,
    WEIGHT,
    D,
    M,
    X,
)

FREELY, BOUND, LIMIT, BORDER = range(4)  # what stops a step


@native(NOTHING, REALS, INTEGERS, INTEGER, REAL, REAL)
def hold(z, j, r, level, sign):
    """Hold a row, if there is room."""
    n = j[HOLDS]
    if n < 2 * j[NA] + 2:
        row(j, j, HELD)[n] = r
        row(j, j, HOLDING)[r] = 1
        row(z, j, LEVEL)[n] = level
        row(z, j, SIGN)[n] = sign
        row(z, j, PUSH)[n] = 0.0
        j[HOLDS] = n + 1


@native(REAL, REALS, INTEGERS, REAL)
def walk(z, j, reach):
    """Go along d until something stops it; returns the step. STOP becomes what did, times m, plus its index."""
    na, nc, m = j[NA], j[NC], j[M]
    last, step, kind, index = nc + j[NE], reach, FREELY, 0
    value, slope, x, d = row(z, j, VALUE), row(z, j, SLOPE), row(z, j, X), row(z, j, D)
    still, holding = 1e-12 * largest(d, na), row(j, j, HOLDING)
    for i in range(nc):
        room = max(value[i], 0.0)
        if slope[i] < -still and room < -step * slope[i] and holding[i] == 0:
            kind, index, step = BORDER, i, room / -slope[i]
    for i in range(na):
        rate, r = slope[last + i], last + i
        if d[i] != 0.0:
            room = max((row(z, j, LO if d[i] < 0.0 else HI)[i] - x[i]) / d[i], 0.0)
            if room < step:
                kind, index, step = BOUND, i, room
        if abs(rate) > still and holding[r] == 0 and row(z, j, WEIGHT)[r] == 0.0:
            room = max((row(z, j, DLO if rate < 0.0 else DHI)[i] - value[r]) / rate, 0.0)
            if room < step:  # unless wanted: a violated limit stops nothing
                kind, index, step = LIMIT, i, room
    add(x, step, d, na)
    add(value, step, slope, m)
    j[STOP] = kind * m + index
    return step


@native(INTEGER, REALS, INTEGERS, REAL)
def arrive(z, j, step):
    """Sit down where the walk ended: hold a limit that stopped it; returns the contact whose border did, or −1."""
    kind, i = j[STOP] // j[M], j[STOP] % j[M]
    x, d, tally, last = row(z, j, X), row(z, j, D), row(j, j, TALLY), j[NC] + j[NE]
    length, extent = 0.0, 1e-300
    for a in range(j[NA]):
        length = max(length, step * abs(d[a]))
        extent = max(extent, abs(x[a]), row(z, j, RIGHT)[a] - row(z, j, LEFT)[a])
    j[STUCK] += 1
    if length > 1e-12 * extent:
        j[STUCK] = 0
        for r in range(j[NC]):
            tally[r] = 0
    rising = (d[i] if kind == BOUND else row(z, j, SLOPE)[last + i if kind == LIMIT else i]) > 0.0
    if kind == BOUND:
        row(j, j, SIDE)[i] = 1 if rising else -1
        x[i] = row(z, j, HI if rising else LO)[i]
    elif kind == LIMIT:
        hold(z, j, last + i, row(z, j, DHI if rising else DLO)[i], -1.0 if rising else 1.0)
    elif kind == BORDER:
        row(z, j, VALUE)[i] = 0.0
        tally[i] += 1
        return i
    return -1
