"""Active-set method for box problems: lo ≤ x ≤ hi, w = A x + q, w = 0 inside, w ≥ 0 at lo, w ≤ 0 at hi.

Equivalently min ½ xᵀAx + qᵀx in the box, A positive semi-definite. Lawson and Hanson's method with bounds on
both sides: rows enter the set of inside rows one by one where w is most wrong; a row leaves it when it blocks
the way to the minimum over the rows inside. The Cholesky factor of the inside rows is updated, never
recomputed. A row that depends on the inside ones cannot enter: the objective is linear along a null direction
then, which is followed until some row blocks it and the two change places.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_kernel, work_part
from pliant.solvers.cholesky import append, remove, solve
from pliant.solvers.solution import Reals
from pliant.solvers.vectors import add, copy

AT_LO, AT_HI, INSIDE = 0, 1, 2
SOLVED, INFEASIBLE, STALLED = 0, 1, 2
DEPENDENT = 1e-12  # pivots below this share of the diagonal are rounding …
ROUNDING = 1e-13  # … and so are those below this share of the diagonal before free rows were eliminated
EPSILON = 1e-15  # what rounding leaves of w, relative to the efforts
NULL_ENTRY = 1e-9  # entries of a null direction below this, relative and scaled, are rounding


class Box(NamedTuple):
    """A box problem and the state of its solution."""

    A: Reals  # (n, n)
    q: Reals  # (n,)
    lo: Reals
    hi: Reals
    x: Reals  # (n,) the efforts
    unit: Reals  # (n,) √ of the diagonal of A before any elimination: x·unit and w/unit compare
    base: Reals  # (n,) w without the efforts of the inside rows
    w: Reals
    least: Reals  # (n,) smallest pivots
    place: np.ndarray  # (n,) AT_LO, AT_HI or INSIDE
    barred: np.ndarray  # (n,) 1 for rows that only rounding let in
    members: np.ndarray  # (n,) the rows inside, in the order of the factor
    U: Reals  # (n, n) the factor
    minimum: Reals  # (n,) of the members: the minimum over the inside rows, or a direction
    size: np.ndarray  # (1,) the number of members


def solve_box(
    A: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, reference: Reals, tol: float, limit: int
) -> tuple[int, int]:
    """Solve in place from the guess x, whose rows strictly between their bounds start inside.

    `reference` (n,) is the diagonal of A before any elimination: it scales the tolerances. Every row needs a
    finite bound. Returns (status, iterations).
    """
    n = len(q)
    box = Box(
        A, q, lo, hi, x, np.sqrt(reference), np.empty(n), np.empty(n), np.empty(n), np.zeros(n, np.int64),
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.empty((n, n)), np.empty(n), np.zeros(1, np.int64),
    )  # fmt: skip
    return _iterate(box, tol, limit)


@work_inner
def _rest(box, i, high):
    """Put row i on a bound and its part in the base."""
    x = box.hi[i] if high else box.lo[i]
    box.x[i] = x
    box.place[i] = AT_HI if high else AT_LO
    if x != 0.0:
        add(box.base, x, box.A[i], len(box.q))


@work_inner
def _enter(box, i):
    """Take row i off its bound, its part from the base; False, and no change, if it depends on others."""
    k, x = box.size[0], box.x[i]
    if append(box.U, box.A, box.members, k, i, box.least[i]) == 0.0:
        return False
    box.size[0] = k + 1
    box.place[i] = INSIDE
    if x != 0.0:
        add(box.base, -x, box.A[i], len(box.q))
    return True


@work_inner
def _leave(box, position, high):
    """Put the inside row at a position on a bound."""
    i = box.members[position]
    remove(box.U, box.members, box.size[0], position)
    box.size[0] -= 1
    _rest(box, i, high)


@work_part
def _begin(box):
    """Rows strictly between their bounds go inside, if independent, the others to the nearer bound."""
    x, lo, hi = box.x, box.lo, box.hi
    copy(box.base, 1.0, box.q, len(x))
    for i in range(len(x)):
        box.least[i] = max(DEPENDENT * box.A[i, i], ROUNDING * box.unit[i] * box.unit[i])
        within, high = x[i] > lo[i] and x[i] < hi[i], x[i] - lo[i] > hi[i] - x[i]
        if within:
            x[i] = 0.0  # nothing of it is in the base
        if not within or not _enter(box, i):
            _rest(box, i, high)


@work_part
def _most_wrong(box, tol):
    """The row on a bound with the largest scaled w of the wrong sign; −1 if none exceeds the tolerance."""
    x, w = box.x, box.w
    copy(w, 1.0, box.base, len(w))
    for a in range(box.size[0]):
        i = box.members[a]
        add(w, x[i], box.A[i], len(w))
    worst, chosen, data, effort = 0.0, np.int64(-1), 0.0, 0.0
    for i in range(len(w)):
        unit, place = box.unit[i], box.place[i]
        data, effort = max(data, abs(box.q[i]) / unit), max(effort, abs(x[i]) * unit)
        if place != INSIDE and box.lo[i] < box.hi[i] and box.barred[i] == 0:
            wrong = (-w[i] if place == AT_LO else w[i]) / unit
            if wrong > worst:
                worst, chosen = wrong, i
    return chosen if worst > max(tol * data, EPSILON * effort) else np.int64(-1)


@work_inner
def _forgive(box):
    """No row is barred any more."""
    for i in range(len(box.q)):
        box.barred[i] = 0


@work_part
def _ratio_test(box):
    """How far x can go towards the minimum: (step, position of the row that blocks it, −1 if none does)."""
    blocking, step = np.int64(-1), 1.0
    for a in range(box.size[0]):
        i, z = box.members[a], box.minimum[a]
        if z < box.lo[i] or z > box.hi[i]:
            length = ((box.lo[i] if z < box.lo[i] else box.hi[i]) - box.x[i]) / (z - box.x[i])
            if blocking < 0 or length < step:
                blocking, step = a, max(length, 0.0)
    return step, blocking


@work_part
def _exchange(box, i):
    """Move along the null direction of a dependent row i until a row blocks, which i replaces; the status.

    Infeasible if nothing blocks, for then the objective falls forever.
    """
    lo, hi, x, z, members = box.lo, box.hi, box.x, box.minimum, box.members
    sign, step, blocking = 1.0 if box.place[i] == AT_LO else -1.0, hi[i] - lo[i], np.int64(-1)
    for a in range(box.size[0]):
        z[a] = -sign * box.A[i, members[a]]
    solve(box.U, box.size[0], z)
    for a in range(box.size[0]):
        k = members[a]
        if abs(z[a]) * box.unit[k] > NULL_ENTRY * box.unit[i]:
            length = max(((lo[k] if z[a] < 0.0 else hi[k]) - x[k]) / z[a], 0.0)
            if length < step:
                blocking, step = a, length
    status = SOLVED
    if step == np.inf:
        status = INFEASIBLE
    else:
        if step > 0.0:
            _forgive(box)
        for a in range(box.size[0]):
            x[members[a]] += step * z[a]
        if blocking < 0:
            add(box.base, -x[i], box.A[i], len(x))
            _rest(box, i, sign > 0.0)
        else:
            _leave(box, blocking, z[blocking] > 0.0)
            if _enter(box, i):
                x[i] += sign * step
            else:
                status = STALLED
    return status


@work_kernel
def _iterate(box, tol, limit):
    """From the guess to the solution: (status, iterations)."""
    x, z, members = box.x, box.minimum, box.members
    guessing, newest, status, taken = True, np.int64(-1), STALLED, 0
    _begin(box)
    while status == STALLED and taken < limit:
        taken += 1
        for a in range(box.size[0]):
            z[a] = -box.base[members[a]]
        solve(box.U, box.size[0], z)
        step, blocking = _ratio_test(box)
        if blocking >= 0 and guessing:
            # while the rows inside are a guess, all that leave their box go at once
            for a in range(box.size[0] - 1, -1, -1):
                i = members[a]
                if z[a] > box.hi[i] or z[a] < box.lo[i]:
                    _leave(box, a, z[a] > box.hi[i])
            continue
        guessing = False
        for a in range(box.size[0]):
            x[members[a]] = z[a] if step == 1.0 else x[members[a]] + step * (z[a] - x[members[a]])
        if blocking >= 0:
            if step > 0.0:
                _forgive(box)
            elif members[blocking] == newest:
                box.barred[newest] = 1  # only rounding let it in; it may try again after progress
            _leave(box, blocking, z[blocking] > box.hi[members[blocking]])
            continue
        newest = _most_wrong(box, tol)
        if newest < 0:
            status = SOLVED
        elif not _enter(box, newest):
            exchanged = _exchange(box, newest)
            if exchanged != SOLVED:
                return exchanged, taken
    return status, taken
