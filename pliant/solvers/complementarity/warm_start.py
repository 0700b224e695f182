"""Mixed complementarity from a warm start: if its active set is right, one factorisation is enough."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.algebra.small import lower, substitute
from pliant.solvers.solution import Reals

ROUNDING = 1e-13  # of a row's data: what counts as nothing
ACCURATE = 1e-12  # of a row's data: what may be left of it
DEPENDENT = 1e-12  # share of the diagonal below which a pivot is rounding


def warm_start(
    W: Reals,
    free: Reals,
    rows: np.ndarray,
    imposed: Reals,
    compliance: Reals,
    low: Reals,
    high: Reals,
    start: Reals,
) -> tuple[Reals, bool]:
    """(λ, True) if the rows between their bounds are those of `start`; else something and False.

    low ≤ λ ≤ high is complementary to (W + diag compliance) λ + free − imposed. W (m, m) and free (m,) are
    those of `rows` (m,), the other arrays those of all rows.
    """
    A = W + np.diag(compliance[rows])
    x = start[rows]
    return x, _solve(A, free - imposed[rows], low[rows], high[rows], x)


@kernel
def _solve(A, q, low, high, x):
    """x ← the solution with the active set of x; says whether it is one."""
    inside, k = np.empty(len(q), np.int64), 0
    for i in range(len(q)):
        if low[i] < x[i] < high[i]:
            inside[k] = i
            k += 1
            x[i] = 0.0
        else:
            x[i] = low[i] if x[i] <= low[i] else high[i]
            if not abs(x[i]) < np.inf:
                return False
    L, y = np.empty((k, k)), np.empty((k, 1))
    for a in range(k):
        i = inside[a]
        for b in range(a + 1):
            L[a, b] = A[i, inside[b]]
        y[a, 0] = -q[i]
        for j in range(len(q)):
            y[a, 0] -= A[i, j] * x[j]
        if not L[a, a] > 0.0:
            return False
    if not lower(L, DEPENDENT):
        return False
    substitute(L, y)
    for a in range(k):
        i = inside[a]
        if not low[i] <= y[a, 0] <= high[i]:
            return False
        x[i] = y[a, 0]
    return _complementary(A, q, low, high, x)


@inner
def _complementary(A, q, low, high, x):
    """Whether rows between their bounds are in balance, and no other should leave its bound."""
    for i in range(len(q)):
        w, size = q[i], abs(q[i])
        for j in range(len(q)):
            w += A[i, j] * x[j]
            size = max(size, abs(A[i, j] * x[j]))
        if low[i] < x[i] < high[i]:
            good = abs(w) <= ACCURATE * size
        else:
            good = w >= -ROUNDING * size if x[i] <= low[i] else w <= ROUNDING * size
        if not good:
            return False
    return True
