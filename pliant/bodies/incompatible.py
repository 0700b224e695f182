"""Hexahedra of eight nodes with nine incompatible modes (Wilson, Taylor): bend without locking at one
element across.

To the displacement Σ N_a u_a each cell adds Σ (1 − ξ_k²) α_k, nine numbers that are eliminated once and for
all:

    K₀ = K_uu − K_uα K_αα⁻¹ K_αu        (24 × 24)
"""

from __future__ import annotations

import numpy as np

from pliant.mesh.elements import gradients, jacobians, material_gradients
from pliant.mesh.quadrature import quadrature

_NODES = 8


def _strain_matrix(G: np.ndarray) -> np.ndarray:
    """B (..., 6, 3m) of gradients G (..., m, 3): strains xx, yy, zz, xy, yz, zx (the last three doubled)."""
    B = np.zeros((*G.shape[:-2], 6, 3 * G.shape[-2]))
    x, y, z = G[..., 0], G[..., 1], G[..., 2]
    B[..., 0, 0::3], B[..., 1, 1::3], B[..., 2, 2::3] = x, y, z
    B[..., 3, 0::3], B[..., 3, 1::3] = y, x
    B[..., 4, 1::3], B[..., 4, 2::3] = z, y
    B[..., 5, 0::3], B[..., 5, 2::3] = z, x
    return B


def _mode_gradients(nodes: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of nodes (ne, nq, 8, 3) and of the modes (ne, nq, 3, 3), weights (ne, nq) [m³].

    Taylor's modes use the map of the centre, scaled with j₀/j: their mean vanishes, so the patch test holds.
    """
    rule = quadrature("hex8")
    G, w = material_gradients(nodes, cells, "hex8", rule.points, rule.weights)
    J0 = jacobians(nodes, cells, "hex8", np.zeros((1, 3)))[:, 0]
    slope = np.einsum("qk,kd->qkd", -2.0 * rule.points, np.eye(3))  # ∂(1 − ξ_k²)/∂ξ_d
    scale = np.linalg.det(J0)[:, None] * rule.weights / w
    return G, np.einsum("qkd,edi,eq->eqki", slope, np.linalg.inv(J0), scale), w


def condensed_stiffness(nodes: np.ndarray, cells: np.ndarray, lame: float, shear: float) -> np.ndarray:
    """K₀ (ne, 8, 8, 3, 3) [N/m] of each cell, the incompatible modes eliminated."""
    D = np.diag([2.0 * shear] * 3 + [shear] * 3)
    D[:3, :3] += lame
    G, modes, w = _mode_gradients(nodes, cells)
    B, Bm = _strain_matrix(G), _strain_matrix(modes)
    product = lambda left, right: np.einsum("eqki,kl,eqlj,eq->eij", left, D, right, w, optimize=True)
    coupling = product(Bm, B)
    K = product(B, B) - np.einsum("eki,ekj->eij", coupling, np.linalg.solve(product(Bm, Bm), coupling))
    return K.reshape(len(cells), _NODES, 3, _NODES, 3).transpose(0, 1, 3, 2, 4)


def centre_gradients(nodes: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """∂N_a/∂X at the centre of each cell (ne, 8, 3) [1/m]."""
    centre = np.zeros((1, 3))
    J = jacobians(nodes, cells, "hex8", centre)[:, 0]
    return np.einsum("ad,edi->eai", gradients("hex8", centre)[0], np.linalg.inv(J))
