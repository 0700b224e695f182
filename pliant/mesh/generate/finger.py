"""A finger bent by a cable: a bar with notches on one side, and the path of its cable."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.grid import at_least, finish, middles, positive, tensor_grid, through, within
from pliant.mesh.mesh import Mesh


def finger(
    length: float = 0.1,
    *,
    width: float = 0.015,
    height: float = 0.015,
    notches: int = 6,
    notch: float = 0.004,
    depth: float = 0.009,
    size: float = 0.0055,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A bar along x, from the origin to (length, width, height) [m], with notches cut down from its top.

    The `notches`, each `notch` long and `depth` deep, are equally spaced; below them runs a spine, which
    bends when a cable through the blocks is pulled (`finger_cable`). No cell edge is longer than `size`.
    """
    positive(width=width, height=height, size=size)
    if not 0 < depth < height:
        raise InputError("notch depth", expected=f"between 0 and the height, {height:g} m", got=depth)
    blocks = block_ends(length, notches, notch)
    x = through(blocks.ravel(), size)
    y, z = through([0, width], size), through([0, height - depth, height], size)
    solid = within(middles(x), blocks)[:, None, None] | (middles(z) < height - depth)
    mask = np.broadcast_to(solid, (len(x) - 1, len(y) - 1, len(z) - 1))
    nodes, cells, regions = tensor_grid(x, y, z, mask)
    return finish(nodes, cells, kind=kind, order=order, regions=regions)


def finger_cable(
    length: float = 0.1,
    *,
    width: float = 0.015,
    height: float = 0.015,
    notches: int = 6,
    notch: float = 0.004,
    at: float = 0.8,
    margin: float = 0.003,
) -> np.ndarray:
    """The path (n, 3) [m] of a cable through all blocks of a `finger`, at the share `at` of its height.

    It starts at x = 0, enters and leaves every block, and ends `margin` before the tip.
    """
    blocks = block_ends(length, notches, notch)
    blocks[-1, 1] -= min(margin, 0.5 * np.ptp(blocks[-1]))
    x = blocks.ravel()
    return np.column_stack([x, np.full_like(x, width / 2), np.full_like(x, at * height)])


def block_ends(length: float, notches: int, notch: float) -> np.ndarray:
    """Where the blocks between the notches start and end along x: (notches + 1, 2) [m]."""
    positive(length=length, notch=notch)
    at_least(1, notches=notches)
    block = (length - notches * notch) / (notches + 1)
    if block <= 0:
        raise InputError(
            "notches", expected=f"together shorter than {length:g} m", got=f"{notches} × {notch:g} m"
        )
    start = (block + notch) * np.arange(notches + 1)
    return np.column_stack([start, np.append(start[:-1] + block, length)])
