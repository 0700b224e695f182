"""What every material offers: its kernel code and parameters, and Python-level energy, stress and tangent."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

# Layout of the parameter vector c (NPARAM,) that the kernels read. The first three slots mean the same in
# every law: shear modulus μ, local volumetric modulus, and the volumetric modulus moved to the element mean.
NPARAM = 39
SHEAR, LOCAL, MEAN, FIRST = 0, 1, 2, 3

# λ_loc over μ, at most, that stays at the points when the rest of λ goes to the element mean: less lets
# elements with several points fold, more brings back locking.
LOCAL_RATIO = 1.0


def split_modulus(lame: float, shear: float, split: bool) -> tuple[float, float]:
    """(local, mean) parts of λ [Pa]: λ_loc = min(λ, μ) and λ − λ_loc, or (λ, 0) without the split."""
    local = min(lame, LOCAL_RATIO * shear) if split else lame
    return local, lame - local


# Moduli [Pa] beyond these are slips of units: diamond has 1e12, the softest gels have 1. Within them
# stiffnesses, their squares and the factors of a stiffness matrix stay far from the ends of the
# floating-point range.
SOFTEST, STIFFEST = 1e-9, 1e15
POISSON_MARGIN = 1e-12  # from −1 and ½: K/μ of 5e11 and more is as good as incompressible
NEARLY_INCOMPRESSIBLE = 0.49  # ν above which an error suggests `Incompressible`


def check_positive(what: str, value: float, unit: str, *, most: float = math.inf) -> None:
    """Raise InputError unless value is finite and positive, at most `most`; in Pa, within moduli's limits."""
    low, most = (SOFTEST, STIFFEST) if unit == "Pa" else (0.0, most)
    if not (_is_number(value) and math.isfinite(value) and value > 0):
        raise InputError(what, expected=f"a positive finite number{f' of {unit}' if unit else ''}", got=value)
    if not low <= value <= most:
        expected = f"from {low:g} to {most:g} {unit}".strip()
        raise InputError(what, expected=expected, got=value, hint="Check its unit: everything is SI.")


def check_finite(what: str, value: float, unit: str, *, most: float = math.inf) -> None:
    """Raise InputError unless |value| is finite, at most `most`; in Pa, at most the stiffest modulus."""
    most = STIFFEST if unit == "Pa" else most
    if not (_is_number(value) and math.isfinite(value)):
        raise InputError(what, expected=f"a finite number{f' of {unit}' if unit else ''}", got=value)
    if abs(value) > most:
        expected = f"from {-most:g} to {most:g} {unit}".strip()
        raise InputError(what, expected=expected, got=value, hint="Check its unit: everything is SI.")


def check_poisson(what: str, value: float) -> None:
    """Raise InputError unless −1 < ν < ½, and neither to the last digit."""
    if not (_is_number(value) and -1.0 + POISSON_MARGIN <= value <= 0.5 - POISSON_MARGIN):
        hint = (
            "For a material that keeps its volume (ν = 0.5) use pliant.materials.Incompressible."
            if _is_number(value) and value > NEARLY_INCOMPRESSIBLE
            else ""
        )
        raise InputError(
            what, expected="a Poisson ratio between -1 and 0.5 (exclusive)", got=value, hint=hint
        )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


class Material(ABC):
    """A hyperelastic law: stored energy ψ(F) [J/m³] of the deformation gradient F (3,3).

    P = ∂ψ/∂F [Pa] is the first Piola–Kirchhoff (nominal) stress, A = ∂P/∂F the tangent.
    """

    incompressible: ClassVar[bool] = False
    """Whether the body must carry a pressure per element (augmented Lagrangian)."""

    @property
    @abstractmethod
    def code(self) -> int:
        """Number of the law in the compiled kernels."""

    @abstractmethod
    def parameters(self, split: bool) -> NDArray[np.float64]:
        """Parameters of the kernels (NPARAM,); split=True moves λ − λ_loc to the element mean."""

    @property
    def penalty(self) -> float:
        """κ [Pa] of the pressure update p ← p + κ(ϑ̄ − 1); zero for compressible laws."""
        return 0.0

    def energy(self, F: ArrayLike) -> NDArray[np.float64]:
        """ψ [J/m³] of F (..., 3, 3); inf where F is inadmissible."""
        return self._evaluate(F, tangent=False)[0]

    def stress(self, F: ArrayLike) -> NDArray[np.float64]:
        """First Piola–Kirchhoff stress P (..., 3, 3) [Pa] of F (..., 3, 3)."""
        return self._evaluate(F, tangent=False)[1]

    def tangent(self, F: ArrayLike) -> NDArray[np.float64]:
        """A_ijkl = ∂P_ij/∂F_kl, shape (..., 3, 3, 3, 3) [Pa], of F (..., 3, 3)."""
        return self._evaluate(F, tangent=True)[2]

    def uniaxial(self, stretch: ArrayLike, *, direction: ArrayLike = (1.0, 0.0, 0.0)) -> NDArray[np.float64]:
        """Nominal stress [Pa] at the given stretches along `direction`, lateral faces free."""
        from .curves import uniaxial

        return uniaxial(self, stretch, direction)

    def equibiaxial(self, stretch: ArrayLike) -> NDArray[np.float64]:
        """Nominal stress [Pa] along x of a sheet stretched equally along x and y, free along z."""
        from .curves import equibiaxial

        return equibiaxial(self, stretch)

    def _evaluate(self, F: ArrayLike, *, tangent: bool):
        from .kernels import evaluate  # the kernels import the laws, which import this file

        F = np.array(F, dtype=float, order="C")
        if F.shape[-2:] != (3, 3):
            raise InputError("deformation gradient F", expected="shape (..., 3, 3)", got=F.shape)
        batch, flat, c = F.shape[:-2], F.reshape(-1, 3, 3), self.parameters(split=False)
        n = len(flat)
        psi, P, A = np.empty(n), np.empty((n, 3, 3)), np.zeros((n if tangent else 1, 9, 9))
        for k in range(n):
            psi[k] = evaluate(self.code, c, flat[k], 0.0, P[k], A[k if tangent else 0], tangent)
        return psi.reshape(batch)[()], P.reshape(F.shape), A.reshape(*(batch if tangent else ()), 3, 3, 3, 3)


class Isotropic(Material):
    """A law whose small strains follow Hooke with two moduli."""

    @property
    @abstractmethod
    def shear_modulus(self) -> float:
        """μ [Pa] at rest."""

    @property
    @abstractmethod
    def bulk_modulus(self) -> float:
        """K [Pa] at rest."""

    @property
    def lame(self) -> float:
        """λ = K − 2μ/3 [Pa] at rest."""
        return self.bulk_modulus - 2.0 * self.shear_modulus / 3.0

    @property
    def young_modulus(self) -> float:
        """E = 9Kμ/(3K + μ) [Pa] at rest."""
        K, mu = self.bulk_modulus, self.shear_modulus
        return 3.0 * mu if math.isinf(K) else 9.0 * K * mu / (3.0 * K + mu)

    @property
    def poisson_ratio(self) -> float:
        """ν = (3K − 2μ)/(6K + 2μ) at rest."""
        K, mu = self.bulk_modulus, self.shear_modulus
        return 0.5 if math.isinf(K) else (3.0 * K - 2.0 * mu) / (6.0 * K + 2.0 * mu)

    def parameters(self, split: bool) -> NDArray[np.float64]:
        self._require_bulk()
        c = np.zeros(NPARAM)
        c[SHEAR] = self.shear_modulus
        c[LOCAL], c[MEAN] = split_modulus(self.lame, self.shear_modulus, split)
        return c

    def _require_bulk(self) -> None:
        """Raise InputError if the law was made without bulk modulus or Poisson's ratio."""
        if math.isinf(self.bulk_modulus):
            raise InputError(
                type(self).__name__,
                expected="a bulk modulus or Poisson's ratio",
                got="none",
                hint="Give one, or wrap the law: pliant.materials.Incompressible(law).",
            )


def lame_from_young(young: float, poisson: float) -> tuple[float, float]:
    """(λ, μ) [Pa] of Young's modulus and Poisson's ratio."""
    return young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
