"""The Mooney–Rivlin law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .codes import MOONEY_RIVLIN
from .material import FIRST, check_finite
from .rubber import Rubber
from .tensors import add_volume_tangent, cofactor, inner


@dataclass(frozen=True)
class MooneyRivlin(Rubber):
    """ψ = c₁₀(Ī₁ − 3) + c₀₁(Ī₂ − 3) + K/2 (J − 1)²;  μ = 2(c₁₀ + c₀₁).  c10, c01, bulk K [Pa]."""

    code: ClassVar[int] = MOONEY_RIVLIN  # pyright: ignore[reportIncompatibleMethodOverride]
    c10: float
    c01: float
    bulk: float | None = None

    def __post_init__(self) -> None:
        check_finite("MooneyRivlin: c10", self.c10, "Pa")
        check_finite("MooneyRivlin: c01", self.c01, "Pa")
        self._check_bulk()

    @property
    def shear_modulus(self) -> float:
        return 2.0 * (self.c10 + self.c01)

    def _shape_constants(self):
        return self.c10, self.c01


@inner
def mooney_rivlin(c, i1):
    """(w, w', w'') of the part in Ī₁."""
    return c[FIRST] * (i1 - 3.0), c[FIRST], 0.0


@inner
def _second_invariant_tangent(A, F, B, C, square, scale, cross):
    """A += scale ∂B/∂F + cross (B⊗C + C⊗B), where B = ½ ∂I₂/∂F = I₁F − FFᵀF."""
    for i in range(3):
        for k in range(3):
            left = F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2]
            right = F[0, i] * F[0, k] + F[1, i] * F[1, k] + F[2, i] * F[2, k]
            for j in range(3):
                A[3 * i + j, 3 * k + j] -= scale * left
                A[3 * j + i, 3 * j + k] -= scale * right
                for l in range(3):
                    outer = 2.0 * F[i, j] * F[k, l] - F[i, l] * F[k, j]
                    A[3 * i + j, 3 * k + l] += scale * outer + cross * (B[i, j] * C[k, l] + C[i, j] * B[k, l])
    for i in range(9):
        A[i, i] += scale * square


@inner
def add_second_invariant(c, F, J, square, P, A, tangent):
    """Add stress and tangent of c₀₁(Ī₂ − 3), Ī₂ = b I₂, b = J^(−4/3), I₂ = |cof F|²; returns the energy."""
    B, C = np.empty((3, 3)), np.empty((3, 3))
    cofactor(F, C)
    second = 0.0
    for i in range(3):
        for j in range(3):
            second += C[i, j] * C[i, j]
            B[i, j] = square * F[i, j]
            for k in range(3):
                B[i, j] -= F[i, k] * (F[0, k] * F[0, j] + F[1, k] * F[1, j] + F[2, k] * F[2, j])
    c01 = c[FIRST + 1]
    b = J ** (-4.0 / 3.0)
    rate = -4.0 * b * second / (3.0 * J)  # ∂Ī₂/∂J
    for i in range(3):
        for j in range(3):
            P[i, j] += c01 * (2.0 * b * B[i, j] + rate * C[i, j])
    if tangent:
        _second_invariant_tangent(A, F, B, C, square, 2.0 * b * c01, -8.0 * b * c01 / (3.0 * J))
        add_volume_tangent(A, F, C, c01 * rate, -7.0 * c01 * rate / (3.0 * J))
    return c01 * (b * second - 3.0)
