"""Warnings where an element is known to be poor; the limits are those of `pliant bench validation`."""

from __future__ import annotations

import warnings

import numpy as np

from pliant.errors import PliantWarning
from pliant.materials.material import Isotropic, Material
from pliant.mesh import Mesh
from pliant.mesh.topology import cell_faces, pieces

# Poisson's ratio beyond which linear tetrahedra lock, and coarse supports of hexahedra count.
LOCKING = 0.45
ROUNDING = 1e-9  # of Poisson's ratio, which is computed from moduli
SLENDER = 3.0  # length of a body over the extent of a fixed face, from which it bends rather than shears
DEEPEST = 0.4  # depth of hexahedra at a fixed face over its extent: a bar bends 5 % too stiffly


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
        depth, extent = support_depth(mesh, fixed)
        slender = float(np.ptp(mesh.nodes, axis=0).max()) >= SLENDER * extent
        if slender and depth > DEEPEST * extent:
            text = (
                f"hexahedra at a fixed face are {1e3 * depth:.3g} mm deep, the face {1e3 * extent:.3g} mm "
                f"wide: at a Poisson ratio of {poisson:g} a bar bends 5 to 12 % too stiffly. Grade the mesh "
                "towards the face (mesh.box(..., grade=(8, 1, 1))), or use tetrahedra."
            )
            warnings.warn(text, PliantWarning, stacklevel=3)


def support_depth(mesh: Mesh, fixed: np.ndarray) -> tuple[float, float]:
    """Mean depth [m] of the hexahedra behind a fixed face, and its extent [m]; the worst face counts.

    A face is what hangs together of sides whose nodes are all `fixed` (k, 3), in all directions. Zeros if
    there is none.
    """
    sides, owner, _ = cell_faces(mesh.cells, mesh.kind)
    whole = np.asarray(fixed.all(axis=1))
    within = np.asarray(whole[mesh.cells].all(axis=1))
    chosen = whole[sides].all(axis=1) & ~within[owner]
    sides, owner = sides[chosen], owner[chosen]
    face = pieces(sides, len(mesh.nodes))[sides[:, 0]]
    worst = (0.0, 0.0)
    for number in np.unique(face):
        corners = mesh.nodes[sides[face == number]]
        area = 0.5 * np.linalg.norm(
            np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]), axis=1
        )
        depth = float(mesh.cell_volumes[owner[face == number]].sum() / area.sum())
        extent = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
        worst = max(worst, (depth, extent), key=lambda pair: pair[0] / max(pair[1], 1e-300))
    return worst
