"""Triangular solves with the fronts of a factor: x = A⁻¹ b for one or many right-hand sides."""

from __future__ import annotations

import numpy as np

from pliant.algebra.blas import PLAIN, TRANSPOSED, dgemm, dgemv, dtrsm, dtrsv, pointer
from pliant.algebra.jit import inner, kernel


@kernel
def solve_one(blas, fronts, block, panels, signs, b, x):
    """x (n,) ← A⁻¹ b."""
    y, below = np.empty(len(b)), np.empty(len(b))
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
    for k in range(len(y)):
        y[k] *= signs[k]
    for s in range(len(fronts.parent) - 1, -1, -1):
        first, c, start, rows, height = _shape(fronts, s, block)
        if rows > 0:
            for k in range(rows):
                for i in range(block):
                    below[block * k + i] = y[block * fronts.rows[start + k] + i]
            under = pointer(panels, fronts.panel[s] + c)
            dgemv(
                blas,
                TRANSPOSED,
                height - c,
                c,
                -1.0,
                under,
                height,
                pointer(below, 0),
                1.0,
                pointer(y, first),
            )
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
