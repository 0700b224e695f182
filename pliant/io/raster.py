"""Triangles to pixels with a depth buffer: which triangle each pixel shows, and where in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class Fragments:
    """What the pixels of an image (rows, columns) see.

    `triangle` is the nearest triangle, −1 for none; `depth` its distance towards the viewer [px], −inf for none;
    `weights` (rows, columns, 3) the barycentric coordinates in it.
    """

    triangle: np.ndarray
    depth: np.ndarray
    weights: np.ndarray

    @property
    def covered(self) -> np.ndarray:
        """Pixels that see something, (rows, columns) bool."""
        return self.triangle >= 0

    def interpolate(self, values: np.ndarray) -> np.ndarray:
        """Values at the corners of the triangles, (t, 3, …), at the covered pixels, (n, …)."""
        seen = self.covered
        corner = values[self.triangle[seen]]
        weights = self.weights[seen]
        return np.einsum("nc,nc...->n...", weights, corner)


def rasterise(xy: np.ndarray, depth: np.ndarray, triangles: np.ndarray, shape: tuple[int, int]) -> Fragments:
    """Draw triangles (t, 3) with corners at pixel positions xy (k, 2) (column, row) and depth (k,), larger is nearer."""
    triangle = np.full(shape, -1, np.int64)
    nearest = np.full(shape, -np.inf)
    weights = np.zeros((*shape, 3))
    _draw(np.ascontiguousarray(xy), depth, triangles, triangle, nearest, weights)
    return Fragments(triangle, nearest, weights)


@njit(cache=True, error_model="numpy")
def _draw(xy, depth, triangles, triangle, nearest, weights):
    rows, columns = triangle.shape
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, bx, by, cx, cy = xy[a, 0], xy[a, 1], xy[b, 0], xy[b, 1], xy[c, 0], xy[c, 1]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        first_column = max(int(np.ceil(min(ax, bx, cx) - 0.5)), 0)
        last_column = min(int(np.floor(max(ax, bx, cx) - 0.5)), columns - 1)
        first_row = max(int(np.ceil(min(ay, by, cy) - 0.5)), 0)
        last_row = min(int(np.floor(max(ay, by, cy) - 0.5)), rows - 1)
        for i in range(first_row, last_row + 1):
            y = i + 0.5
            for j in range(first_column, last_column + 1):
                x = j + 0.5
                u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                w = 1.0 - u - v
                if u < -1e-9 or v < -1e-9 or w < -1e-9:
                    continue
                z = u * depth[a] + v * depth[b] + w * depth[c]
                if z > nearest[i, j]:
                    nearest[i, j] = z
                    triangle[i, j] = t
                    weights[i, j, 0], weights[i, j, 1], weights[i, j, 2] = u, v, w
