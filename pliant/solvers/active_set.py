"""Active-set method for convex box problems: lo ≤ x ≤ hi, w = S x + q, w = 0 inside, w ≥ 0 at lo, w ≤ 0 at hi.

Equivalently min ½ xᵀSx + qᵀx in the box, S positive semi-definite. Lawson and Hanson's method with bounds on both
sides: rows enter one by one where w is most wrong, a row leaves when it blocks the way to the minimum over the rows
inside. The Cholesky factor of the inside rows is updated, never recomputed. A row that depends on the inside ones
cannot enter: the objective is linear along a null direction then, which is followed until some row blocks it and the
two change places.

The rows of `v`: the problem, the efforts X, the UNIT of every row (√ of its diagonal), BASE = w without the inside
rows, w, the SOLUTION of the inside rows, LEAST pivots. Integers `j`: single ones, then MEMBERS (the rows inside), PLACE and BARRED of every row. `s` and `u` are S and
the factor; the rows of all of them are equally long.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.solvers.cholesky_update import append, remove, solve
from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, link, native, pointer, row
from pliant.solvers.rows import add, copy
from pliant.solvers.solution import Reals

Q, LO, HI, X, UNIT, BASE, W, SOLUTION, LEAST, VECTORS = range(10)
SINGLE, MEMBERS, PLACE, BARRED, LISTS = range(5)
WIDTH, SIZE, COUNT, BLOCKING, STEPS, SINGLES = range(6)
AT_LO, AT_HI, INSIDE = 0, 1, 2
SOLVED, INFEASIBLE, STALLED = 0, 1, 2
DEPENDENT = 1e-12  # pivots below this share of the diagonal are rounding …
ROUNDING = 1e-13  # … and so are those below this share of the diagonal before free rows were eliminated
EPSILON = 1e-15  # what rounding leaves of w, relative to the efforts


@native(NOTHING, REALS, REALS, INTEGERS, INTEGER, INTEGER)
def rest(s, v, j, i, high):
    """Put row i on a bound and its part in the base."""
    x = row(v, j, HI if high else LO)[i]
    row(v, j, X)[i] = x
    row(j, j, PLACE)[i] = AT_HI if high else AT_LO
    if x != 0.0:
        add(row(v, j, BASE), x, row(s, j, i), j[SIZE])


@native(INTEGER, REALS, REALS, REALS, INTEGERS, INTEGER)
def enter(s, u, v, j, i):
    """Take row i off its bound, its part from the base; 0, and no change, if it depends on the rows inside."""
    wide, x = j[WIDTH], row(v, j, X)[i]
    if append(u, wide, s, wide, row(j, j, MEMBERS), j[COUNT], i, row(v, j, LEAST)[i]) == 0.0:
        return 0
    j[COUNT] += 1
    row(j, j, PLACE)[i] = INSIDE
    if x != 0.0:
        add(row(v, j, BASE), -x, row(s, j, i), j[SIZE])
    return 1


@native(NOTHING, REALS, REALS, REALS, INTEGERS, INTEGER, INTEGER)
def leave(s, u, v, j, position, high):
    """Put the inside row at a position on a bound."""
    i = row(j, j, MEMBERS)[position]
    remove(u, j[WIDTH], row(j, j, MEMBERS), j[COUNT], position)
    j[COUNT] -= 1
    rest(s, v, j, i, high)


@native(NOTHING, REALS, REALS, REALS, INTEGERS)
def begin(s, u, v, j):
    """Rows strictly between their bounds go inside, if independent, the others to the nearer bound."""
    n, x, lo, hi = j[SIZE], row(v, j, X), row(v, j, LO), row(v, j, HI)
    copy(row(v, j, BASE), 1.0, row(v, j, Q), n)
    j[COUNT] = 0
    for i in range(n):
        row(v, j, LEAST)[i] = max(
            DEPENDENT * row(s, j, i)[i], ROUNDING * row(v, j, UNIT)[i] * row(v, j, UNIT)[i]
        )
        row(j, j, BARRED)[i] = 0
        within, high = x[i] > lo[i] and x[i] < hi[i], x[i] - lo[i] > hi[i] - x[i]
        if within:
            x[i] = 0.0  # nothing of it is in the base
        if not within or enter(s, u, v, j, i) == 0:
            rest(s, v, j, i, high)


@native(NOTHING, REALS, REALS, INTEGERS)
def minimise(u, v, j):
    """SOLUTION ← the minimum over the rows inside."""
    members = row(j, j, MEMBERS)
    z, base = row(v, j, SOLUTION), row(v, j, BASE)
    for a in range(j[COUNT]):
        z[a] = -base[members[a]]
    solve(u, j[WIDTH], j[COUNT], z)


@native(INTEGER, REALS, INTEGERS, INTEGER)
def outside(v, j, a):
    """−1 or 1 if the minimum is below or above the bounds of the row at a position, else 0."""
    z, i = row(v, j, SOLUTION)[a], row(j, j, MEMBERS)[a]
    return (1 if z > row(v, j, HI)[i] else 0) - (1 if z < row(v, j, LO)[i] else 0)


@native(INTEGER, REALS, REALS, INTEGERS, REAL)
def most_wrong(s, v, j, tol):
    """The row on a bound with the largest scaled w of the wrong sign; −1 if none exceeds the tolerance."""
    n, x, w = j[SIZE], row(v, j, X), row(v, j, W)
    copy(w, 1.0, row(v, j, BASE), n)
    for a in range(j[COUNT]):
        i = row(j, j, MEMBERS)[a]
        add(w, x[i], row(s, j, i), n)
    worst, chosen, data, effort = 0.0, np.int64(-1), 0.0, 0.0
    for i in range(n):
        unit, place = row(v, j, UNIT)[i], row(j, j, PLACE)[i]
        data, effort = max(data, abs(row(v, j, Q)[i]) / unit), max(effort, abs(x[i]) * unit)
        if place != INSIDE and row(v, j, LO)[i] < row(v, j, HI)[i] and row(j, j, BARRED)[i] == 0:
            wrong = (-w[i] if place == AT_LO else w[i]) / unit
            if wrong > worst:
                worst, chosen = wrong, i
    return chosen if worst > max(tol * data, EPSILON * effort) else -1


@native(NOTHING, REALS, INTEGERS)
def forgive(v, j):
    """No row is barred any more."""
    for i in range(j[SIZE]):
        row(j, j, BARRED)[i] = 0


@native(REAL, REALS, INTEGERS)
def first_block(v, j):
    """How far the way from X to SOLUTION is free; BLOCKING is the position of the row that ends it, −1 if none."""
    x, z, lo, hi, members = (
        row(v, j, X),
        row(v, j, SOLUTION),
        row(v, j, LO),
        row(v, j, HI),
        row(j, j, MEMBERS),
    )
    blocking, step = np.int64(-1), 1.0
    for a in range(j[COUNT]):
        i = members[a]
        if z[a] < lo[i] or z[a] > hi[i]:
            length = ((lo[i] if z[a] < lo[i] else hi[i]) - x[i]) / (z[a] - x[i])
            if blocking < 0 or length < step:
                blocking, step = a, max(length, 0.0)
    j[BLOCKING] = blocking
    return step


@native(INTEGER, REALS, REALS, REALS, INTEGERS, INTEGER)
def swap(s, u, v, j, i):
    """Row i depends on the inside rows: move along the null direction until a row blocks, which i replaces.

    Infeasible if nothing blocks, for then the objective falls forever.
    """
    lo, hi, x, z, members = (
        row(v, j, LO),
        row(v, j, HI),
        row(v, j, X),
        row(v, j, SOLUTION),
        row(j, j, MEMBERS),
    )
    sign, step, blocking = 1.0 if row(j, j, PLACE)[i] == AT_LO else -1.0, hi[i] - lo[i], np.int64(-1)
    for a in range(j[COUNT]):
        z[a] = -sign * row(s, j, i)[members[a]]
    solve(u, j[WIDTH], j[COUNT], z)
    for a in range(j[COUNT]):
        k = members[a]
        if abs(z[a]) * row(v, j, UNIT)[k] > 1e-9 * row(v, j, UNIT)[i]:
            length = max(((lo[k] if z[a] < 0.0 else hi[k]) - x[k]) / z[a], 0.0)
            if length < step:
                blocking, step = a, length
    if step == np.inf:
        return INFEASIBLE
    if step > 0.0:
        forgive(v, j)
    for a in range(j[COUNT]):
        x[members[a]] += step * z[a]
    if blocking < 0:
        add(row(v, j, BASE), -x[i], row(s, j, i), j[SIZE])
        rest(s, v, j, i, sign > 0.0)
        return SOLVED
    leave(s, u, v, j, blocking, z[blocking] > 0.0)
    if enter(s, u, v, j, i) == 0:
        return STALLED
    x[i] += sign * step
    return SOLVED


@native(INTEGER, REALS, REALS, REALS, INTEGERS, REAL, INTEGER)
def iterate(s, u, v, j, tol, limit):
    """From the rows that are inside now to the solution; returns the status."""
    x, z, members = row(v, j, X), row(v, j, SOLUTION), row(j, j, MEMBERS)
    guessing, newest = True, np.int64(-1)
    for taken in range(limit):
        j[STEPS] = taken + 1
        minimise(u, v, j)
        step = first_block(v, j)
        blocking = j[BLOCKING]
        if (
            blocking >= 0 and guessing
        ):  # while the rows inside are only a guess, all that leave their box go at once
            for a in range(j[COUNT] - 1, -1, -1):
                if outside(v, j, a) != 0:
                    leave(s, u, v, j, a, outside(v, j, a) > 0)
            continue
        guessing = False
        for a in range(j[COUNT]):
            x[members[a]] = z[a] if step == 1.0 else x[members[a]] + step * (z[a] - x[members[a]])
        if blocking >= 0:
            if step > 0.0:
                forgive(v, j)
            elif members[blocking] == newest:
                row(j, j, BARRED)[newest] = 1  # only rounding let it in; it may try again after progress
            leave(s, u, v, j, blocking, outside(v, j, blocking) > 0)
            continue
        newest = most_wrong(s, v, j, tol)
        if newest < 0:
            return SOLVED
        if enter(s, u, v, j, newest) == 0:
            status = swap(s, u, v, j, newest)
            if status != SOLVED:
                return status
    return STALLED


@njit(cache=True, error_model="numpy")
def _solve(S, U, V, J, tol, limit):
    s, u, v, j = pointer(S), pointer(U), pointer(V), pointer(J)
    begin(s, u, v, j)
    return iterate(s, u, v, j, tol, limit)


def solve_box(
    S: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, reference: Reals, tol: float, limit: int
) -> tuple[int, int]:
    """Solve in place from the guess x, whose rows strictly between their bounds start inside.

    `reference` (n,) is the diagonal of S before any elimination: it scales the tolerances. Every row needs a
    finite bound. Returns (status, iterations).
    """
    n, wide = len(q), max(len(q), SINGLES)
    link(_solve.py_func)
    V, J = np.empty((VECTORS, wide)), np.empty((LISTS, wide), np.int64)
    V[Q, :n], V[LO, :n], V[HI, :n], V[X, :n], V[UNIT, :n] = q, lo, hi, x, np.sqrt(reference)
    J[SINGLE, : SIZE + 1] = wide, n
    if n < wide:
        S, narrow = np.zeros((n, wide)), S
        S[:, :n] = narrow
    status = _solve(S, np.empty((n, wide)), V, J, tol, limit)
    x[:] = V[X, :n]
    return status, int(J[SINGLE, STEPS])
