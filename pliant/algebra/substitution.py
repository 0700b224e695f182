"""Triangular solves with the fronts of a factor: x = A⁻¹ b for one or many right-hand sides."""

from __future__ import annotations

import numpy as np

from pliant.algebra.blas import PLAIN, TRANSPOSED, dgemm, dgemv, dtrsm, dtrsv, pointer
from pliant.algebra.jit import inner, kernel


@kernel
def solve_one(blas, fronts, block, panels, signs, b, x):
    """x (n,) ← A⁻¹ b."""
    y = np.empty(len(b))
    _down(blas, fronts, block, panels, b, y)
    for k in range(len(y)):
        y[k] *= signs[k]
    _up(blas, fronts, block, panels, y, x)


@kernel
def load(blas, fronts, block, panels, signs, half, b, y, motion):
    """y (n,) ← L⁻¹Pb, half of a solution, and motion (m,) ← ZᵀSy of the rows; `half` is Z, see `condense`."""
    active_start, active, offset, Z = half
    _down(blas, fronts, block, panels, b, y)
    motion[:] = 0.0
    for s in range(len(fronts.parent)):
        low, k = active_start[s], active_start[s + 1] - active_start[s]
        if k > 0:
            first, c = block * fronts.first[s], block * (fronts.first[s + 1] - fronts.first[s])
            for p in range(c):
                factor, at = signs[first + p] * y[first + p], offset[s] + p * k
                for j in range(k):
                    motion[active[low + j]] += factor * Z[at + j]


@kernel
def answer(blas, fronts, block, panels, signs, half, y, lam, x):
    """x (n,) ← PᵀL⁻ᵀS(y + Zλ): the other half, with efforts λ (m,) of the rows."""
    active_start, active, offset, Z = half
    both = np.empty(len(y))
    for s in range(len(fronts.parent)):
        low, k = active_start[s], active_start[s + 1] - active_start[s]
        first, c = block * fronts.first[s], block * (fronts.first[s + 1] - fronts.first[s])
        for p in range(c):
            value, at = y[first + p], offset[s] + p * k
            for j in range(k):
                value += Z[at + j] * lam[active[low + j]]
            both[first + p] = signs[first + p] * value
    _up(blas, fronts, block, panels, both, x)


@inner
def _down(blas, fronts, block, panels, b, y):
    """y ← L⁻¹Pb."""
    below = np.empty(len(y))
    for node in range(len(fronts.order)):
        for i in range(block):
            y[block * node + i] = b[block * fronts.order[node] + i]
    for s in range(len(fronts.parent)):
        first, c, start, rows, height = _shape(fronts, s, block)
        corner = pointer(panels, fronts.panel[s])
        dtrsv(blas, PLAIN, c, corner, height, pointer(y, first))
        if rows > 0:
            under = pointer(panels, fronts.panel[s] + c)
            dgemv(blas, PLAIN, height - c, c, 1.0, under, height, pointer(y, first), 0.0, pointer(below, 0))
            for k in range(rows):
                for i in range(block):
                    y[block * fronts.rows[start + k] + i] -= below[block * k + i]


@inner
def _up(blas, fronts, block, panels, y, x):
    """x ← PᵀL⁻ᵀy, y is overwritten."""
    below = np.empty(len(y))
    for s in range(len(fronts.parent) - 1, -1, -1):
        first, c, start, rows, height = _shape(fronts, s, block)
        if rows > 0:
            for k in range(rows):
                for i in range(block):
                    below[block * k + i] = y[block * fronts.rows[start + k] + i]
            under = pointer(panels, fronts.panel[s] + c)
            dgemv(blas, TRANSPOSED, height - c, c, -1.0, under, height, pointer(below, 0), 1.0,
                  pointer(y, first))  # fmt: skip
        dtrsv(blas, TRANSPOSED, c, pointer(panels, fronts.panel[s]), height, pointer(y, first))
    for node in range(len(fronts.order)):
        for i in range(block):
            x[block * fronts.order[node] + i] = y[block * node + i]


@kernel
def solve_many(blas, fronts, block, panels, signs, b, x):
    """X (n, k) ← A⁻¹ B. Rows of Y are contiguous, so BLAS sees Yᵀ: solves and products act from the right."""
    n, many = b.shape
    y, below = np.empty(n * many), np.empty(n * many)
    for node in range(len(fronts.order)):
        for i in range(block):
            for j in range(many):
                y[(block * node + i) * many + j] = b[block * fronts.order[node] + i, j]
    for s in range(len(fronts.parent)):
        first, c, start, rows, height = _shape(fronts, s, block)
        here = pointer(y, first * many)
        dtrsm(blas, TRANSPOSED, many, c, pointer(panels, fronts.panel[s]), height, here, many)
        if rows > 0:
            under = pointer(panels, fronts.panel[s] + c)
            dgemm(blas, TRANSPOSED, many, height - c, c, 1.0, here, many, under, height, 0.0,
                  pointer(below, 0), many)  # fmt: skip
            for k in range(rows):
                at = block * many * fronts.rows[start + k]
                for i in range(block * many):
                    y[at + i] -= below[k * block * many + i]
    for k in range(n):
        for j in range(many):
            y[k * many + j] *= signs[k]
    for s in range(len(fronts.parent) - 1, -1, -1):
        first, c, start, rows, height = _shape(fronts, s, block)
        here = pointer(y, first * many)
        if rows > 0:
            for k in range(rows):
                at = block * many * fronts.rows[start + k]
                for i in range(block * many):
                    below[k * block * many + i] = y[at + i]
            under = pointer(panels, fronts.panel[s] + c)
            dgemm(blas, PLAIN, many, c, height - c, -1.0, pointer(below, 0), many, under, height, 1.0,
                  here, many)  # fmt: skip
        dtrsm(blas, PLAIN, many, c, pointer(panels, fronts.panel[s]), height, here, many)
    for node in range(len(fronts.order)):
        for i in range(block):
            for j in range(many):
                x[block * fronts.order[node] + i, j] = y[(block * node + i) * many + j]


@inner
def _shape(fronts, s, block):
    """First pivot and their number in scalars; first row, number of rows in blocks; height of the panel."""
    c = block * (fronts.first[s + 1] - fronts.first[s])
    rows = fronts.start[s + 1] - fronts.start[s]
    return block * fronts.first[s], c, fronts.start[s], rows, c + block * rows
