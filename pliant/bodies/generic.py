"""Any element shape with any material: energy, forces and tangent of each cell.

    E    = Σ_q w ψ_loc(F_q) + V U(ϑ̄)
    f_a  = Σ_q w P g_a,                  P = ∂ψ_loc/∂F + s ∂ϑ/∂F,    s = U'(ϑ̄) + p
    K_ab = Σ_q w g_aᵀ A g_b + U''/V B_a B_bᵀ,          B_a = Σ_q w ∂ϑ/∂F g_a

ϑ̄ is the mean dilatation of the cell, p its pressure (incompressible bodies; zero otherwise).
"""

from __future__ import annotations

import math

import numpy as np

from pliant.bodies.blocks import (
    deformation_gradient,
    gather,
    kernel,
    largest_eigenvalue,
    scatter_forces,
    scatter_pairs,
)
from pliant.materials.codes import NEO_HOOKEAN
from pliant.materials.kernels import dilatation, evaluate, volumetric
from pliant.materials.material import LOCAL, SHEAR
from pliant.materials.tensors import determinant


@kernel
def _mean_dilatation(nn, nq, code, x, G, w, e, F, D, B):
    """(ϑ̄, V) of cell e; writes B_a = Σ w ∂ϑ/∂F g_a."""
    B[:, :] = 0.0
    volume = total = 0.0
    for p in range(nq):
        deformation_gradient(nn, x, G, e, p, F)
        total += w[e, p] * dilatation(code, F, D)
        volume += w[e, p]
        for a in range(nn):
            u, v, t = w[e, p] * G[e, p, a, 0], w[e, p] * G[e, p, a, 1], w[e, p] * G[e, p, a, 2]
            for i in range(3):
                B[a, i] += D[i, 0] * u + D[i, 1] * v + D[i, 2] * t
    return total / volume, volume


@kernel
def tangent_rows(nn, first, G, w, A, e, p, left, rows):
    """left[a, 3p+j] = g_a[j];  rows[b, 3p+j, 3i+k] = w Σ_l A[3i+j, 3k+l] g_b[l]."""
    for b in range(first, nn):
        x, y, z = G[e, p, b, 0], G[e, p, b, 1], G[e, p, b, 2]
        left[b, 3 * p], left[b, 3 * p + 1], left[b, 3 * p + 2] = x, y, z
        x, y, z = w * x, w * y, w * z
        for j in range(3):
            for i in range(3):
                for k in range(3):
                    m, n = 3 * i + j, 3 * k
                    rows[b, 3 * p + j, n // 3 + 3 * i] = A[m, n] * x + A[m, n + 1] * y + A[m, n + 2] * z


@kernel
def _clamped(code, c, F, s):
    """s limited so that s ∂²J/∂F² cannot outweigh the shear stiffness μ: −μ/σ_max ≤ s ≤ μ/(√2 σ_max).

    ∂²J/∂F² has eigenvalues from −√2 σ_max up; the large positive ones, which matter for s < 0, are changes of
    volume, and those are stiff. For the neo-Hookean law P = μF + g cof F the limit is one on all of g, its
    local part included, and K is positive; for other laws it is only much closer to that.
    """
    mu = c[SHEAR]
    a = F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0]
    b = F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1]
    d = F[0, 2] * F[0, 2] + F[1, 2] * F[1, 2] + F[2, 2] * F[2, 2]
    e = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
    f = F[0, 0] * F[0, 2] + F[1, 0] * F[1, 2] + F[2, 0] * F[2, 2]
    h = F[0, 1] * F[0, 2] + F[1, 1] * F[1, 2] + F[2, 1] * F[2, 2]
    bound = mu / math.sqrt(largest_eigenvalue(a, b, d, e, f, h))
    local = 0.0
    if code == NEO_HOOKEAN:
        J = determinant(F)
        local = (c[LOCAL] * math.log(J) - mu) / J
    return min(math.sqrt(0.5) * bound, max(-bound, s + local)) - local


@kernel
def assemble(q, cells, first, G, w, slots, code, c, pressure, mean, clamp, tangent, K, f):
    """Adds the cells' forces to f (3k,) and their blocks to K (flat); returns the elastic energy [J].

    It is inf if some cell is inadmissible. cells (ne, nn), first (ne,) first moving node, G (ne, nq, nn, 3)
    [1/m], w (ne, nq) [m³], pressure (ne,) [Pa]; mean: whether the law has a part on the mean dilatation.
    """
    nn, nq = G.shape[2], G.shape[1]
    x, fe, B = np.empty((nn, 3)), np.zeros((nn, 3)), np.zeros((nn, 3))
    left, rows = np.empty((nn, 3 * nq)), np.empty((nn, 3 * nq, 9))
    F, P, A = np.empty((3, 3)), np.empty((3, 3)), np.empty((9, 9))
    energy = 0.0
    for e in range(cells.shape[0]):
        gather(nn, q, cells, e, x)
        s = curvature = 0.0
        if mean:
            theta, volume = _mean_dilatation(nn, nq, code, x, G, w, e, F, P, B)
            U, s, curvature = volumetric(code, c, theta)
            energy += volume * (U + pressure[e] * (theta - 1.0))
            s += pressure[e]
            curvature = max(curvature, 0.0) / volume if clamp else curvature / volume
        for p in range(nq):
            deformation_gradient(nn, x, G, e, p, F)
            psi = evaluate(code, c, F, s, P, A, tangent)
            if not psi < math.inf:
                return math.inf
            energy += w[e, p] * psi
            for a in range(nn):
                u, v, t = w[e, p] * G[e, p, a, 0], w[e, p] * G[e, p, a, 1], w[e, p] * G[e, p, a, 2]
                for i in range(3):
                    fe[a, i] += P[i, 0] * u + P[i, 1] * v + P[i, 2] * t
            if tangent:
                if clamp:
                    evaluate(code, c, F, _clamped(code, c, F, s), P, A, True)
                tangent_rows(nn, first[e], G, w[e, p], A, e, p, left, rows)
        if not energy < math.inf:
            return math.inf
        scatter_forces(nn, cells, e, fe, f)
        if tangent:
            scatter_pairs(nn, 3 * nq, first, slots, e, left, rows, B, curvature, K)
    return energy


@kernel
def mean_dilatations(q, cells, G, w, code, theta):
    """theta (ne,): the mean dilatation ϑ̄ of each cell."""
    nn, nq = G.shape[2], G.shape[1]
    x, B, F, D = np.empty((nn, 3)), np.empty((nn, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(cells.shape[0]):
        gather(nn, q, cells, e, x)
        theta[e], _ = _mean_dilatation(nn, nq, code, x, G, w, e, F, D, B)
