"""From space to pixels: an orthographic camera, and triangles drawn with a depth buffer.

Lengths in such a picture are lengths in space, so one scale serves the whole figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.errors import InputError

STEEPEST = 89.0  # degrees above the horizon: from straight above there is no up
UPRIGHT = 0.9  # of a unit vector's x: beyond that the vertical is about the x axis
OUTSIDE = -1e-9  # barycentric coordinate: a point on the edge of two triangles is in both


@dataclass(frozen=True)
class Camera:
    """Rows of `axes` (3, 3) are the picture's right, its up, and the direction towards the viewer."""

    axes: np.ndarray

    @classmethod
    def looking(cls, azimuth: float, elevation: float, *, up: Sequence[float] = (0.0, 0.0, 1.0)) -> Camera:
        """Seen from `azimuth` degrees around the vertical and `elevation` degrees above the horizon.

        `up` (3,) is the vertical. Azimuth 0 is the x axis (the y axis, should the vertical be x).
        """
        vertical = np.asarray(up, float)
        length = np.linalg.norm(vertical)
        if vertical.shape != (3,) or not (np.isfinite(length) and length > 0):
            raise InputError("up", expected="a direction, three numbers", got=up)
        vertical = vertical / length
        start = np.eye(3)[0 if abs(vertical[0]) < UPRIGHT else 1]
        start = start - vertical * (vertical @ start)
        start /= np.linalg.norm(start)
        a, e = np.radians(azimuth), np.radians(np.clip(elevation, -STEEPEST, STEEPEST))
        horizontal = np.cos(a) * start + np.sin(a) * np.cross(vertical, start)
        towards = np.cos(e) * horizontal + np.sin(e) * vertical
        right = np.cross(vertical, towards)
        right /= np.linalg.norm(right)
        return cls(np.array([right, np.cross(towards, right), towards]))

    @property
    def towards(self) -> np.ndarray:
        """Unit vector from the scene to the viewer, (3,)."""
        return self.axes[2]

    def project(self, points: np.ndarray) -> np.ndarray:
        """Positions (…, 3) [m] in the picture: right, up, and towards the viewer, (…, 3) [m]."""
        return points @ self.axes.T


@dataclass(frozen=True)
class Fragments:
    """What the pixels of an image (rows, columns) see.

    `triangle` is the nearest triangle, −1 for none; `depth` its distance towards the viewer [px], −inf for
    none; `weights` (rows, columns, 3) the barycentric coordinates in it.
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
    """What the pixels of an image of this shape (rows, columns) see of triangles (t, 3).

    Their corners are at pixel positions xy (k, 2) (column, row), with depth (k,), larger is nearer.
    """
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
                if u < OUTSIDE or v < OUTSIDE or w < OUTSIDE:
                    continue
                z = u * depth[a] + v * depth[b] + w * depth[c]
                if z > nearest[i, j]:
                    nearest[i, j] = z
                    triangle[i, j] = t
                    weights[i, j, 0], weights[i, j, 1], weights[i, j, 2] = u, v, w
