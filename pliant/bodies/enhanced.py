"""Eight-node hexahedra that bend and keep their volume: what is added to the strain of their nodes.

In natural coordinates ξ, η, ζ each cell has thirteen strains of its own beside those of its nodes:

    nine   gradients of Σ (1 − ξ_k²) α_k, the incompatible modes of Wilson and Taylor: the cell bends
    four   ξη, ηζ, ζξ and ξηζ times the unit tensor (Simo, Armero, Taylor 1993): with the nine, no change of
           volume but the mean one is tied to the nodes, so that nearly incompressible cells do not lock

They use the map of the centre, scaled with j₀/j: their mean vanishes, and constant strain stays exact on
distorted meshes. For a linear law with stiffness D they are eliminated once and for all,

    K₀ = K_uu − K_uα K_αα⁻¹ K_αu        (24 × 24)

and because their mean vanishes, K₀ is a part for the mean strain and a part for the rest of the deformation:

    K₀ = V B̄ᵀDB̄ + K_h,        K_h = Γᵀ C Γ

Γ (4, 8) has orthonormal rows that see no affine motion of the nodes: γ_k = Σ_a Γ_ka x_a are the hourglass
vectors. C (12 × 12) is positive definite.
"""

from __future__ import annotations

import numpy as np

from pliant.mesh.elements import gradients, jacobians, material_gradients
from pliant.mesh.quadrature import quadrature

NODES = 8  # of a cell
HOURGLASSES = 4  # vectors γ of a cell


def _strain_matrix(G: np.ndarray) -> np.ndarray:
    """B (..., 6, 3m) of gradients G (..., m, 3): strains xx, yy, zz, xy, yz, zx (the last three doubled)."""
    B = np.zeros((*G.shape[:-2], 6, 3 * G.shape[-2]))
    x, y, z = G[..., 0], G[..., 1], G[..., 2]
    B[..., 0, 0::3], B[..., 1, 1::3], B[..., 2, 2::3] = x, y, z
    B[..., 3, 0::3], B[..., 3, 1::3] = y, x
    B[..., 4, 1::3], B[..., 4, 2::3] = z, y
    B[..., 5, 0::3], B[..., 5, 2::3] = z, x
    return B


def _strains(nodes: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strains of the nodes (ne, nq, 6, 24) and of the modes (ne, nq, 6, 13), weights (ne, nq) [m³]."""
    rule = quadrature("hex8")
    G, w = material_gradients(nodes, cells, "hex8", rule.points, rule.weights)
    J0 = jacobians(nodes, cells, "hex8", np.zeros((1, 3)))[:, 0]
    scale = np.linalg.det(J0)[:, None] * rule.weights / w  # j₀/j
    slope = np.einsum("qk,kd->qkd", -2.0 * rule.points, np.eye(3))  # ∂(1 − ξ_k²)/∂ξ_d
    bending = _strain_matrix(np.einsum("qkd,edi,eq->eqki", slope, np.linalg.inv(J0), scale))
    x, y, z = rule.points.T
    dilatations = np.stack([x * y, y * z, z * x, x * y * z], axis=1)
    unit = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    swelling = np.einsum("qm,v,eq->eqvm", dilatations, unit, scale)
    return _strain_matrix(G), np.concatenate([bending, swelling], axis=-1), w


def condensed_stiffness(nodes: np.ndarray, cells: np.ndarray, D: np.ndarray) -> np.ndarray:
    """K₀ (ne, 24, 24) [N/m] of each cell for the stiffness D (6, 6) [Pa], its own strains eliminated."""
    B, modes, w = _strains(nodes, cells)
    product = lambda left, right: np.einsum("eqki,kl,eqlj,eq->eij", left, D, right, w, optimize=True)
    coupling = product(modes, B)
    eliminated = np.linalg.solve(product(modes, modes), coupling)
    return product(B, B) - np.einsum("eki,ekj->eij", coupling, eliminated)


def mean_gradients(nodes: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of ∂N_a/∂X over each cell (ne, 8, 3) [1/m], and volumes (ne,) [m³]."""
    rule = quadrature("hex8")
    G, w = material_gradients(nodes, cells, "hex8", rule.points, rule.weights)
    volume = w.sum(axis=1)
    return np.einsum("eqai,eq->eai", G, w) / volume[:, None, None], volume


def hourglasses(nodes: np.ndarray, cells: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Γ (ne, 4, 8) and C (ne, 4, 4, 3, 3) [N/m] of each cell."""
    X = nodes[cells] - nodes[cells].mean(axis=1, keepdims=True)
    affine = np.concatenate([np.ones((len(cells), NODES, 1)), X], axis=2)
    complete = np.linalg.qr(affine, mode="complete")[0]
    gamma = complete[:, :, NODES - HOURGLASSES :].transpose(0, 2, 1)
    G, volume = mean_gradients(nodes, cells)
    B = _strain_matrix(G)
    K = condensed_stiffness(nodes, cells, D) - np.einsum("eki,kl,elj,e->eij", B, D, B, volume, optimize=True)
    blocks = K.reshape(len(cells), NODES, 3, NODES, 3)
    C = np.einsum("eka,eaibj,elb->eklij", gamma, blocks, gamma, optimize=True)
    return gamma, 0.5 * (C + C.transpose(0, 2, 1, 4, 3))


def hourglass_gradients(nodes: np.ndarray, cells: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """a (ne, nq, 4, 3) [1/m]: at its points a cell has F = F̄ + Σ_k γ_k a_kᵀ, without its own strains."""
    rule = quadrature("hex8")
    G, _ = material_gradients(nodes, cells, "hex8", rule.points, rule.weights)
    mean, _ = mean_gradients(nodes, cells)
    return np.einsum("eka,eqai->eqki", gamma, G - mean[:, None], optimize=True)


def centre_gradients(nodes: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """∂N_a/∂X at the centre of each cell (ne, 8, 3) [1/m]."""
    centre = np.zeros((1, 3))
    J = jacobians(nodes, cells, "hex8", centre)[:, 0]
    return np.einsum("ad,edi->eai", gradients("hex8", centre)[0], np.linalg.inv(J))


def isotropic(lame: float, shear: float) -> np.ndarray:
    """D (6, 6) [Pa] of Hooke's law."""
    D = np.diag([2.0 * shear] * 3 + [shear] * 3)
    D[:3, :3] += lame
    return D


def rest_stiffness(tangent: np.ndarray) -> np.ndarray:
    """D (6, 6) [Pa] on strains xx, yy, zz, xy, yz, zx (the last three doubled) of A (3, 3, 3, 3) at rest."""
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
    D = np.array([[tangent[i, j, k, l] for k, l in pairs] for i, j in pairs])
    return 0.5 * (D + D.T)
