"""Cholesky factor of a principal submatrix that gains and loses single rows: UᵀU = A[members][:, members].

U is upper triangular, so that updates, solutions and rotations all run along its rows; its diagonal holds
reciprocals. `members` (k,) are the rows of A in U, in its order. Only the first k rows and columns of U mean
anything.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import work_inner


@work_inner
def append(U, A, members, k, row, least):
    """Put a row of A at position k; returns its pivot, or 0 and no change if that is not above `least`.

    Row k of U, left of its diagonal, keeps the column above that diagonal: U⁻ᵀ A[members, row].
    """
    new, own = U[k], A[row]
    pivot = own[row]
    for a in range(k):
        new[a] = own[members[a]]
    for a in range(k):
        one = U[a]
        value = new[a] * one[a]
        new[a] = value
        pivot -= value * value
        for c in range(a + 1, k):
            new[c] -= value * one[c]
    if not pivot > least:
        return 0.0
    for a in range(k):
        U[a, k] = new[a]
    new[k] = 1.0 / np.sqrt(pivot)
    members[k] = row
    return pivot


@work_inner
def remove(U, members, k, position):
    """Delete a position: columns behind it move up, rotations of rows clear what is below the diagonal."""
    for a in range(position, k - 1):
        members[a] = members[a + 1]
    for a in range(k):
        one = U[a]
        if a > position:
            one[a] = 1.0 / one[a]
        for c in range(max(position, a - 1), k - 1):
            one[c] = one[c + 1]
    for c in range(position, k - 1):
        one, two = U[c], U[c + 1]
        length = np.hypot(one[c], two[c])
        cosine, sine = one[c] / length, two[c] / length
        one[c] = 1.0 / length
        for a in range(c + 1, k - 1):
            x, y = one[a], two[a]
            one[a] = cosine * x + sine * y
            two[a] = cosine * y - sine * x


@work_inner
def substitute(U, k, z):
    """z (k,) ← U⁻¹ z."""
    for a in range(k - 1, -1, -1):
        one, value = U[a], z[a]
        for c in range(a + 1, k):
            value -= one[c] * z[c]
        z[a] = value * one[a]


@work_inner
def solve(U, k, z):
    """z (k,) ← (UᵀU)⁻¹ z."""
    for a in range(k):
        one = U[a]
        value = z[a] * one[a]
        z[a] = value
        for c in range(a + 1, k):
            z[c] -= value * one[c]
    substitute(U, k, z)
