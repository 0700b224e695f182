"""Thick-walled spheres."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.disc import check_around
from pliant.mesh.generate.grid import Grade, at_least, finish, graded, positive
from pliant.mesh.generate.shell import cube_surface, shell, sphere_directions
from pliant.mesh.mesh import Mesh


def hollow_sphere(
    inner: float = 0.01,
    outer: float = 0.02,
    *,
    around: int = 16,
    across: int = 3,
    octant: bool = False,
    kind: str = "tet",
    order: int = 1,
    grade: Grade = 1.0,
) -> Mesh:
    """A sphere with a spherical void, centred at the origin, radii `inner` and `outer` [m].

    `around` cells on a great circle (a multiple of 4), `across` the wall, graded as the axes of `box`.
    `octant` keeps the part with x, y, z ≥ 0, for symmetric problems (`around` then a multiple of 8). With
    `order=2` mid nodes lie on true spheres.
    """
    positive(inner=inner, outer=outer)
    at_least(1, across=across)
    check_around(around, multiple=8 if octant else 4)
    if inner >= outer:
        raise InputError("inner radius", expected=f"less than the outer, {outer}", got=inner)
    cube, quads = cube_surface(around // 4)
    direction = sphere_directions(cube)
    if octant:
        quads = quads[(cube[quads].mean(axis=1) > 0).all(axis=1)]
    layers = graded(1.0, across, grade)
    nodes, cells = shell(quads, inner * direction, outer * direction, layers)
    return finish(nodes, cells, kind=kind, order=order, curve=on_spheres)


def on_spheres(ends: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Mid nodes (m, 3) pushed out from the origin to the mean radius of their ends (m, 2, 3)."""
    radius = np.linalg.norm(ends, axis=2).mean(axis=1)
    return middle * (radius / np.linalg.norm(middle, axis=1))[:, None]
