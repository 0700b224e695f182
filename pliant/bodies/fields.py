"""Strain and stress of a solid body in its cells or at its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.bodies.blocks import kernel
from pliant.errors import unknown_name
from pliant.materials.kernels import dilatation, evaluate, volumetric
from pliant.mesh import Mesh, quadrature
from pliant.mesh.elements import material_gradients

if TYPE_CHECKING:
    from pliant.bodies.assembly import Assembly

STRESSES = ("cauchy", "pk1", "pk2", "von_mises")
STRAINS = ("green", "small", "hencky")
PLACES = ("cells", "nodes")


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


def stress_measure(P: np.ndarray, F: np.ndarray, measure: str) -> np.ndarray:
    """P itself, σ = P Fᵀ/J (also for von Mises), or S = F⁻¹P; arrays (..., 3, 3) [Pa]."""
    if measure == "pk1":
        return P
    if measure == "pk2":
        return np.linalg.solve(F, P)
    return P @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None]


def strain_measure(F: np.ndarray, measure: str) -> np.ndarray:
    """½(FᵀF − I), sym(F) − I, or ln √(FᵀF), of F (..., 3, 3)."""
    if measure == "small":
        return 0.5 * (F + np.swapaxes(F, -1, -2)) - np.eye(3)
    C = np.swapaxes(F, -1, -2) @ F
    if measure == "green":
        return 0.5 * (C - np.eye(3))
    squares, axes = np.linalg.eigh(C)
    return (axes * (0.5 * np.log(squares))[..., None, :]) @ np.swapaxes(axes, -1, -2)


def von_mises(stress: np.ndarray) -> np.ndarray:
    """√(3/2 dev σ : dev σ) of σ (..., 3, 3) [Pa]."""
    deviator = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
    return np.sqrt(1.5 * np.einsum("...ij,...ij->...", deviator, deviator))


def cell_means(values: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Mean over the points of each cell (ne, 3, 3), of values (ne, nq, 3, 3) with weights w (ne, nq)."""
    return np.einsum("eqij,eq->eij", values, w) / w.sum(axis=1)[:, None, None]


def node_means(mesh: Mesh, values: np.ndarray) -> np.ndarray:
    """Mean over the cells around each node (k, 3, 3), weighted by volume, of values (ne, 3, 3)."""
    nn, k = mesh.cells.shape[1], len(mesh.nodes)
    share = np.repeat(mesh.cell_volumes, nn)
    total = np.bincount(mesh.cells.ravel(), share, k)
    flat = np.repeat(values.reshape(len(values), 9), nn, axis=0) * share[:, None]
    sums = np.stack([np.bincount(mesh.cells.ravel(), column, k) for column in flat.T], axis=1)
    return (sums / total[:, None]).reshape(k, 3, 3)


def deformation_gradient(mesh: Mesh, x: np.ndarray) -> np.ndarray:
    """F (ne, nq, 3, 3) at the quadrature points; x (k, 3) [m]."""
    rule = quadrature(mesh.kind)
    G, _ = material_gradients(mesh.nodes, mesh.cells, mesh.kind, rule.points, rule.weights)
    return np.einsum("eai,eqaj->eqij", x[mesh.cells], G, optimize=True)


def stress(assembly: Assembly, mesh: Mesh, q: np.ndarray, z: np.ndarray, measure: str, at: str) -> np.ndarray:
    """Stress [Pa] of every cell or node, see `Solid.stress`."""
    check_name("stress measure", measure, STRESSES)
    values = np.zeros((len(mesh.cells), 3, 3))
    for group, span in zip(assembly.groups, assembly.internal_spans):
        P, F, w = group.piola(q, z[span])
        values[group.chosen] = cell_means(stress_measure(P, F, measure), w)
    values = _placed(mesh, values, at)
    return von_mises(values) if measure == "von_mises" else values


def strain(assembly: Assembly, mesh: Mesh, q: np.ndarray, measure: str, at: str) -> np.ndarray:
    """Strain of every cell or node, see `Solid.strain`."""
    check_name("strain measure", measure, STRAINS)
    values = np.zeros((len(mesh.cells), 3, 3))
    for group in assembly.groups:
        F, w = group.deformation(q)
        values[group.chosen] = cell_means(strain_measure(F, measure), w)
    return _placed(mesh, values, at)


def _placed(mesh: Mesh, values: np.ndarray, at: str) -> np.ndarray:
    check_name("place", at, PLACES)
    return node_means(mesh, values) if at == "nodes" else values
