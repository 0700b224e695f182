"""Strain and stress of a solid body in its cells or at its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.bodies.blocks import kernel
from pliant.errors import unknown_name
from pliant.materials import measures
from pliant.materials.kernels import dilatation, evaluate, volumetric
from pliant.materials.material import LOCAL, MEAN, SHEAR
from pliant.mesh import Mesh, quadrature
from pliant.mesh.elements import material_gradients

if TYPE_CHECKING:
    from pliant.bodies.assembly import Assembly

STRESSES = ("cauchy", "pk1", "pk2", "von_mises")
STRAINS = {"green": measures.green_lagrange, "small": measures.small_strain, "hencky": measures.hencky}
PLACES = ("cells", "nodes")
# Cells, values (n, nq, 3, 3) at their points, weights (n, nq).
Parts = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


def check_name(kind: str, name: str, known: tuple[str, ...]) -> None:
    """Raise InputError unless the name is known."""
    if name not in known:
        raise unknown_name(kind, name, known)


@kernel
def piola(code, c, F, w, pressure, P):
    """First Piola–Kirchhoff stress P (ne, nq, 3, 3) [Pa] of F, with the cells' mean dilatation."""
    D, A = np.empty((3, 3)), np.empty((9, 9))
    for e in range(F.shape[0]):
        volume = total = 0.0
        for p in range(F.shape[1]):
            total += w[e, p] * dilatation(code, F[e, p], D)
            volume += w[e, p]
        s = volumetric(code, c, total / volume)[1] + pressure[e]
        for p in range(F.shape[1]):
            evaluate(code, c, F[e, p], s, P[e, p], A, False)


def corotated_piola(c: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
    """P = 2μ(F − R) + (λ_loc (tr S − 3) + λ_mean (ϑ̄ − 1)) R of corotational Hooke, in NumPy.

    `piola` does the same for any law, but takes seconds to compile, which the default law should not cost.
    """
    U, stretch, V = np.linalg.svd(F)
    flip = np.sign(np.linalg.det(F))
    U[..., :, 2] *= flip[..., None]
    stretch[..., 2] *= flip
    excess = stretch.sum(axis=-1) - 3.0  # tr S − 3
    mean = (w * excess).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    R, pressure = U @ V, c[LOCAL] * excess + c[MEAN] * mean
    return 2.0 * c[SHEAR] * (F - R) + pressure[..., None, None] * R


def stress_measure(P: np.ndarray, F: np.ndarray, measure: str) -> np.ndarray:
    """P itself, σ = P Fᵀ/J (also for von Mises), or S = F⁻¹P; arrays (..., 3, 3) [Pa]."""
    if measure == "pk1":
        return P
    return measures.second_piola_kirchhoff(F, P) if measure == "pk2" else measures.cauchy(F, P)


def at_corners(mesh: Mesh, values: np.ndarray) -> np.ndarray:
    """Values (n, nq, …) at the quadrature points of some cells as values at their corners (n, corners, …).

    They are those of the linear field closest to the values. Means over cells would miss most of the
    variation across a bent bar.
    """
    corners = mesh.element.nodes[: mesh.element.corners]
    if values.shape[1] < 4:
        return np.repeat(values.mean(axis=1, keepdims=True), len(corners), axis=1)
    rule = quadrature(mesh.kind)
    points = rule.points if len(rule.points) == values.shape[1] else quadrature(mesh.kind, 5).points
    linear = lambda x: np.hstack([np.ones((len(x), 1)), x])
    return np.einsum("cq,nq...->nc...", linear(corners) @ np.linalg.pinv(linear(points)), values)


def node_values(mesh: Mesh, parts: Parts) -> np.ndarray:
    """Values (k, 3, 3) at the nodes: those at the corners of cells, averaged by volume; mid nodes between."""
    total, weight = np.zeros((len(mesh.nodes), 3, 3)), np.zeros(len(mesh.nodes))
    for chosen, values, _ in parts:
        corners = mesh.cells[chosen][:, : mesh.element.corners]
        volume = np.repeat(mesh.cell_volumes[chosen, None], corners.shape[1], axis=1)
        np.add.at(total, corners, volume[..., None, None] * at_corners(mesh, values))
        np.add.at(weight, corners, volume)
    field = total / np.where(weight > 0, weight, 1.0)[:, None, None]
    if len(mesh.midnodes):
        field[mesh.midnodes] = field[mesh.edges_of_midnodes].mean(axis=1)
    return field


def cell_values(mesh: Mesh, parts: Parts) -> np.ndarray:
    """Means (ne, 3, 3) over the points of each cell."""
    field = np.zeros((len(mesh.cells), 3, 3))
    for chosen, values, w in parts:
        field[chosen] = np.einsum("eqij,eq->eij", values, w) / w.sum(axis=1)[:, None, None]
    return field


def deformation_gradient(mesh: Mesh, x: np.ndarray) -> np.ndarray:
    """F (ne, nq, 3, 3) at the quadrature points; x (k, 3) [m]."""
    rule = quadrature(mesh.kind)
    G, _ = material_gradients(mesh.nodes, mesh.cells, mesh.kind, rule.points, rule.weights)
    return np.einsum("eai,eqaj->eqij", x[mesh.cells], G, optimize=True)


def stress(assembly: Assembly, mesh: Mesh, q: np.ndarray, z: np.ndarray, measure: str, at: str) -> np.ndarray:
    """Stress [Pa] of every cell or node, see `Solid.stress`."""
    check_name("stress measure", measure, STRESSES)
    parts = []
    for group, span in zip(assembly.groups, assembly.internal_spans):
        P, F, w = group.piola(q, z[span])
        parts.append((group.chosen, stress_measure(P, F, measure), w))
    values = _placed(mesh, parts, at)
    return measures.von_mises(values) if measure == "von_mises" else values


def strain(assembly: Assembly, mesh: Mesh, q: np.ndarray, measure: str, at: str) -> np.ndarray:
    """Strain of every cell or node, see `Solid.strain`."""
    check_name("strain measure", measure, tuple(STRAINS))
    parts = []
    for group in assembly.groups:
        F, w = group.deformation(q)
        parts.append((group.chosen, STRAINS[measure](F), w))
    return _placed(mesh, parts, at)


def _placed(mesh: Mesh, parts: Parts, at: str) -> np.ndarray:
    check_name("place", at, PLACES)
    return node_values(mesh, parts) if at == "nodes" else cell_values(mesh, parts)
