"""Von Mises stress at the nodes, for pictures and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.materials import Hooke
from pliant.materials.material import LOCAL, MEAN, SHEAR
from pliant.mesh.mesh import Mesh
from pliant.mesh.quadrature import quadrature


def von_mises(body: Any, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
    """√(3/2 dev σ : dev σ) of the Cauchy stress σ = P Fᵀ/J at the nodes, (k,) [Pa].

    In each cell the linear field closest to the values at its quadrature points is carried to the corners, then averaged
    over the cells around a node. Means over cells would be smoother, and a fifth too low on the surface of a bent bar.
    """
    mesh, internal = body.mesh, body.z0 if z is None else z
    total, weight = np.zeros(len(mesh.nodes)), np.zeros(len(mesh.nodes))
    for group, span in zip(body.assembly.groups, body.assembly.internal_spans):
        P, F = _piola(group, q, internal[span])
        stress = P @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None]
        corners = mesh.cells[group.chosen][:, : mesh.element.corners]
        volume = np.repeat(mesh.cell_volumes[group.chosen, None], corners.shape[1], axis=1)
        np.add.at(total, corners, volume * at_corners(mesh, equivalent(stress)))
        np.add.at(weight, corners, volume)
    field = np.maximum(total, 0.0) / np.where(weight > 0, weight, 1.0)
    if len(mesh.midnodes):
        field[mesh.midnodes] = field[mesh.edges_of_midnodes].mean(axis=1)
    return field


def _piola(group: Any, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First Piola–Kirchhoff stress [Pa] and F at the quadrature points of a group of cells, (ne, nq, 3, 3).

    Corotational Hooke, P = 2μ(F − R) + (λ_loc (tr S − 3) + λ_mean (ϑ̄ − 1)) R, is done here with NumPy: the compiled
    function for all laws would take seconds to compile before the first picture of a robot that needs only this one.
    """
    if not isinstance(group.material, Hooke) or group.material.small_strain:
        P, F, _ = group.piola(q, z)
        return P, F
    F, w = group.deformation(q)
    U, stretch, V = np.linalg.svd(F)
    flip = np.sign(np.linalg.det(F))
    U[..., :, 2] *= flip[..., None]
    stretch[..., 2] *= flip
    excess = stretch.sum(axis=-1) - 3.0  # tr S − 3
    mean = (w * excess).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    R, pressure = U @ V, group.c[LOCAL] * excess + group.c[MEAN] * mean
    return 2.0 * group.c[SHEAR] * (F - R) + pressure[..., None, None] * R, F


def equivalent(stress: np.ndarray) -> np.ndarray:
    """Von Mises stress (…,) of Cauchy stresses (…, 3, 3) [Pa]."""
    deviator = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
    return np.sqrt(1.5 * np.einsum("...ij,...ij->...", deviator, deviator))


def at_corners(mesh: Mesh, values: np.ndarray) -> np.ndarray:
    """Values at the quadrature points of some cells (n, nq) as values at their corners (n, corners)."""
    corners = mesh.element.nodes[: mesh.element.corners]
    if values.shape[1] < 4:
        return np.repeat(values.mean(axis=1, keepdims=True), len(corners), axis=1)
    rule = quadrature(mesh.kind)
    points = rule.points if len(rule.points) == values.shape[1] else quadrature(mesh.kind, 5).points
    linear = lambda x: np.hstack([np.ones((len(x), 1)), x])
    return values @ (linear(corners) @ np.linalg.pinv(linear(points))).T
