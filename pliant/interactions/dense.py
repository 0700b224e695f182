"""Points of a reduced body, which every coordinate moves: rows and geometric stiffness by dense products."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.pattern import Pattern
from pliant.points import Points


class DensePairs:
    """Pairs of points (i, j) of one reduced body: their geometric stiffness is JᵀMJ, J = ∂p/∂dq (3P, n).

    which: places of these pairs among all.
    i, j: their points, counted in `points`.
    first: the body's first block of dq.
    """

    def __init__(self, points: Points, which: np.ndarray, i: np.ndarray, j: np.ndarray, first: int) -> None:
        assert points.dense is not None
        used, local = np.unique(np.concatenate([i, j]), return_inverse=True)
        self.which, self._i, self._j = which, *np.split(local.astype(np.int64), 2)
        self._J = np.ascontiguousarray(
            points.dense.reshape(len(points), 3, -1)[used].reshape(3 * len(used), -1)
        )
        self._rows, self._cols = np.tril_indices(self._J.shape[1] // 3)
        self._first = first

    def place(self, pattern: Pattern) -> np.ndarray:
        """Where the body's blocks stand in K."""
        return pattern.find(self._first + self._rows, self._first + self._cols)[0]

    def subtract(self, K: np.ndarray, place: np.ndarray, M: np.ndarray) -> None:
        """K −= JᵀMJ, in place on the pattern's blocks."""
        own = M[self.which]
        if not own.any():
            return
        n = self._J.shape[1]
        C = self._J.T @ _times(own, self._i, self._j, self._J)
        blocks = C.reshape(n // 3, 3, n // 3, 3).transpose(0, 2, 1, 3)
        K[place] -= blocks[self._rows, self._cols]


@njit(cache=True, error_model="numpy")
def _times(M, i, j, J):
    """M J of the symmetric matrix of which M (npair, 3, 3) are the blocks on and below the diagonal."""
    out = np.zeros(J.shape)
    for k in range(len(i)):
        a, b, m = 3 * i[k], 3 * j[k], M[k]
        for r in range(3):
            for c in range(3):
                if m[r, c] != 0.0:
                    for t in range(J.shape[1]):
                        out[a + r, t] += m[r, c] * J[b + c, t]
                    if a != b:
                        for t in range(J.shape[1]):
                            out[b + c, t] += m[r, c] * J[a + r, t]
    return out


@njit(cache=True, error_model="numpy")
def dense_rows(gradient, row_ptr, point, J):
    """H (m, n) of rows whose gradient is given on points, J (3P, n): one entry for each coordinate."""
    H = np.zeros((len(row_ptr) - 1, J.shape[1]))
    for row in range(len(H)):
        for e in range(row_ptr[row], row_ptr[row + 1]):
            for c in range(3):
                g = gradient[e, c]
                if g != 0.0:
                    for t in range(J.shape[1]):
                        H[row, t] += g * J[3 * point[e] + c, t]
    return H
