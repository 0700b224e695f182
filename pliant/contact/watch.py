"""Watch: how far points can have moved at most, told by the few nodes that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.contact.checks import frozen
from pliant.points import Points


class Watch(NamedTuple):
    """Groups of points that are sums of the same nodes, x = Σ wₖ xₖ with Σ wₖ = 1: group g of rows row[ptr[g]:ptr[g+1]] of a list of
    positions, weight (·,) the largest |wₖ| in it. No point of it moves farther than |Δx₀| + Σ weightₖ |Δxₖ − Δx₀|."""

    ptr: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    before: np.ndarray  # (·, 3) [m] where the rows were, kept by `moved`

    @classmethod
    def of_each(cls, count: int) -> Watch:
        """Every one of `count` points for itself."""
        return cls._of(np.arange(count + 1), np.arange(count), np.ones(count))

    @classmethod
    def of_nodes(cls, parts: Sequence[Points], first: Sequence[int]) -> Watch:
        """Points of bodies whose nodes begin at rows `first`."""
        groups: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        for part, start in zip(parts, first, strict=True):
            point, node, weight = part.terms
            pairs, number = np.unique(np.column_stack([point, node]), axis=0, return_inverse=True)
            size, rows = np.abs(np.bincount(number.ravel(), weight)), start + pairs[:, 1]
            for mine in np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(pairs[:, 0])) + 1):
                key = rows[mine].tobytes()
                known = groups[key][1] if key in groups else 0.0
                groups[key] = rows[mine], np.maximum(size[mine], known)
        rows, weights = zip(*groups.values(), strict=True)
        ptr = np.cumsum([0, *(len(r) for r in rows)])
        return cls._of(ptr, np.concatenate(rows), np.concatenate(weights))

    @classmethod
    def _of(cls, ptr: np.ndarray, row: np.ndarray, weight: np.ndarray) -> Watch:
        return cls(frozen(ptr, int), frozen(row, int), frozen(weight), np.zeros((len(row), 3)))


@njit(error_model="numpy")
def moved(X, watch):
    """The farthest [m] that a watched point can have moved since the last call, in positions X (·, 3); NaN or inf if it is nowhere."""
    ptr, row, weight, before = watch
    most, total = 0.0, 0.0
    for g in range(len(ptr) - 1):
        bound, a, b, c = 0.0, 0.0, 0.0, 0.0
        for k in range(ptr[g], ptr[g + 1]):
            i = row[k]
            x, y, z = X[i, 0] - before[k, 0], X[i, 1] - before[k, 1], X[i, 2] - before[k, 2]
            before[k, 0], before[k, 1], before[k, 2] = X[i, 0], X[i, 1], X[i, 2]
            if k == ptr[g]:
                a, b, c, factor = x, y, z, 1.0
            else:
                x, y, z, factor = x - a, y - b, z - c, weight[k]
            bound += factor * np.sqrt(x * x + y * y + z * z)
        most, total = max(most, bound), total + bound
    return most if total < np.inf else total
