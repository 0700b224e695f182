"""A mixed complementarity problem from a good guess: the rows that act in it are solved for, and the answer is checked."""

from __future__ import annotations

import numpy as np
from numba import njit

ROUNDING = 1e-13  # of a row's data: what counts as nothing
ACCURATE = 1e-12  # of a row's data: what may be left of it
DEPENDENT = 1e-12  # share of the diagonal below which a pivot is rounding


@njit(cache=True, error_model="numpy")
def confirmed(W, compliance, q, low, high, start):
    """(λ, True) with low ≤ λ ≤ high complementary to (W + diag compliance) λ + q, if its rows between their bounds are those of the
    guess `start` (m,); else something and False."""
    m, k = len(q), 0
    inside, x, w = np.empty(m, np.int64), np.empty(m), np.empty(m)
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
    L, y = np.empty((k, k)), np.empty(k)
    for a in range(k):
        for b in range(a + 1):
            value = W[inside[a], inside[b]] + (compliance[inside[a]] if a == b else 0.0)
            least = DEPENDENT * value
            for n in range(b):
                value -= L[a, n] * L[b, n]
            if a > b:
                L[a, b] = value / L[b, b]
            elif value > least:
                L[a, a] = np.sqrt(value)
            else:
                return x, False
        y[a] = -w[inside[a]]
        for n in range(a):
            y[a] -= L[a, n] * y[n]
        y[a] /= L[a, a]
    for a in range(k - 1, -1, -1):
        for n in range(a + 1, k):
            y[a] -= L[n, a] * y[n]
        y[a] /= L[a, a]
        i = inside[a]
        if not low[i] <= y[a] <= high[i]:
            return x, False
        x[i] = y[a]
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
