"""Elimination of free rows: equalities with an effort of any sign.

The rows are scaled to comparable size and eliminated with symmetric pivoting by 1×1 and 2×2 blocks (Bunch and
Parlett), which is stable for indefinite blocks and stops at the rank, so that redundant equalities drop out.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel

RANK = 1e-12  # scaled pivots below this are rounding: the equality follows from the others
GROWTH = 0.6404  # (1 + √17) / 8, where 1×1 and 2×2 pivots bound the growth alike


@kernel
def eliminate(W, q, lo, hi, x, free):
    """Reduce the problem to its bounded rows; `free` counts the others.

    Returns ((S, right, low, high, y), (T, kind, rank, order, d)): the complement S = W_bb − W_bf W_ff⁻¹ W_fb with
    its right side, bounds and guess, in scaled efforts λ = d λ̂, and what `substitute` needs.
    """
    m = len(q)
    d = _row_scales(W)
    order, front, back = np.empty(m, np.int64), 0, free
    for i in range(m):
        if lo[i] == -np.inf and hi[i] == np.inf:
            order[front] = i
            front += 1
        else:
            order[back] = i
            back += 1
    T = np.empty((m, m + 1))
    for a in range(m):
        for b in range(m):
            T[a, b] = W[order[a], order[b]] * d[order[a]] * d[order[b]]
        T[a, m] = q[order[a]] * d[order[a]]
    rank, kind = _pivot(T, order, free)
    n = m - free
    S, right, low, high, y = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for a in range(n):
        i = order[free + a]
        right[a], low[a], high[a], y[a] = T[free + a, m], lo[i] / d[i], hi[i] / d[i], x[i] / d[i]
        for b in range(n):
            S[a, b] = T[free + a, free + b]
    return (S, right, low, high, y), (T, kind, rank, order, d)


@kernel
def substitute(T, kind, rank, order, d, y, lo, hi, x):
    """Efforts x (m,) of all rows from the scaled ones y of the bounded rows; redundant equalities get zero."""
    m, free = len(x), len(x) - len(y)
    full = np.zeros(m)
    for a in range(len(y)):
        full[free + a] = y[a]
    p = rank - 1
    while p >= 0:
        right = T[p, m]
        for j in range(p + 1, m):
            right += T[p, j] * full[j]
        if p > 0 and kind[p - 1] == 2:
            above = T[p - 1, m]
            for j in range(p + 1, m):
                above += T[p - 1, j] * full[j]
            a, b, c = T[p - 1, p - 1], T[p - 1, p], T[p, p]
            full[p - 1] = (b * right - c * above) / (a * c - b * b)
            full[p] = (b * above - a * right) / (a * c - b * b)
            p -= 2
        else:
            full[p] = -right / T[p, p]
            p -= 1
    for a in range(m):
        i = order[a]
        x[i] = min(max(full[a] * d[i], lo[i]), hi[i])
        if (
            a >= free and full[a] == lo[i] / d[i]
        ):  # on a bound means exactly there, whatever scaling rounds to
            x[i] = lo[i]
        elif a >= free and full[a] == hi[i] / d[i]:
            x[i] = hi[i]


@inner
def _row_scales(W):
    """(m,) factors d with |dᵢ Wᵢⱼ dⱼ| ≤ about 1: 1/√|Wᵢᵢ|, then corrected where the diagonal misleads."""
    m = len(W)
    d = np.ones(m)
    for i in range(m):
        if W[i, i] != 0.0:
            d[i] = 1.0 / np.sqrt(abs(W[i, i]))
    for _ in range(2):
        largest = np.zeros(m)
        for i in range(m):
            for j in range(m):
                largest[i] = max(largest[i], abs(W[i, j]) * d[i] * d[j])
        for i in range(m):
            if largest[i] > 1.0 or (largest[i] > 0.0 and W[i, i] == 0.0):
                d[i] /= np.sqrt(largest[i])
    return d


@inner
def _pivot(T, order, free):
    """Eliminate the first `free` rows of T (m, m+1) = [W q] in place; `order` records the interchanges.

    Returns (number eliminated, kind): kind[p] is 1 for a 1×1 pivot, 2 for the first row of a 2×2 pivot.
    Row p then reads T[p, p] x[p] + Σ_{j>p} T[p, j] x[j] + T[p, m] = 0, and the rows below form the complement.
    """
    kind = np.zeros(free, np.int64)
    p = np.int64(0)
    while p < free:
        on, i_on, off, i_off, j_off = _largest(T, p, free)
        if max(on, off) <= RANK:
            break
        if on >= GROWTH * off:
            _interchange(T, order, p, i_on)
            kind[p] = 1
            _pivot_one(T, p)
            p += 1
        else:
            _interchange(T, order, p, j_off)
            _interchange(T, order, p + 1, i_off)
            kind[p] = 2
            _pivot_two(T, p)
            p += 2
    return p, kind


@inner
def _largest(T, p, free):
    """Largest |diagonal| and |off-diagonal| of the rows left, with their places (row > column)."""
    on, i_on, off, i_off, j_off = -1.0, p, -1.0, p, p
    for i in range(p, free):
        if abs(T[i, i]) > on:
            on, i_on = abs(T[i, i]), i
        for j in range(p, i):
            if abs(T[i, j]) > off:
                off, i_off, j_off = abs(T[i, j]), i, j
    return on, i_on, off, i_off, j_off


@inner
def _interchange(T, order, a, b):
    """Swap rows and columns a and b; eliminated rows swap columns too, for the back substitution."""
    if a != b:
        order[a], order[b] = order[b], order[a]
        for j in range(T.shape[1]):
            T[a, j], T[b, j] = T[b, j], T[a, j]
        for i in range(len(T)):
            T[i, a], T[i, b] = T[i, b], T[i, a]


@inner
def _pivot_one(T, p):
    pivot = T[p]
    for i in range(p + 1, len(T)):
        row, factor = T[i], T[i, p] / pivot[p]
        if factor != 0.0:
            for j in range(p + 1, len(pivot)):
                row[j] -= factor * pivot[j]


@inner
def _pivot_two(T, p):
    first, second = T[p], T[p + 1]
    a, b, c = first[p], first[p + 1], second[p + 1]
    determinant = a * c - b * b
    for i in range(p + 2, len(T)):
        row = T[i]
        f = (c * row[p] - b * row[p + 1]) / determinant
        g = (a * row[p + 1] - b * row[p]) / determinant
        for j in range(p + 2, len(first)):
            row[j] -= f * first[j] + g * second[j]
