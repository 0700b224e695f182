"""Interactions that are affine in the positions of their points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from pliant.interactions import checks
from pliant.interactions.interaction import Interaction
from pliant.points import Points


class Affine(Interaction):
    """δₖ = Σᵢ gₖᵢ·pᵢ − oₖ with constant gradient g (nnz, 3) on the stencil (ptr, point) and offset o (m,).

    A subclass calls `_set_rows` (or `_read_points`) in its constructor; nothing else is left to do.
    """

    def __init__(self, points: Points | Sequence[Points]) -> None:
        super().__init__(points)
        checks.at_least(f"points of a {type(self).__name__}", self.point_count, 1)

    def _set_rows(self, ptr: np.ndarray, point: np.ndarray, gradient: np.ndarray, *, from_rest: bool) -> None:
        """`from_rest`: offset such that δ = 0 at rest, a displacement; otherwise δ is a position."""
        self._ptr = np.ascontiguousarray(ptr, np.int64)
        self._point = np.ascontiguousarray(point, np.int64)
        self._gradient = np.ascontiguousarray(gradient, float)
        self._offset = np.zeros(len(ptr) - 1)
        if from_rest:
            self._offset = self.value(self.rest)

    def _read_points(self, directions: np.ndarray, *, from_rest: bool) -> None:
        """Every point along the same k directions, point by point: m = P k rows."""
        P, k = self.point_count, len(directions)
        self._set_rows(
            np.arange(P * k + 1), np.repeat(np.arange(P), k), np.tile(directions, (P, 1)), from_rest=from_rest
        )

    @property
    def size(self) -> int:
        return len(self._offset)

    def value(self, p: np.ndarray) -> np.ndarray:
        return _value(p, self._ptr, self._point, self._gradient, self._offset)

    def stencil(self) -> tuple[np.ndarray, np.ndarray]:
        return self._ptr, self._point

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return self._gradient


@njit(cache=True, error_model="numpy")
def _value(p, ptr, point, gradient, offset):
    delta = np.empty(len(offset))
    for k in range(len(offset)):
        total = -offset[k]
        for e in range(ptr[k], ptr[k + 1]):
            i = point[e]
            total += gradient[e, 0] * p[i, 0] + gradient[e, 1] * p[i, 1] + gradient[e, 2] * p[i, 2]
        delta[k] = total
    return delta
