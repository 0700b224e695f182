"""Who is next to whom on a triangulated surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.arrays import frozen


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Triangles beyond each edge and round each node.

    across (t, 3) is the triangle beyond the edge from corner e to e + 1, −1 on a rim;
    fan[fan_ptr[v]:fan_ptr[v+1]] belong to node v. `crowded` counts edges that do not join two triangles
    that run along it in opposite directions.
    """

    across: np.ndarray
    fan_ptr: np.ndarray
    fan: np.ndarray
    crowded: int

    @property
    def rims(self) -> int:
        """Edges of one triangle only."""
        return int((self.across < 0).sum()) - self.crowded

    @classmethod
    def of(cls, triangles: np.ndarray, nodes: int) -> Adjacency:
        """From triangles (t, 3) on `nodes` nodes."""
        t = len(triangles)
        a, b = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
        key = np.minimum(a, b) * nodes + np.maximum(a, b)
        order = np.argsort(key, kind="stable")
        _, first, count = np.unique(key[order], return_index=True, return_counts=True)
        one, two = order[first[count == 2]], order[first[count == 2] + 1]
        opposed = a[one] != a[two]
        across = np.full(3 * t, -1, np.int64)
        across[one[opposed]], across[two[opposed]] = two[opposed] // 3, one[opposed] // 3
        bad = int(count[count > 2].sum()) + 2 * int((~opposed).sum())
        corner = np.argsort(a, kind="stable")
        ptr = np.searchsorted(a[corner], np.arange(nodes + 1))
        return cls(frozen(across.reshape(t, 3), int), frozen(ptr, int), frozen(corner // 3, int), bad)
