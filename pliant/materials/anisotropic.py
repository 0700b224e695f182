"""Fibrous and layered materials: moduli that depend on direction, linear in the Green–Lagrange strain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, as_floats
from .codes import ANISOTROPIC
from .material import (
    FIRST,
    LOCAL_RATIO,
    MEAN,
    NPARAM,
    SHEAR,
    Material,
    check_finite,
    check_positive,
)
from .saint_venant import green_lagrange
from .tensors import inner

NOT_ORTHOGONAL = 1e-8  # of QᵀQ − I, in any entry, that is still a set of axes
LARGEST_POISSON = 1e3  # in size: more is a slip
# Voigt order 11, 22, 33, 23, 13, 12.
_PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
_VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])


class Anisotropic(Material):
    """ψ = ½ E:C:E, E = ½(FᵀF − I): the law of St Venant and Kirchhoff with an anisotropic stiffness C.

    Frame indifferent; for isotropic constants it is `StVenantKirchhoff`, and `Hooke` at small strain. It is
    meant for moderate strain, and softens under strong compression (stretch below 0.58).
    With the split the mean dilatation is ϑ = 1 + tr E and the part (K − 5μ/3)/2 (tr E)² moves there, with
    K = 1/(1:C⁻¹:1) the modulus under uniform pressure and μ the mean shear modulus; what stays is still
    positive definite.
    """

    code: ClassVar[int] = ANISOTROPIC  # pyright: ignore[reportIncompatibleMethodOverride]

    @cached_property
    def stiffness(self) -> NDArray[np.float64]:
        """C (6,6) [Pa] on the axes of the mesh; Voigt order 11, 22, 33, 23, 13, 12, engineering shears."""
        compliance, axes = self._compliance()
        if not np.linalg.eigvalsh(compliance)[0] > 0:
            raise InputError(
                type(self).__name__,
                expected="constants of a stable material (positive definite compliance)",
                got=self,
                hint="Poisson ratios must satisfy ν_ij² < E_i/E_j, and their product may not be too large.",
            )
        C = _rotated(np.linalg.inv(compliance), axes)
        C.flags.writeable = False
        return C

    def _compliance(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compliance (6,6) [1/Pa] in the material axes, and those axes as columns (3,3)."""
        raise NotImplementedError

    def parameters(self, split: bool) -> NDArray[np.float64]:
        C = self.stiffness
        ones = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        bulk = 1.0 / (ones @ np.linalg.solve(C, ones))
        shear = self._mean_shear()
        c = np.zeros(NPARAM)
        c[SHEAR] = shear
        c[MEAN] = max(0.0, bulk - (LOCAL_RATIO + 2.0 / 3.0) * shear) if split else 0.0
        c[FIRST : FIRST + 36] = (C - c[MEAN] * np.outer(ones, ones)).ravel()
        return c

    def _mean_shear(self) -> float:
        raise NotImplementedError


@dataclass(frozen=True)
class Orthotropic(Anisotropic):
    """Nine constants on three perpendicular axes.

    young (E₁, E₂, E₃) [Pa]; poisson (ν₁₂, ν₂₃, ν₁₃), where ν_ij is the contraction along j when pulled
    along i; shear (G₁₂, G₂₃, G₁₃) [Pa]; axes (3,3): the material axes as columns.
    """

    young: Sequence[float]
    poisson: Sequence[float]
    shear: Sequence[float]
    axes: Sequence[Sequence[float]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        for name in ("young", "poisson", "shear"):
            given = as_floats(f"Orthotropic: {name}", getattr(self, name), "three numbers")
            values = tuple(given.ravel().tolist())
            if len(values) != 3:
                raise InputError(f"Orthotropic: {name}", expected="three numbers", got=getattr(self, name))
            for value in values:
                if name == "poisson":
                    check_finite("Orthotropic: poisson", value, "", most=LARGEST_POISSON)
                else:
                    check_positive(f"Orthotropic: {name}", value, "Pa")
            object.__setattr__(self, name, values)
        Q = as_floats("Orthotropic: axes", self.axes, "three perpendicular unit vectors as columns")
        if Q.shape != (3, 3) or not np.allclose(Q.T @ Q, np.eye(3), atol=NOT_ORTHOGONAL):
            raise InputError(
                "Orthotropic: axes", expected="three perpendicular unit vectors as columns", got=self.axes
            )
        object.__setattr__(self, "axes", tuple(map(tuple, Q.tolist())))
        self.stiffness  # noqa: B018  (raises here, not during a solve, if the constants are unstable)

    def _compliance(self):
        (E1, E2, E3), (n12, n23, n13), (G12, G23, G13) = self.young, self.poisson, self.shear
        S = np.diag([1 / E1, 1 / E2, 1 / E3, 1 / G23, 1 / G13, 1 / G12])
        S[0, 1] = S[1, 0] = -n12 / E1
        S[1, 2] = S[2, 1] = -n23 / E2
        S[0, 2] = S[2, 0] = -n13 / E1
        return S, np.array(self.axes)

    def _mean_shear(self) -> float:
        return sum(self.shear) / 3.0


@dataclass(frozen=True)
class TransverselyIsotropic(Anisotropic):
    """Fibres in one direction, the same in every direction across them.

    fibre (3,): direction, of any length; young_along, young_across [Pa]; shear_along [Pa]: shear between the
    fibres and a direction across; poisson_along: contraction across when pulled along the fibres;
    poisson_across: contraction across when pulled in the other direction across.
    """

    fibre: Sequence[float]
    young_along: float
    young_across: float
    shear_along: float
    poisson_along: float
    poisson_across: float

    def __post_init__(self) -> None:
        for name in ("young_along", "young_across", "shear_along"):
            check_positive(f"TransverselyIsotropic: {name}", getattr(self, name), "Pa")
        for name in ("poisson_along", "poisson_across"):
            check_finite(f"TransverselyIsotropic: {name}", getattr(self, name), "", most=LARGEST_POISSON)
        direction = as_floats("TransverselyIsotropic: fibre", self.fibre, "a vector of three numbers")
        length = np.linalg.norm(direction)
        if direction.shape != (3,) or not (np.isfinite(length) and length > 0):
            raise InputError(
                "TransverselyIsotropic: fibre", expected="a vector of three numbers", got=self.fibre
            )
        object.__setattr__(self, "fibre", tuple((direction / length).tolist()))
        self.stiffness  # noqa: B018  (raises here, not during a solve, if the constants are unstable)

    @property
    def shear_across(self) -> float:
        """Shear modulus in the plane across the fibres, E/(2(1 + ν)) [Pa]."""
        return self.young_across / (2.0 * (1.0 + self.poisson_across))

    def _compliance(self):
        E, Et = self.young_along, self.young_across
        if self.poisson_across <= -1.0:
            raise InputError(
                "TransverselyIsotropic: poisson_across", expected="a ratio above -1", got=self.poisson_across
            )
        G, Gt = self.shear_along, self.shear_across
        S = np.diag([1 / E, 1 / Et, 1 / Et, 1 / Gt, 1 / G, 1 / G])
        S[0, 1] = S[1, 0] = S[0, 2] = S[2, 0] = -self.poisson_along / E
        S[1, 2] = S[2, 1] = -self.poisson_across / Et
        # any two directions across the fibre will do
        axes = np.linalg.qr(np.column_stack([self.fibre, np.eye(3)]))[0]
        return S, axes

    def _mean_shear(self) -> float:
        return (2.0 * self.shear_along + self.shear_across) / 3.0


def _rotated(C: NDArray[np.floating], Q: NDArray[np.floating]) -> NDArray[np.float64]:
    """The Voigt matrix C given on the axes Q (columns), in the axes of the mesh."""
    full = C[_VOIGT[:, :, None, None], _VOIGT[None, None, :, :]]
    full = np.einsum("ai,bj,ck,dl,ijkl->abcd", Q, Q, Q, Q, full)
    return np.array([[full[i, j, k, l] for k, l in _PAIRS] for i, j in _PAIRS])


@inner
def _voigt_stress(c, F, s, S):
    """S (6,) = C E + s I in Voigt order; returns ψ. Engineering shears: twice the tensor components."""
    E0, E1, E2 = green_lagrange(F, 0, 0), green_lagrange(F, 1, 1), green_lagrange(F, 2, 2)
    E3, E4, E5 = 2.0 * green_lagrange(F, 1, 2), 2.0 * green_lagrange(F, 0, 2), 2.0 * green_lagrange(F, 0, 1)
    for i in range(6):
        k = FIRST + 6 * i
        S[i] = c[k] * E0 + c[k + 1] * E1 + c[k + 2] * E2 + c[k + 3] * E3 + c[k + 4] * E4 + c[k + 5] * E5
    psi = 0.5 * (S[0] * E0 + S[1] * E1 + S[2] * E2 + S[3] * E3 + S[4] * E4 + S[5] * E5)
    for i in range(3):
        S[i] += s
    return psi


@inner
def anisotropic(c, F, s, P, A, tangent):
    """P = F S, S = C:E + sI;  A_ijkl = δ_ik S_jl + F_ia C_ajbl F_kb."""
    S, T = np.empty(6), np.empty(6)
    psi = _voigt_stress(c, F, s, S)
    for i in range(3):
        for j in range(3):
            P[i, j] = F[i, 0] * S[_VOIGT[0, j]] + F[i, 1] * S[_VOIGT[1, j]] + F[i, 2] * S[_VOIGT[2, j]]
    if not tangent:
        return psi
    for k in range(3):
        for l in range(3):
            for v in range(6):  # T = C:sym(e_l ⊗ row k of F)
                row = FIRST + 6 * v
                T[v] = c[row + _VOIGT[0, l]] * F[k, 0]
                T[v] += c[row + _VOIGT[1, l]] * F[k, 1] + c[row + _VOIGT[2, l]] * F[k, 2]
            for i in range(3):
                for j in range(3):
                    value = F[i, 0] * T[_VOIGT[0, j]] + F[i, 1] * T[_VOIGT[1, j]] + F[i, 2] * T[_VOIGT[2, j]]
                    A[3 * i + j, 3 * k + l] = value + (S[_VOIGT[j, l]] if i == k else 0.0)
    return psi
