"""Warnings where an element is known to be poor; the limits are those of `pliant bench validation`."""

from __future__ import annotations

import warnings

import numpy as np

from pliant.errors import PliantWarning
from pliant.materials.material import Isotropic, Material
from pliant.mesh import Mesh
from pliant.mesh.topology import cell_faces

# Poisson's ratio beyond which linear tetrahedra lock, and coarse supports of hexahedra count.
LOCKING = 0.45
ROUNDING = 1e-9  # of Poisson's ratio, which is computed from moduli
DEEPEST = 0.4  # depth of hexahedra at fixed faces, over the size of these: a bar bends 5 % too stiffly


def warn_where_poor(mesh: Mesh, material: Material | dict[int, Material], fixed: np.ndarray) -> None:
    """Warn of linear tetrahedra and of hexahedra too deep at their supports, if nearly incompressible."""
    laws = material.values() if isinstance(material, dict) else (material,)
    poisson = max((law.poisson_ratio for law in laws if isinstance(law, Isotropic)), default=0.0)
    if poisson <= LOCKING + ROUNDING:
        return
    if mesh.kind == "tet4":
        text = (
            f"linear tetrahedra lock at a Poisson ratio of {poisson:g}: a bar bends 10 to 30 % too stiffly. "
            "Leave order=1 out (quadratic tetrahedra), or lower the ratio to 0.4."
        )
        warnings.warn(text, PliantWarning, stacklevel=3)
    if mesh.kind == "hex8":
        depth, size = support_depth(mesh, fixed)
        if depth > DEEPEST * size:
            text = (
                f"hexahedra at fixed faces are {1e3 * depth:.3g} mm deep, and the faces {1e3 * size:.3g} mm "
                f"wide: at a Poisson ratio of {poisson:g} a bar bends 5 to 12 % too stiffly. Grade the mesh "
                "towards its support (mesh.box(..., grade=(8, 1, 1))), or use tetrahedra."
            )
            warnings.warn(text, PliantWarning, stacklevel=3)


def support_depth(mesh: Mesh, fixed: np.ndarray) -> tuple[float, float]:
    """Mean depth [m] of the hexahedra behind fixed faces, and the width [m] of a square of their area.

    Zeros where no face has four nodes `fixed` (k, 3) in all directions.
    """
    faces, owner, _ = cell_faces(mesh.cells, mesh.kind)
    whole = fixed.all(axis=1)
    held = whole[faces].all(axis=1) & ~whole[mesh.cells].all(axis=1)[owner]
    if not held.any():
        return 0.0, 0.0
    a, b, c, d = np.moveaxis(mesh.nodes[faces[held]], 1, 0)
    area = 0.5 * float(np.linalg.norm(np.cross(c - a, d - b), axis=1).sum())
    return float(mesh.cell_volumes[owner[held]].sum()) / area, float(np.sqrt(area))
