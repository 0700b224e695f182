"""Multipliers at a point where no step helps: what to let go of, and which border to cross."""

from __future__ import annotations

import numpy as np

from pliant.solvers.cholesky_update import solve
from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, native, row
from pliant.solvers.rows import copy, dot, fill
from pliant.solvers.tableau import (
    CONTACTS,
    COUNT,
    FACTOR,
    FROM,
    HELD,
    HI,
    HOLDING,
    HOLDS,
    KAPPA,
    LEVEL,
    LO,
    MEMBERS,
    NA,
    NC,
    NE,
    NU,
    PLACE,
    PUSH,
    RESPONSE,
    SIDE,
    SIGN,
    SIT,
    SOLVED,
    TARGET,
    TO,
    VALUE,
    WEIGHT,
    WIDTH,
    M,
    S,
)

LET_GO, STAY = -1, -2  # what `release` did, where it does not name a border


@native(NOTHING, REALS, INTEGERS)
def contact_multipliers(z, j):
    """ν of the gaps and κ of the contact efforts, from the multipliers of the held rows.

    ∂cost/∂λ_c = W_acᵀμ + W_cc ν + κ, with ν zero at open contacts and κ at pushing ones, but for held borders.
    """
    nc, m, C = j[NC], j[M], j[CONTACTS]
    price, value, target = row(z, j, RESPONSE), row(z, j, VALUE), row(z, j, TARGET)
    kappa, solved, members, place = row(z, j, KAPPA), row(z, j, SOLVED), row(j, j, MEMBERS), row(j, j, PLACE)
    fill(price, 0.0, m)
    for r in range(j[FROM], j[TO]):
        price[r] = 2.0 * row(z, j, WEIGHT)[r] * (value[r] - target[r])
    fill(kappa, 0.0, nc)
    for n in range(j[HOLDS]):
        r, push = row(j, j, HELD)[n], row(z, j, PUSH)[n]
        if r < nc and place[r] >= 0:
            kappa[r] = push
        else:
            price[r] -= push
    for a in range(j[COUNT]):
        solved[a] = dot(row(z, j, C + members[a]), price, m) - kappa[members[a]]
    solve(row(z, j, j[FACTOR]), j[WIDTH], j[COUNT], solved)
    for a in range(j[COUNT]):
        price[members[a]] = -solved[a]
    for i in range(nc):
        if place[i] < 0:
            kappa[i] = dot(row(z, j, C + i), price, m)
    copy(row(z, j, NU), -1.0, price, nc)


@native(INTEGER, REALS, INTEGERS, REAL, INTEGER)
def release(z, j, wrong, stuck):
    """Let go of the bound or row whose multiplier is most wrong, or name the border beyond which the cost falls.

    Where steps have no length any more, the first that is wrong goes instead (Bland's rule: no endless round).
    """
    na, nc = j[NA], j[NC]
    side, held = row(j, j, SIDE), row(j, j, HELD)
    worst, bound, position = -wrong, np.int64(-1), np.int64(-1)
    border, first = np.int64(STAY), 2 * na + nc
    for n in range(j[HOLDS]):
        r, norm, other = held[n], 0.0, 0.0
        for i in range(na):
            norm = max(norm, abs(row(z, j, S + i)[r]))
        force, order = row(z, j, SIGN)[n] * row(z, j, PUSH)[n] * norm, r
        if r >= nc:
            order = nc + 2 * (r - nc - j[NE]) + 1
        else:
            other = row(z, j, NU if row(j, j, PLACE)[r] >= 0 else KAPPA)[r] * norm
        least = min(force, other)
        if least < -wrong and (order < first if stuck else least < worst):
            worst, position, first = least, n, order
            border = r if other < force else np.int64(LET_GO)
    for i in range(na):
        force, order = -side[i] * row(z, j, SIT)[i], nc + 2 * i
        if (
            force < -wrong
            and row(z, j, LO)[i] < row(z, j, HI)[i]
            and (order < first if stuck else force < worst)
        ):
            worst, bound, first = force, i, order
            border = np.int64(LET_GO)
    if bound >= 0:
        side[bound] = 0
    elif position >= 0:
        row(j, j, HOLDING)[held[position]] = 0
        j[HOLDS] -= 1
        for n in range(position, j[HOLDS]):
            held[n] = held[n + 1]
            row(z, j, LEVEL)[n] = row(z, j, LEVEL)[n + 1]
            row(z, j, SIGN)[n] = row(z, j, SIGN)[n + 1]
    return border
