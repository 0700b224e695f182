"""The compressible neo-Hookean law in its logarithmic form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .codes import NEO_HOOKEAN
from .material import LOCAL, MEAN, SHEAR, Isotropic, check_poisson, check_positive
from .tensors import VOLUME_FLOOR, add_volume_tangent, cofactor, inadmissible, inner, set_diagonal


@dataclass(frozen=True)
class NeoHookean(Isotropic):
    """ψ = μ/2 (I₁ − 3) − μ ln J + λ/2 ln²J, with I₁ = F:F and J = det F; infinite for J ≤ 0.

    young [Pa], poisson (−1 < ν < ½); without poisson the law is meant for `Incompressible` (E = 3μ).
    `NeoHookean.from_shear(shear, bulk)` takes the other pair of moduli.
    """

    code: ClassVar[int] = NEO_HOOKEAN  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
    young: float
    poisson: float | None = None

    def __post_init__(self) -> None:
        check_positive("NeoHookean: young", self.young, "Pa")
        if self.poisson is not None:
            check_poisson("NeoHookean: poisson", self.poisson)

    @classmethod
    def from_shear(cls, shear: float, bulk: float | None = None) -> NeoHookean:
        """The law of shear modulus μ [Pa] and bulk modulus K [Pa] (None: for `Incompressible`)."""
        check_positive("NeoHookean: shear", shear, "Pa")
        if bulk is None:
            return cls(young=3.0 * shear)
        check_positive("NeoHookean: bulk", bulk, "Pa")
        return cls(
            young=9.0 * bulk * shear / (3.0 * bulk + shear),
            poisson=(3.0 * bulk - 2.0 * shear) / (6.0 * bulk + 2.0 * shear),
        )

    def with_bulk(self, bulk: float) -> NeoHookean:
        """The same shear modulus with another bulk modulus K [Pa]."""
        return NeoHookean.from_shear(self.shear_modulus, bulk)

    @property
    def shear_modulus(self) -> float:
        return self.young / (2.0 * (1.0 + (0.5 if self.poisson is None else self.poisson)))

    @property
    def bulk_modulus(self) -> float:
        return math.inf if self.poisson is None else self.young / (3.0 * (1.0 - 2.0 * self.poisson))


@inner
def neo_hookean(c, F, s, P, A, tangent):
    """P = μF + g cof F with g = (λ ln J − μ)/J + s;  A = μI + ∂g/∂J cof⊗cof + g ∂cof/∂F."""
    mu, lam = c[SHEAR], c[LOCAL]
    J = cofactor(F, P)
    if not J > VOLUME_FLOOR:
        return inadmissible(P, A, tangent)
    log = math.log(J)
    g = (lam * log - mu) / J + s
    if tangent:
        slope = (lam - lam * log + mu) / (J * J)
        set_diagonal(A, mu)
        add_volume_tangent(A, F, P, g, slope)
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += F[i, j] * F[i, j]
            P[i, j] = mu * F[i, j] + g * P[i, j]
    return 0.5 * mu * (square - 3.0) - mu * log + 0.5 * lam * log * log


@inner
def log_volumetric(c, theta):
    """U = λ/2 ln²ϑ with its two derivatives; infinite for ϑ ≤ 0."""
    lam = c[MEAN]
    if lam == 0.0:
        return 0.0, 0.0, 0.0
    if not theta > VOLUME_FLOOR:
        return math.inf, 0.0, 0.0
    log = math.log(theta)
    return 0.5 * lam * log * log, lam * log / theta, lam * (1.0 - log) / (theta * theta)
