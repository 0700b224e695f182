"""A thin layer of hexahedra behind fixed faces, where the section of a bar may not contract.

Bending stretches one half of a section and squeezes the other; what is stretched contracts by ν. A fixed face
keeps the section from it, and the body gets free of that within about a third of the face's extent. A
hexahedron of eight nodes that is deeper contracts linearly from the face on, by half of what it should in the
mean. The closer ν is to 0.5, the more the kept volume resists the bending then. All of the deflection that a
coarse mesh lacks is lacking in these cells: cut once, near the face, they have it. More layers would be a
little better, and a hinge where the body is bent sharply at the face.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.materials.material import Isotropic, Material
from pliant.mesh import Mesh
from pliant.mesh.layers import can_be_layered, edges_behind, layered
from pliant.mesh.topology import cell_faces, group_rows, pieces

FROM = (
    0.35  # Poisson's ratio from which a face counts: below, cells half as deep as the face is wide err by 2 %
)
ROUNDING = 1e-9  # of Poisson's ratio, which is computed from moduli
SLENDER = 3.0  # length of a body over the extent of a fixed face, from which it bends rather than shears
HEIGHT = 0.06  # of the cut, over the extent of the face
LEFT = 1.6  # a cut is made where the cell is at least this much deeper


@dataclass(frozen=True)
class FixedFace:
    """Sides of hexahedra that hang together and are fixed in all directions."""

    owner: np.ndarray  # (n,) the cells behind it
    side: np.ndarray  # (n,) which of their sides
    depth: float  # [m] mean depth of these cells
    extent: float  # [m] square root of its area
    several: bool  # two or more cells across it everywhere: a thin layer of one cell would be a hinge


def poisson_ratio(material: Material | dict[int, Material]) -> float:
    """The largest of the materials that have one."""
    laws = material.values() if isinstance(material, dict) else (material,)
    return max((law.poisson_ratio for law in laws if isinstance(law, Isotropic)), default=0.0)


def fixed_faces(mesh: Mesh, fixed: np.ndarray) -> list[FixedFace]:
    """The faces of hexahedra all of whose nodes are `fixed` (k, 3), in all directions; free cells behind."""
    sides, owner, _ = cell_faces(mesh.cells, mesh.kind)
    number = np.arange(len(sides)) % 6
    whole = np.asarray(fixed.all(axis=1))
    within = np.asarray(whole[mesh.cells].all(axis=1))
    chosen = whole[sides].all(axis=1) & ~within[owner]
    sides, owner, number = sides[chosen], owner[chosen], number[chosen]
    if not len(sides):
        return []
    piece = pieces(sides, len(mesh.nodes))[sides[:, 0]]
    groups = [piece == p for p in np.unique(piece)]
    return [_face(mesh, sides[group], owner[group], number[group], fixed) for group in groups]


def _face(
    mesh: Mesh, sides: np.ndarray, owner: np.ndarray, number: np.ndarray, fixed: np.ndarray
) -> FixedFace:
    corners = mesh.nodes[sides]
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    area = 0.5 * np.linalg.norm(normals, axis=1).sum()
    depth = float(mesh.cell_volumes[owner].sum() / area)
    return FixedFace(owner, number, depth, float(np.sqrt(area)), _several(mesh, owner, number, fixed))


def _several(mesh: Mesh, owner: np.ndarray, number: np.ndarray, fixed: np.ndarray) -> bool:
    """Whether each side has a node within the face, not on its rim; a plane of symmetry is no rim."""
    behind = edges_behind(mesh, owner, number)  # (n, 4, 2)
    sides, guided = behind[:, :, 0], fixed[behind[:, :, 1]]
    edges = np.sort(np.stack([sides, np.roll(sides, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    symmetric = (guided & np.roll(guided, -1, axis=1)).any(axis=2).ravel()
    first, which = group_rows(edges)
    rim = np.unique(edges[first][(np.bincount(which) == 1) & ~symmetric[first]])
    return bool((~np.isin(sides, rim)).any(axis=1).all())


def is_slender(mesh: Mesh, face: FixedFace) -> bool:
    """Whether the body goes on far enough from a face to bend."""
    return float(np.ptp(mesh.nodes, axis=0).max()) >= SLENDER * face.extent


def with_support_layers(mesh: Mesh, material: Material | dict[int, Material], fixed: np.ndarray) -> Mesh:
    """The mesh with its hexahedra cut behind fixed faces (mask (k, 3)) where they are too deep for their ν.

    The mesh itself where there is nothing to cut, or where cut cells would not fit to their neighbours.
    """
    if mesh.kind != "hex8" or poisson_ratio(material) < FROM - ROUNDING:
        return mesh
    for face in fixed_faces(mesh, fixed):
        height = HEIGHT * face.extent / face.depth
        wanted = LEFT * height < 1.0 and face.several and is_slender(mesh, face)
        if wanted and can_be_layered(mesh, face.owner, face.side):
            mesh = layered(mesh, face.owner, face.side, height)
    return mesh
