"""Tree: a hierarchy of boxes round triangles, laid out once and refitted as they move.

Nodes stand in depth-first order. links[n] = (skip, start, stop): `skip` is the node after n's subtree, so
that a search is a single loop that goes on to n + 1 or past the subtree; a leaf holds triangles start …
stop − 1, an inner node none. bounds[n] = lowest and highest corner (6,) of its triangles, then (6,) of
their unit normals.

Material neighbours stay neighbours, so a tree laid out at rest stays good when a body deforms.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.arrays import frozen


def lay_out_tree(X: np.ndarray, triangles: np.ndarray, *, leaf: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (t, 3) on nodes X (k, 3) halved along their longest side until `leaf` are left.

    Returns links (m, 3) and the order (t,) that the triangles must be put in.
    """
    centres, order = X[triangles].mean(axis=1), np.arange(len(triangles))
    spans, inner = [], []
    stack = [(0, len(triangles))]
    while stack:
        start, stop = stack.pop()
        if stop - start <= leaf:
            spans.append((start, stop))
            continue
        inner.append((len(spans), stop))
        spans.append((start, start))
        mine, middle = order[start:stop], (stop - start) // 2
        axis = int(np.argmax(np.ptp(centres[mine], axis=0)))
        order[start:stop] = mine[np.argpartition(centres[mine, axis], middle)]
        stack += [(start + middle, stop), (start, start + middle)]
    starts, skip = np.array([s for s, _ in spans]), np.arange(1, len(spans) + 1)
    for node, stop in inner:  # past an inner node: the first that begins where it ends; starts ascend
        skip[node] = node + np.searchsorted(starts[node:], stop)
    return frozen(np.column_stack([skip, np.array(spans)]), int), order


@njit(cache=True, error_model="numpy")
def fit_tree(X, triangles, normals, links):
    """Bounds (m, 12) of all nodes. Children come after their parent, so one pass backwards does it."""
    bounds = np.empty((len(links), 12))
    for n in range(len(links) - 1, -1, -1):
        for low in (0, 1, 2, 6, 7, 8):
            bounds[n, low], bounds[n, low + 3] = np.inf, -np.inf
        for t in range(links[n, 1], links[n, 2]):
            for c in range(3):
                x, y, z = X[triangles[t, 0], c], X[triangles[t, 1], c], X[triangles[t, 2], c]
                bounds[n, c], bounds[n, 3 + c] = min(bounds[n, c], x, y, z), max(bounds[n, 3 + c], x, y, z)
                bounds[n, 6 + c], bounds[n, 9 + c] = (
                    min(bounds[n, 6 + c], normals[t, c]),
                    max(bounds[n, 9 + c], normals[t, c]),
                )
        if links[n, 1] == links[n, 2]:
            left, right = n + 1, links[n + 1, 0]
            for c in range(3):
                for low in (c, 6 + c):
                    bounds[n, low] = min(bounds[left, low], bounds[right, low])
                    bounds[n, low + 3] = max(bounds[left, low + 3], bounds[right, low + 3])
    return bounds
