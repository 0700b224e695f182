"""Topology of triangulated surfaces: the pairs of points they couple, and the rims of open ones."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

import pliant.sparse as sp
from pliant.errors import InputError
from pliant.points import Points


class HasNodes(Protocol):
    """A body whose nodes can be material points."""

    def node_points(self, nodes: Any) -> Points: ...


def on_nodes(body: HasNodes, surface: Any) -> tuple[Points, np.ndarray]:
    """Points at the nodes of a surface, and its triangles as indices of these points.

    `surface` is a mesh surface or triangles (t, 3) of node indices, of the mesh that the body uses.
    """
    used, local = np.unique(np.asarray(getattr(surface, "triangles", surface)), return_inverse=True)
    return body.node_points(used), local.reshape(-1, 3)


def triangle_pairs(triangles: np.ndarray, *, diagonal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (i, j), i ≥ j, of points that share a triangle, (npair, 2), and where triangles put their blocks.

    The second, (t, 3, 3), is the pair of each triangle's corners (k, l); −1 for the half that is not stored,
    and for k = l unless `diagonal`.
    """
    n = int(triangles.max()) + 1
    i, j = np.broadcast_arrays(triangles[:, :, None], triangles[:, None, :])
    keep = i >= j if diagonal else i > j
    keys, inverse = np.unique((i * n + j)[keep], return_inverse=True)
    slots = np.full(keep.shape, -1, np.int64)
    slots[keep] = inverse
    return np.column_stack(np.divmod(keys, n)), slots


def rim_edges(triangles: np.ndarray) -> np.ndarray:
    """Edges that only one triangle has, (r, 2), directed as that triangle goes round; empty when closed.

    Raises unless triangles go along every other edge equally often in both directions.
    """
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    n = int(triangles.max()) + 1
    ends = np.sort(edges, axis=1)
    _, which, count = np.unique(ends[:, 0] * n + ends[:, 1], return_inverse=True, return_counts=True)
    forward = np.bincount(which, edges[:, 0] < edges[:, 1])
    bad = (count > 1) & (2 * forward != count)
    if bad.any():
        crowded = int((bad & (count > 2)).sum())
        raise InputError(
            "triangles of a surface",
            expected="two at each edge, all oriented the same way",
            got=f"{crowded} edges with more"
            if crowded
            else f"{int(bad.sum())} edges whose triangles disagree",
            hint="Corners go round counter-clockwise seen from outside.",
        )
    return edges[count[which] == 1]


def rim_loops(edges: np.ndarray) -> list[np.ndarray]:
    """The closed loops that rim edges form: the edges (n, 2) of each. A rim must not touch itself."""
    points, local = np.unique(edges, return_inverse=True)
    local = local.reshape(edges.shape)
    if (np.bincount(local.ravel()) != 2).any():
        k = int(points[np.bincount(local.ravel()) != 2][0])
        raise InputError(
            "rim of a surface", expected="loops that do not touch", got=f"a crossing at point {k}"
        )
    n = len(points)
    graph = sp.coo_array((np.ones(len(edges)), local.T), shape=(n, n))
    from scipy.sparse.csgraph import connected_components  # slow to import, seldom needed

    loops, label = connected_components(graph, directed=False)
    return [edges[label[local[:, 0]] == k] for k in range(loops)]
