"""Viscous stress: what a moving material adds to its elastic law.

During a step in time the second Piola–Kirchhoff stress of a viscoelastic material is affine in the elastic
one,

    S = scale · Sₑ(q) + Z

with Z (one tensor for each quadrature point) what the material remembers. S does not change with rotation, so
neither does the memory. Forces and tangent of a constant Z are

    f_a = Σ_q w F Z g_a,        K_ab = Σ_q w (g_a·Z g_b) I

Hexahedra with incompatible modes remember the forces on their nodes in the axes of the cell instead. The
law for small strain does not turn: its stress is remembered as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.bodies.blocks import deformation_gradient, gather, kernel, scatter_forces
from pliant.materials.material import LOCAL, MEAN, SHEAR
from pliant.materials.tensors import cofactor, polar_rotation

SIZE = 6  # numbers of a symmetric tensor: 00, 11, 22, 01, 02, 12
SMALLEST_J = 0.02  # F⁻¹ of cells compressed further is taken at this J: they have no meaningful memory


class Overstress(NamedTuple):
    """`scale` of the elastic stress, and `stress` (m,) [Pa]: Z in the order of `Solid.stress_memory`."""

    scale: float
    stress: np.ndarray


@kernel
def pull_back(F, P, C, S):
    """S = F⁻¹P, symmetric, six numbers; C (3, 3) is scratch."""
    J = cofactor(F, C)
    scale = 1.0 / max(J, SMALLEST_J)
    for i in range(3):
        for j in range(i, 3):
            left = C[0, i] * P[0, j] + C[1, i] * P[1, j] + C[2, i] * P[2, j]
            right = C[0, j] * P[0, i] + C[1, j] * P[1, i] + C[2, j] * P[2, i]
            S[i if i == j else 2 + i + j] = 0.5 * scale * (left + right)


@kernel
def second_stress(F, P, turned, S):
    """S (ne, nq, 6) of F and P (ne, nq, 3, 3); not `turned`: P itself."""
    C, one = np.empty((3, 3)), np.eye(3)
    for e in range(F.shape[0]):
        for p in range(F.shape[1]):
            pull_back(F[e, p] if turned else one, P[e, p], C, S[e, p])


@kernel
def corotated_stress(q, cells, G, w, c, S):
    """S (ne, nq, 6) of corotated Hooke: F⁻¹P with P = 2μ(F − R) + (λ_loc t + λ_mean t̄) R, t = tr S − 3."""
    nn, nq = G.shape[2], G.shape[1]
    x, all_F, all_R, trace = np.empty((nn, 3)), np.empty((nq, 3, 3)), np.empty((nq, 3, 3)), np.empty(nq)
    P, C = np.empty((3, 3)), np.empty((3, 3))
    for e in range(cells.shape[0]):
        gather(nn, q, cells, e, x)
        volume = total = 0.0
        for p in range(nq):
            F, R = all_F[p], all_R[p]
            deformation_gradient(nn, x, G, e, p, F)
            polar_rotation(F, R)
            trace[p] = -3.0
            for i in range(3):
                trace[p] += R[i, 0] * F[i, 0] + R[i, 1] * F[i, 1] + R[i, 2] * F[i, 2]
            volume += w[e, p]
            total += w[e, p] * trace[p]
        for p in range(nq):
            F, R, along = all_F[p], all_R[p], c[LOCAL] * trace[p] + c[MEAN] * total / volume
            for i in range(3):
                for j in range(3):
                    P[i, j] = 2.0 * c[SHEAR] * (F[i, j] - R[i, j]) + along * R[i, j]
            pull_back(F, P, C, S[e, p])


@kernel
def _stress_times_gradients(nn, S, G, w, e, p, T):
    """T_a = w Z g_a (nn, 3)."""
    for a in range(nn):
        x, y, z = w * G[e, p, a, 0], w * G[e, p, a, 1], w * G[e, p, a, 2]
        T[a, 0] = S[0] * x + S[3] * y + S[4] * z
        T[a, 1] = S[3] * x + S[1] * y + S[5] * z
        T[a, 2] = S[4] * x + S[5] * y + S[2] * z


@kernel
def add_stress(q, cells, first, G, w, slots, S, turned, tangent, K, f):
    """Adds the forces of S (ne, nq, 6) [Pa] to f (3k,) and, if tangent, its blocks to K (flat)."""
    nn, nq = G.shape[2], G.shape[1]
    x, fe, T, F = np.empty((nn, 3)), np.zeros((nn, 3)), np.empty((nn, 3)), np.eye(3)
    for e in range(cells.shape[0]):
        gather(nn, q, cells, e, x)
        for p in range(nq):
            if turned:
                deformation_gradient(nn, x, G, e, p, F)
            _stress_times_gradients(nn, S[e, p], G, w[e, p], e, p, T)
            for a in range(nn):
                for i in range(3):
                    fe[a, i] += F[i, 0] * T[a, 0] + F[i, 1] * T[a, 1] + F[i, 2] * T[a, 2]
            if tangent and turned:
                _scatter(nn, first, slots, G, e, p, T, K)
        scatter_forces(nn, cells, e, fe, f)


@kernel
def _scatter(nn, first, slots, G, e, p, T, K):
    """K_ab += (g_a·T_b) I for all pairs b ≤ a of moving nodes of cell e."""
    for a in range(first[e], nn):
        for b in range(first[e], a + 1):
            value = G[e, p, a, 0] * T[b, 0] + G[e, p, a, 1] * T[b, 1] + G[e, p, a, 2] * T[b, 2]
            n = 9 * slots[e, (a * (a + 1)) // 2 + b]
            K[n] += value
            K[n + 4] += value
            K[n + 8] += value
