"""Active-set method for convex box problems: lo ≤ x ≤ hi, w = S x + q, w = 0 inside, w ≥ 0 at lo, w ≤ 0 at hi.

Equivalently min ½ xᵀSx + qᵀx in the box, S positive semi-definite. Lawson and Hanson's method with bounds on
both sides: rows enter one by one where w is most wrong, a row leaves when it blocks the way to the minimum over
the rows inside. The Cholesky factor of the inside rows is updated, never recomputed. A row that depends on the
inside ones cannot enter: the objective is linear along a null direction then, which is followed until some row
blocks it and the two change places.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.solvers.cholesky_update import append, remove, solve

AT_LO, AT_HI, INSIDE = 0, 1, 2
SOLVED, INFEASIBLE, STALLED = 0, 1, 2
DEPENDENT = 1e-12  # pivots below this share of the diagonal are rounding …
ROUNDING = 1e-13  # … and so are those below this share of the diagonal before free rows were eliminated

EPSILON = 1e-15  # what rounding leaves of w, relative to the efforts


@kernel
def solve_box(S, q, lo, hi, x, reference, tol, limit):
    """Solve in place from the guess x, whose rows strictly between their bounds start inside.

    `reference` (n,) is the diagonal of S before any elimination: it scales the tolerances. Every row needs a
    finite bound. Returns (status, iterations).
    """
    n = len(q)
    L, barred = np.empty((n, n)), np.empty(n, np.bool_)
    members, place = np.empty(n, np.int64), np.empty(n, np.int64)
    base, w, z, least = np.empty(n), np.empty(n), np.empty(n), np.empty(n)  # base: w without the inside rows
    k = _start(S, q, lo, hi, x, reference, L, members, place, base, barred, least)
    guessing, newest = k > 0, -1
    for iteration in range(1, limit + 1):
        for a in range(k):
            z[a] = -base[members[a]]
        solve(L, k, z)
        blocking, step = _first_block(k, members, z, x, lo, hi)
        if blocking >= 0 and guessing:
            k = _drop_outside(L, k, members, z, S, lo, hi, x, place, base)
            continue
        guessing = False
        for a in range(k):
            x[members[a]] = z[a] if step == 1.0 else x[members[a]] + step * (z[a] - x[members[a]])
        if blocking >= 0:
            j = members[blocking]
            if step > 0.0:
                _forgive(barred)
            elif j == newest:
                barred[j] = True  # only rounding let it in; it may try again after progress
            remove(L, k, members, blocking)
            k -= 1
            _rest(S, j, z[blocking] > hi[j], lo, hi, x, place, base)
            continue
        j = _most_wrong(S, q, k, members, lo, hi, reference, x, place, base, barred, w, tol)
        if j < 0:
            return SOLVED, iteration
        newest = j
        if append(L, k, S, members, j, least[j]):
            _release(S, j, x, place, base)
            k += 1
        else:
            k, status = _exchange(L, k, members, z, S, lo, hi, reference, x, place, base, barred, least, j)
            if status != SOLVED:
                return status, iteration
    return STALLED, limit


@inner
def _start(S, q, lo, hi, x, reference, L, members, place, base, barred, least):
    """Rows strictly between their bounds go inside, if independent, the others to the nearer bound."""
    for j in range(len(q)):
        base[j], place[j], barred[j] = q[j], INSIDE, False
        least[j] = max(DEPENDENT * S[j, j], ROUNDING * reference[j])
    k = np.int64(0)  # a typed zero: a literal would compile every callee twice
    for j in range(len(q)):
        if x[j] > lo[j] and x[j] < hi[j] and append(L, k, S, members, j, least[j]):
            k += 1
        else:
            _rest(S, j, x[j] - lo[j] > hi[j] - x[j], lo, hi, x, place, base)
    return k


@inner
def _forgive(barred):
    for i in range(len(barred)):
        barred[i] = False


@inner
def _rest(S, j, high, lo, hi, x, place, base):
    """Put row j on a bound and its part in the base."""
    x[j] = hi[j] if high else lo[j]
    place[j] = AT_HI if high else AT_LO
    if x[j] != 0.0:
        row, value = S[j], x[j]
        for i in range(len(base)):
            base[i] += value * row[i]


@inner
def _release(S, j, x, place, base):
    """Take row j off its bound and its part from the base."""
    place[j] = INSIDE
    if x[j] != 0.0:
        row, value = S[j], x[j]
        for i in range(len(base)):
            base[i] -= value * row[i]


@inner
def _first_block(k, members, z, x, lo, hi):
    """Position of the row that first meets a bound on the way from x to z, and the step there; (−1, 1) if none."""
    blocking, step = np.int64(-1), 1.0
    for a in range(k):
        j = members[a]
        if z[a] < lo[j] or z[a] > hi[j]:
            bound = lo[j] if z[a] < lo[j] else hi[j]
            length = (bound - x[j]) / (z[a] - x[j])
            if blocking < 0 or length < step:
                blocking, step = a, max(length, 0.0)
    return blocking, step


@inner
def _drop_outside(L, k, members, z, S, lo, hi, x, place, base):
    """While the inside set is only a guess, move every row that leaves its box to the bound at once."""
    for a in range(k - 1, -1, -1):
        j = members[a]
        if z[a] < lo[j] or z[a] > hi[j]:
            remove(L, k, members, a)
            k -= 1
            _rest(S, j, z[a] > hi[j], lo, hi, x, place, base)
    return k


@inner
def _most_wrong(S, q, k, members, lo, hi, reference, x, place, base, barred, w, tol):
    """The row on a bound with the largest scaled w of the wrong sign; −1 if none exceeds the tolerance."""
    n = len(q)
    for i in range(n):
        w[i] = base[i]
    for a in range(k):
        row, value = S[members[a]], x[members[a]]
        for i in range(n):
            w[i] += value * row[i]
    worst, chosen, data, effort = 0.0, -1, 0.0, 0.0
    for i in range(n):
        unit = np.sqrt(reference[i])
        data, effort = max(data, abs(q[i]) / unit), max(effort, abs(x[i]) * unit)
        if place[i] != INSIDE and lo[i] < hi[i] and not barred[i]:
            wrong = (-w[i] if place[i] == AT_LO else w[i]) / unit
            if wrong > worst:
                worst, chosen = wrong, i
    return chosen if worst > max(tol * data, EPSILON * effort) else -1


@inner
def _exchange(L, k, members, z, S, lo, hi, reference, x, place, base, barred, least, j):
    """Row j depends on the inside rows: move along the null direction until a row blocks, which j replaces.

    Returns (number of inside rows, status): INFEASIBLE if nothing blocks, for then the objective falls forever.
    """
    sign = 1.0 if place[j] == AT_LO else -1.0
    for a in range(k):
        z[a] = -sign * S[j, members[a]]
    solve(L, k, z)
    blocking, step = np.int64(-1), hi[j] - lo[j]
    for a in range(k):
        i = members[a]
        if abs(z[a]) * np.sqrt(reference[i]) > 1e-9 * np.sqrt(reference[j]):
            length = max(((lo[i] if z[a] < 0.0 else hi[i]) - x[i]) / z[a], 0.0)
            if length < step:
                blocking, step = a, length
    if step == np.inf:
        return k, INFEASIBLE
    if step > 0.0:
        _forgive(barred)
    for a in range(k):
        x[members[a]] += step * z[a]
    _release(S, j, x, place, base)
    if blocking < 0:
        _rest(S, j, sign > 0.0, lo, hi, x, place, base)
        return k, SOLVED
    i = members[blocking]
    remove(L, k, members, blocking)
    _rest(S, i, z[blocking] > 0.0, lo, hi, x, place, base)
    x[j] += sign * step
    if append(L, k - 1, S, members, j, least[j]):
        return k, SOLVED
    return k - 1, STALLED
