"""Obstacles as triangles, to be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from pliant.contact import obstacles as kinds

AROUND, ALONG = 48, 24  # pieces of a circle, and of half a circle
Shape = tuple[np.ndarray, np.ndarray]  # vertices (v, 3) [m], triangles (t, 3)


def shape(obstacle: kinds.Obstacle, centre: np.ndarray, size: float) -> Shape:
    """The surface of an obstacle; of a plane a square of `size` [m] in front of `centre` (3,). Unknown kinds are empty."""
    match obstacle:
        case kinds.Sphere():
            return _turned(obstacle.centre, obstacle.centre, obstacle.radius, round_ends=True)
        case kinds.Capsule():
            return _turned(obstacle.start, obstacle.end, obstacle.radius, round_ends=True)
        case kinds.Cylinder():
            return _turned(obstacle.start, obstacle.end, obstacle.radius, round_ends=False)
        case kinds.Box():
            return _box(obstacle.centre, obstacle.rotation, obstacle.size)
        case kinds.Plane():
            return _square(obstacle.point, obstacle.normal, centre, size)
        case kinds.Pipe():
            return _tubes([obstacle.path], [obstacle.radius])
        case kinds.ForkedPipe():
            return _tubes(obstacle.branches, obstacle.radius)
        case kinds.TriangleMesh():
            return obstacle.vertices, obstacle.triangles
    return np.zeros((0, 3)), np.zeros((0, 3), int)


def joined(shapes: Iterable[Shape]) -> Shape:
    """Several as one."""
    vertices, triangles, offset = [np.zeros((0, 3))], [np.zeros((0, 3), int)], 0
    for v, t in shapes:
        vertices.append(v)
        triangles.append(np.asarray(t) + offset)
        offset += len(v)
    return np.concatenate(vertices), np.concatenate(triangles)


def _frame(axis: np.ndarray) -> np.ndarray:
    """(3, 3) rows: two unit vectors across the axis, and the axis."""
    along = axis / np.linalg.norm(axis)
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    return np.array([across, np.cross(along, across), along])


def _turned(start: np.ndarray, end: np.ndarray, radius: float, *, round_ends: bool) -> Shape:
    """A profile of radius r and height h about the axis from start to end, turned round it."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    frame = _frame(axis if length > 0 else np.array([0.0, 0.0, 1.0]))
    if round_ends:
        t = np.linspace(-np.pi / 2, 0.0, ALONG // 2 + 1)
        r = radius * np.cos(np.concatenate([t, -t[::-1]]))
        h = np.concatenate([radius * np.sin(t), length - radius * np.sin(t[::-1])])
    else:
        r, h = radius * np.array([0.0, 1.0, 1.0, 0.0]), length * np.array([0.0, 0.0, 1.0, 1.0])
    return _lathe(start, frame, r, h)


def _lathe(origin: np.ndarray, frame: np.ndarray, r: np.ndarray, h: np.ndarray) -> Shape:
    turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
    ring = np.cos(turn)[:, None] * frame[0] + np.sin(turn)[:, None] * frame[1]
    vertices = origin + r[:, None, None] * ring + h[:, None, None] * frame[2]
    return vertices.reshape(-1, 3), _strips(len(r))


def _strips(rings: int) -> np.ndarray:
    """Triangles between neighbouring rings of AROUND vertices each."""
    k, j = np.meshgrid(np.arange(rings - 1), np.arange(AROUND), indexing="ij")
    a, b = AROUND * k + j, AROUND * k + (j + 1) % AROUND
    c, d = a + AROUND, b + AROUND
    return np.stack([np.stack([a, b, d], -1), np.stack([a, d, c], -1)], -2).reshape(-1, 3)


def _box(centre: np.ndarray, rotation: np.ndarray, size: np.ndarray) -> Shape:
    corners = np.array([[(b >> k & 1) - 0.5 for k in range(3)] for b in range(8)]) * size
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return centre + corners @ rotation.T, np.array(triangles)


def _square(point: np.ndarray, normal: np.ndarray, centre: np.ndarray, size: float) -> Shape:
    frame = _frame(normal)
    foot = centre - ((centre - point) @ frame[2]) * frame[2]
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (size / 2) @ frame[:2]
    return foot + corners, np.array([(0, 1, 2), (0, 2, 3)])


def _tubes(paths: Sequence[np.ndarray], radii: Sequence[float]) -> Shape:
    """A tube, open at its ends, round every segment."""
    parts = []
    for path, radius in zip(paths, radii, strict=True):
        for start, end in pairwise(path):
            length = float(np.linalg.norm(end - start))
            parts.append(_lathe(start, _frame(end - start), np.full(2, radius), np.array([0.0, length])))
    return joined(parts)
