"""What softening takes from the forces of cells: the difference to their law, see `materials.mullins`.

E = Σ_q w (Ŵ − W),      f_a = Σ_q w (η − 1) P_W g_a,      K_ab = Σ_q w g_aᵀ ((η − 1) A_W + η' P_W ⊗ P_W) g_b
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.blocks import deformation_gradient, gather, kernel, scatter_forces, scatter_pairs
from pliant.bodies.generic import tangent_rows
from pliant.materials.kernels import evaluate
from pliant.materials.mullins import add_softening


@kernel
def assemble(q, cells, first, G, w, slots, code, c, largest, lost, m, beta, tangent, K, f):
    """Adds to f (3k,) and K (flat); returns the difference in energy [J]. largest (ne, nq) [J/m³]."""
    nn, nq = G.shape[2], G.shape[1]
    x, fe, B = np.empty((nn, 3)), np.zeros((nn, 3)), np.zeros((nn, 3))
    left, rows = np.empty((nn, 3 * nq)), np.empty((nn, 3 * nq, 9))
    F, own, ownA = np.empty((3, 3)), np.empty((3, 3)), np.empty((9, 9))
    energy = 0.0
    for e in range(cells.shape[0]):
        gather(nn, q, cells, e, x)
        for p in range(nq):
            deformation_gradient(nn, x, G, e, p, F)
            P, A = np.zeros((3, 3)), np.zeros((9, 9))
            most = largest[e, p]
            energy += w[e, p] * add_softening(code, c, F, most, lost, m, beta, P, A, own, ownA, tangent)
            for a in range(nn):
                u, v, t = w[e, p] * G[e, p, a, 0], w[e, p] * G[e, p, a, 1], w[e, p] * G[e, p, a, 2]
                for i in range(3):
                    fe[a, i] += P[i, 0] * u + P[i, 1] * v + P[i, 2] * t
            if tangent:
                tangent_rows(nn, first[e], G, w[e, p], A, e, p, left, rows)
        scatter_forces(nn, cells, e, fe, f)
        if tangent:
            scatter_pairs(nn, 3 * nq, first, slots, e, left, rows, B, 0.0, K)
    return energy


@kernel
def add_piola(code, c, F, largest, lost, m, beta, P):
    """Adds (η − 1) P_W to stresses P (ne, nq, 3, 3) [Pa] at F."""
    A, own, ownA = np.empty((9, 9)), np.empty((3, 3)), np.empty((9, 9))
    for e in range(F.shape[0]):
        for p in range(F.shape[1]):
            most = largest[e, p]
            add_softening(code, c, F[e, p], most, lost, m, beta, P[e, p], A, own, ownA, False)


@kernel
def remember(code, c, F, largest):
    """largest (ne, nq) ← the energy of the change of shape at F, where that is larger."""
    P, A = np.empty((3, 3)), np.empty((9, 9))
    for e in range(F.shape[0]):
        for p in range(F.shape[1]):
            largest[e, p] = max(largest[e, p], evaluate(code, c, F[e, p], 0.0, P, A, False))
