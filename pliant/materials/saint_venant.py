"""The law of St Venant and Kirchhoff: second Piola–Kirchhoff stress linear in the Green–Lagrange strain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .codes import SAINT_VENANT
from .material import LOCAL, SHEAR, Isotropic, check_poisson, check_positive, lame_from_young
from .tensors import inner


@dataclass(frozen=True)
class StVenantKirchhoff(Isotropic):
    """ψ = μ E:E + λ/2 (tr E)², E = ½(FᵀF − I).

    For large rotation and small strain; in compression it softens and collapses (stretch below 0.58): prefer
    `Hooke` or `NeoHookean` there. Mean dilatation ϑ = 1 + tr E. young [Pa], poisson (−1 < ν < ½).
    """

    code: ClassVar[int] = SAINT_VENANT  # pyright: ignore[reportIncompatibleMethodOverride]
    young: float
    poisson: float

    def __post_init__(self) -> None:
        check_positive("StVenantKirchhoff: young", self.young, "Pa")
        check_poisson("StVenantKirchhoff: poisson", self.poisson)

    @property
    def shear_modulus(self) -> float:
        return lame_from_young(self.young, self.poisson)[1]

    @property
    def bulk_modulus(self) -> float:
        return self.young / (3 * (1 - 2 * self.poisson))


@inner
def green_lagrange(F, i, j):
    """E_ij = ½(FᵀF − I)_ij."""
    product = F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j]
    return 0.5 * (product - (1.0 if i == j else 0.0))


@inner
def saint_venant(c, F, s, P, A, tangent):
    """P = F S, S = 2μE + (λ tr E + s)I;  A_ijkl = δ_ik S_jl + μ(F_il F_kj + δ_jl (FFᵀ)_ik) + λ F_ij F_kl."""
    mu, lam = c[SHEAR], c[LOCAL]
    trace = green_lagrange(F, 0, 0) + green_lagrange(F, 1, 1) + green_lagrange(F, 2, 2)
    along = lam * trace + s
    psi = 0.5 * lam * trace * trace
    for i in range(3):
        for j in range(3):
            strain = green_lagrange(F, i, j)
            psi += mu * strain * strain
            P[i, j] = along * F[i, j]
            for k in range(3):
                P[i, j] += 2.0 * mu * F[i, k] * green_lagrange(F, k, j)
    if not tangent:
        return psi
    for i in range(9):
        for k in range(3):
            for l in range(3):
                A[i, 3 * k + l] = lam * F[i // 3, i % 3] * F[k, l] + mu * F[i // 3, l] * F[k, i % 3]
    for i in range(3):
        for k in range(3):
            left = mu * (F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2])
            S = 2.0 * mu * green_lagrange(F, i, k) + (along if i == k else 0.0)
            for j in range(3):
                A[3 * i + j, 3 * k + j] += left
                A[3 * j + i, 3 * j + k] += S
    return psi
