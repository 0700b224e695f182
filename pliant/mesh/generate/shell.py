"""Closed shells: layers of hexahedra between two surfaces with the same quadrilaterals."""

from __future__ import annotations

import numpy as np

from pliant.mesh.generate.disc import disc
from pliant.mesh.generate.grid import tensor_grid
from pliant.mesh.topology import cell_faces, compact, face_groups


def shell(
    quads: np.ndarray, inner: np.ndarray, outer: np.ndarray, layers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Hexahedra between `inner` and `outer` positions (n, 3) of the same points.

    `quads` (m, 4) run counter-clockwise seen from outside; `layers` are the fractions from 0 (inner) to 1
    (outer).
    """
    nodes = inner[None] + layers[:, None, None] * (outer - inner)[None]
    step = np.arange(len(layers) - 1)[:, None, None] * len(inner)
    cells = np.concatenate([quads + step, quads + step + len(inner)], axis=2)
    return nodes.reshape(-1, 3), cells.reshape(-1, 8)


def cube_surface(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on the surface of [−1, 1]³ in n × n quadrilaterals per side, outward."""
    s = np.linspace(-1, 1, n + 1)
    points, cells, _ = tensor_grid(s, s, s)
    faces, _, _ = cell_faces(cells, "hex8")
    _, count = face_groups(cells, "hex8")
    points, quads, _ = compact(points, faces[count == 1])
    return points, quads


def sphere_directions(cube: np.ndarray) -> np.ndarray:
    """Unit vectors (n, 3) for points on the surface of the cube, at nearly equal angles."""
    spread = np.tan(np.pi / 4 * cube)
    return spread / np.linalg.norm(spread, axis=1, keepdims=True)


def capped_cylinder(around: int, rings: int, along: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The surface of a cylinder with its ends: points (n, 2) of the unit disc, level (n,) from 0 to
    `along`, quads.

    Level 0 and `along` are full discs, the levels between them a circle each.
    """
    points, faces = disc(around, rings)
    n, circle = len(points), np.arange(len(points) - around, len(points))
    between = n + np.arange(around * (along - 1)).reshape(along - 1, around)
    top = n + around * (along - 1)
    rows = np.vstack([circle, between, top + circle])
    following = np.roll(rows, -1, axis=1)
    mantle = np.stack([rows[:-1], following[:-1], following[1:], rows[1:]], axis=-1).reshape(-1, 4)
    quads = np.vstack([faces[:, ::-1], mantle, faces + top])
    level = np.concatenate([np.zeros(n), np.repeat(np.arange(1, along), around), np.full(n, along)])
    plane = np.vstack([points, np.tile(points[circle], (along - 1, 1)), points])
    return plane, level.astype(np.int64), quads


def disc_to_square(points: np.ndarray) -> np.ndarray:
    """Points of the unit disc (n, 2) moved to [−1, 1]²: circles become squares, the diagonals stay."""
    radius = np.linalg.norm(points, axis=1)
    x, y = points.T
    steep = np.abs(y) > np.abs(x)
    angle = np.arctan2(np.where(steep, x, y), np.where(steep, y, x) + (radius == 0))
    angle = np.arctan(np.tan(angle))  # folded to ±45° about the axis the point is nearest to
    main = radius * np.sign(np.where(steep, y, x))
    other = main * angle / (np.pi / 4)
    return np.where(steep[:, None], np.column_stack([other, main]), np.column_stack([main, other]))
