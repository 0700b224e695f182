"""Rotation vectors in compiled loops: the logarithm of a rotation and its derivatives.

φ = log R. With R ← R exp([η]ₓ) and s = |φ|²,

    δφ = Γ η,      Γ = I + ½[φ]ₓ + ζ [φ]ₓ²,      ζ(s) = (1 − ½θ cot ½θ)/s,  θ = √s

Turned from the other side, R ← exp([ω]ₓ) R, it is δφ = Γᵀω.
"""

from __future__ import annotations

import math

from pliant.bodies.blocks import kernel

LARGEST_TURN = 2.5  # [rad] of a corner against its triangle: beyond π the logarithm jumps
SMALL_SINE = 1e-6  # |sin θ| below which θ/sin θ is its series
SERIES_LIMIT = 0.1  # θ² [rad²] below which ζ is its series


@kernel
def logarithm(R, phi):
    """φ of R (3, 3); returns the angle [rad]."""
    x, y, z = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(x * x + y * y + z * z)
    angle = math.atan2(sine, 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0))
    scale = angle / sine if sine > SMALL_SINE else 1.0 + sine * sine / 6.0
    phi[0], phi[1], phi[2] = scale * x, scale * y, scale * z
    return angle


@kernel
def coefficients(s):
    """ζ and dζ/ds."""
    if s < SERIES_LIMIT:
        zeta = 1 / 12 + s * (1 / 720 + s * (1 / 30240 + s * (1 / 1209600 + s / 47900160)))
        slope = 1 / 720 + s * (1 / 15120 + s * (1 / 403200 + s * (1 / 11975040 + s / 378487516)))
        return zeta, slope
    half = 0.5 * math.sqrt(s)
    cot = 1.0 / math.tan(half)
    zeta = (1.0 - half * cot) / s
    return zeta, ((half * (1.0 + cot * cot) - cot) / (8.0 * half) - zeta) / s


@kernel
def cross_matrix(v, M):
    """M = [v]ₓ."""
    M[0, 0] = M[1, 1] = M[2, 2] = 0.0
    M[0, 1], M[0, 2] = -v[2], v[1]
    M[1, 0], M[1, 2] = v[2], -v[0]
    M[2, 0], M[2, 1] = -v[1], v[0]


@kernel
def log_matrix(phi, zeta, G):
    """Γ(φ)."""
    cross_matrix(phi, G)
    s = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    for i in range(3):
        for j in range(3):
            G[i, j] = 0.5 * G[i, j] + zeta * phi[i] * phi[j]
        G[i, i] += 1.0 - zeta * s


@kernel
def log_slope(phi, zeta, slope, m, M):
    """M with m·(dΓ ϑ) = dφ·M ϑ: −½[m] − ζ([m][φ] + [m×φ]) + 2ζ′ φ ([φ]²m)ᵀ."""
    cross_matrix(m, M)
    dot = phi[0] * m[0] + phi[1] * m[1] + phi[2] * m[2]
    s = phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]
    for i in range(3):
        for j in range(3):
            # [m][φ] = φ mᵀ − (m·φ) I,  [m×φ] = φ mᵀ − m φᵀ,  [φ]²m = (φ·m) φ − s m
            M[i, j] = -0.5 * M[i, j] - zeta * (2.0 * phi[i] * m[j] - m[i] * phi[j])
            M[i, j] += 2.0 * slope * phi[i] * (dot * phi[j] - s * m[j])
        M[i, i] += zeta * dot
