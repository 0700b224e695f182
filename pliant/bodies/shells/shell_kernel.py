"""Energy, forces and stiffness of all triangles of a shell; see `element` for the symbols.

E = A h ψ(ε + L φ_z) + ½ φᵀ D φ, with D of bending (φ_x, φ_y) and drilling (φ_z). The forces N (ne, 3) = A h
∂ψ/∂ε and their derivative C (ne, 3, 3) come from the law of the material. Loops instead of slices compile
in a fraction of the time.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies.blocks import kernel
from pliant.bodies.shells.element import (
    add_geometric,
    add_tension,
    carry_plane,
    frame_rows,
    plane_gradient,
    rotate,
)
from pliant.bodies.shells.rotation import coefficients, log_matrix, log_slope


@kernel
def strains(U, phi, L, D, eps):
    """ε + L φ_z of all triangles into eps (ne, 3), as (ε₁₁, ε₂₂, 2ε₁₂); returns Σ ½ φᵀDφ [J]."""
    energy = 0.0
    for e in range(len(U)):
        eps[e, 0], eps[e, 1], eps[e, 2] = U[e, 0] - 1.0, U[e, 1] - 1.0, 2.0 * U[e, 2]
        for a in range(3):
            for i in range(3):
                eps[e, i] += L[e, i, a] * phi[e, a, 2]
                row = 0.0
                for b in range(3):
                    for j in range(3):
                        row += D[e, a, b, i, j] * phi[e, b, j]
                energy += 0.5 * phi[e, a, i] * row
    return energy


@kernel
def add_change(T, U, phi, L, gradient, frame, cells, dx, turn, out):
    """out (ne, 12) += ∂(ε + L φ_z, φ)/∂dq dq, for changes dx (k, 3) [m] and turn (k, 3) [rad] of nodes."""
    v, G, w, theta = np.empty((3, 2)), np.empty((3, 3)), np.empty(3), np.empty(3)
    for e in range(len(cells)):
        for s in range(2):
            for i in range(3):
                v[i, s] = 0.0
            for a in range(3):
                n, g = cells[e, a], gradient[e, a, s]
                for i in range(3):
                    v[i, s] += g * (T[e, 0, i] * dx[n, 0] + T[e, 1, i] * dx[n, 1] + T[e, 2, i] * dx[n, 2])
        det, trace = U[e, 0] * U[e, 1] - U[e, 2] * U[e, 2], U[e, 0] + U[e, 1]
        w[0] = (U[e, 0] * v[2, 1] - U[e, 2] * v[2, 0]) / det
        w[1] = (U[e, 2] * v[2, 1] - U[e, 1] * v[2, 0]) / det
        w[2] = (v[1, 0] - v[0, 1]) / trace
        out[e, 0] += v[0, 0] + w[2] * U[e, 2]
        out[e, 1] += v[1, 1] - w[2] * U[e, 2]
        out[e, 2] += v[0, 1] + v[1, 0] + w[2] * (U[e, 1] - U[e, 0])
        for a in range(3):
            n = cells[e, a]
            zeta, _ = coefficients(phi[e, a, 0] ** 2 + phi[e, a, 1] ** 2 + phi[e, a, 2] ** 2)
            log_matrix(phi[e, a], zeta, G)
            for i in range(3):
                theta[i] = (
                    frame[e, 0, i] * turn[n, 0] + frame[e, 1, i] * turn[n, 1] + frame[e, 2, i] * turn[n, 2]
                )
            for i in range(3):
                change = 0.0
                for j in range(3):
                    change += G[i, j] * theta[j] - G[j, i] * w[j]
                out[e, 3 + 3 * a + i] += change
                if i == 2:
                    for j in range(3):
                        out[e, j] += L[e, j, a] * change


@kernel
def add_shell(
    cells, gradient, frame, L, D, T, U, phi, felt, N, C, predicted, slots, K, f, couple, tangent, clamp
):
    """Add ∂E/∂x to f (3n,) [N], ∂E/∂ω to couple (k, 3) [N·m] and, if tangent, blocks to K (flat).

    D (ne, 3, 3, 3, 3) [corner a, corner b]. slots (ne, 6, 4): blocks of K of the corner pairs (a, b ≤ a):
    (x, x), (x, ω), (ω, x), (ω, ω). felt (ne, 3, 3): the turns that couples come from, φ unless the material
    is viscous. predicted (2, ne, …): N and φ that the geometric stiffness is taken from;
    if clamp, there is only that of tension.
    """
    m, tau, P = np.empty((3, 3)), np.empty(3), np.empty((3, 2))
    G, M, H, S = np.empty((3, 3, 3)), np.empty((3, 3, 3)), np.empty((6, 6)), np.zeros((6, 6))
    xx, xt, tt = np.empty((3, 3, 3, 3)), np.empty((3, 3, 3, 3)), np.empty((3, 3, 3, 3))
    mixed, work = np.empty((2, 3, 3, 3)), np.empty((2, 2, 3, 3))
    for e in range(len(cells)):
        for a in range(3):
            zeta, _ = coefficients(phi[e, a, 0] ** 2 + phi[e, a, 1] ** 2 + phi[e, a, 2] ** 2)
            log_matrix(phi[e, a], zeta, G[a])
        _spin_moment(e, felt, D, L, N, G, m, tau)
        plane_gradient(U[e], N[e], tau, P)
        _scatter_forces(e, cells, gradient, frame, T, P, G, m, f, couple)
        if not tangent:
            continue
        _material(e, L, D, C, G, H, mixed, tt)
        if clamp:
            add_tension(U[e], N[e], H)
        else:
            _spin_moment(e, predicted[1], D, L, predicted[0], G, m, tau)
            for a in range(3):
                zeta, slope = coefficients(phi[e, a, 0] ** 2 + phi[e, a, 1] ** 2 + phi[e, a, 2] ** 2)
                log_slope(phi[e, a], zeta, slope, m[a], M[a])
            _turning(G, M, m, H, mixed, tt)
            c = plane_gradient(U[e], predicted[0][e], tau, P)
            add_geometric(U[e], predicted[0][e], tau, c, P, H)
        frame_rows(U[e], S)
        carry_plane(e, S, H, T, gradient, work, xx)
        _carry_mixed(e, S, mixed, T, frame, gradient, work, xt)
        _scatter_stiffness(e, frame, slots, xx, xt, tt, K)


@kernel
def _spin_moment(e, phi, D, L, N, G, m, tau):
    """m_a = ∂E/∂φ_a and τ = −Σ Γ_a m_a."""
    tau[0] = tau[1] = tau[2] = 0.0
    for a in range(3):
        for i in range(3):
            total = 0.0
            for b in range(3):
                for j in range(3):
                    total += D[e, a, b, i, j] * phi[e, b, j]
            m[a, i] = total
        m[a, 2] += L[e, 0, a] * N[e, 0] + L[e, 1, a] * N[e, 1] + L[e, 2, a] * N[e, 2]
        for i in range(3):
            tau[i] -= G[a, i, 0] * m[a, 0] + G[a, i, 1] * m[a, 1] + G[a, i, 2] * m[a, 2]


@kernel
def _scatter_forces(e, cells, gradient, frame, T, P, G, m, f, couple):
    for a in range(3):
        n = cells[e, a]
        for i in range(3):
            for s in range(2):
                g = gradient[e, a, s]
                f[3 * n + i] += g * (T[e, i, 0] * P[0, s] + T[e, i, 1] * P[1, s] + T[e, i, 2] * P[2, s])
            turn = G[a, 0, i] * m[a, 0] + G[a, 1, i] * m[a, 1] + G[a, 2, i] * m[a, 2]
            for j in range(3):
                couple[n, j] += frame[e, j, i] * turn


@kernel
def _material(e, L, D, C, G, H, mixed, tt):
    """∂²E/∂(ε, φ)² in (δε, ω, ϑ): the upper half of H (6, 6) in (δε, ω), mixed with ϑ_b, tt of ϑ_a and ϑ_b.

    mixed (2, 3, 3, 3) is that of δε, then of ω, by corner b.
    """
    for i in range(3):
        for j in range(3):
            H[i, j], H[i, 3 + j], H[3 + i, 3 + j] = C[e, i, j], 0.0, 0.0
    for b in range(3):
        for i in range(3):
            pull = C[e, i, 0] * L[e, 0, b] + C[e, i, 1] * L[e, 1, b] + C[e, i, 2] * L[e, 2, b]
            for j in range(3):
                mixed[0, b, i, j] = pull * G[b, 2, j]  # δφ_z of ϑ
                mixed[1, b, i, j] = 0.0
                H[i, 3 + j] -= pull * G[b, j, 2]  # and of −ω
        for a in range(3):
            stiff = 0.0
            for i in range(3):
                for j in range(3):
                    stiff += L[e, i, a] * C[e, i, j] * L[e, j, b]
            for i in range(3):
                for j in range(3):  # D_ab Γ_b, with what the strain adds to φ_z
                    tt[a, b, i, j] = D[e, a, b, i, 0] * G[b, 0, j] + D[e, a, b, i, 1] * G[b, 1, j]
                    tt[a, b, i, j] += (D[e, a, b, i, 2] + (stiff if i == 2 else 0.0)) * G[b, 2, j]
                    row = D[e, a, b, i, 0] * G[b, j, 0] + D[e, a, b, i, 1] * G[b, j, 1]
                    row += (D[e, a, b, i, 2] + (stiff if i == 2 else 0.0)) * G[b, j, 2]
                    for k in range(3):
                        H[3 + k, 3 + j] += G[a, k, i] * row
            for j in range(3):
                u, v, w = tt[a, b, 0, j], tt[a, b, 1, j], tt[a, b, 2, j]
                for i in range(3):
                    tt[a, b, i, j] = G[a, 0, i] * u + G[a, 1, i] * v + G[a, 2, i] * w
                    mixed[1, b, i, j] -= G[a, i, 0] * u + G[a, i, 1] * v + G[a, i, 2] * w


@kernel
def _turning(G, M, m, H, mixed, tt):
    """Σ m_a·δ²φ_a at constant ω: (Γϑ − Γᵀω)·(Mϑ − (M + [m])ω), symmetric part."""
    X = np.empty((3, 3))
    for a in range(3):
        for i in range(3):
            for j in range(3):
                X[i, j] = M[a, i, j]
        X[0, 1] -= m[a, 2]
        X[0, 2] += m[a, 1]
        X[1, 0] += m[a, 2]
        X[1, 2] -= m[a, 0]
        X[2, 0] -= m[a, 1]
        X[2, 1] += m[a, 0]
        for i in range(3):
            for j in range(3):
                turn = whirl = both = 0.0
                for k in range(3):
                    turn += G[a, k, i] * M[a, k, j] + M[a, k, i] * G[a, k, j]
                    whirl += G[a, i, k] * X[k, j] + X[k, i] * G[a, j, k]
                    both += X[k, i] * G[a, k, j] + G[a, i, k] * M[a, k, j]
                tt[a, a, i, j] += 0.5 * turn
                H[3 + i, 3 + j] += 0.5 * whirl
                mixed[1, a, i, j] -= 0.5 * both


@kernel
def _carry_mixed(e, S, mixed, T, frame, gradient, work, xt):
    """xt (3, 3, 3, 3) [corner of x, corner of ω]."""
    for b in range(3):
        for s in range(2):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for k in range(3):
                        total += S[k, 3 * s + i] * mixed[0, b, k, j] + S[3 + k, 3 * s + i] * mixed[1, b, k, j]
                    work[s, 0, i, j] = total
            rotate(T[e], work[s, 0], frame[e])
        for a in range(3):
            for i in range(3):
                for j in range(3):
                    xt[a, b, i, j] = (
                        gradient[e, a, 0] * work[0, 0, i, j] + gradient[e, a, 1] * work[1, 0, i, j]
                    )


@kernel
def _scatter_stiffness(e, frame, slots, xx, xt, tt, K):
    """The four blocks of each pair of corners; slot −1 is not stored."""
    pair = 0
    for a in range(3):
        for b in range(a + 1):
            rotate(frame[e], tt[a, b], frame[e])
            k0, k1, k2, k3 = slots[e, pair, 0], slots[e, pair, 1], slots[e, pair, 2], slots[e, pair, 3]
            for i in range(3):
                for j in range(3):
                    k = 3 * i + j
                    K[9 * k0 + k] += xx[a, b, i, j]
                    K[9 * k2 + k] += xt[b, a, j, i]
                    K[9 * k3 + k] += tt[a, b, i, j]
                    if k1 >= 0:
                        K[9 * k1 + k] += xt[a, b, i, j]
            pair += 1
