"""The shell triangle in compiled loops: corners x_a and their rotations R_a, seen from the triangle's frame.

F = Σ x_a g_aᵀ (3, 2) maps the natural triangle to where it is; F = T₂ U with T = [T₂, n] a rotation (polar
decomposition) and U (2, 2) the stretch in its plane. What deforms the triangle is

    ε = U − I,        φ_a = log(Tᵀ R_a T₀)                E(ε, φ)

so that rigid motion costs nothing. Changes of the corners, δF = T v (v (3, 2): A in the plane, b out of it),
and of the rotations, R_a ← R_a exp([ω_a]ₓ) with ϑ_a = T₀ᵀω_a, turn the frame by ω and stretch it:

    ω₃ = (A₂₁ − A₁₂)/tr U,  (−ω₂, ω₁) = U⁻¹b,    δU = A − ω₃ J U,      J = [0 −1; 1 0]
    δφ_a = Γ_a ϑ_a − Γ_aᵀ ω

With N = ∂E/∂U, m_a = ∂E/∂φ_a and τ = −Σ Γ_a m_a the gradient is

    ∂E/∂v = [N + c J; U⁻¹(−τ₂, τ₁)],   c = (τ₃ − N:JU)/tr U,        ∂E/∂ϑ_a = Γ_aᵀ m_a

The Hessian is that of E along straight paths of corners and constant spins of rotations: exact, and
symmetric. It is built in the variables (δε, ω, ϑ), where all terms are short, and carried to the corners
from there.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.bodies.blocks import kernel
from pliant.bodies.shells.rotation import LARGEST_TURN, logarithm

COLLAPSED = 1e-8  # area of a triangle over its natural area, squared, at which it counts as collapsed


@kernel
def polar(x, cells, gradient, e, T, U):
    """Frame T (3, 3) and stretch U = (U₁₁, U₂₂, U₁₂) of triangle e; False if it has collapsed."""
    a, b, c = cells[e, 0], cells[e, 1], cells[e, 2]
    g = gradient[e]
    C00 = C11 = C01 = 0.0
    for i in range(3):
        u = x[a, i] * g[0, 0] + x[b, i] * g[1, 0] + x[c, i] * g[2, 0]
        v = x[a, i] * g[0, 1] + x[b, i] * g[1, 1] + x[c, i] * g[2, 1]
        T[i, 0], T[i, 1] = u, v
        C00, C11, C01 = C00 + u * u, C11 + v * v, C01 + u * v
    square = C00 * C11 - C01 * C01
    if not square > COLLAPSED:
        return False
    det = math.sqrt(square)
    trace = math.sqrt(C00 + C11 + 2.0 * det)
    U[0], U[1], U[2] = (C00 + det) / trace, (C11 + det) / trace, C01 / trace
    for i in range(3):
        u, v = T[i, 0], T[i, 1]
        T[i, 0], T[i, 1] = (u * U[1] - v * U[2]) / det, (v * U[0] - u * U[2]) / det
    T[0, 2] = T[1, 0] * T[2, 1] - T[2, 0] * T[1, 1]
    T[1, 2] = T[2, 0] * T[0, 1] - T[0, 0] * T[2, 1]
    T[2, 2] = T[0, 0] * T[1, 1] - T[1, 0] * T[0, 1]
    return True


@kernel
def deform(x, R, cells, gradient, frame, T, U, phi):
    """Frames T (ne, 3, 3), stretches U (ne, 3), turns φ (ne, 3, 3) of all triangles; False if inadmissible.

    x (k, 3) [m] and R (k, 3, 3) of the nodes; R (0, 3, 3) leaves the turns out.
    """
    W, B = np.empty((3, 3)), np.empty((3, 3))
    for e in range(cells.shape[0]):
        if not polar(x, cells, gradient, e, T[e], U[e]):
            return False
        if R.shape[0] == 0:
            continue
        for a in range(3):
            n = cells[e, a]
            for i in range(3):
                for j in range(3):
                    W[i, j] = T[e, 0, i] * R[n, 0, j] + T[e, 1, i] * R[n, 1, j] + T[e, 2, i] * R[n, 2, j]
            for i in range(3):
                for j in range(3):
                    B[i, j] = W[i, 0] * frame[e, 0, j] + W[i, 1] * frame[e, 1, j] + W[i, 2] * frame[e, 2, j]
            if not logarithm(B, phi[e, a]) < LARGEST_TURN:
                return False
    return True


@kernel
def plane_gradient(U, N, tau, P):
    """P = ∂E/∂v (3, 2) of the stretch U, forces N = (N₁₁, N₂₂, N₁₂) and τ (3,); returns c."""
    det, trace = U[0] * U[1] - U[2] * U[2], U[0] + U[1]
    kappa = N[2] * (U[0] - U[1]) + (N[1] - N[0]) * U[2]
    c = (tau[2] - kappa) / trace
    P[0, 0], P[1, 0], P[0, 1], P[1, 1] = N[0], N[2] + c, N[2] - c, N[1]
    P[2, 0], P[2, 1] = -(U[1] * tau[1] + U[2] * tau[0]) / det, (U[0] * tau[0] + U[2] * tau[1]) / det
    return c


@kernel
def add_geometric(U, N, tau, c, P, H):
    """What the forces add to the Hessian H (6, 6) in (δε, ω); of the mixed part only (δε, ω)."""
    # −2ω₃ N:JδU − 2c ω₃ tr δU
    H[0, 5] -= N[2] + c
    H[1, 5] += N[2] - c
    H[2, 5] -= 0.5 * (N[1] - N[0])
    # −2 βᵀδU y,  β = (−ω₂, ω₁),  y the out-of-plane row of P
    H[0, 4] += P[2, 0]
    H[1, 3] -= P[2, 1]
    H[2, 4] += 0.5 * P[2, 1]
    H[2, 3] -= 0.5 * P[2, 0]
    # ω₃² N:U + βᵀNUβ + c (U₁₂(ω₁² − ω₂²) − (U₁₁ − U₂₂) ω₁ω₂) − ω₃(ω₂τ₁ − ω₁τ₂)
    W0, W1 = N[0] * U[0] + N[2] * U[2], N[1] * U[1] + N[2] * U[2]
    W2 = 0.5 * (N[0] * U[2] + N[2] * U[1] + N[2] * U[0] + N[1] * U[2])
    H[5, 5] += W0 + W1
    H[4, 4] += W0 - c * U[2]
    H[3, 3] += W1 + c * U[2]
    off = -W2 - 0.5 * c * (U[0] - U[1])
    H[3, 4] += off
    H[4, 3] += off
    H[4, 5] -= 0.5 * tau[0]
    H[5, 4] -= 0.5 * tau[0]
    H[3, 5] += 0.5 * tau[1]
    H[5, 3] += 0.5 * tau[1]


@kernel
def add_tension(U, N, H):
    """The part of `add_geometric` that cannot make K indefinite: tension resists turning out of the plane."""
    mean, half = 0.5 * (N[0] + N[1]), 0.5 * (N[0] - N[1])
    radius = math.sqrt(half * half + N[2] * N[2])
    high, low = max(mean + radius, 0.0), max(mean - radius, 0.0)
    share = 0.5 * (high - low) / radius if radius > 0.0 else 0.0
    mean = 0.5 * (high + low)
    stretch = 0.5 * (U[0] + U[1])
    H[4, 4] += stretch * (mean + share * half)
    H[3, 3] += stretch * (mean - share * half)
    H[3, 4] -= stretch * share * N[2]
    H[4, 3] -= stretch * share * N[2]


@kernel
def frame_rows(U, S):
    """S (6, 6) with (δε₁₁, δε₂₂, 2δε₁₂, ω) = S (v₁₁, v₂₁, v₃₁, v₁₂, v₂₂, v₃₂); zeros are there already."""
    det, trace = U[0] * U[1] - U[2] * U[2], U[0] + U[1]
    turn, d = U[2] / trace, (U[1] - U[0]) / trace
    S[0, 0], S[0, 1], S[0, 3] = 1.0, turn, -turn
    S[1, 4], S[1, 1], S[1, 3] = 1.0, -turn, turn
    S[2, 1], S[2, 3] = 1.0 + d, 1.0 - d
    S[3, 2], S[3, 5] = -U[2] / det, U[0] / det
    S[4, 2], S[4, 5] = -U[1] / det, U[2] / det
    S[5, 1], S[5, 3] = 1.0 / trace, -1.0 / trace


@kernel
def carry_plane(e, S, H, T, gradient, work, out):
    """out (3, 3, 3, 3) [corner a, corner b ≤ a]: the Hessian of the corners' positions.

    H (6, 6) is that of (δε, ω), of which the upper half counts. work (2, 2, 3, 3) is scratch: the Hessian
    by the columns of F.
    """
    for s in range(2):
        for t in range(2):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for k in range(6):
                        for l in range(6):
                            total += S[k, 3 * s + i] * H[min(k, l), max(k, l)] * S[l, 3 * t + j]
                    work[s, t, i, j] = total
            rotate(T[e], work[s, t], T[e])
    for a in range(3):
        for b in range(a + 1):
            for s in range(2):
                for t in range(2):
                    w = gradient[e, a, s] * gradient[e, b, t]
                    for i in range(3):
                        for j in range(3):
                            out[a, b, i, j] = (out[a, b, i, j] if s + t > 0 else 0.0) + w * work[s, t, i, j]


@kernel
def rotate(L, X, R):
    """X ← L X Rᵀ, all (3, 3)."""
    for i in range(3):
        u, v, w = X[i, 0], X[i, 1], X[i, 2]
        for j in range(3):
            X[i, j] = u * R[j, 0] + v * R[j, 1] + w * R[j, 2]
    for j in range(3):
        u, v, w = X[0, j], X[1, j], X[2, j]
        for i in range(3):
            X[i, j] = L[i, 0] * u + L[i, 1] * v + L[i, 2] * w
