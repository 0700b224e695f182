"""Cholesky factor of a principal submatrix that gains and loses single rows.

L is an (n, n) buffer of which the leading k rows and columns are in use; members (k,) are the rows of S.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import INNER

# reassociation lets dot products use vector instructions; NaN and infinity keep their meaning
inner = njit(**INNER, fastmath={"reassoc", "contract"})


@inner
def append(L, k, S, members, j, least):
    """Add row j of S at position k. False, and no change, if its pivot is not above `least`."""
    row = L[k]
    pivot = S[j, j]
    for a in range(k):
        other = L[a]
        value = S[j, members[a]]
        for c in range(a):
            value -= other[c] * row[c]
        value /= other[a]
        row[a] = value
        pivot -= value * value
    if not pivot > least:
        return False
    row[k] = np.sqrt(pivot)
    members[k] = j
    return True


@inner
def remove(L, k, members, position):
    """Delete a position: shift the rows below it up and rotate the extra diagonal away."""
    for a in range(position, k - 1):
        members[a] = members[a + 1]
        row, below = L[a], L[a + 1]
        for c in range(a + 2):
            row[c] = below[c]
    for c in range(position, k - 1):
        x, y = L[c, c], L[c, c + 1]
        length = np.hypot(x, y)
        cosine, sine = x / length, y / length
        L[c, c] = length
        for a in range(c + 1, k - 1):
            x, y = L[a, c], L[a, c + 1]
            L[a, c] = cosine * x + sine * y
            L[a, c + 1] = cosine * y - sine * x


@inner
def solve(L, k, z):
    """z (k,) ← (L Lᵀ)⁻¹ z."""
    for a in range(k):
        row, value = L[a], z[a]
        for c in range(a):
            value -= row[c] * z[c]
        z[a] = value / row[a]
    for a in range(k - 1, -1, -1):
        row = L[a]
        z[a] /= row[a]
        value = z[a]
        for c in range(a):
            z[c] -= value * row[c]
