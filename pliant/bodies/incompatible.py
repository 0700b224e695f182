"""Hexahedra of eight nodes with incompatible modes, for Hooke's law.

They bend without locking at one element across, and nearly incompressible ones keep their volume without
locking. `enhanced` has their stiffness K₀ (24 × 24), in which the modes are eliminated once and for all. It
turns with the cell: R is the polar rotation of the deformation gradient F at the centre, and the energy is
differentiated exactly, R included:

    u_a = x_a − R X_a,   E = ½ uᵀ K̂ u,   K̂ = R K₀ Rᵀ

With n_a = K̂u, τ = Σ u_a × n_a, g_a the turned gradients at the centre, M = (tr S)I − FRᵀ, p = M⁻¹τ,
Q_a = M⁻¹[g_a]ₓ and Z_a = Σ_b K̂_ab [x_b]ₓ,

    f_a  = n_a + g_a × p
    K_ab = K̂_ab + C_a Q_b + Q_aᵀ C_bᵀ,      C_a = Z_a − [f_a]ₓ + ½ Q_aᵀ W
    W    = Σ [x_a]ₓᵀ Z_a + ½(x_a n_aᵀ + n_a x_aᵀ) − (x_a·n_a) I + ½(FRᵀ[p]ₓ − [p]ₓFRᵀ)

n_a alone would leave a small net torque τ and be no gradient of an energy.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.blocks import kernel, scatter_forces
from pliant.bodies.corotated import spin_stiffness
from pliant.materials.tensors import polar_rotation

_PAIRS = 36  # of its nodes, in the lower half


@kernel
def _rotate_pairs(R, K0, e, khat):
    """K̂_ab = R K₀_ab Rᵀ for the lower pairs, flat rows of nine."""
    for k in range(khat.shape[0]):
        for i in range(3):
            x = R[i, 0] * K0[e, k, 0, 0] + R[i, 1] * K0[e, k, 1, 0] + R[i, 2] * K0[e, k, 2, 0]
            y = R[i, 0] * K0[e, k, 0, 1] + R[i, 1] * K0[e, k, 1, 1] + R[i, 2] * K0[e, k, 2, 1]
            z = R[i, 0] * K0[e, k, 0, 2] + R[i, 1] * K0[e, k, 1, 2] + R[i, 2] * K0[e, k, 2, 2]
            khat[k, 3 * i] = x * R[0, 0] + y * R[0, 1] + z * R[0, 2]
            khat[k, 3 * i + 1] = x * R[1, 0] + y * R[1, 1] + z * R[1, 2]
            khat[k, 3 * i + 2] = x * R[2, 0] + y * R[2, 1] + z * R[2, 2]


@kernel
def _elastic_forces(nn, khat, u, n, fe):
    """n_a = Σ_b K̂_ab u_b from the lower pairs, copied to fe; returns ½ uᵀK̂u."""
    n[:, :] = 0.0
    k = 0
    for a in range(nn):
        for b in range(a + 1):
            for i in range(3):
                n[a, i] += (
                    khat[k, 3 * i] * u[b, 0] + khat[k, 3 * i + 1] * u[b, 1] + khat[k, 3 * i + 2] * u[b, 2]
                )
                if a != b:
                    n[b, i] += khat[k, i] * u[a, 0] + khat[k, 3 + i] * u[a, 1] + khat[k, 6 + i] * u[a, 2]
            k += 1
    energy = 0.0
    for a in range(nn):
        energy += 0.5 * (u[a, 0] * n[a, 0] + u[a, 1] * n[a, 1] + u[a, 2] * n[a, 2])
        fe[a, 0], fe[a, 1], fe[a, 2] = n[a, 0], n[a, 1], n[a, 2]
    return energy


@kernel
def _turned_stiffness(nn, khat, x, Z):
    """Z_a = Σ_b K̂_ab [x_b]ₓ (8, 9): each row of K̂_ab crossed with x_b."""
    Z[:, :] = 0.0
    k = 0
    for a in range(nn):
        for b in range(a + 1):
            for i in range(3):
                r, s, t = khat[k, 3 * i], khat[k, 3 * i + 1], khat[k, 3 * i + 2]
                Z[a, 3 * i] += s * x[b, 2] - t * x[b, 1]
                Z[a, 3 * i + 1] += t * x[b, 0] - r * x[b, 2]
                Z[a, 3 * i + 2] += r * x[b, 1] - s * x[b, 0]
                if a != b:
                    r, s, t = khat[k, i], khat[k, 3 + i], khat[k, 6 + i]
                    Z[b, 3 * i] += s * x[a, 2] - t * x[a, 1]
                    Z[b, 3 * i + 1] += t * x[a, 0] - r * x[a, 2]
                    Z[b, 3 * i + 2] += r * x[a, 1] - s * x[a, 0]
            k += 1


@kernel
def _spin_hessian(nn, F, R, x, n, Z, p, W):
    """W (3, 3) of the module's equations."""
    W[:, :] = 0.0
    for a in range(nn):
        dot = x[a, 0] * n[a, 0] + x[a, 1] * n[a, 1] + x[a, 2] * n[a, 2]
        for j in range(3):
            # [x]ₓᵀ Z = −x × Z, column by column
            W[0, j] -= x[a, 1] * Z[a, 6 + j] - x[a, 2] * Z[a, 3 + j]
            W[1, j] -= x[a, 2] * Z[a, j] - x[a, 0] * Z[a, 6 + j]
            W[2, j] -= x[a, 0] * Z[a, 3 + j] - x[a, 1] * Z[a, j]
            W[j, j] -= dot
            for i in range(3):
                W[i, j] += 0.5 * (x[a, i] * n[a, j] + n[a, i] * x[a, j])
    for i in range(3):
        v0 = 0.5 * (F[i, 0] * R[0, 0] + F[i, 1] * R[0, 1] + F[i, 2] * R[0, 2])
        v1 = 0.5 * (F[i, 0] * R[1, 0] + F[i, 1] * R[1, 1] + F[i, 2] * R[1, 2])
        v2 = 0.5 * (F[i, 0] * R[2, 0] + F[i, 1] * R[2, 1] + F[i, 2] * R[2, 2])
        c0, c1, c2 = v1 * p[2] - v2 * p[1], v2 * p[0] - v0 * p[2], v0 * p[1] - v1 * p[0]
        W[i, 0] += c0
        W[i, 1] += c1
        W[i, 2] += c2
        W[0, i] += c0  # −[p]ₓV is the transpose of V[p]ₓ
        W[1, i] += c1
        W[2, i] += c2


@kernel
def _spin(nn, g, M, p, f, Q):
    """f_a += g_a × p and Q_a = M⁻¹[g_a]ₓ (8, 9); M⁻¹ as diagonal, 01, 02, 12."""
    for a in range(nn):
        x, y, z = g[a, 0], g[a, 1], g[a, 2]
        f[a, 0] += y * p[2] - z * p[1]
        f[a, 1] += z * p[0] - x * p[2]
        f[a, 2] += x * p[1] - y * p[0]
        Q[a, 0], Q[a, 1], Q[a, 2] = M[3] * z - M[4] * y, M[4] * x - M[0] * z, M[0] * y - M[3] * x
        Q[a, 3], Q[a, 4], Q[a, 5] = M[1] * z - M[5] * y, M[5] * x - M[3] * z, M[3] * y - M[1] * x
        Q[a, 6], Q[a, 7], Q[a, 8] = M[5] * z - M[2] * y, M[2] * x - M[4] * z, M[4] * y - M[5] * x


@kernel
def _complete_coupling(nn, Z, f, Q, W):
    """C_a = Z_a − [f_a]ₓ + ½ Q_aᵀ W, in place of Z."""
    for a in range(nn):
        for i in range(3):
            for j in range(3):
                Z[a, 3 * i + j] += 0.5 * (Q[a, i] * W[0, j] + Q[a, 3 + i] * W[1, j] + Q[a, 6 + i] * W[2, j])
        Z[a, 1] += f[a, 2]
        Z[a, 2] -= f[a, 1]
        Z[a, 3] -= f[a, 2]
        Z[a, 5] += f[a, 0]
        Z[a, 6] += f[a, 1]
        Z[a, 7] -= f[a, 0]


@kernel
def _scatter_pairs(nn, first, slots, e, khat, C, Q, exact, K):
    """K_ab += K̂_ab + C_a Q_b + Q_aᵀ C_bᵀ (the last two only if exact)."""
    for a in range(first[e], nn):
        for b in range(first[e], a + 1):
            k = (a * (a + 1)) // 2 + b
            n = 9 * slots[e, k]
            for i in range(3):
                for j in range(3):
                    value = khat[k, 3 * i + j]
                    if exact:
                        value += (
                            C[a, 3 * i] * Q[b, j]
                            + C[a, 3 * i + 1] * Q[b, 3 + j]
                            + C[a, 3 * i + 2] * Q[b, 6 + j]
                        )
                        value += (
                            Q[a, i] * C[b, 3 * j]
                            + Q[a, 3 + i] * C[b, 3 * j + 1]
                            + Q[a, 6 + i] * C[b, 3 * j + 2]
                        )
                    K[n + 3 * i + j] += value


@kernel
def _place(nn, q, X, cells, centre, e, rotated, F, R, g, x, u):
    """Positions x and displacements u from the first node, R, and the gradients turned by it."""
    o = 3 * cells[e, 0]
    F[:, :] = 0.0
    for a in range(nn):
        n = 3 * cells[e, a]
        for i in range(3):
            x[a, i] = q[n + i] - q[o + i]
            for j in range(3):
                F[i, j] += x[a, i] * centre[e, a, j]
    if rotated:
        polar_rotation(F, R)
    for a in range(nn):
        n = 3 * cells[e, a]
        r, s, t = X[n] - X[o], X[n + 1] - X[o + 1], X[n + 2] - X[o + 2]
        for i in range(3):
            u[a, i] = x[a, i] - (R[i, 0] * r + R[i, 1] * s + R[i, 2] * t)
            g[a, i] = R[i, 0] * centre[e, a, 0] + R[i, 1] * centre[e, a, 1] + R[i, 2] * centre[e, a, 2]


@kernel
def _net_torque(nn, u, n, M, p):
    """p = M⁻¹ Σ u_a × n_a."""
    x = y = z = 0.0
    for a in range(nn):
        x += u[a, 1] * n[a, 2] - u[a, 2] * n[a, 1]
        y += u[a, 2] * n[a, 0] - u[a, 0] * n[a, 2]
        z += u[a, 0] * n[a, 1] - u[a, 1] * n[a, 0]
    p[0] = M[0] * x + M[3] * y + M[4] * z
    p[1] = M[3] * x + M[1] * y + M[5] * z
    p[2] = M[4] * x + M[5] * y + M[2] * z


@kernel
def _add_remembered(nn, R, N, e, n, fe):
    """n_a and f_a += R N_a: forces N (ne, 8, 3) in the axes of the cell."""
    for a in range(nn):
        for i in range(3):
            value = R[i, 0] * N[e, a, 0] + R[i, 1] * N[e, a, 1] + R[i, 2] * N[e, a, 2]
            n[a, i] += value
            fe[a, i] += value


@kernel
def local_forces(q, X, cells, centre, K0, rotated, N):
    """N (ne, 8, 3) [N]: the elastic forces K₀(Rᵀx − X) in the axes of each cell."""
    nn = cells.shape[1]
    x, u, g = np.empty((nn, 3)), np.empty((nn, 3)), np.empty((nn, 3))
    n, fe, khat = np.empty((nn, 3)), np.empty((nn, 3)), np.empty((_PAIRS, 9))
    F, R = np.empty((3, 3)), np.zeros((3, 3))
    R[0, 0] = R[1, 1] = R[2, 2] = 1.0
    for e in range(cells.shape[0]):
        _place(nn, q, X, cells, centre, e, rotated, F, R, g, x, u)
        _rotate_pairs(R, K0, e, khat)
        _elastic_forces(nn, khat, u, n, fe)
        for a in range(nn):
            for i in range(3):
                N[e, a, i] = R[0, i] * n[a, 0] + R[1, i] * n[a, 1] + R[2, i] * n[a, 2]


@kernel
def assemble(q, X, cells, first, centre, K0, N, slots, rotated, clamp, tangent, K, f):
    """Adds the cells' forces to f (3k,) and their blocks to K (flat); returns the elastic energy [J].

    X (3k,) rest positions, centre (ne, 8, 3) gradients at the centre [1/m], K0 (ne, 36, 3, 3) [N/m]; not
    `rotated`: R = I (small strain). Clamped, the tangent is K̂, positive semi-definite. N (ne, 8, 3) [N], or
    none, are remembered forces that turn with the cells, see `overstress`.
    """
    nn = cells.shape[1]  # always 8, but unrolled loops would only compile longer
    x, u, g = np.empty((nn, 3)), np.empty((nn, 3)), np.empty((nn, 3))
    n, fe = np.empty((nn, 3)), np.empty((nn, 3))
    F, R, W, M, p = np.empty((3, 3)), np.zeros((3, 3)), np.empty((3, 3)), np.empty(6), np.empty(3)
    R[0, 0] = R[1, 1] = R[2, 2] = 1.0
    khat, Z, Q = np.empty((_PAIRS, 9)), np.empty((nn, 9)), np.empty((nn, 9))
    energy, exact = 0.0, rotated and not clamp
    for e in range(cells.shape[0]):
        _place(nn, q, X, cells, centre, e, rotated, F, R, g, x, u)
        _rotate_pairs(R, K0, e, khat)
        energy += _elastic_forces(nn, khat, u, n, fe)
        if len(N):
            _add_remembered(nn, R, N, e, n, fe)
        if rotated:
            spin_stiffness(F, R, 1.0, 0.0, M)
            _net_torque(nn, u, n, M, p)
            _spin(nn, g, M, p, fe, Q)
        if tangent:
            if exact:
                _turned_stiffness(nn, khat, x, Z)
                _spin_hessian(nn, F, R, x, n, Z, p, W)
                _complete_coupling(nn, Z, fe, Q, W)
            _scatter_pairs(nn, first, slots, e, khat, Z, Q, exact, K)
        scatter_forces(nn, cells, e, fe, f)
    return energy
