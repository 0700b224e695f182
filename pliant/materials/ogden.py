"""The Ogden law of up to three terms, in principal stretches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import InputError, as_floats
from .codes import OGDEN
from .material import FIRST, LOCAL, check_finite
from .rubber import Rubber
from .tensors import (
    LARGEST_ENERGY,
    VOLUME_FLOOR,
    add_volume_tangent,
    cofactor,
    inadmissible,
    inner,
    set_diagonal,
    signed_svd,
)

_TERMS = 3  # of the law, at most
_LARGEST_EXPONENT = 1e3  # published ones are below 50


@dataclass(frozen=True)
class Ogden(Rubber):
    """ψ = Σₚ μₚ/αₚ (λ̄₁^αₚ + λ̄₂^αₚ + λ̄₃^αₚ − 3) + K/2 (J − 1)², λ̄ᵢ = J^(−1/3) λᵢ;  μ = ½ Σ μₚαₚ.

    mu [Pa] and alpha: one to three terms each; bulk K [Pa]. This is Ogden's own convention; for constants
    published with 2μₚ/αₚ² in front (Abaqus, many silicone papers) use `Ogden.from_shear`.
    """

    code: ClassVar[int] = OGDEN  # pyright: ignore[reportIncompatibleMethodOverride]
    mu: Sequence[float]
    alpha: Sequence[float]
    bulk: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _terms("Ogden: mu", self.mu, "Pa"))
        object.__setattr__(self, "alpha", _terms("Ogden: alpha", self.alpha, ""))
        if len(self.mu) != len(self.alpha):
            raise InputError(
                "Ogden: alpha", expected=f"as many terms as mu ({len(self.mu)})", got=len(self.alpha)
            )
        if any(a == 0 for a in self.alpha):
            raise InputError("Ogden: alpha", expected="exponents other than zero", got=self.alpha)
        self._check_bulk()

    @classmethod
    def from_shear(cls, shear: Sequence[float], alpha: Sequence[float], bulk: float | None = None) -> Ogden:
        """The law Σ 2μₚ/αₚ² (Σᵢ λ̄ᵢ^αₚ − 3): shear [Pa] are moduli that add up to the modulus at rest."""
        shear, alpha = _terms("Ogden: shear", shear, "Pa"), _terms("Ogden: alpha", alpha, "")
        return cls(mu=[2.0 * m / a if a else 0.0 for m, a in zip(shear, alpha)], alpha=alpha, bulk=bulk)

    @property
    def shear_modulus(self) -> float:
        return 0.5 * sum(m * a for m, a in zip(self.mu, self.alpha))

    def _shape_constants(self):
        return [value for term in zip(self.mu, self.alpha) for value in term]


def _terms(what: str, values: Sequence[float], unit: str) -> tuple[float, ...]:
    values = tuple(np.ravel(as_floats(what, values, f"one to {_TERMS} numbers")).tolist())
    if not 1 <= len(values) <= _TERMS:
        raise InputError(what, expected=f"one to {_TERMS} terms", got=f"{len(values)} terms")
    for value in values:
        check_finite(what, value, unit, most=_LARGEST_EXPONENT)
    return values


@inner
def _divided_power(x, y, a):
    """(xᵃ − yᵃ)/(x − y), exact as x → y."""
    if x == y:
        return a * x ** (a - 1.0)
    l = math.log1p((x - y) / y)
    return y ** (a - 1.0) * math.expm1(a * l) / math.expm1(l)


@inner
def _principal(c, J, x, h, tangent):
    """Energy of the isochoric part; given x[0] = λᵢ, x[1] becomes tᵢ = λᵢ ∂ψ/∂λᵢ (x[2] is scratch).

    If tangent, h has the Hessian ∂²ψ/∂λᵢ∂λⱼ in its upper half; below the diagonal, the divided differences
    (gᵢ − gⱼ)/(λᵢ − λⱼ) of g = ∂ψ/∂λ, exact for repeated stretches too.
    """
    psi = 0.0
    for i in range(3):
        x[1, i] = 0.0
        for j in range(3):
            h[i, j] = 0.0
    for p in range(_TERMS):
        mu, a = c[FIRST + 2 * p], c[FIRST + 2 * p + 1]
        if mu == 0.0:
            continue
        b = J ** (-a / 3.0)
        for i in range(3):
            x[2, i] = b * x[0, i] ** a
        mean = (x[2, 0] + x[2, 1] + x[2, 2]) / 3.0
        psi += 3.0 * mu / a * (mean - 1.0)
        for i in range(3):
            x[1, i] += mu * (x[2, i] - mean)
            if not tangent:
                continue
            h[i, i] += mu * a * x[2, i]
            for j in range(i, 3):
                h[i, j] += mu * a / 3.0 * (mean - x[2, i] - x[2, j])
            for j in range(i):
                h[i, j] += mu * b * _divided_power(x[0, i], x[0, j], a)
    if not tangent:
        return psi
    for i in range(3):
        h[i, i] -= x[1, i]
        for j in range(i, 3):
            h[i, j] /= x[0, i] * x[0, j]
        for j in range(i):
            h[i, j] = h[i, j] / x[0, i] - x[1, j] / (x[0, i] * x[0, j])
    return psi


@inner
def _mode_response(U, V, x, h, a, b, W):
    """W = ∂P in the direction u_a v_bᵀ.

    On the stretches (a = b) it is h; on a pair of axes a symmetric change meets (gₐ − g_b)/(λₐ − λ_b), a skew
    one (gₐ + g_b)/(λₐ + λ_b), g = t/λ.
    """
    lo, hi = min(a, b), max(a, b)
    even = h[hi, lo]
    odd = (x[1, a] / x[0, a] + x[1, b] / x[0, b]) / (x[0, a] + x[0, b])
    p, q = 0.5 * (even + odd), 0.5 * (even - odd)
    for i in range(3):
        for j in range(3):
            if a == b:
                W[i, j] = 0.0
                for m in range(3):
                    W[i, j] += h[min(a, m), max(a, m)] * U[i, m] * V[j, m]
            else:
                W[i, j] = p * U[i, a] * V[j, b] + q * U[i, b] * V[j, a]


@inner
def _spectral_tangent(A, U, V, x, h, W):
    """A = Σ (u_a v_bᵀ) ⊗ ∂P(u_a v_bᵀ) over the nine principal dyads; W (3,3) is scratch."""
    set_diagonal(A, 0.0)
    for a in range(3):
        for b in range(3):
            _mode_response(U, V, x, h, a, b, W)
            for i in range(9):
                left = U[i // 3, a] * V[i % 3, b]
                for k in range(3):
                    A[i, 3 * k] += left * W[k, 0]
                    A[i, 3 * k + 1] += left * W[k, 1]
                    A[i, 3 * k + 2] += left * W[k, 2]


@inner
def ogden(c, F, s, P, A, tangent):
    """P = U diag(g) Vᵀ + (K(J − 1) + s) cof F with F = U diag(λ) Vᵀ and g = ∂W/∂λ."""
    K = c[LOCAL]
    U, V, h, x = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    J = cofactor(F, P)
    x[0, 0], x[0, 1], x[0, 2] = signed_svd(F, U, V)
    if not (J > VOLUME_FLOOR and x[0, 2] > 0.0):
        return inadmissible(P, A, tangent)
    psi = _principal(c, J, x, h, tangent) + 0.5 * K * (J - 1.0) ** 2
    if not abs(psi) < LARGEST_ENERGY:
        return inadmissible(P, A, tangent)
    g = K * (J - 1.0) + s
    if tangent:
        _spectral_tangent(A, U, V, x, h, np.empty((3, 3)))
        add_volume_tangent(A, F, P, g, K)
    for i in range(3):
        for j in range(3):
            P[i, j] *= g
            for k in range(3):
                P[i, j] += x[1, k] / x[0, k] * U[i, k] * V[j, k]
    return psi
