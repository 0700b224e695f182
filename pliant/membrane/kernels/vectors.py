"""Small vectors and matrices in loops, compiled: array expressions would take much longer to compile."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner

NO_PIVOT = 1e-300  # a matrix with a pivot as small as this is singular


@inner
def dot(a, b):
    """a·b."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@inner
def fill(a, value):
    """a = value, (n,)."""
    for k in range(len(a)):
        a[k] = value


@inner
def clear(A):
    """A = 0, (m, n)."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] = 0.0


@inner
def scale(A, factor):
    """A *= factor, (m, n)."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] *= factor


@inner
def copy(a, out):
    """out = a, (n,)."""
    for k in range(len(a)):
        out[k] = a[k]


@inner
def add(a, factor, b):
    """a += factor · b, (n,)."""
    for k in range(len(a)):
        a[k] += factor * b[k]


@inner
def outer(A, factor, row):
    """A += factor · row rowᵀ."""
    for i in range(len(row)):
        if row[i] != 0.0:
            f = factor * row[i]
            for j in range(len(row)):
                A[i, j] += f * row[j]


@inner
def factor(A, order):
    """LU factors of A (n, n) in place, the exchanged rows in `order` (n,); returns whether A is regular."""
    n = len(A)
    for k in range(n):
        order[k] = k
    regular = True
    for k in range(n):
        top, at = abs(A[k, k]), k
        for i in range(k + 1, n):
            if abs(A[i, k]) > top:
                top, at = abs(A[i, k]), i
        if top <= NO_PIVOT:
            regular = False
            A[k, k] = NO_PIVOT
            continue
        if at != k:
            for j in range(n):
                A[k, j], A[at, j] = A[at, j], A[k, j]
            order[k], order[at] = order[at], order[k]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                f = A[i, k] / A[k, k]
                A[i, k] = f
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
    return regular


@inner
def solve(A, order, b, x):
    """x of A x = b (n,) with A and order as `factor` left them; x is another array than b."""
    n = len(b)
    for i in range(n):
        total = b[order[i]]
        for j in range(i):
            total -= A[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]


@inner
def on_branch(value, period, near):
    """value + k·period with the integer k that brings it nearest to `near`."""
    return value + period * np.floor((near - value) / period + 0.5)
