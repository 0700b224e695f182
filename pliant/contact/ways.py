"""Ways: how far apart the nodes of a surface are when one walks on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import pliant.sparse as sp
from pliant.contact.checks import frozen

_CHUNK = 256  # rows of distances held at a time


@dataclass(frozen=True, eq=False)
class Ways:
    """Lengths [m] at rest along edges: node v reaches node[ptr[v]:ptr[v+1]] (sorted) within `limit`."""

    ptr: np.ndarray
    node: np.ndarray
    length: np.ndarray
    limit: float

    @classmethod
    def none(cls) -> Ways:
        """For surfaces that never touch themselves."""
        return cls(frozen(np.zeros(1), int), frozen(np.zeros(0), int), frozen(np.zeros(0)), 0.0)

    @classmethod
    def on(cls, X: np.ndarray, T: np.ndarray, limit: float) -> Ways:
        """On nodes X (k, 3) [m] joined by the edges of triangles T (t, 3)."""
        from scipy.sparse.csgraph import dijkstra  # slow to import

        a, b = T.ravel(), np.roll(T, -1, axis=1).ravel()
        i, j = np.concatenate([a, b]), np.concatenate([b, a])
        key = np.unique(i * len(X) + j)
        i, j = np.divmod(key, len(X))
        graph = sp.csr_array((np.linalg.norm(X[i] - X[j], axis=1), (i, j)), shape=(len(X), len(X)))
        rows, cols, lengths = [], [], []
        for start in range(0, len(X), _CHUNK):
            sources = np.arange(start, min(start + _CHUNK, len(X)))
            found = dijkstra(graph, indices=sources, limit=limit)
            r, c = np.nonzero(np.isfinite(found))
            rows.append(sources[r])
            cols.append(c)
            lengths.append(found[r, c])
        ptr = np.searchsorted(np.concatenate(rows), np.arange(len(X) + 1))
        return cls(
            frozen(ptr, int), frozen(np.concatenate(cols), int), frozen(np.concatenate(lengths)), limit
        )
