"""A tapered trunk with discs, and the paths of cables through the discs."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.disc import ON_SURFACE, disc, round_off, sweep
from pliant.mesh.generate.grid import at_least, finish, middles, positive, through, within
from pliant.mesh.mesh import Mesh


def trunk(
    length: float = 0.195,
    *,
    base_radius: float = 0.016,
    tip_radius: float = 0.007,
    core: float = 0.6,
    discs: int = 10,
    thickness: float = 0.006,
    around: int = 8,
    size: float = 0.009,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A trunk from z = 0 to z = `length` [m]: a tapered core with wider discs along it, like an elephant's.

    The discs, equally spaced from the base to the tip, have radii from `base_radius` to `tip_radius`; the
    core has the share `core` of that. Cells: `around` the axis (a multiple of 4), none longer than `size`
    along it. Cells of the discs are region 1, of the core between them region 0. With `order=2` mid nodes
    of the mantle lie on true cones.
    """
    positive(base_radius=base_radius, tip_radius=tip_radius, size=size)
    if not 0 < core < 1:
        raise InputError("core", expected="a share of the disc radius between 0 and 1", got=core)
    levels = disc_levels(length, discs, thickness)
    z = through(levels.ravel(), size)
    in_disc = within(middles(z), levels)

    points, quads = disc(around, 2)
    points[:-around] = core * disc(around, 1)[0]  # the outermost ring is the discs' own
    ring = np.arange(len(quads)) >= len(quads) - around

    nodes, cells = sweep(points, quads, z)
    nodes[:, :2] *= radius_at(nodes[:, 2], length, base_radius, tip_radius)[:, None]
    kept = np.repeat(in_disc, len(quads)) | ~np.tile(ring, len(in_disc))
    regions = np.repeat(in_disc, len(quads))[kept].astype(np.int64)

    def curve(ends: np.ndarray, middle: np.ndarray) -> np.ndarray:
        radius = np.linalg.norm(ends[:, :, :2], axis=2)
        core_radius = core * radius_at(ends[:, :, 2], length, base_radius, tip_radius)
        return round_off(ends, middle, where=(radius > core_radius * (1 - ON_SURFACE)).all(axis=1))

    return finish(nodes, cells[kept], kind=kind, order=order, regions=regions, curve=curve)


def trunk_cables(
    count: int = 4,
    *,
    reach: float = 1.0,
    turn: float = 0.0,
    at: float = 0.8,
    length: float = 0.195,
    base_radius: float = 0.016,
    tip_radius: float = 0.007,
    discs: int = 10,
    thickness: float = 0.006,
) -> list[np.ndarray]:
    """Paths (n, 3) [m] of `count` cables, equally spaced about the axis from the angle `turn` [rad] on.

    A cable enters and leaves every disc up to the share `reach` of the length, at the share `at` of the
    disc's radius. The trunk's own lengths must be those given to `trunk`. Eight cables as usual:
    trunk_cables(4) + trunk_cables(4, reach=0.5, turn=π/4).
    """
    at_least(1, count=count)
    positive(base_radius=base_radius, tip_radius=tip_radius)
    if not 0 < reach <= 1 or not 0 < at < 1:
        raise InputError("reach and at", expected="shares between 0 and 1", got=(reach, at))
    levels = disc_levels(length, discs, thickness)
    z = levels[levels[:, 0] <= reach * length].ravel()
    r = at * radius_at(z, length, base_radius, tip_radius)
    angles = turn + 2 * np.pi * np.arange(count) / count
    return [np.column_stack([r * np.cos(a), r * np.sin(a), z]) for a in angles]


def disc_levels(length: float, discs: int, thickness: float) -> np.ndarray:
    """Where each disc starts and ends along z: (discs, 2) [m]; the first at the base, the last at the tip."""
    positive(length=length, thickness=thickness)
    at_least(2, discs=discs)
    if discs * thickness >= length:
        raise InputError(
            "discs", expected=f"together thinner than {length:g} m", got=f"{discs} × {thickness:g} m"
        )
    start = np.linspace(0, length - thickness, discs)
    return np.column_stack([start, np.append(start[:-1] + thickness, length)])


def radius_at(z: np.ndarray, length: float, base_radius: float, tip_radius: float) -> np.ndarray:
    """Radius of the envelope at height z [m]."""
    return base_radius + (tip_radius - base_radius) * z / length
