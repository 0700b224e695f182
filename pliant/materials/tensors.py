"""Small dense algebra on 3×3 matrices, compiled; the paths that run at every point allocate nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

# 'contract' (fused multiply-add) is the one fast-math flag that keeps NaN and inf checks meaningful.
_OPTIONS: Any = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
kernel: Callable[..., Any] = njit(**_OPTIONS)
# Called from compiled code only: leaving out the Python entry point saves a third of the compile time.
_INNER: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_OPTIONS}
inner: Callable[..., Any] = njit(**_INNER)

VOLUME_FLOOR = 1e-12  # J: laws with an infinite energy at J = 0 count less as inadmissible
LARGEST_ENERGY = 1e300  # [J/m³]: more is the overflow of a cell squeezed to nothing

MOST_SWEEPS = 30  # of Jacobi rotations in an SVD
ORTHOGONAL = 1e-15  # largest cosine between columns at which the sweeps end
NO_ROTATION = 1e-16  # cosine between two columns that a rotation would not change
NO_LENGTH = 1e-300  # of a column: shorter ones are zero
NO_ENTRY = 1e-60  # entries below it count as zero: products of four of them would underflow
ON_A_LINE = 1e-14  # second over first singular value, below which a matrix maps to a line
MOST_ITERATIONS = 30  # of Newton's method for a polar rotation
FAR_FROM_ROTATION = 0.3  # of |X|² − 3: norm scaling pays off only beyond
LARGE_CHANGE = 0.01  # of X, squared, after which X may still be far from a rotation
SMALL_CHANGE = 1e-16  # of X, squared, after which the error left is the square of this
NEARLY_SINGULAR = 1e-6  # det F over |F|³, below which a polar rotation is taken from the SVD


@inner
def determinant(F):
    """det F."""
    return (
        F[0, 0] * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
        + F[0, 1] * (F[1, 2] * F[2, 0] - F[1, 0] * F[2, 2])
        + F[0, 2] * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
    )


@kernel
def cofactor(F, C):
    """C = cof F = J F⁻ᵀ = ∂J/∂F, written into C; returns J. Defined for singular F too."""
    C[0, 0] = F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1]
    C[0, 1] = F[1, 2] * F[2, 0] - F[1, 0] * F[2, 2]
    C[0, 2] = F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0]
    C[1, 0] = F[2, 1] * F[0, 2] - F[2, 2] * F[0, 1]
    C[1, 1] = F[2, 2] * F[0, 0] - F[2, 0] * F[0, 2]
    C[1, 2] = F[2, 0] * F[0, 1] - F[2, 1] * F[0, 0]
    C[2, 0] = F[0, 1] * F[1, 2] - F[0, 2] * F[1, 1]
    C[2, 1] = F[0, 2] * F[1, 0] - F[0, 0] * F[1, 2]
    C[2, 2] = F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0]
    return F[0, 0] * C[0, 0] + F[0, 1] * C[0, 1] + F[0, 2] * C[0, 2]


@inner
def add_cofactor_tangent(A, F, g):
    """A += g ∂²J/∂F², that is A[3i+j, 3k+l] += g ε_ikm ε_jln F_mn."""
    for m in range(3):
        a, b = 3 * ((m + 1) % 3), 3 * ((m + 2) % 3)
        x, y, z = g * F[m, 0], g * F[m, 1], g * F[m, 2]
        for p, q in ((a, b), (b, a)):  # the block and its transpose: ε is odd in both pairs
            A[p, q + 1] += z
            A[p + 1, q] -= z
            A[p + 1, q + 2] += x
            A[p + 2, q + 1] -= x
            A[p + 2, q] += y
            A[p, q + 2] -= y
            x, y, z = -x, -y, -z


@inner
def add_volume_tangent(A, F, C, g, slope):
    """A += g ∂²J/∂F² + slope C⊗C with C = cof F: the tangent of a function of J with derivatives g, slope."""
    for i in range(9):
        left = slope * C[i // 3, i % 3]
        for k in range(3):
            A[i, 3 * k] += left * C[k, 0]
            A[i, 3 * k + 1] += left * C[k, 1]
            A[i, 3 * k + 2] += left * C[k, 2]
    add_cofactor_tangent(A, F, g)


@inner
def set_diagonal(A, value):
    """A = value I."""
    for i in range(9):
        for j in range(9):
            A[i, j] = 0.0
        A[i, i] = value


@inner
def inadmissible(P, A, tangent):
    """What a law writes where its energy is infinite: zero stress and tangent, so that no NaN spreads."""
    for i in range(3):
        for j in range(3):
            P[i, j] = 0.0
    if tangent:
        set_diagonal(A, 0.0)
    return math.inf


@inner
def _rotate_columns(M, p, q, cos, sin):
    for i in range(3):
        a, b = M[i, p], M[i, q]
        M[i, p] = cos * a - sin * b
        M[i, q] = sin * a + cos * b


@inner
def _swap_columns(M, p, q):
    """Exchange two columns and flip one: a rotation by 90°, so that det M keeps its sign."""
    for i in range(3):
        M[i, p], M[i, q] = M[i, q], -M[i, p]


@inner
def _square(M, p):
    return M[0, p] * M[0, p] + M[1, p] * M[1, p] + M[2, p] * M[2, p]


@inner
def _orthogonal_sweep(U, V):
    """One round of Jacobi rotations on the columns of U (V follows); returns the largest cosine met."""
    worst = 0.0
    for p in range(2):
        for q in range(p + 1, 3):
            alpha, beta = _square(U, p), _square(U, q)
            gamma = U[0, p] * U[0, q] + U[1, p] * U[1, q] + U[2, p] * U[2, q]
            size = math.sqrt(alpha * beta)
            if abs(gamma) <= NO_ROTATION * size or size < NO_LENGTH:
                continue
            worst = max(worst, abs(gamma) / size)
            zeta = (beta - alpha) / (2.0 * gamma)
            t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
            cos = 1.0 / math.sqrt(1.0 + t * t)
            _rotate_columns(U, p, q, cos, cos * t)
            _rotate_columns(V, p, q, cos, cos * t)
    return worst


@inner
def _complete_frame(U):
    """Make U (orthogonal columns, descending length) a rotation, replacing columns that have no length."""
    one, two = math.sqrt(_square(U, 0)), math.sqrt(_square(U, 1))
    if one < NO_LENGTH:
        U[:, :] = 0.0
        U[0, 0] = U[1, 1] = U[2, 2] = 1.0
        return
    for i in range(3):
        U[i, 0] /= one
    if two > ON_A_LINE * one:
        for i in range(3):
            U[i, 1] /= two
    else:  # a line: any perpendicular, built from the axis least aligned with it
        k = 0
        for i in range(1, 3):
            if abs(U[i, 0]) < abs(U[k, 0]):
                k = i
        along = U[k, 0]
        for i in range(3):
            U[i, 1] = ((1.0 if i == k else 0.0) - along * U[i, 0]) / math.sqrt(1.0 - along * along)
    U[0, 2] = U[1, 0] * U[2, 1] - U[2, 0] * U[1, 1]
    U[1, 2] = U[2, 0] * U[0, 1] - U[0, 0] * U[2, 1]
    U[2, 2] = U[0, 0] * U[1, 1] - U[1, 0] * U[0, 1]


@kernel
def signed_svd(F, U, V):
    """F = U diag(σ) Vᵀ with rotations U, V (det +1) and σ₁ ≥ σ₂ ≥ |σ₃|; σ₃ carries the sign of det F.

    One-sided Jacobi: small and repeated σ keep their relative accuracy.
    """
    V[:, :] = 0.0
    for i in range(3):
        V[i, i] = 1.0
        for j in range(3):
            U[i, j] = F[i, j] if abs(F[i, j]) > NO_ENTRY else 0.0
    for _ in range(MOST_SWEEPS):
        if _orthogonal_sweep(U, V) < ORTHOGONAL:
            break
    for p, q in ((0, 1), (1, 2), (0, 1)):
        if _square(U, p) < _square(U, q):
            _swap_columns(U, p, q)
            _swap_columns(V, p, q)
    x, y, z = U[0, 2], U[1, 2], U[2, 2]
    one, two = math.sqrt(_square(U, 0)), math.sqrt(_square(U, 1))
    _complete_frame(U)
    return one, two, x * U[0, 2] + y * U[1, 2] + z * U[2, 2]


@inner
def _newton_rotation(R):
    """R ← polar rotation of R (det > 0, not nearly singular) by X ← ½(γX + X⁻ᵀ/γ), quadratic; in place."""
    a, b, c = R[0, 0], R[0, 1], R[0, 2]
    d, e, f = R[1, 0], R[1, 1], R[1, 2]
    g, h, i = R[2, 0], R[2, 1], R[2, 2]
    far = True
    for _ in range(MOST_ITERATIONS):
        A, B, C = e * i - f * h, f * g - d * i, d * h - e * g
        D, E, F = h * c - i * b, i * a - g * c, g * b - h * a
        G, H, I = b * f - c * e, c * d - a * f, a * e - b * d
        v = 0.5 / (a * A + b * B + c * C)
        u = 0.5
        if far:
            square = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
            if abs(square - 3.0) > FAR_FROM_ROTATION:
                cofs = A * A + B * B + C * C + D * D + E * E + F * F + G * G + H * H + I * I
                gamma = math.sqrt(2.0 * v * math.sqrt(cofs / square))
                u *= gamma
                v /= gamma
        A, B, C = u * a + v * A, u * b + v * B, u * c + v * C
        D, E, F = u * d + v * D, u * e + v * E, u * f + v * F
        G, H, I = u * g + v * G, u * h + v * H, u * i + v * I
        change = (A - a) ** 2 + (B - b) ** 2 + (C - c) ** 2 + (D - d) ** 2 + (E - e) ** 2
        change += (F - f) ** 2 + (G - g) ** 2 + (H - h) ** 2 + (I - i) ** 2
        a, b, c, d, e, f, g, h, i = A, B, C, D, E, F, G, H, I
        far = change > LARGE_CHANGE
        if change < SMALL_CHANGE:
            break
    R[0, 0], R[0, 1], R[0, 2] = a, b, c
    R[1, 0], R[1, 1], R[1, 2] = d, e, f
    R[2, 0], R[2, 1], R[2, 2] = g, h, i


@inner
def _singular_rotation(F, R):
    U, V = np.empty((3, 3)), np.empty((3, 3))
    signed_svd(F, U, V)
    for i in range(3):
        for j in range(3):
            R[i, j] = U[i, 0] * V[j, 0] + U[i, 1] * V[j, 1] + U[i, 2] * V[j, 2]


@kernel
def polar_rotation(F, R):
    """R = argmax tr RᵀF over rotations (det +1), for any F: Newton where det F > 0, else signed SVD."""
    square = 0.0
    for i in range(3):
        for j in range(3):
            R[i, j] = F[i, j]
            square += F[i, j] * F[i, j]
    if determinant(F) > NEARLY_SINGULAR * square * math.sqrt(square):
        _newton_rotation(R)
    else:
        _singular_rotation(F, R)
