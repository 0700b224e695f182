"""A tower of inflatable sections, each parted from the one below by a slit."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.grid import at_least, finish, middles, positive, tensor_grid, through
from pliant.mesh.mesh import Mesh

ROUNDING = 1e-6  # of the width: a slit ends within the tower by more
ON_LEVEL = 1e-9  # [m]: nodes that are nearer are on a level


def tower(
    sections: int = 4,
    *,
    width: float = 0.03,
    chamber: float = 0.008,
    wall: float = 0.003,
    slit: float = 0.002,
    depth: float = 0.6,
    base: float = 0.006,
    size: float = 0.01,
    chamfer: float = 0.0,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A square tower along z, centred on the axis, with one cavity in each section. All lengths in metres.

    Section i has a chamber of height `chamber` next to a side of the tower: +x, +y, −x, −y in turn. A
    `slit` below it, open on that side, reaches through the share `depth` of the width: an inflated chamber
    bulges into the slit, meets the section below, and bends the tower away. The solid `base` is region 0,
    section i region i + 1; the cavities of `cavity_surfaces` go from the base up. No cell edge is longer
    than `size`. The lower edges above a slit stand back by `chamfer`, so that what closes on the section
    below lands on it, not on its edge.
    """
    at_least(1, sections=sections)
    positive(width=width, chamber=chamber, wall=wall, slit=slit, base=base, size=size)
    if not (wall / width + ROUNDING < depth < 1 - ROUNDING):
        raise InputError(
            "slit depth", expected="a share of the width, more than the wall's and less than 1", got=depth
        )
    if 2 * wall >= width * min(depth, 1 - depth) + wall:
        raise InputError(
            "wall", expected=f"less than the shorter part beside the slit's end in {width:g} m", got=wall
        )
    if not 0.0 <= chamfer < wall:
        raise InputError("chamfer", expected=f"at least 0, and less than the wall, {wall:g} m", got=chamfer)
    cut = width * (depth - 0.5)  # how far the slit reaches beyond the axis
    far = width / 2
    plan = through(sorted({-far, -far + wall, -abs(cut), abs(cut), far - wall, far}), size)
    heights = np.array([slit, wall, chamber, wall])
    levels = base + np.concatenate([[0.0], np.cumsum(np.tile(heights, sections))])
    z = through([0.0, *levels], size)
    X, Y, Z = np.meshgrid(middles(plan), middles(plan), middles(z), indexing="ij")

    parts = np.ones(X.shape, np.int64)
    for i in range(sections):
        floor, under, inside, lid, top = levels[4 * i : 4 * i + 5]
        along, across = [(X, Y), (Y, X), (-X, Y), (-Y, X)][i % 4]
        near = along > -cut
        parts[(floor < Z) & (top > Z)] = i + 2
        parts[(floor < Z) & (under > Z) & near] = 0
        walled = (along < far - wall) & (np.abs(across) < far - wall)
        parts[(inside < Z) & (lid > Z) & near & walled] = 0
    nodes, cells, parts = tensor_grid(plan, plan, z, parts)
    for i in range(sections):
        along = nodes[:, i % 2] * (-1.0) ** (i % 4 // 2)
        under = (np.abs(nodes[:, 2] - levels[4 * i + 1]) < ON_LEVEL) & (along > -cut + ON_LEVEL)
        nodes[under, :2] = np.clip(nodes[under, :2], chamfer - far, far - chamfer)
    return finish(nodes, cells, kind=kind, order=order, regions=parts - 1)
