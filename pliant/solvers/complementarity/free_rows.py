"""Elimination of free rows: equalities with an effort of any sign.

The rows are scaled to comparable size and eliminated with symmetric pivoting by 1×1 and 2×2 blocks (Bunch and
Parlett), which is stable for indefinite blocks and stops at the rank, so that redundant equalities drop out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_kernel, work_part
from pliant.solvers.solution import Reals
from pliant.solvers.vectors import add, dot

RANK = 1e-12  # scaled pivots below this are rounding: the equality follows from the others
GROWTH = 0.6404  # (1 + √17) / 8, where 1×1 and 2×2 pivots bound the growth alike


class Reduced(NamedTuple):
    """The problem of the bounded rows, in scaled efforts λ = d λ̂."""

    A: Reals  # (b, b) W_bb − W_bf W_ff⁻¹ W_fb
    right: Reals  # (b,)
    low: Reals  # (b,) bounds
    high: Reals
    guess: Reals  # (b,)


class Elimination(NamedTuple):
    """What `substitute` needs."""

    T: Reals  # (m, m + 1) the eliminated rows [W q], scaled and in order
    kind: np.ndarray  # (free,) 1 for a 1×1 pivot, 2 for the first row of a 2×2 pivot
    rank: int  # how many rows were eliminated; the others follow from them
    order: np.ndarray  # (m,) rows in the order of T: free ones first
    d: Reals  # (m,) scales, λ = d λ̂


def eliminate(W: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, free: int) -> tuple[Reduced, Elimination]:
    """Reduce the problem to its bounded rows; `free` counts the others."""
    m = len(q)
    bounded = (lo != -np.inf) | (hi != np.inf)
    order = np.concatenate((np.flatnonzero(~bounded), np.flatnonzero(bounded)))
    d, kind = _row_scales(W), np.zeros(free, np.int64)
    T = np.concatenate((W * d, q[:, None]), axis=1)[order]
    T *= d[order, None]
    T[:, :m] = T[:, order]
    rank = _eliminate(T, order, kind)
    rows, unit = order[free:], d[order[free:]]
    guess = x[rows] / unit
    reduced = Reduced(T[free:, free:m].copy(), T[free:, m].copy(), lo[rows] / unit, hi[rows] / unit, guess)
    return reduced, Elimination(T, kind, rank, order, d)


def substitute(elimination: Elimination, y: Reals, lo: Reals, hi: Reals, x: Reals) -> None:
    """Efforts x (m,) of all rows from the scaled ones y of bounded rows; redundant equalities get zero."""
    T, kind, rank, order, d = elimination
    free = len(x) - len(y)
    full = np.concatenate((np.zeros(free), y, [1.0]))
    _substitute(T, kind, rank, full)
    x[order] = np.clip(full[:-1] * d[order], lo[order], hi[order])
    rows = order[free:]  # on a bound means exactly there, whatever scaling rounds to
    x[rows] = np.where(y == hi[rows] / d[rows], hi[rows], x[rows])
    x[rows] = np.where(y == lo[rows] / d[rows], lo[rows], x[rows])


def _row_scales(W: Reals) -> Reals:
    """(m,) factors d with |dᵢ Wᵢⱼ dⱼ| ≤ about 1: 1/√|Wᵢᵢ|, then corrected where the diagonal misleads."""
    own, size = np.abs(W.diagonal()), np.abs(W)
    d = 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0))
    for _ in range(2):
        largest = (size * d).max(axis=1, initial=0.0) * d
        wrong = (largest > 1.0) | ((largest > 0.0) & (own == 0.0))
        if not wrong.any():
            break
        d[wrong] /= np.sqrt(largest[wrong])
    return d


@work_part
def _largest_pivot(T, p, free):
    """(size of the pivot, its rows), 0 if all that is left is rounding.

    The size is 1 for the largest diagonal of the free rows left, or 2 for the largest other entry, where that
    bounds the growth better.
    """
    on, off = -1.0, -1.0
    row, first, second = np.int64(p), np.int64(p), np.int64(p)
    for i in range(p, free):
        if abs(T[i, i]) > on:
            on, row = abs(T[i, i]), np.int64(i)
        for k in range(p, i):
            if abs(T[i, k]) > off:
                off, first, second = abs(T[i, k]), np.int64(k), np.int64(i)
    size = 0 if max(on, off) <= RANK else 2 if GROWTH * off > on else 1
    return size, row if size == 1 else first, second


@work_inner
def _interchange(T, order, a, b):
    """Swap rows and columns a and b; eliminated rows swap columns too, for the back substitution."""
    if a != b:
        order[a], order[b] = order[b], order[a]
        for i in range(len(T) + 1):
            T[a, i], T[b, i] = T[b, i], T[a, i]
        for i in range(len(T)):
            T[i, a], T[i, b] = T[i, b], T[i, a]


@work_part
def _pivot(T, p, size):
    """Eliminate rows p … p + size of T from those below."""
    m, next = len(T), p + size
    one, two, wide = T[p], T[next - 1], m + 1 - next
    a, b, c = one[p], one[next - 1], two[next - 1]
    for i in range(next, m):
        own = T[i]
        f, g = own[p] / a, 0.0
        if size == 2:
            f = (c * own[p] - b * own[p + 1]) / (a * c - b * b)
            g = (a * own[p + 1] - b * own[p]) / (a * c - b * b)
            add(own[next:], -g, two[next:], wide)
        if f != 0.0:
            add(own[next:], -f, one[next:], wide)


@work_kernel
def _eliminate(T, order, kind):
    """Eliminate the free rows, the first of T (m, m+1) = [W q]; returns how many. `order` is updated.

    kind[p] becomes 1 for a 1×1 pivot, 2 for the first row of a 2×2 pivot. Row p then reads
    T[p, p] x[p] + Σ_{k>p} T[p, k] x[k] + T[p, m] = 0, and the rows below form the complement.
    """
    p, free = 0, len(kind)
    while p < free:
        size, first, second = _largest_pivot(T, p, free)
        if size == 0:
            break
        _interchange(T, order, p, first)
        if size == 2:
            _interchange(T, order, p + 1, second)
        kind[p] = size
        _pivot(T, p, size)
        p += size
    return p


@work_kernel
def _substitute(T, kind, rank, full):
    """Back substitution into the eliminated rows, full (m + 1,) with 1 at the end."""
    m, p = len(T), rank - 1
    while p >= 0:
        own = T[p]
        right = dot(own[p + 1 :], full[p + 1 :], m - p)
        if p > 0 and kind[p - 1] == 2:
            above = T[p - 1]
            left = dot(above[p + 1 :], full[p + 1 :], m - p)
            a, b, c = above[p - 1], above[p], own[p]
            full[p - 1] = (b * right - c * left) / (a * c - b * b)
            full[p] = (b * left - a * right) / (a * c - b * b)
            p -= 2
        else:
            full[p] = -right / own[p]
            p -= 1
