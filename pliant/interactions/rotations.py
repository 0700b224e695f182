"""Rotation vectors of best-fitting rotations, with first and second derivatives.

F = R S (polar) and R exp([ω]ₓ) ↔ φ + J⁻¹ω give, for g = λ·φ(R(F)),

    ω = G⁻¹ (RᵀdF − dFᵀR)^∨,     G = tr(S) I − S
    ∂g/∂F = R [b]ₓ,              b = G⁻¹ a,   a = J⁻ᵀλ = λ − ½ φ × λ + c φ × (φ × λ)
    d(∂g/∂F) = R ([ω]ₓ[b]ₓ + [db]ₓ),   db = G⁻¹(da − dG b),   dS = RᵀdF − [ω]ₓ S
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.interactions.angles import cross, dot, mix

SERIES_LIMIT = 0.1  # θ² [rad²] below which c is its series


@njit(cache=True, error_model="numpy")
def rotation_vector(R):
    """φ (3,) with R = exp([φ]ₓ), |φ| ≤ π; through the quaternion, so that half a turn is no special case."""
    v = np.empty(3)  # w and v are the quaternion up to scale, from its largest component
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    k = 0 if R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2] else (1 if R[1, 1] >= R[2, 2] else 2)
    i, j = (k + 1) % 3, (k + 2) % 3
    w, v[k] = R[j, i] - R[i, j], 1.0 + 2.0 * R[k, k] - trace
    v[i], v[j] = R[i, k] + R[k, i], R[j, k] + R[k, j]
    if trace >= R[k, k]:
        w, v[k] = 1.0 + trace, R[j, i] - R[i, j]
        v[i], v[j] = R[k, j] - R[j, k], R[i, k] - R[k, i]
    s = np.sqrt(dot(v, v))
    if s == 0.0:
        return v
    sign = -1.0 if w < 0.0 else 1.0
    return mix(sign * 2.0 * np.arctan2(s, sign * w) / s, v, 0.0, v)


@njit(cache=True, error_model="numpy")
def _coefficient(s):
    """c(θ²) = (1 − ½θ cot ½θ)/θ² of J⁻¹ = I + ½[φ]ₓ + c [φ]ₓ², and its derivative by s = θ²."""
    if s < SERIES_LIMIT:
        c = 1 / 12 + s * (1 / 720 + s * (1 / 30240 + s * (1 / 1209600 + s / 47900160)))
        return c, 1 / 720 + s * (1 / 15120 + s * (1 / 403200 + s / 11975040))
    t = np.sqrt(s)
    cot = 1.0 / np.tan(0.5 * t)
    slope = (0.5 * cot / s + 0.25 * (1.0 + cot * cot) / t - 2.0 / (s * t)) / (2.0 * t)
    return (1.0 - 0.5 * t * cot) / s, slope


@njit(cache=True, error_model="numpy")
def _turned(phi, v, half, c):
    """v + half φ × v + c φ × (φ × v): J⁻¹v for half = ½, J⁻ᵀv for half = −½."""
    side = cross(phi, v)
    return mix(1.0, mix(1.0, v, half, side), c, cross(phi, side))


@njit(cache=True, error_model="numpy")
def _inverse(S):
    """G⁻¹ = (tr(S) I − S)⁻¹, symmetric, by cross products of rows."""
    G, trace = np.empty((3, 3)), S[0, 0] + S[1, 1] + S[2, 2]
    for i in range(3):
        for j in range(3):
            G[i, j] = (trace if i == j else 0.0) - S[i, j]
    out = np.empty((3, 3))
    determinant = dot(G[0], cross(G[1], G[2]))
    for i in range(3):
        row = cross(G[(i + 1) % 3], G[(i + 2) % 3])
        for j in range(3):
            out[i, j] = row[j] / determinant
    return out


@njit(cache=True, error_model="numpy")
def _apply(A, v):
    out = np.empty(3)
    for i in range(3):
        out[i] = dot(A[i], v)
    return out


@njit(cache=True, error_model="numpy")
def fit_gradient(R, S, y):
    """∂φₖ/∂pᵢ = R (bₖ × yᵢ) for λ = eₖ, (3 P, 3) row by row."""
    P, phi, inverse = len(y), rotation_vector(R), _inverse(S)
    c, _ = _coefficient(dot(phi, phi))
    g, identity = np.empty((3 * P, 3)), np.eye(3)
    for k in range(3):
        b = _apply(inverse, _turned(phi, identity[k], -0.5, c))
        for i in range(P):
            row = _apply(R, cross(b, y[i]))
            for d in range(3):
                g[k * P + i, d] = row[d]
    return g


@njit(cache=True, error_model="numpy")
def fit_hessian(R, S, y, pairs, lam):
    """Σₖ λₖ ∂²φₖ/∂pᵢ∂pⱼ = Σ_c (d(∂g/∂F) yᵢ) y_jc over directions dF = e_r e_cᵀ, (npair, 3, 3)."""
    A = _second(R, S, lam)
    out = np.zeros((len(pairs), 3, 3))
    for n in range(len(pairs)):
        u, v = y[pairs[n, 0]], y[pairs[n, 1]]
        for r in range(3):
            for c in range(3):
                for i in range(3):
                    out[n, i, r] += dot(A[r, c, i], u) * v[c]
    return out


@njit(cache=True, error_model="numpy")
def _second(R, S, lam):
    """A[r, c] = d(∂g/∂F) along dF = e_r e_cᵀ, (3, 3, 3, 3)."""
    phi, inverse = rotation_vector(R), _inverse(S)
    coefficient, slope = _coefficient(dot(phi, phi))
    b = _apply(inverse, _turned(phi, lam, -0.5, coefficient))
    Sb = _apply(S, b)
    A, N, axial = np.empty((3, 3, 3, 3)), np.empty((3, 3)), np.empty(3)
    for r in range(3):
        for c in range(3):
            i, j = (c + 1) % 3, (c + 2) % 3
            axial[c], axial[i], axial[j] = 0.0, -R[r, j], R[r, i]  # (RᵀdF − dFᵀR)^∨ = e_c × (row r of R)
            omega = _apply(inverse, axial)
            da = _pull_back_rate(phi, _turned(phi, omega, 0.5, coefficient), lam, coefficient, slope)
            # dG b = tr(dS) b − dS b, where dS b = b_c (row r of R) − ω × S b and tr(dS) = R_rc
            dGb = mix(R[r, c], b, -1.0, mix(b[c], R[r], -1.0, cross(omega, Sb)))
            db = _apply(inverse, mix(1.0, da, -1.0, dGb))
            for k in range(3):  # N = [ω]ₓ[b]ₓ + [db]ₓ = b ωᵀ − (ω·b) I + [db]ₓ
                for l in range(3):
                    N[k, l] = b[k] * omega[l]
                N[k, k] -= dot(omega, b)
                N[k, (k + 1) % 3] -= db[(k + 2) % 3]
                N[k, (k + 2) % 3] += db[(k + 1) % 3]
            for k in range(3):
                for l in range(3):
                    A[r, c, k, l] = R[k, 0] * N[0, l] + R[k, 1] * N[1, l] + R[k, 2] * N[2, l]
    return A


@njit(cache=True, error_model="numpy")
def _pull_back_rate(phi, dphi, lam, c, slope):
    """da for a = λ − ½ φ × λ + c φ × (φ × λ)."""
    side, turn = cross(phi, lam), cross(dphi, lam)
    linear = mix(c, cross(dphi, side), c, cross(phi, turn))
    return mix(1.0, mix(-0.5, turn, 1.0, linear), 2.0 * slope * dot(phi, dphi), cross(phi, side))
