"""Cholesky factor of a principal submatrix that gains and loses single rows: UᵀU = S[members][:, members].

U is upper triangular, its rows `stride` numbers apart, so that updates, solutions and rotations all run along them;
its diagonal holds reciprocals. Rows of S are `wide` numbers apart, `members` (k) are those of U, in its order.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, at, native


@native(REAL, REALS, INTEGER, REALS, INTEGER, INTEGERS, INTEGER, INTEGER, REAL)
def append(u, stride, s, wide, members, k, j, least):
    """Put row j of S at position k; returns its pivot, or 0 and no change if that is not above `least`.

    Row k of U, left of its diagonal, keeps the column above that diagonal: U⁻ᵀ S[members, j].
    """
    new, own = at(u, k * stride), at(s, j * wide)
    pivot = own[j]
    for a in range(k):
        new[a] = own[members[a]]
    for a in range(k):
        one = at(u, a * stride)
        value = new[a] * one[a]
        new[a] = value
        pivot -= value * value
        for c in range(a + 1, k):
            new[c] -= value * one[c]
    if not pivot > least:
        return 0.0
    for a in range(k):
        u[a * stride + k] = new[a]
    new[k] = 1.0 / np.sqrt(pivot)
    members[k] = j
    return pivot


@native(NOTHING, REALS, INTEGER, INTEGERS, INTEGER, INTEGER)
def remove(u, stride, members, k, position):
    """Delete a position: the columns behind it move up, and rotations of rows clear what is below the diagonal."""
    for a in range(position, k - 1):
        members[a] = members[a + 1]
    for a in range(k):
        one = at(u, a * stride)
        if a > position:
            one[a] = 1.0 / one[a]
        for c in range(max(position, a - 1), k - 1):
            one[c] = one[c + 1]
    for c in range(position, k - 1):
        one, two = at(u, c * stride), at(u, (c + 1) * stride)
        length = np.hypot(one[c], two[c])
        cosine, sine = one[c] / length, two[c] / length
        one[c] = 1.0 / length
        for a in range(c + 1, k - 1):
            x, y = one[a], two[a]
            one[a] = cosine * x + sine * y
            two[a] = cosine * y - sine * x


@native(NOTHING, REALS, INTEGER, INTEGER, REALS)
def substitute(u, stride, k, z):
    """z (k,) ← U⁻¹ z."""
    for a in range(k - 1, -1, -1):
        one, value = at(u, a * stride), z[a]
        for c in range(a + 1, k):
            value -= one[c] * z[c]
        z[a] = value * one[a]


@native(NOTHING, REALS, INTEGER, INTEGER, REALS)
def solve(u, stride, k, z):
    """z (k,) ← (UᵀU)⁻¹ z."""
    for a in range(k):
        one = at(u, a * stride)
        value = z[a] * one[a]
        z[a] = value
        for c in range(a + 1, k):
            z[c] -= value * one[c]
    substitute(u, stride, k, z)
