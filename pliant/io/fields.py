"""What a picture or a file shows at the nodes: von Mises stress and displacement."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.mesh.elements import gradients, jacobians
from pliant.mesh.mesh import Mesh
from pliant.mesh.quadrature import quadrature


def von_mises(body: Any, q: np.ndarray) -> np.ndarray:
    """√(3/2 dev σ : dev σ) of the Cauchy stress σ = P Fᵀ/J at the nodes, (k,) [Pa].

    Computed at the quadrature points, carried linearly to the corners of each cell and averaged there.
    """
    mesh = body.mesh
    F = deformation(mesh, body.positions(q))
    stress = np.zeros_like(F)
    for material, cells in _materials(body):
        stress[cells] = cauchy(material, F[cells])
    deviator = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
    equivalent = np.sqrt(1.5 * np.einsum("eqij,eqij->eq", deviator, deviator))
    return to_nodes(mesh, equivalent)


def deformation(mesh: Mesh, x: np.ndarray) -> np.ndarray:
    """F = ∂x/∂X at the quadrature points of every cell, (ne, nq, 3, 3); x (k, 3) [m]."""
    points = quadrature(mesh.kind).points
    now = np.einsum("eai,qaj->eqij", x[mesh.cells], gradients(mesh.kind, points), optimize=True)
    return now @ np.linalg.inv(jacobians(mesh.nodes, mesh.cells, mesh.kind, points))


def cauchy(material: Any, F: np.ndarray) -> np.ndarray:
    """σ = P Fᵀ/J, (…, 3, 3) [Pa]."""
    return material.stress(F) @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None]


def to_nodes(mesh: Mesh, values: np.ndarray) -> np.ndarray:
    """Values at quadrature points (ne, nq) as a nodal field (k,): extrapolated in the cells, averaged by volume."""
    element, points = mesh.element, quadrature(mesh.kind).points
    if len(points) == 1:
        local = np.repeat(values, element.corners, axis=1)
    else:  # the linear field that is closest to the values at the points
        ones = np.ones((len(points), 1))
        fit = np.hstack([np.ones((element.corners, 1)), element.nodes[: element.corners]])
        local = values @ (fit @ np.linalg.pinv(np.hstack([ones, points]))).T
    volume = np.repeat(mesh.cell_volumes[:, None], element.corners, axis=1)
    corners = mesh.cells[:, : element.corners]
    total = np.bincount(corners.ravel(), (local * volume).ravel(), len(mesh.nodes))
    weight = np.bincount(corners.ravel(), volume.ravel(), len(mesh.nodes))
    field = np.maximum(total, 0.0) / np.where(weight > 0, weight, 1.0)
    if len(mesh.midnodes):
        field[mesh.midnodes] = field[mesh.edges_of_midnodes].mean(axis=1)
    return field


def _materials(body: Any) -> list[tuple[Any, np.ndarray]]:
    """Each material of a body with the cells made of it."""
    mesh, material = body.mesh, body.material
    if not isinstance(material, dict):
        return [(material, np.arange(len(mesh.cells)))]
    return [(law, np.flatnonzero(mesh.regions == region)) for region, law in material.items()]
