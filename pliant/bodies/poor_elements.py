"""Warnings where an element is known to be poor; the limits are those of `pliant bench validation`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.bodies.support_layers import ROUNDING, fixed_faces, is_slender, poisson_ratio
from pliant.errors import PliantWarning
from pliant.materials.material import Material
from pliant.mesh import Mesh

LOCKING = 0.45  # Poisson's ratio beyond which linear tetrahedra lock, and coarse supports of hexahedra count
DEEPEST = 0.4  # depth of hexahedra at a fixed face over its extent: a bar bends 5 % too stiffly


def warn_where_poor(
    mesh: Mesh, material: Material | dict[int, Material], fixed: np.ndarray, *, supports: bool = True
) -> None:
    """Warn of linear tetrahedra and of hexahedra too deep at their supports, if nearly incompressible.

    supports=False: the user has said that the mesh at the supports is meant.
    """
    poisson = poisson_ratio(material)
    if poisson <= LOCKING + ROUNDING:
        return
    if mesh.kind == "tet4":
        text = (
            f"linear tetrahedra lock at a Poisson ratio of {poisson:g}: a bar bends 10 to 30 % too stiffly. "
            "Leave order=1 out (quadratic tetrahedra), or lower the ratio to 0.4."
        )
        warnings.warn(text, PliantWarning, stacklevel=3)
    if mesh.kind == "hex8" and supports:
        deep = [f for f in fixed_faces(mesh, fixed) if is_slender(mesh, f) and f.depth > DEEPEST * f.extent]
        if deep:
            face = max(deep, key=lambda face: face.depth / face.extent)
            text = (
                f"hexahedra at a fixed face are {1e3 * face.depth:.3g} mm deep, the face "
                f"{1e3 * face.extent:.3g} mm wide: at a Poisson ratio of {poisson:g} a bar bends 5 to 12 % "
                "too stiffly. With two or more cells across the face they are cut into layers; else grade "
                "the mesh towards it (mesh.box(..., grade=(8, 1, 1))) or use tetrahedra. "
                "support_layers=False takes the mesh as it is."
            )
            warnings.warn(text, PliantWarning, stacklevel=3)


def warn_where_folded(bodies: Sequence[Any]) -> None:
    """Warn where a robot has buckled whose cells may have folded at no cost."""
    if any(body.may_fold for body in bodies):
        text = (
            "the robot has buckled, and 20-node hexahedra with 2×2×2 points may fold within a cell at no "
            "cost: do not trust this state. Solid(…, quadrature=5, split=True) resists that, and so do "
            "eight-node hexahedra and tetrahedra."
        )
        warnings.warn(text, PliantWarning, stacklevel=4)
