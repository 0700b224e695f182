"""A block with one closed cavity in its middle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.disc import ON_SURFACE, round_off
from pliant.mesh.generate.grid import at_least, finish, graded, positive
from pliant.mesh.generate.shell import capped_cylinder, cube_surface, disc_to_square, shell, sphere_directions
from pliant.mesh.generate.sphere import on_spheres
from pliant.mesh.mesh import Mesh


def block_with_cavity(
    size: Sequence[float] = (0.04, 0.04, 0.04),
    *,
    shape: str = "sphere",
    radius: float = 0.01,
    height: float = 0.02,
    around: int = 20,
    across: int = 3,
    along: int = 5,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A block of `size` [m] centred at the origin with a void of the given `radius`.

    The void is a "sphere", or a "cylinder" along z of the given `height`. `around` cells on its
    circumference (a multiple of 4), `across` from the void to the outside, `along` the cylinder. With
    `order=2` mid nodes lie on the true void.
    """
    half = np.array(size, float) / 2
    positive(
        radius=radius, height=height, **{f"size along {a}": 2 * h for a, h in zip("xyz", half, strict=True)}
    )
    at_least(1, across=across, along=along)
    if shape not in {"sphere", "cylinder"}:
        raise InputError("cavity shape", expected='"sphere" or "cylinder"', got=repr(shape))
    reach = np.array([radius, radius, radius if shape == "sphere" else height / 2])
    if (reach >= half).any():
        raise InputError("cavity", expected=f"smaller than the block, {list(size)}", got=list(2 * reach))
    if shape == "sphere":
        cube, quads = cube_surface(around // 4)
        inner, outer = radius * sphere_directions(cube), half * cube
    else:
        plane, level, quads = capped_cylinder(around, 1, along)
        z = 2 * level / along - 1
        inner = np.column_stack([radius * plane, height / 2 * z])
        outer = half * np.column_stack([disc_to_square(plane), z])
    nodes, cells = shell(quads, inner, outer, graded(1.0, across))

    def curve(ends: np.ndarray, middle: np.ndarray) -> np.ndarray:
        if shape == "sphere":
            on_void = (np.linalg.norm(ends, axis=2) < radius * (1 + ON_SURFACE)).all(axis=1)
            return np.where(on_void[:, None], on_spheres(ends, middle), middle)
        distance = np.abs(np.linalg.norm(ends[:, :, :2], axis=2) - radius) < ON_SURFACE * radius
        level = np.abs(ends[:, :, 2]) < height / 2 * (1 + ON_SURFACE)
        return round_off(ends, middle, where=(distance & level).all(axis=1))

    return finish(nodes, cells, kind=kind, order=order, curve=curve)
