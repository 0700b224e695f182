"""The triangles of STL files that are text, and flat lids for holes in a surface."""

from __future__ import annotations

import re

import numpy as np

from pliant.errors import MeshError

_VERTEX = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.MULTILINE | re.IGNORECASE)


def text_triangles(raw: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) and triangles (t, 3) of an STL text; corners at the same place are one point."""
    corners = np.array(_VERTEX.findall(raw), dtype="S").astype(float).reshape(-1, 3)
    if len(corners) != 3 * len(re.findall(rb"\bouter\s+loop\b", raw, re.IGNORECASE)):
        raise MeshError("text", expected="three vertices of three numbers in each loop", got="others")
    points, place = np.unique(corners, axis=0, return_inverse=True)
    return points, place.reshape(-1, 3)


def lidded(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The points and triangles with a lid on every hole, and how many holes have one.

    A hole is a ring of sides that belong to one triangle only; its lid is a fan from its middle. Where rings
    meet in a point, or do not close, they stay as they are.
    """
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, number, count = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    rim = sides[count[number.reshape(-1)] == 1]
    after = {int(a): int(b) for a, b in rim}
    begins, ends = np.unique(rim[:, 0], return_counts=True), np.unique(rim[:, 1], return_counts=True)
    if not len(rim) or begins[1].max() > 1 or ends[1].max() > 1 or set(begins[0]) != set(ends[0]):
        return points, triangles, 0
    middles, lids = [], []
    while after:
        ring = [next(iter(after))]
        while (on := after.pop(ring[-1])) != ring[0]:
            ring.append(on)
        middle = len(points) + len(middles)
        middles.append(points[ring].mean(axis=0))
        lids += [(b, a, middle) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
    return np.vstack([points, middles]), np.vstack([triangles, lids]), len(middles)
