"""Elimination of free rows: equalities with an effort of any sign.

The rows are scaled to comparable size and eliminated with symmetric pivoting by 1×1 and 2×2 blocks (Bunch and
Parlett), which is stable for indefinite blocks and stops at the rank, so that redundant equalities drop out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, at, link, native, pointer
from pliant.solvers.rows import add, dot
from pliant.solvers.solution import Reals

RANK = 1e-12  # scaled pivots below this are rounding: the equality follows from the others
GROWTH = 0.6404  # (1 + √17) / 8, where 1×1 and 2×2 pivots bound the growth alike


class Reduced(NamedTuple):
    """The problem of the bounded rows, in scaled efforts λ = d λ̂: S = W_bb − W_bf W_ff⁻¹ W_fb, right side, bounds, guess."""

    S: Reals
    right: Reals
    low: Reals
    high: Reals
    guess: Reals


class Elimination(NamedTuple):
    """What `substitute` needs: the eliminated rows T (m, m+1), the kinds of their pivots, the order of rows, scales."""

    T: Reals
    kind: np.ndarray
    rank: int
    order: np.ndarray
    d: Reals


def eliminate(W: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, free: int) -> tuple[Reduced, Elimination]:
    """Reduce the problem to its bounded rows; `free` counts the others."""
    m = len(q)
    bounded = (lo != -np.inf) | (hi != np.inf)
    order = np.concatenate(
        (np.flatnonzero(~bounded), np.flatnonzero(bounded), (0, 0, 0))
    )  # and room for three more
    T, d, kind = np.empty((m, m + 1)), np.empty((2, m)), np.zeros(free, np.int64)
    link(_eliminate.py_func)
    rank, order, d = _eliminate(W, q, T, d, order, kind), order[:m], d[0]
    rows, unit = order[free:], d[order[free:]]
    reduced = Reduced(
        T[free:, free:m].copy(), T[free:, m].copy(), lo[rows] / unit, hi[rows] / unit, x[rows] / unit
    )
    return reduced, Elimination(T, kind, rank, order, d)


def substitute(
    T: Reals,
    kind: np.ndarray,
    rank: int,
    order: np.ndarray,
    d: Reals,
    y: Reals,
    lo: Reals,
    hi: Reals,
    x: Reals,
) -> None:
    """Efforts x (m,) of all rows from the scaled ones y of the bounded rows; redundant equalities get zero."""
    free = len(x) - len(y)
    full = np.concatenate((np.zeros(free), y, [1.0]))
    link(_substitute.py_func)
    _substitute(T, kind, rank, full)
    x[order] = np.clip(full[:-1] * d[order], lo[order], hi[order])
    rows = order[free:]  # on a bound means exactly there, whatever scaling rounds to
    x[rows] = np.where(y == hi[rows] / d[rows], hi[rows], x[rows])
    x[rows] = np.where(y == lo[rows] / d[rows], lo[rows], x[rows])


@native(NOTHING, REALS, REALS, INTEGER)
def row_scales(w, d, m):
    """(m,) factors d with |dᵢ Wᵢⱼ dⱼ| ≤ about 1: 1/√|Wᵢᵢ|, then corrected where the diagonal misleads."""
    most = at(d, m)
    for i in range(m):
        own = abs(w[i * m + i])
        d[i] = 1.0 / np.sqrt(own) if own > 0.0 else 1.0
    for _ in range(2):
        for i in range(m):
            most[i] = 0.0
            for k in range(m):
                most[i] = max(most[i], abs(w[i * m + k]) * d[i] * d[k])
        for i in range(m):
            if most[i] > 1.0 or (most[i] > 0.0 and w[i * m + i] == 0.0):
                d[i] /= np.sqrt(most[i])


@native(NOTHING, REALS, REALS, REALS, REALS, INTEGERS, INTEGER)
def arrange(w, q, t, d, order, m):
    """T (m, m+1) = [W q], scaled and in order."""
    for a in range(m):
        own, to, unit = at(w, order[a] * m), at(t, a * (m + 1)), d[order[a]]
        for b in range(m):
            to[b] = own[order[b]] * unit * d[order[b]]
        to[m] = q[order[a]] * unit


@native(REAL, REALS, INTEGER, INTEGER, INTEGER, INTEGERS)
def largest_pivot(t, m, p, free, place):
    """Largest |off-diagonal| of the free rows left, less the largest |diagonal| times what that is worth; NaN if both are
    rounding. `place` becomes the rows of the diagonal one, and of the off-diagonal one (row > column)."""
    on, off = -1.0, -1.0
    for i in range(p, free):
        own = at(t, i * (m + 1))
        if abs(own[i]) > on:
            on = abs(own[i])
            place[0] = i
        for k in range(p, i):
            if abs(own[k]) > off:
                off = abs(own[k])
                place[1] = i
                place[2] = k
    return np.nan if max(on, off) <= RANK else GROWTH * off - on


@native(NOTHING, REALS, INTEGER, INTEGERS, INTEGER, INTEGER)
def interchange(t, m, order, a, b):
    """Swap rows and columns a and b; eliminated rows swap columns too, for the back substitution."""
    if a != b:
        order[a], order[b] = order[b], order[a]
        one, two = at(t, a * (m + 1)), at(t, b * (m + 1))
        for i in range(m + 1):
            one[i], two[i] = two[i], one[i]
        for i in range(m):
            own = at(t, i * (m + 1))
            own[a], own[b] = own[b], own[a]


@native(NOTHING, REALS, INTEGER, INTEGER, INTEGER)
def pivot(t, m, p, size):
    """Eliminate rows p … p + size of T (m, m+1) = [W q] from those below."""
    one, two, wide = at(t, p * (m + 1)), at(t, (p + size - 1) * (m + 1)), m + 1 - p - size
    a, b, c = one[p], one[p + size - 1], two[p + size - 1]
    for i in range(p + size, m):
        own = at(t, i * (m + 1))
        f, g = own[p] / a, 0.0
        if size == 2:
            f, g = (
                (c * own[p] - b * own[p + 1]) / (a * c - b * b),
                (a * own[p + 1] - b * own[p]) / (a * c - b * b),
            )
            add(at(own, p + size), -g, at(two, p + size), wide)
        if f != 0.0:
            add(at(own, p + size), -f, at(one, p + size), wide)


@njit(cache=True, error_model="numpy")
def _eliminate(W, q, T, d, order, kind):
    """Scale and eliminate the first rows of T (m, m+1) = [W q]; `order` records the interchanges; returns how many.

    kind[p] becomes 1 for a 1×1 pivot, 2 for the first row of a 2×2 pivot. Row p then reads
    T[p, p] x[p] + Σ_{k>p} T[p, k] x[k] + T[p, m] = 0, and the rows below form the complement.
    """
    t, m, free, rows = pointer(T), len(T), len(kind), pointer(order)
    row_scales(pointer(W), pointer(d), m)
    arrange(pointer(W), pointer(q), t, pointer(d), rows, m)
    place, p = at(rows, m), 0
    while p < free:
        worth = largest_pivot(t, m, p, free, place)
        if worth != worth:
            break
        size = 2 if worth > 0.0 else 1
        if size == 1:
            interchange(t, m, rows, p, place[0])
        else:
            interchange(t, m, rows, p, place[2])
            interchange(t, m, rows, p + 1, place[1])
        kind[p] = size
        pivot(t, m, p, size)
        p += size
    return p


@njit(cache=True, error_model="numpy")
def _substitute(T, kind, rank, full):
    """Back substitution into the eliminated rows, full (m + 1,) with 1 at the end."""
    t, m, y = pointer(T), len(T), pointer(full)
    p = rank - 1
    while p >= 0:
        own = at(t, p * (m + 1))
        right = dot(at(own, p + 1), at(y, p + 1), m - p)
        if p > 0 and kind[p - 1] == 2:
            above = at(t, (p - 1) * (m + 1))
            left = dot(at(above, p + 1), at(y, p + 1), m - p)
            a, b, c = above[p - 1], above[p], own[p]
            y[p - 1] = (b * right - c * left) / (a * c - b * b)
            y[p] = (b * left - a * right) / (a * c - b * b)
            p -= 2
        else:
            y[p] = -right / own[p]
            p -= 1
