"""The default element: corotated Hooke, with a polar decomposition F = RS per point and its exact tangent.

With h_a = R g_a, t = tr S − 3, s = λ_loc t + U'(ϑ̄) and M = (tr S)I − RSRᵀ,

    f_a  = Σ_q w [2μ F g_a + (s − 2μ) h_a]
    K_ab = Σ_q w [2μ (h_a·h_b) I + λ_loc h_a h_bᵀ + [h_a]ₓ X [h_b]ₓ] + U''/V B_a B_bᵀ,
    X    = (2μ − s) M⁻¹,        B_a = Σ_q w h_a

K_ab is linear in h_a: a small matrix product of h_a with the nine-number rows that `_tangent_rows` writes.
This is `assemble` of generic.py written out for one law, because it is the one that robots use most.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.blocks import (
    deformation_gradient,
    gather,
    kernel,
    largest_eigenvalue,
    scatter_forces,
    scatter_pairs,
)
from pliant.materials.material import LOCAL, MEAN, SHEAR
from pliant.materials.tensors import polar_rotation

# Least eigenvalue of M, which is 2 at rest. Below it the cell is folded and R hardly defined: the tangent
# takes the value of X at rest.
_SPIN_FLOOR = 1e-3


@kernel
def spin_stiffness(F, R, d, limit, X):
    """X = d M⁻¹ (diagonal, then 01, 02, 12) with M = (tr S)I − F Rᵀ; limit > 0 bounds its eigenvalues.

    2μ|δF|² − δθᵀXδθ, δθ the axial vector of δF Rᵀ − R δFᵀ, is never negative while X ≤ μI: with that limit
    the tangent is positive semi-definite.
    """
    a = F[0, 0] * R[0, 0] + F[0, 1] * R[0, 1] + F[0, 2] * R[0, 2]
    b = F[1, 0] * R[1, 0] + F[1, 1] * R[1, 1] + F[1, 2] * R[1, 2]
    c = F[2, 0] * R[2, 0] + F[2, 1] * R[2, 1] + F[2, 2] * R[2, 2]
    x = -(F[0, 0] * R[1, 0] + F[0, 1] * R[1, 1] + F[0, 2] * R[1, 2])
    y = -(F[0, 0] * R[2, 0] + F[0, 1] * R[2, 1] + F[0, 2] * R[2, 2])
    z = -(F[1, 0] * R[2, 0] + F[1, 1] * R[2, 1] + F[1, 2] * R[2, 2])
    a, b, c = b + c, a + c, a + b
    A, B, C = b * c - z * z, a * c - y * y, a * b - x * x
    D, E, H = y * z - x * c, x * z - y * b, x * y - z * a
    det, trace = a * A + x * D + y * E, a + b + c
    if not 4.0 * det > _SPIN_FLOOR * trace * trace:  # the least eigenvalue of M is at least 4 det/trace²
        A = B = C = limit if limit > 0.0 else 0.5 * d
        D = E = H = 0.0
    else:
        v = d / det
        if limit > 0.0:
            top = v * largest_eigenvalue(A, B, C, D, E, H)
            if top > limit:
                v *= limit / top
        A, B, C, D, E, H = v * A, v * B, v * C, v * D, v * E, v * H
    X[0], X[1], X[2], X[3], X[4], X[5] = A, B, C, D, E, H


@kernel
def _rotated_gradients(nn, R, G, w, e, p, h, B):
    """h_a = R g_a at point p, and B_a += w h_a."""
    for a in range(nn):
        x, y, z = G[e, p, a, 0], G[e, p, a, 1], G[e, p, a, 2]
        for i in range(3):
            value = R[i, 0] * x + R[i, 1] * y + R[i, 2] * z
            h[a, 3 * p + i] = value
            B[a, i] += w * value


@kernel
def _stretch(F, R):
    """(tr S − 3, |F − R|²)."""
    trace = gap = 0.0
    for i in range(3):
        trace += (R[i, 0] * F[i, 0] + R[i, 1] * F[i, 1] + R[i, 2] * F[i, 2]) - 1.0
        for j in range(3):
            gap += (F[i, j] - R[i, j]) ** 2
    return trace, gap


@kernel
def _copy(A, B):
    for i in range(3):
        B[i, 0], B[i, 1], B[i, 2] = A[i, 0], A[i, 1], A[i, 2]


@kernel
def _point_forces(nn, F, G, w, mu, s, e, p, h, fe):
    """fe_a += w (2μ F g_a + (s − 2μ) h_a)."""
    m, n = 2.0 * w * mu, w * (s - 2.0 * mu)
    for a in range(nn):
        x, y, z = m * G[e, p, a, 0], m * G[e, p, a, 1], m * G[e, p, a, 2]
        for i in range(3):
            fe[a, i] += F[i, 0] * x + F[i, 1] * y + F[i, 2] * z + n * h[a, 3 * p + i]


@kernel
def _tangent_rows(nn, first, p, w, mu, lam, X, h, rows):
    """rows[b, 3p+m, 3i+k] = ∂K_ab[i,k]/∂h_a[m] at point p, weighted with w."""
    A, B, C, D, E, H = w * X[0], w * X[1], w * X[2], w * X[3], w * X[4], w * X[5]
    for b in range(first, nn):
        x, y, z = h[b, 3 * p], h[b, 3 * p + 1], h[b, 3 * p + 2]
        # Y = w X [h]ₓ, row i is X_i × h
        y00, y01, y02 = D * z - E * y, E * x - A * z, A * y - D * x
        y10, y11, y12 = B * z - H * y, H * x - D * z, D * y - B * x
        y20, y21, y22 = H * z - C * y, C * x - E * z, E * y - H * x
        u, v, t = 2.0 * w * mu * x, 2.0 * w * mu * y, 2.0 * w * mu * z
        l0, l1, l2 = w * lam * x, w * lam * y, w * lam * z
        k = 3 * p
        rows[b, k, 0], rows[b, k, 1], rows[b, k, 2] = u + l0, l1, l2
        rows[b, k, 3], rows[b, k, 4], rows[b, k, 5] = -y20, u - y21, -y22
        rows[b, k, 6], rows[b, k, 7], rows[b, k, 8] = y10, y11, u + y12
        k += 1
        rows[b, k, 0], rows[b, k, 1], rows[b, k, 2] = v + y20, y21, y22
        rows[b, k, 3], rows[b, k, 4], rows[b, k, 5] = l0, v + l1, l2
        rows[b, k, 6], rows[b, k, 7], rows[b, k, 8] = -y00, -y01, v - y02
        k += 1
        rows[b, k, 0], rows[b, k, 1], rows[b, k, 2] = t - y10, -y11, -y12
        rows[b, k, 3], rows[b, k, 4], rows[b, k, 5] = y00, t + y01, y02
        rows[b, k, 6], rows[b, k, 7], rows[b, k, 8] = l0, l1, t + l2


@kernel
def assemble(shape, points, q, cells, first, G, w, slots, c, clamp, tangent, K, f):
    """Adds the cells' forces to f (3k,) and their blocks to K (flat); returns the elastic energy [J].

    cells (ne, nn), first (ne,) first moving node, G (ne, nq, nn, 3) [1/m], w (ne, nq) [m³]. `shape` and
    `points` are tuples of nn and nq entries: their lengths are compile-time constants, which unrolls the
    loops.
    """
    nn, nq = len(shape), len(points)
    mu, lam, mean = c[SHEAR], c[LOCAL], c[MEAN]
    x, fe, B = np.empty((nn, 3)), np.zeros((nn, 3)), np.empty((nn, 3))
    h, rows = np.empty((nn, 3 * nq)), np.empty((nn, 3 * nq, 9))
    all_F, all_R, trace = np.empty((nq, 3, 3)), np.empty((nq, 3, 3)), np.empty(nq)
    F, R, X = np.empty((3, 3)), np.empty((3, 3)), np.empty(6)
    energy, limit = 0.0, mu if clamp else 0.0
    for e in range(cells.shape[0]):
        gather(nn, q, cells, e, x)
        B[:, :] = 0.0
        volume = total = 0.0
        for p in range(nq):
            deformation_gradient(nn, x, G, e, p, F)
            polar_rotation(F, R)
            _rotated_gradients(nn, R, G, w[e, p], e, p, h, B)
            trace[p], gap = _stretch(F, R)
            volume += w[e, p]
            total += w[e, p] * trace[p]
            energy += w[e, p] * (mu * gap + 0.5 * lam * trace[p] * trace[p])
            _copy(F, all_F[p])
            _copy(R, all_R[p])
        total /= volume
        energy += 0.5 * volume * mean * total * total
        for p in range(nq):
            s = lam * trace[p] + mean * total
            _point_forces(nn, all_F[p], G, w[e, p], mu, s, e, p, h, fe)
            if tangent:
                spin_stiffness(all_F[p], all_R[p], 2.0 * mu - s, limit, X)
                _tangent_rows(nn, first[e], p, w[e, p], mu, lam, X, h, rows)
        scatter_forces(nn, cells, e, fe, f)
        if tangent:
            scatter_pairs(nn, 3 * nq, first, slots, e, h, rows, B, mean / volume, K)
    return energy
