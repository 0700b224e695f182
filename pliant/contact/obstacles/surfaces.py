"""Triangles of simple surfaces, from which obstacles are drawn: turned profiles, boxes, squares, tubes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

AROUND, ALONG = 48, 24  # pieces of a circle, and of half a circle
Triangles = tuple[np.ndarray, np.ndarray]  # vertices (v, 3) [m], triangles (t, 3) of vertex indices


def nothing() -> Triangles:
    """An empty surface."""
    return np.zeros((0, 3)), np.zeros((0, 3), int)


def joined(surfaces: Iterable[Triangles]) -> Triangles:
    """Several surfaces as one."""
    vertices, triangles, offset = [np.zeros((0, 3))], [np.zeros((0, 3), int)], 0
    for v, t in surfaces:
        vertices.append(v)
        triangles.append(np.asarray(t) + offset)
        offset += len(v)
    return np.concatenate(vertices), np.concatenate(triangles)


def rod(start: np.ndarray, end: np.ndarray, radius: float, *, round_ends: bool) -> Triangles:
    """A bar of `radius` [m] about the axis from start to end (3,) [m]; a ball, if it has only round ends."""
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


def box(centre: np.ndarray, rotation: np.ndarray, size: np.ndarray) -> Triangles:
    """A block with edge lengths `size` (3,) [m] along the columns of `rotation`."""
    corners = np.array([[(b >> k & 1) - 0.5 for k in range(3)] for b in range(8)]) * size
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return centre + corners @ rotation.T, np.array(triangles)


def square(point: np.ndarray, normal: np.ndarray, middle: np.ndarray, size: float) -> Triangles:
    """A square of edge length `size` [m] in a plane, its centre at the foot of `middle` (3,) [m]."""
    frame = _frame(normal)
    foot = middle - ((middle - point) @ frame[2]) * frame[2]
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (size / 2) @ frame[:2]
    return foot + corners, np.array([(0, 1, 2), (0, 2, 3)])


def tubes(paths: Sequence[np.ndarray], radii: Sequence[float]) -> Triangles:
    """A tube, open at its ends, round every segment of polylines (n, 3) [m] with a radius [m] each."""
    parts = []
    for path, radius in zip(paths, radii, strict=True):
        for start, end in pairwise(path):
            length = float(np.linalg.norm(end - start))
            parts.append(_lathe(start, _frame(end - start), np.full(2, radius), np.array([0.0, length])))
    return joined(parts)


def _frame(axis: np.ndarray) -> np.ndarray:
    """(3, 3) rows: two unit vectors across the axis, and the axis."""
    along = axis / np.linalg.norm(axis)
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    across /= np.linalg.norm(across)
    return np.array([across, np.cross(along, across), along])


def _lathe(origin: np.ndarray, frame: np.ndarray, r: np.ndarray, h: np.ndarray) -> Triangles:
    """A profile of radii r and heights h (n,) [m], turned round the last axis of a frame."""
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
