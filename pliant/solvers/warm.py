"""A mixed complementarity problem from a good guess: the rows that act in it are solved for, and the answer is checked."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.small import lower, substitute

ROUNDING = 1e-13  # of a row's data: what counts as nothing
ACCURATE = 1e-12  # of a row's data: what may be left of it
DEPENDENT = 1e-12  # share of the diagonal below which a pivot is rounding


@njit(cache=True, error_model="numpy")
def confirmed(W, free, rows, imposed, compliance, low, high, start):
    """(λ, True) with low ≤ λ ≤ high complementary to (W + diag compliance) λ + free − imposed, if its rows between their bounds are those of
    the guess `start`; else something and False. W (m, m) and free (m,) are of `rows` (m,), the others of all."""
    m, k = len(rows), 0
    q, compliance, low, high = free - imposed[rows], compliance[rows], low[rows], high[rows]
    start, inside, x, w = start[rows], np.empty(m, np.int64), np.empty(m), np.empty(m)
    for i in range(m):
        if low[i] < start[i] < high[i]:
            inside[k] = i
            k += 1
            x[i] = 0.0
        else:
            x[i] = low[i] if start[i] <= low[i] else high[i]
            if not abs(x[i]) < np.inf:
                return x, False
    for i in range(m):
        w[i] = q[i] + compliance[i] * x[i]
        for j in range(m):
            w[i] += W[i, j] * x[j]
    L, y = np.empty((k, k)), np.empty((k, 1))
    for a in range(k):
        for b in range(a + 1):
            L[a, b] = W[inside[a], inside[b]]
        L[a, a] += compliance[inside[a]]
        y[a, 0] = -w[inside[a]]
        if not L[a, a] > 0.0:
            return x, False
    if not lower(L, DEPENDENT):
        return x, False
    substitute(L, y)
    for a in range(k):
        i = inside[a]
        if not low[i] <= y[a, 0] <= high[i]:
            return x, False
        x[i] = y[a, 0]
    return x, _complementary(W, compliance, q, low, high, x)


@njit(error_model="numpy")
def _complementary(W, compliance, q, low, high, x):
    """Whether rows between their bounds are in balance, and no other should leave its bound."""
    for i in range(len(q)):
        w, size = q[i] + compliance[i] * x[i], abs(q[i])
        for j in range(len(q)):
            w += W[i, j] * x[j]
            size = max(size, abs(W[i, j] * x[j]))
        if low[i] < x[i] < high[i]:
            good = abs(w) <= ACCURATE * size
        else:
            good = w >= -ROUNDING * size if x[i] <= low[i] else w <= ROUNDING * size
        if not good:
            return False
    return True
