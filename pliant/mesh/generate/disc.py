"""Quadrilaterals of a disc, a square core inside rings so that no cell is degenerate; and sweeps of it."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError

ROUNDING = 1e-12  # of an angle: more than a full turn by less is a full turn
ON_SURFACE = 1e-9  # of a radius or a height: nodes that are off by less are on it


def disc(around: int, rings: int = 1, *, core: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """The unit disc: points (n, 2) and quadrilaterals (m, 4), counter-clockwise.

    A core of (around/4)² cells that reaches to the radius `core`, then `rings` of `around` cells. The last
    `around` points lie on the circle at equal angles, counter-clockwise from −135°.
    """
    check_around(around, multiple=4)
    if rings < 1:
        raise InputError("rings", expected="an integer ≥ 1", got=rings)
    m = around // 4
    number = np.arange((m + 1) ** 2).reshape(m + 1, m + 1)
    points = [core * _bulged_square(m)]
    quads = [
        np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)
    ]
    inner = np.concatenate([number[:-1, 0], number[-1, :-1], number[:0:-1, -1], number[0, :0:-1]])
    start = points[0][inner]
    angle = -3 * np.pi / 4 + 2 * np.pi * np.arange(around) / around
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for ring in range(1, rings + 1):
        outer = (m + 1) ** 2 + (ring - 1) * around + np.arange(around)
        points.append(start + (circle - start) * ring / rings)
        quads.append(np.column_stack([inner, outer, np.roll(outer, -1), np.roll(inner, -1)]))
        inner = outer
    return np.vstack(points), np.vstack(quads)


def check_around(around: int, *, multiple: int = 1) -> None:
    """InputError unless the number of cells around an axis is at least 3 and a multiple of the one given."""
    if not isinstance(around, int | np.integer) or around < 3 or around % multiple:
        expected = f"a multiple of {multiple}" if multiple > 1 else "an integer ≥ 3"
        raise InputError("around", expected=expected, got=around)


def sweep(points: np.ndarray, quads: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hexahedra over a plane section: nodes (len(z)·n, 3), layer after layer, and cells (m·(len(z)−1), 8).

    Cells are layer after layer too: cell c of the section in layer l is l·m + c.
    """
    nodes = np.column_stack([np.tile(points, (len(z), 1)), np.repeat(z, len(points))])
    layer = np.arange(len(z) - 1)[:, None, None] * len(points)
    cells = np.concatenate([quads + layer, quads + layer + len(points)], axis=2)
    return nodes, cells.reshape(-1, 8)


def round_off(ends: np.ndarray, middle: np.ndarray, *, where: np.ndarray) -> np.ndarray:
    """Mid nodes at the mean radius about z of their ends (m, 2, 3), for the edges in the mask (m,)."""
    radius = np.linalg.norm(ends[:, :, :2], axis=2).mean(axis=1)
    chord = np.linalg.norm(middle[:, :2], axis=1)
    curved = middle.copy()
    curved[where, :2] *= (radius[where] / chord[where])[:, None]
    return curved


def _bulged_square(m: int) -> np.ndarray:
    """Points ((m+1)², 2) of a square inside the unit circle, corners on it, sides bulged half way to it."""
    s = np.linspace(-1, 1, m + 1)
    u, v = np.stack(np.meshgrid(s, s, indexing="ij")).reshape(2, -1)
    r = np.where(np.abs(u) >= np.abs(v), u, v)
    ratio = np.where(np.abs(u) >= np.abs(v), v, u) / np.where(r == 0, 1, r)
    along, across = r * np.cos(np.pi / 4 * ratio), r * np.sin(np.pi / 4 * ratio)
    round_ = np.where(np.abs(u) >= np.abs(v), [along, across], [across, along])
    return 0.5 * round_.T + 0.5 * np.sqrt(0.5) * np.column_stack([u, v])
