"""A pneumatic-network finger: a row of chambers joined by an air channel, on an inextensible layer."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.grid import at_least, finish, middles, positive, tensor_grid, through, within
from pliant.mesh.mesh import Mesh


def pneunet(
    chambers: int = 5,
    *,
    chamber: float = 0.01,
    wall: float = 0.002,
    gap: float = 0.002,
    root: float = 0.008,
    width: float = 0.016,
    height: float = 0.018,
    layer: float = 0.003,
    channel: tuple[float, float] = (0.004, 0.002),
    size: float = 0.01,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A finger along x that curls down (−z) when its one cavity is inflated. All lengths in metres.

    On a bottom `layer` (region 1, the rest is region 0) stand `chambers`, each `chamber` long inside, with
    walls `wall` thick and a `gap` between them; a `channel` (width, height) on the layer joins them. A
    solid `root` to clamp precedes the first. The finger is `width` wide and `height` high. No cell edge
    is longer than `size`.
    """
    at_least(1, chambers=chambers)
    positive(
        chamber=chamber, wall=wall, gap=gap, root=root, width=width, height=height, layer=layer, size=size
    )
    across, up = channel
    positive(**{"channel width": across, "channel height": up})
    if across > width - 2 * wall or layer + up + 2 * wall >= height:
        inside = (round(width - 2 * wall, 9), round(height - layer - 2 * wall, 9))
        raise InputError("channel", expected=f"within {inside} m, the inside of the walls", got=channel)

    start = root + (chamber + 2 * wall + gap) * np.arange(chambers)  # outer faces of the chambers
    outer = np.column_stack([start, start + chamber + 2 * wall])
    inner = outer + np.array([wall, -wall])
    x = through(np.sort(np.concatenate([[0.0], outer.ravel(), inner.ravel()])), size)
    side = sorted({wall, (width - across) / 2})
    y = through([0.0, *side, *(width - s for s in reversed(side)), width], size)
    z = through([0.0, layer, layer + up, layer + up + wall, height - wall, height], size)
    X, Y, Z = np.meshgrid(middles(x), middles(y), middles(z), indexing="ij")

    between = (outer[0, 0] < X) & ~within(X, outer)
    body = ~(between & (layer + up + wall < Z))
    void = within(X, inner) & (np.abs(Y - width / 2) < width / 2 - wall) & (layer < Z) & (height - wall > Z)
    joined = (inner[0, 0] < X) & (inner[-1, 1] > X)
    void |= joined & (np.abs(Y - width / 2) < across / 2) & (layer < Z) & (layer + up > Z)
    nodes, cells, parts = tensor_grid(x, y, z, np.where(body & ~void, np.where(layer > Z, 2, 1), 0))
    return finish(nodes, cells, kind=kind, order=order, regions=parts - 1)
