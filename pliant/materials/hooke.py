"""Hooke's law: corotational (the default) or for small strain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .codes import HOOKE, HOOKE_SMALL
from .material import LOCAL, SHEAR, Isotropic, check_poisson, check_positive, lame_from_young
from .tensors import inner, polar_rotation, set_diagonal, signed_svd

# (tr S)I − S has the eigenvalues σᵢ + σⱼ, 2 at rest. They vanish for a cell folded onto a line or turned
# inside out by half a turn, where the rotation is not unique; below this floor the tangent is that of the
# floor.
_SPIN_FLOOR = 1e-3


@dataclass(frozen=True)
class Hooke(Isotropic):
    """Linear elasticity in the rotated frame, F = RS:

        ψ = μ|F − R|² + λ/2 (tr S − 3)²

    Exact for any rotation with small stretch (|S − I| below 0.3, say); finite for inverted cells.
    `small_strain=True` is the textbook law ψ = μ ε:ε + λ/2 (tr ε)², ε = sym(F) − I: wrong as soon as the
    body rotates.
    young [Pa], poisson (−1 < ν < ½).
    """

    young: float
    poisson: float
    small_strain: bool = False

    def __post_init__(self) -> None:
        check_positive("Hooke: young", self.young, "Pa")
        check_poisson("Hooke: poisson", self.poisson)

    @property
    def code(self) -> int:
        return HOOKE_SMALL if self.small_strain else HOOKE

    @property
    def shear_modulus(self) -> float:
        return lame_from_young(self.young, self.poisson)[1]

    @property
    def bulk_modulus(self) -> float:
        return self.young / (3 * (1 - 2 * self.poisson))


@inner
def _spin_compliance(S00, S11, S22, S01, S02, S12):
    """Upper half of G = ((tr S)I − S)⁻¹: R[ω]× with ω = G axial(RᵀdF − dFᵀR) is the change of R with F."""
    a, b, c = S11 + S22, S00 + S22, S00 + S11
    A, B, C = b * c - S12 * S12, a * c - S02 * S02, a * b - S01 * S01
    D, E, F = S01 * c + S12 * S02, S02 * b + S01 * S12, S12 * a + S01 * S02
    det = a * A - S01 * D - S02 * E
    trace = a + b + c
    if 4.0 * det > _SPIN_FLOOR * trace * trace:  # the least eigenvalue is at least 4 det/trace²
        v = 1.0 / det
        return v * A, v * B, v * C, v * D, v * E, v * F
    return _floored_inverse(a, b, c, -S01, -S02, -S12)


@inner
def _floored_inverse(a, b, c, d, e, f):
    """Inverse of a positive semi-definite matrix with its eigenvalues raised to the floor."""
    M, U, V = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    M[0, 0], M[1, 1], M[2, 2] = a, b, c
    M[0, 1], M[0, 2], M[1, 2] = d, e, f
    M[1, 0], M[2, 0], M[2, 1] = d, e, f
    x, y, z = signed_svd(M, U, V)
    x, y, z = 1.0 / max(x, _SPIN_FLOOR), 1.0 / max(y, _SPIN_FLOOR), 1.0 / max(z, _SPIN_FLOOR)
    return (
        x * V[0, 0] ** 2 + y * V[0, 1] ** 2 + z * V[0, 2] ** 2,
        x * V[1, 0] ** 2 + y * V[1, 1] ** 2 + z * V[1, 2] ** 2,
        x * V[2, 0] ** 2 + y * V[2, 1] ** 2 + z * V[2, 2] ** 2,
        x * V[0, 0] * V[1, 0] + y * V[0, 1] * V[1, 1] + z * V[0, 2] * V[1, 2],
        x * V[0, 0] * V[2, 0] + y * V[0, 1] * V[2, 1] + z * V[0, 2] * V[2, 2],
        x * V[1, 0] * V[2, 0] + y * V[1, 1] * V[2, 1] + z * V[1, 2] * V[2, 2],
    )


@inner
def _fill_row(A, row, R, lam, x, y, z):
    """A[row, 3i+j] = lam R_ij + (ρᵢ × (x, y, z))_j, with ρᵢ the rows of R."""
    for i in range(3):
        u, v, w = R[i, 0], R[i, 1], R[i, 2]
        A[row, 3 * i] = lam * u + v * z - w * y
        A[row, 3 * i + 1] = lam * v + w * x - u * z
        A[row, 3 * i + 2] = lam * w + u * y - v * x


@inner
def corotated(c, F, s, P, A, tangent):
    """P = 2μ(F − R) + (λt + s)R, t = tr S − 3;  A = 2μI + λ R⊗R + (λt + s − 2μ) ∂R/∂F."""
    mu, lam = c[SHEAR], c[LOCAL]
    R = P  # the rotation lives in the output until the tangent is done
    polar_rotation(F, R)
    S00 = R[0, 0] * F[0, 0] + R[1, 0] * F[1, 0] + R[2, 0] * F[2, 0]
    S11 = R[0, 1] * F[0, 1] + R[1, 1] * F[1, 1] + R[2, 1] * F[2, 1]
    S22 = R[0, 2] * F[0, 2] + R[1, 2] * F[1, 2] + R[2, 2] * F[2, 2]
    t = (S00 - 1.0) + (S11 - 1.0) + (S22 - 1.0)
    along = lam * t + s
    if tangent:
        S01 = R[0, 0] * F[0, 1] + R[1, 0] * F[1, 1] + R[2, 0] * F[2, 1]
        S02 = R[0, 0] * F[0, 2] + R[1, 0] * F[1, 2] + R[2, 0] * F[2, 2]
        S12 = R[0, 1] * F[0, 2] + R[1, 1] * F[1, 2] + R[2, 1] * F[2, 2]
        a, b, d, e, f, g = _spin_compliance(S00, S11, S22, S01, S02, S12)
        k = along - 2.0 * mu
        a, b, d, e, f, g = k * a, k * b, k * d, k * e, k * f, k * g
        for i in range(3):
            # ∂R/∂F_il = R[G(e_l × ρᵢ)]×; e_l × ρ is (0, −z, y), (z, 0, −x), (−y, x, 0)
            x, y, z = R[i, 0], R[i, 1], R[i, 2]
            _fill_row(A, 3 * i, R, lam * x, f * y - e * z, g * y - b * z, d * y - g * z)
            _fill_row(A, 3 * i + 1, R, lam * y, a * z - f * x, e * z - g * x, f * z - d * x)
            _fill_row(A, 3 * i + 2, R, lam * z, e * x - a * y, b * x - e * y, g * x - f * y)
        for i in range(9):
            A[i, i] += 2.0 * mu
    psi = 0.5 * lam * t * t
    for i in range(3):
        for j in range(3):
            rotation = R[i, j]
            gap = F[i, j] - rotation
            psi += mu * gap * gap
            P[i, j] = 2.0 * mu * gap + along * rotation
    return psi


@inner
def small_strain(c, F, s, P, A, tangent):
    """ψ = μ ε:ε + λ/2 (tr ε)², ε = ½(F + Fᵀ) − I;  P = 2με + (λ tr ε + s)I."""
    mu, lam = c[SHEAR], c[LOCAL]
    t = (F[0, 0] - 1.0) + (F[1, 1] - 1.0) + (F[2, 2] - 1.0)
    psi = 0.5 * lam * t * t
    for i in range(3):
        for j in range(3):
            strain = 0.5 * (F[i, j] + F[j, i]) - (1.0 if i == j else 0.0)
            psi += mu * strain * strain
            P[i, j] = 2.0 * mu * strain
        P[i, i] += lam * t + s
    if tangent:
        set_diagonal(A, 0.0)
        for i in range(3):
            for j in range(3):
                A[3 * i + j, 3 * i + j] += mu
                A[3 * i + j, 3 * j + i] += mu
                A[4 * i, 4 * j] += lam
    return psi
