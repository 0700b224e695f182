"""Stiffness of one rod element, from (p, θ) to the coordinates (τ₁, ω₁, τ₂, ω₂) of the regions at its ends.

K = YᵀHY + what the change of Y adds, with H the Hessian of E(p, θ) and Y = ∂(p, θ)/∂dq; see `element`.
"""

from __future__ import annotations

from pliant.bodies.beams.element import dot, log_slope, set_cross
from pliant.bodies.blocks import kernel


@kernel
def local_stiffness(C, p, theta, c, d, dd, n, A, N, W, H):
    """H (6, 6) = ∂²E/∂(p, θ)²; A = ∂u/∂p, N = ∂u/∂θ."""
    log_slope(theta, c, d, 0.5, n, W)
    s, a, b, h = dot(theta, theta), dot(p, theta), dot(n, theta), dot(n, p)
    G = a * b - s * h
    for i in range(3):
        gi = 2.0 * d * (a * n[i] + b * p[i] - 2.0 * h * theta[i]) + 4.0 * dd * G * theta[i]
        for j in range(3):
            gj = 2.0 * d * (a * n[j] + b * p[j] - 2.0 * h * theta[j])
            pp, pt = 0.0, W[i, j]
            tt = c * (n[i] * p[j] + p[i] * n[j]) + theta[i] * gj + gi * theta[j]
            for k in range(3):
                pp += A[k, i] * C[k] * A[k, j]
                pt += A[k, i] * C[k] * N[k, j]
                tt += N[k, i] * C[k] * N[k, j]
            H[i, j], H[i, 3 + j], H[3 + j, i], H[3 + i, 3 + j] = pp, pt, pt, tt
        H[3 + i, 3 + i] += C[3 + i] + 2.0 * (d * G - c * h)


@kernel
def strain_rows(e, ends, arm, turn, frame, R, Q, A, P, Y):
    """Y (6, 12) = ∂(p, θ)/∂(τ₁, ω₁, τ₂, ω₂); θ does not depend on τ, where Y stays zero. P = [p]ₓ."""
    for k in range(2):
        sign, r, a, o = 2.0 * k - 1.0, ends[e, k], arm[e, k], 6 * k
        for i in range(3):
            l0 = sign * (Q[0, 0, i] * R[k, 0, 0] + Q[0, 1, i] * R[k, 1, 0] + Q[0, 2, i] * R[k, 2, 0])
            l1 = sign * (Q[0, 0, i] * R[k, 0, 1] + Q[0, 1, i] * R[k, 1, 1] + Q[0, 2, i] * R[k, 2, 1])
            l2 = sign * (Q[0, 0, i] * R[k, 0, 2] + Q[0, 1, i] * R[k, 1, 2] + Q[0, 2, i] * R[k, 2, 2])
            Y[i, o + 3], Y[i, o + 4] = l2 * a[1] - l1 * a[2], l0 * a[2] - l2 * a[0]
            Y[i, o + 5] = l1 * a[0] - l0 * a[1]
            for j in range(3):
                along = (
                    Q[0, 0, i] * frame[r, 0, j] + Q[0, 1, i] * frame[r, 1, j] + Q[0, 2, i] * frame[r, 2, j]
                )
                Y[i, o + j] = sign * along
    for i in range(3):
        for j in range(3):
            D, E = turn[e, 0, j], turn[e, 1, j]
            Y[i, 3 + j] += dot(P[i], D)
            Y[3 + i, 3 + j] = -dot(A[i], D)
            Y[3 + i, 9 + j] = A[0, i] * E[0] + A[1, i] * E[1] + A[2, i] * E[2]


@kernel
def congruence(H, Y, HY, Ke):
    """The lower blocks of Ke (12, 12) = YᵀHY; rows 3 to 5 of Y are zero in the columns of τ."""
    for i in range(6):
        h0, h1, h2, h3, h4, h5 = H[i, 0], H[i, 1], H[i, 2], H[i, 3], H[i, 4], H[i, 5]
        for j in range(12):
            HY[i, j] = h0 * Y[0, j] + h1 * Y[1, j] + h2 * Y[2, j]
        for k in range(3, 12, 6):
            for j in range(k, k + 3):
                HY[i, j] += h3 * Y[3, j] + h4 * Y[4, j] + h5 * Y[5, j]
    for b in range(4):
        for i in range(3 * b, 3 * b + 3):
            y0, y1, y2 = Y[0, i], Y[1, i], Y[2, i]
            for j in range(3 * b + 3):
                Ke[i, j] = y0 * HY[0, j] + y1 * HY[1, j] + y2 * HY[2, j]
            if b % 2:
                y0, y1, y2 = Y[3, i], Y[4, i], Y[5, i]
                for j in range(3 * b + 3):
                    Ke[i, j] += y0 * HY[3, j] + y1 * HY[4, j] + y2 * HY[5, j]


@kernel
def add_turning(turn, theta, c, d, f, mu, P, Y, W, rows, Ke):
    """Add to the lower blocks of Ke what turning the ends changes in the gradient, at constant f and μ.

    That is the symmetric part of the change of ∂E/∂φ₁ = f × p − Aᵀμ and of ∂E/∂φ₂ = Aμ along δθ (rows 3 to
    5 of Y), and of f × δp. Rows 0 to 2 of Y are δp = δy + p × φ₁: f × δp gives the pair (φ₁, y) and
    [f]ₓ[p]ₓ, whose transpose is the other half.
    """
    set_cross(f, W)
    for i in range(3):
        w0, w1, w2 = W[i, 0], W[i, 1], W[i, 2]
        for j in range(12):
            rows[i, j] = w0 * Y[0, j] + w1 * Y[1, j] + w2 * Y[2, j]
        for j in range(3):
            D = turn[0, j]
            rows[i, 3 + j] -= 0.5 * (w0 * dot(P[0], D) + w1 * dot(P[1], D) + w2 * dot(P[2], D))
    log_slope(theta, c, d, 0.5, mu, W)
    _add_slope(W, Y, -0.5, rows)
    for i in range(3):
        d0, d1, d2 = turn[0, i, 0], turn[0, i, 1], turn[0, i, 2]
        for j in range(3):
            Ke[3 + i, j] += d0 * rows[0, j] + d1 * rows[1, j] + d2 * rows[2, j]
            both = d0 * rows[0, 3 + j] + d1 * rows[1, 3 + j] + d2 * rows[2, 3 + j]
            Ke[3 + i, 3 + j] += both
            Ke[3 + j, 3 + i] += both
        for j in range(6, 12):
            Ke[j, 3 + i] += d0 * rows[0, j] + d1 * rows[1, j] + d2 * rows[2, j]
    rows[:3] = 0.0
    log_slope(theta, c, d, -0.5, mu, W)
    _add_slope(W, Y, 0.5, rows)
    for i in range(3):
        d0, d1, d2 = turn[1, i, 0], turn[1, i, 1], turn[1, i, 2]
        for j in range(3):
            Ke[9 + i, 3 + j] += d0 * rows[0, 3 + j] + d1 * rows[1, 3 + j] + d2 * rows[2, 3 + j]
            both = d0 * rows[0, 9 + j] + d1 * rows[1, 9 + j] + d2 * rows[2, 9 + j]
            Ke[9 + i, 9 + j] += both
            Ke[9 + j, 9 + i] += both


@kernel
def _add_slope(W, Y, scale, rows):
    """rows[:3] += scale W δθ in the columns of ω."""
    for i in range(3):
        w0, w1, w2 = scale * W[i, 0], scale * W[i, 1], scale * W[i, 2]
        for j in range(3):
            rows[i, 3 + j] += w0 * Y[3, 3 + j] + w1 * Y[4, 3 + j] + w2 * Y[5, 3 + j]
            rows[i, 9 + j] += w0 * Y[3, 9 + j] + w1 * Y[4, 9 + j] + w2 * Y[5, 9 + j]


@kernel
def add_arms(arm, R, force, h, Ke):
    """g·∂²x/∂dω² = ½(h aᵀ + a hᵀ) − (h·a) I with h = Rᵀg, for ends off the centre of their region."""
    for k in range(2):
        a, o = arm[k], 6 * k + 3
        if a[0] == 0.0 and a[1] == 0.0 and a[2] == 0.0:
            continue
        for i in range(3):
            h[i] = (2.0 * k - 1.0) * (R[k, 0, i] * force[0] + R[k, 1, i] * force[1] + R[k, 2, i] * force[2])
        for i in range(3):
            for j in range(3):
                Ke[o + i, o + j] += 0.5 * (h[i] * a[j] + a[i] * h[j])
            Ke[o + i, o + i] -= dot(h, a)
