"""Tree: a hierarchy of boxes round triangles, laid out once and refitted as they move.

Nodes stand in depth-first order; `skip[n]` is the node after n's subtree, so that a search is a single loop: go on to
n + 1, or past the subtree. Material neighbours stay neighbours, so a tree laid out at rest stays good when a body deforms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.contact.checks import frozen


@dataclass(frozen=True, eq=False)
class Tree:
    """`skip` (m,); leaves hold order[start[n]:stop[n]], inner nodes have start = stop."""

    skip: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    order: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, triangles: np.ndarray, *, leaf: int = 4) -> Tree:
        """Halved along the longest side until `leaf` triangles are left."""
        centres = X[triangles].mean(axis=1)
        order = np.arange(len(triangles))
        skip: list[int] = []
        spans: list[tuple[int, int]] = []
        stack, ends = [(0, len(triangles))], []
        while stack:
            start, stop = stack.pop()
            node, count = len(skip), stop - start
            skip.append(-1)
            if count <= leaf:
                spans.append((start, stop))
                continue
            spans.append((start, start))
            mine = order[start:stop]
            axis = int(np.argmax(np.ptp(centres[mine], axis=0)))
            middle = count // 2
            order[start:stop] = mine[np.argpartition(centres[mine, axis], middle)]
            ends.append((node, start, stop))
            stack += [(start + middle, stop), (start, start + middle)]
        return cls(_skips(spans, ends), *(frozen(s, int) for s in np.array(spans).T), frozen(order, int))


def _skips(spans: list[tuple[int, int]], inner: list[tuple[int, int, int]]) -> np.ndarray:
    """After a leaf comes the next node; after an inner node the first that begins at or past its end."""
    starts = np.array([s for s, _ in spans])
    skip = np.arange(1, len(spans) + 1)
    for node, _, stop in inner:
        later = np.searchsorted(starts[node:], stop)  # starts ascend in depth-first order
        skip[node] = node + later
    return frozen(skip, int)


@njit(cache=True, error_model="numpy")
def refit(X, triangles, normals, skip, start, stop, order, boxes, cones):
    """Boxes (m, 6) round the triangles of every node, and boxes (m, 6) round their unit normals.

    Children come after their parent, so one pass backwards does it.
    """
    for n in range(len(skip) - 1, -1, -1):
        for c in range(3):
            boxes[n, c], boxes[n, 3 + c], cones[n, c], cones[n, 3 + c] = np.inf, -np.inf, np.inf, -np.inf
        for s in range(start[n], stop[n]):
            t = order[s]
            for c in range(3):
                x, y, z = X[triangles[t, 0], c], X[triangles[t, 1], c], X[triangles[t, 2], c]
                boxes[n, c], boxes[n, 3 + c] = min(boxes[n, c], x, y, z), max(boxes[n, 3 + c], x, y, z)
                cones[n, c] = min(cones[n, c], normals[t, c])
                cones[n, 3 + c] = max(cones[n, 3 + c], normals[t, c])
        if start[n] == stop[n]:
            for child in (n + 1, skip[n + 1]):
                for c in range(3):
                    boxes[n, c] = min(boxes[n, c], boxes[child, c])
                    boxes[n, 3 + c] = max(boxes[n, 3 + c], boxes[child, 3 + c])
                    cones[n, c] = min(cones[n, c], cones[child, c])
                    cones[n, 3 + c] = max(cones[n, 3 + c], cones[child, 3 + c])
