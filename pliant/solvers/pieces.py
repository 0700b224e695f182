"""Contact modes: on a piece of the actuators' space the same contacts push, and every row is affine in the efforts.

The *members* F of a piece are the contacts that push. Eliminating them leaves sensitivities S = ∂value/∂x, where the
value of a member is its effort and that of any other row its own. At the border of two pieces the value of one
contact is zero: the contact changes sides, all values stay as they are, and S changes by a matrix of rank one. The
Cholesky factor of W_FF is updated, never recomputed. z and j are the arrays of `tableau`.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.cholesky_update import append, remove, solve, substitute
from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, native, row
from pliant.solvers.native import inner as inner  # the solvers with friction look for it here
from pliant.solvers.rows import add, copy, fill, largest
from pliant.solvers.tableau import (
    CONTACTS,
    COUNT,
    FACTOR,
    MEMBERS,
    NA,
    NC,
    OPEN,
    PLACE,
    RESPONSE,
    SOLVED,
    VALUE,
    WIDTH,
    M,
    S,
    X,
)

LEAST = 1e-14  # smallest pivot
FRAGILE = 1e-5  # pivots below this let rounding into S, which is then computed afresh
TOUCH = 1e-13  # gaps above minus this, relative to the largest, count as closed


@native(NOTHING, REALS, INTEGERS, REALS)
def combine(z, j, to):
    """Row `to` ← its values with the members' efforts SOLVED: members get their effort, others what it adds."""
    solved, members = row(z, j, SOLVED), row(j, j, MEMBERS)
    for a in range(j[COUNT]):
        add(to, solved[a], row(z, j, j[CONTACTS] + members[a]), j[M])
    for a in range(j[COUNT]):
        to[members[a]] = solved[a]


@native(NOTHING, REALS, INTEGERS, REALS)
def close(z, j, to):
    """SOLVED ← the efforts of the members that close their gaps, which are `to` when all contacts are open."""
    solved, members = row(z, j, SOLVED), row(j, j, MEMBERS)
    for a in range(j[COUNT]):
        solved[a] = -to[members[a]]
    solve(row(z, j, j[FACTOR]), j[WIDTH], j[COUNT], solved)


@native(INTEGER, REALS, INTEGERS, INTEGER)
def join(z, j, i):
    """Contact i pushes from now on; 0 if its gap depends on those of the members."""
    width, k = j[WIDTH], j[COUNT]
    factor, own = row(z, j, j[FACTOR]), row(z, j, j[CONTACTS])
    if append(factor, width, own, width, row(j, j, MEMBERS), k, i, LEAST) == 0.0:
        return 0
    row(j, j, PLACE)[i] = k
    j[COUNT] = k + 1
    return 1


@native(NOTHING, REALS, INTEGERS, INTEGER)
def quit(z, j, position):
    """The member at a position opens."""
    members, place = row(j, j, MEMBERS), row(j, j, PLACE)
    place[members[position]] = -1
    remove(row(z, j, j[FACTOR]), j[WIDTH], members, j[COUNT], position)
    j[COUNT] -= 1
    for a in range(position, j[COUNT]):
        place[members[a]] = a


@native(NOTHING, REALS, INTEGERS)
def settle(z, j):
    """Contact efforts for the actuator efforts X: 0 ≤ λ ⊥ gap ≥ 0, starting from the present members.

    Lawson and Hanson's method: the most closed gap joins; who would pull on the way to the solution quits. Fills the
    values and the members; S is left as it was.
    """
    na, nc, m = j[NA], j[NC], j[M]
    value, free, place = row(z, j, VALUE), row(z, j, OPEN), row(j, j, PLACE)
    copy(free, 1.0, row(z, j, S + 2 * na), m)
    for i in range(na):
        add(free, row(z, j, X)[i], row(z, j, S + na + i), m)
    fill(value, 0.0, nc)
    touch = -TOUCH * largest(free, nc)
    for _ in range(10 * nc + 50):
        close(z, j, free)
        if advance(z, j) == 0:
            continue
        copy(value, 1.0, free, m)
        combine(z, j, value)
        worst, least = np.int64(-1), touch
        for i in range(nc):
            if value[i] < least and place[i] < 0:
                worst, least = i, value[i]
        if worst < 0 or join(z, j, worst) == 0:
            break
        value[worst] = 0.0


@native(INTEGER, REALS, INTEGERS)
def advance(z, j):
    """Members' efforts go towards SOLVED; 0 if one of them had to quit on the way."""
    value, solved, members = row(z, j, VALUE), row(z, j, SOLVED), row(j, j, MEMBERS)
    blocking, step = np.int64(-1), 1.0
    for a in range(j[COUNT]):
        effort = value[members[a]]
        if solved[a] < 0.0 and (blocking < 0 or effort < step * (effort - solved[a])):
            blocking, step = a, effort / (effort - solved[a])
    if blocking < 0:
        return 1
    for a in range(j[COUNT]):
        value[members[a]] += step * (solved[a] - value[members[a]])
    quit(z, j, blocking)
    return 0


@native(NOTHING, REALS, INTEGERS)
def sensitivities(z, j):
    """S from the factor."""
    for i in range(j[NA]):
        slopes = row(z, j, S + i)
        copy(slopes, 1.0, row(z, j, S + j[NA] + i), j[M])
        close(z, j, slopes)
        combine(z, j, slopes)


@native(REAL, REALS, INTEGERS, INTEGER)
def respond(z, j, i):
    """Response of the values when contact i changes sides, per unit of its new variable; returns the pivot.

    Entering: per unit of effort, pivot W_ii − W_iF W_FF⁻¹ W_Fi. Leaving: per unit of gap, pivot (W_FF⁻¹)_ii.
    The new variable is −value_i / pivot. A pivot of zero says that the contact cannot enter.
    """
    width, k, position = j[WIDTH], j[COUNT], row(j, j, PLACE)[i]
    response, solved, factor = row(z, j, RESPONSE), row(z, j, SOLVED), row(z, j, j[FACTOR])
    if position < 0:
        pivot = append(factor, width, row(z, j, j[CONTACTS]), width, row(j, j, MEMBERS), k, i, LEAST)
        copy(response, 1.0, row(z, j, j[CONTACTS] + i), j[M])
        copy(solved, -1.0, row(z, j, j[FACTOR] + k), k)
        substitute(factor, width, k, solved)
    else:
        fill(solved, 0.0, k)
        solved[position] = 1.0
        solve(factor, width, k, solved)
        fill(response, 0.0, j[M])
        pivot = solved[position]
    combine(z, j, response)
    return pivot


@native(NOTHING, REALS, INTEGERS, INTEGER, REAL)
def cross(z, j, i, pivot):
    """Contact i changes sides, after `respond`: S ← S + c uᵀ with c = −S_i / pivot."""
    place = row(j, j, PLACE)
    if place[i] < 0:
        place[i] = j[COUNT]
        j[COUNT] += 1
    else:
        quit(z, j, place[i])
    if pivot < FRAGILE or pivot * FRAGILE > 1.0:
        sensitivities(z, j)
    else:
        for a in range(j[NA]):
            slopes = row(z, j, S + a)
            change = -slopes[i] / pivot
            add(slopes, change, row(z, j, RESPONSE), j[M])
            slopes[i] = change
