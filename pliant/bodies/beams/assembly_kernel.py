"""Energy, gradient and Hessian of all elements of rods, in the coordinates of the regions at their ends.

An end is fixed to a region with pose (t, R) and frame Q, at arm a and turned by D: x = t + R a, Λ = R D. A
change (dτ, dω) of the region moves it by δx = Q dτ − R[a]ₓ dω and φ = Dᵀdω. See `element` for the rest.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.bodies.beams.element import (
    LARGEST_TURN,
    apply_log,
    coefficients,
    cross_into,
    dot,
    log_matrix,
    log_slope,
    place_end,
    relative,
    set_cross,
)
from pliant.bodies.beams.stiffness_kernel import (
    add_arms,
    add_turning,
    congruence,
    local_stiffness,
    strain_rows,
)
from pliant.bodies.blocks import kernel


@kernel
def assemble(q, pose, frame, ends, arm, turn, C, rest, slots, K, g, tangent, predicted):
    """The energy [J], inf if an element turns too far; adds ∂E/∂dq to g (6m,) and, if tangent, blocks to K.

    ends (ne, 2) regions, arm (ne, 2, 3), turn (ne, 2, 3, 3) D, C (ne, 6) and rest (ne, 6) of (u, θ). slots
    (ne, 4, 4): where the block between two of (τ₁, ω₁, τ₂, ω₂) lands, 2·block + (1 if transposed). predicted
    (6 ne,): section forces that the geometric stiffness is taken from; empty: those at q.
    """
    x, R, Q = np.empty((2, 3)), np.empty((2, 3, 3)), np.empty((2, 3, 3))
    p, theta, u, n, m = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    f, mu, force, couple, T = np.empty(3), np.empty(3), np.empty(3), np.empty((2, 3)), np.empty((3, 3))
    A, N, P, W = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    H, Y, HY, Ke = np.empty((6, 6)), np.zeros((6, 12)), np.empty((6, 12)), np.empty((12, 12))
    energy = 0.0
    for e in range(ends.shape[0]):
        for k in range(2):
            place_end(q, pose, ends[e, k], arm[e, k], turn[e, k], x[k], R[k], Q[k])
        if not relative(x, Q, p, theta, T) < LARGEST_TURN:
            return math.inf
        c, d, dd = coefficients(dot(theta, theta))
        apply_log(theta, c, -0.5, p, u)
        for i in range(3):
            n[i], m[i] = C[e, i] * (u[i] - rest[e, i]), C[e, 3 + i] * (theta[i] - rest[e, 3 + i])
            energy += 0.5 * (n[i] * (u[i] - rest[e, i]) + m[i] * (theta[i] - rest[e, 3 + i]))
        _gradient(p, theta, c, d, n, m, f, mu, couple)
        _in_space(Q[0], f, force)
        _scatter_gradient(e, ends, arm, turn, frame, R, force, couple, g)
        if not tangent:
            continue
        if len(predicted):
            for i in range(3):
                n[i], m[i] = predicted[6 * e + i], predicted[6 * e + 3 + i]
            _gradient(p, theta, c, d, n, m, f, mu, couple)
            _in_space(Q[0], f, force)
        log_matrix(theta, c, A)
        log_slope(theta, c, d, -0.5, p, N)
        set_cross(p, P)
        local_stiffness(C[e], p, theta, c, d, dd, n, A, N, W, H)
        strain_rows(e, ends, arm, turn, frame, R, Q, A, P, Y)
        congruence(H, Y, HY, Ke)
        add_turning(turn[e], theta, c, d, f, mu, P, Y, W, HY, Ke)
        add_arms(arm[e], R, force, u, Ke)
        _scatter_blocks(slots[e], Ke, K)
    return energy


@kernel
def predict(q, pose, frame, ends, arm, turn, C, rest, dq, out):
    """out (6 ne,): section forces C (ε + ∂ε/∂dq dq − rest), to first order in a change dq (6m,) of q."""
    x, R, Q = np.empty((2, 3)), np.empty((2, 3, 3)), np.empty((2, 3, 3))
    p, theta, u, T = np.empty(3), np.empty(3), np.empty(3), np.empty((3, 3))
    A, N, P = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    Y, dp, dtheta = np.zeros((6, 12)), np.empty(3), np.empty(3)
    for e in range(ends.shape[0]):
        for k in range(2):
            place_end(q, pose, ends[e, k], arm[e, k], turn[e, k], x[k], R[k], Q[k])
        relative(x, Q, p, theta, T)
        c, d, _ = coefficients(dot(theta, theta))
        apply_log(theta, c, -0.5, p, u)
        log_matrix(theta, c, A)
        log_slope(theta, c, d, -0.5, p, N)
        set_cross(p, P)
        strain_rows(e, ends, arm, turn, frame, R, Q, A, P, Y)
        first, second = 6 * ends[e, 0], 6 * ends[e, 1]
        for i in range(3):
            dp[i] = dtheta[i] = 0.0
            for j in range(6):
                dp[i] += Y[i, j] * dq[first + j] + Y[i, 6 + j] * dq[second + j]
                dtheta[i] += Y[3 + i, j] * dq[first + j] + Y[3 + i, 6 + j] * dq[second + j]
        o = 6 * e
        for i in range(3):
            out[o + i] = C[e, i] * (u[i] + dot(A[i], dp) + dot(N[i], dtheta) - rest[e, i])
            out[o + 3 + i] = C[e, 3 + i] * (theta[i] + dtheta[i] - rest[e, 3 + i])


@kernel
def _gradient(p, theta, c, d, n, m, f, mu, couple):
    """f = Aᵀn, μ = m + ½ n × p + c ∇G + 2c′G θ with G = (n·θ)(p·θ) − θ²(n·p), and the couples on the ends."""
    s, a, b, h = dot(theta, theta), dot(p, theta), dot(n, theta), dot(n, p)
    G = a * b - s * h
    cross_into(n, p, mu)
    for i in range(3):
        slope = a * n[i] + b * p[i] - 2.0 * h * theta[i]
        mu[i] = m[i] + 0.5 * mu[i] + c * slope + 2.0 * d * G * theta[i]
    apply_log(theta, c, 0.5, n, f)
    apply_log(theta, c, 0.5, mu, couple[1])
    cross_into(f, p, couple[0])
    for i in range(3):
        couple[0, i] -= couple[1, i]
    apply_log(theta, c, -0.5, mu, couple[1])


@kernel
def _in_space(Q, f, force):
    for i in range(3):
        force[i] = dot(Q[i], f)


@kernel
def _scatter_gradient(e, ends, arm, turn, frame, R, force, couple, g):
    """Forces ∓F and couples on the ends, as forces on their regions: Qᵀg and D ∂E/∂φ + a × Rᵀg."""
    for k in range(2):
        sign, r, a = 2.0 * k - 1.0, ends[e, k], arm[e, k]
        h0 = sign * (R[k, 0, 0] * force[0] + R[k, 1, 0] * force[1] + R[k, 2, 0] * force[2])
        h1 = sign * (R[k, 0, 1] * force[0] + R[k, 1, 1] * force[1] + R[k, 2, 1] * force[2])
        h2 = sign * (R[k, 0, 2] * force[0] + R[k, 1, 2] * force[1] + R[k, 2, 2] * force[2])
        for i in range(3):
            along = frame[r, 0, i] * force[0] + frame[r, 1, i] * force[1] + frame[r, 2, i] * force[2]
            g[6 * r + i] += sign * along
            g[6 * r + 3 + i] += dot(turn[e, k, i], couple[k])
        g[6 * r + 3] += a[1] * h2 - a[2] * h1
        g[6 * r + 4] += a[2] * h0 - a[0] * h2
        g[6 * r + 5] += a[0] * h1 - a[1] * h0


@kernel
def _scatter_blocks(slots, Ke, K):
    """Add the lower blocks of Ke (12, 12) to K."""
    for bi in range(4):
        for bj in range(bi + 1):
            code = slots[bi, bj]
            k, flipped = 9 * (code >> 1), code & 1
            for i in range(3):
                for j in range(3):
                    value = Ke[3 * bi + i, 3 * bj + j]
                    if flipped:
                        K[k + 3 * j + i] += value
                    else:
                        K[k + 3 * i + j] += value
