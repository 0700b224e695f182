"""A box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.grid import Grade, at_least, finish, graded, positive, tensor_grid
from pliant.mesh.mesh import Mesh


def box(
    size: Sequence[float] = (0.1, 0.02, 0.02),
    *,
    cells: Sequence[int] = (16, 4, 4),
    kind: str = "tet",
    order: int = 1,
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    grade: Sequence[Grade] = (1.0, 1.0, 1.0),
) -> Mesh:
    """A box of `size` [m] with its lowest corner at `origin`, cut into `cells` along x, y, z.

    `grade` per axis is the size of the last cell over that of the first (4: finer near the lowest face), or
    a pair to refine towards both faces: grade towards clamps, where the stress is singular.
    """
    for name, value in (("size", size), ("cells", cells), ("origin", origin), ("grade", grade)):
        if not isinstance(value, (Sequence, np.ndarray)) or len(value) != 3:
            raise InputError(name, expected="three values, along x, y and z", got=repr(value))
    positive(**{f"size along {axis}": length for axis, length in zip("xyz", size, strict=True)})
    at_least(1, **{f"cells along {axis}": count for axis, count in zip("xyz", cells, strict=True)})
    x, y, z = (o + graded(s, n, g) for o, s, n, g in zip(origin, size, cells, grade, strict=True))
    nodes, hexahedra, _ = tensor_grid(x, y, z)
    return finish(nodes, hexahedra, kind=kind, order=order)
