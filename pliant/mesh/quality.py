"""How good a mesh is: sizes, angles, distortion, pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.mesh.elements import jacobians
from pliant.mesh.mesh import Mesh
from pliant.mesh.quadrature import quadrature
from pliant.mesh.surface import NO_LENGTH, cavity_surfaces


@dataclass(frozen=True)
class Quality:
    """The result of `quality`. Lengths [m], volumes [m³], angles [degrees]."""

    kind: str
    nodes: int
    cells: int
    size: tuple[float, float, float]  # of the bounding box
    volume: float
    cell_volume: tuple[float, float, float]  # smallest, mean, largest
    edge: tuple[float, float, float]  # shortest, mean, longest
    scaled_jacobian: tuple[float, float]  # smallest, mean over cells: 1 for right angles, ≤ 0 when inverted
    dihedral: tuple[float, float] | None  # smallest and largest angle between faces of tetrahedra
    inverted: int  # cells with det(∂x/∂ξ) ≤ 0 at a quadrature point
    components: int
    closed: bool
    cavities: int

    def __str__(self) -> str:
        mm, mm3 = 1e3, 1e9
        lines = [
            f"{self.kind}: {self.nodes} nodes, {self.cells} cells, {self.inverted} inverted",
            f"  size             {' × '.join(f'{mm * s:.4g}' for s in self.size)} mm",
            f"  volume           {mm3 * self.volume:.5g} mm³",
            f"  cell volume      {_span(mm3, self.cell_volume)} mm³ (least, mean, most)",
            f"  edge length      {_span(mm, self.edge)} mm",
            f"  scaled Jacobian  {_span(1, self.scaled_jacobian)} (least, mean)",
        ]
        if self.dihedral:
            lines.append(f"  dihedral angle   {self.dihedral[0]:.1f}° to {self.dihedral[1]:.1f}°")
        surface = "closed" if self.closed else "not closed"
        lines.append(f"  pieces           {self.components}; surface {surface}; cavities {self.cavities}")
        return "\n".join(lines)


def quality(mesh: Mesh, positions: np.ndarray | None = None) -> Quality:
    """Measure a mesh, at rest or with its nodes at `positions` (k, 3) [m], where cells may be inverted."""
    x = mesh.nodes if positions is None else np.asarray(positions, float)
    rule = quadrature(mesh.kind, 1 if mesh.kind == "tet4" else 5)
    det = np.linalg.det(jacobians(x, mesh.cells, mesh.kind, rule.points))
    check = np.linalg.det(jacobians(x, mesh.cells, mesh.kind, quadrature(mesh.kind).points))
    volumes = det @ rule.weights
    lengths = np.linalg.norm(x[mesh.edges[:, 0]] - x[mesh.edges[:, 1]], axis=1)
    distortion = scaled_jacobians(x, mesh)
    angles = dihedral_angles(x, mesh.cells) if mesh.kind.startswith("tet") else None
    extent = np.ptp(x, axis=0)
    return Quality(
        kind=mesh.kind,
        nodes=len(x),
        cells=len(mesh.cells),
        size=(float(extent[0]), float(extent[1]), float(extent[2])),
        volume=float(volumes.sum()),
        cell_volume=_spread(volumes),
        edge=_spread(lengths),
        scaled_jacobian=(float(distortion.min()), float(distortion.mean())),
        dihedral=None if angles is None else (float(angles.min()), float(angles.max())),
        inverted=int((check <= 0).any(axis=1).sum()),
        components=len(mesh.components),
        closed=mesh.surface.closed,
        cavities=len(cavity_surfaces(mesh)),
    )


def scaled_jacobians(x: np.ndarray, mesh: Mesh) -> np.ndarray:
    """For each cell (ne,) the least det of unit edge vectors over its corners.

    1 for a cube. Tetrahedra are scaled by √2, so that 1 is the regular one.
    """
    corners = mesh.element.corners
    J = jacobians(x, mesh.cells, mesh.kind, mesh.element.nodes[:corners])
    if mesh.kind.startswith("hex"):
        lengths = np.linalg.norm(J, axis=2).prod(axis=2)
        return (np.linalg.det(J) / np.maximum(lengths, NO_LENGTH)).min(axis=1)
    # ∂x/∂ξ spans the edges at corner 0; at the other corners the edges are differences of its columns.
    a, b, c = np.moveaxis(J, 3, 0)
    ab, bc, ca = (np.linalg.norm(d, axis=2) for d in (b - a, c - b, a - c))
    la, lb, lc = (np.linalg.norm(d, axis=2) for d in (a, b, c))
    products = np.stack([la * lb * lc, la * ab * ca, lb * ab * bc, lc * bc * ca], axis=2)
    at_corner = products[:, np.arange(4), np.arange(4)]
    return (np.sqrt(2) * np.linalg.det(J) / np.maximum(at_corner, NO_LENGTH)).min(axis=1)


def dihedral_angles(x: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Angles (ne, 6) [degrees] between the plane faces of tetrahedra, through their corners."""
    corners = x[cells[:, :4]]
    faces = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])  # face f is opposite corner f, outward
    p = corners[:, faces]
    normals = np.cross(p[:, :, 1] - p[:, :, 0], p[:, :, 2] - p[:, :, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), NO_LENGTH)
    f, g = np.triu_indices(4, k=1)
    return 180 - np.degrees(np.arccos(np.clip(np.einsum("epi,epi->ep", normals[:, f], normals[:, g]), -1, 1)))


def _spread(values: np.ndarray) -> tuple[float, float, float]:
    return float(values.min()), float(values.mean()), float(values.max())


def _span(factor: float, values: tuple[float, ...]) -> str:
    return ", ".join(f"{factor * value:.4g}" for value in values)
