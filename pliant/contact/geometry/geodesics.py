"""Geodesics: how far apart the nodes of a surface are when one walks on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import pliant.sparse as sp
from pliant.arrays import frozen

_CHUNK = 256  # rows of distances held at a time


@dataclass(frozen=True, eq=False)
class Geodesics:
    """Lengths [m] at rest along edges: node v reaches node[ptr[v]:ptr[v+1]] (sorted) within `limit`."""

    ptr: np.ndarray
    node: np.ndarray
    length: np.ndarray
    limit: float

    @classmethod
    def none(cls) -> Geodesics:
        """For surfaces that never touch themselves."""
        return cls(frozen(np.zeros(1), int), frozen(np.zeros(0), int), frozen(np.zeros(0)), 0.0)

    @classmethod
    def on(cls, X: np.ndarray, T: np.ndarray, limit: float) -> Geodesics:
        """On nodes X (k, 3) [m] joined by the edges of triangles T (t, 3)."""
        from scipy.sparse.csgraph import dijkstra  # slow to import

        a, b = T.ravel(), np.roll(T, -1, axis=1).ravel()
        i, j = np.concatenate([a, b]), np.concatenate([b, a])
        key = np.unique(i * len(X) + j)
        i, j = np.divmod(key, len(X))
        graph = sp.csr_array((np.linalg.norm(X[i] - X[j], axis=1), (i, j)), shape=(len(X), len(X)))
        rows, cols, lengths = [], [], []
        for sources, near in _batches(graph, len(X)):
            found = dijkstra(graph[near][:, near], indices=np.searchsorted(near, sources), limit=limit)
            r, c = np.nonzero(np.isfinite(found))
            rows.append(sources[r])
            cols.append(near[c])
            lengths.append(found[r, c])
        order = np.argsort(np.concatenate(rows), kind="stable")
        rows, cols, lengths = (np.concatenate(part)[order] for part in (rows, cols, lengths))
        ptr = np.searchsorted(rows, np.arange(len(X) + 1))
        return cls(frozen(ptr, int), frozen(cols, int), frozen(lengths), limit)


def _batches(graph: Any, nodes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes to start from, and all that can be reached from them: small pieces of the surface together."""
    from scipy.sparse.csgraph import connected_components

    count, piece = connected_components(graph, directed=False)
    order = np.argsort(piece, kind="stable")
    ends = np.cumsum(np.bincount(piece, minlength=count))
    start = 0
    while start < nodes:
        full = np.searchsorted(ends, start + _CHUNK, side="right")  # pieces that fit into one batch
        stop = int(ends[full - 1]) if full and ends[full - 1] > start else int(ends[full])
        near = np.sort(order[start:stop])
        for first in range(0, len(near), _CHUNK):
            yield near[first : first + _CHUNK], near
        start = stop
