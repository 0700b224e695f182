"""What sheets are made of: plane stress, σ₃₃ = 0, of any material law.

For Hooke's law in the frame of the triangle ψ = ½ εᵀCε, linear in the stretch. Other laws are evaluated at
F = [I + ε, 0; 0, λ₃] with the stretch λ₃ across the sheet at which the stress there is zero; for bending
and transverse shear all laws use their stiffness at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from pliant.bodies.blocks import kernel
from pliant.bodies.inputs import refuse_softening
from pliant.errors import InputError
from pliant.materials import Hooke
from pliant.materials.kernels import evaluate
from pliant.materials.material import LOCAL, SHEAR, Isotropic, Material
from pliant.mesh.sheets import Sheet

_VOIGT = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
_PLANE, _ACROSS, _SHEARS = [0, 1, 3], [2, 4, 5], [4, 5]  # of _VOIGT
STIFF_VOLUME = 1e4  # bulk over shear modulus that stands for that of incompressible laws
TYPICAL_POISSON = 0.3  # of materials that have no single ratio
SMALLEST_AREA = 1e-6  # of a triangle over its area at rest, at which the search for λ₃ begins
MOST_ITERATIONS = 40  # of Newton's method for λ₃
CONVERGED_STEP = 1e-12  # of λ₃, over λ₃


class Law(Protocol):
    """Forces in the plane of some triangles."""

    def respond(self, eps: np.ndarray, *, tangent: bool) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Energy [J] of strains (n, 3), N = A h ∂ψ/∂ε (n, 3) and, if tangent, ∂N/∂ε (n, 3, 3).

        The energy is inf if a strain is inadmissible.
        """
        ...

    def stress(self, eps: np.ndarray) -> np.ndarray:
        """First Piola–Kirchhoff stress (n, 3) [Pa] in the frames of the triangles."""
        ...

    def across(self, eps: np.ndarray) -> np.ndarray:
        """λ₃ (n,)."""
        ...


class LinearLaw:
    """ψ = ½ εᵀCε."""

    def __init__(self, material: Hooke, axes: np.ndarray, volume: np.ndarray) -> None:
        self.moduli, self._poisson = plane_moduli(material, axes), material.poisson
        self._stiffness = np.ascontiguousarray(volume[:, None, None] * self.moduli)

    def respond(self, eps: np.ndarray, *, tangent: bool) -> tuple[float, np.ndarray, np.ndarray | None]:
        N = np.einsum("eij,ej->ei", self._stiffness, eps)
        return 0.5 * float(np.vdot(N, eps)), N, self._stiffness if tangent else None

    def stress(self, eps: np.ndarray) -> np.ndarray:
        return np.einsum("eij,ej->ei", self.moduli, eps)

    def across(self, eps: np.ndarray) -> np.ndarray:
        return 1.0 - self._poisson / (1.0 - self._poisson) * (eps[:, 0] + eps[:, 1])


class GeneralLaw:
    """Any material, in axes (ne, 3, 3) of its triangles."""

    def __init__(self, material: Material, axes: np.ndarray, volume: np.ndarray) -> None:
        self._code, self._c = material.code, np.array(material.parameters(split=False))
        if material.incompressible:  # λ₃ follows the volume: nothing locks, and a large modulus does no harm
            self._c[LOCAL] = STIFF_VOLUME * self._c[SHEAR]
        self._axes, self._volume = np.ascontiguousarray(axes), np.ascontiguousarray(volume)
        poisson = small_poisson(material)
        self._narrowing = poisson / (1.0 - poisson)

    def respond(self, eps: np.ndarray, *, tangent: bool) -> tuple[float, np.ndarray, np.ndarray | None]:
        energy, N, C, _ = self._plane_stress(eps, tangent)
        return energy, N, C if tangent else None

    def _plane_stress(
        self, eps: np.ndarray, tangent: bool
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Energy, N, C and λ₃.

        The search begins at λ₃ = J^(−ν/(1−ν)), J the change of area: equal strains have equal answers.
        """
        N, C = np.empty((len(eps), 3)), np.empty((len(eps) if tangent else 0, 3, 3))
        area = (1.0 + eps[:, 0]) * (1.0 + eps[:, 1]) - 0.25 * eps[:, 2] ** 2
        across = np.maximum(area, SMALLEST_AREA) ** -self._narrowing
        given = self._code, self._c, self._axes, self._volume, np.ascontiguousarray(eps), across
        return plane_stress(*given, N, C, tangent), N, C, across

    def stress(self, eps: np.ndarray) -> np.ndarray:
        return self.respond(eps, tangent=False)[1] / self._volume[:, None]

    def across(self, eps: np.ndarray) -> np.ndarray:
        return self._plane_stress(eps, False)[3]


def make_law(material: Material, axes: np.ndarray, volume: np.ndarray) -> Law:
    """The law of triangles with axes (n, 3, 3) and volumes A h (n,) [m³]."""
    if isinstance(material, Hooke):
        return LinearLaw(material, axes, volume)
    return GeneralLaw(material, axes, volume)


def plane_moduli(material: Material, axes: np.ndarray) -> np.ndarray:
    """C (n, 3, 3) [Pa] of plane stress at rest, σ = C (ε₁₁, ε₂₂, 2ε₁₂), in the given axes (n, 3, 3)."""
    if isinstance(material, Isotropic):
        E, nu = material.young_modulus, material.poisson_ratio
        C = E / (1.0 - nu * nu) * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
        return np.repeat(C[None], len(axes), axis=0)
    return _without_stress(_moduli(material, axes), _PLANE, _ACROSS)


def shear_moduli(material: Material, axes: np.ndarray) -> np.ndarray:
    """G (n, 2, 2) [Pa] at rest, (σ₁₃, σ₂₃) = G (2ε₁₃, 2ε₂₃) where σ₃₃ = 0, in the given axes (n, 3, 3)."""
    if isinstance(material, Isotropic):
        G = 0.5 * material.young_modulus / (1.0 + material.poisson_ratio)
        return np.repeat(G * np.eye(2)[None], len(axes), axis=0)
    return _without_stress(_moduli(material, axes), _SHEARS, [2])


def _moduli(material: Material, axes: np.ndarray) -> np.ndarray:
    """Moduli at rest (n, 6, 6) [Pa] in the order of _VOIGT."""
    A = np.einsum(
        "ijkl,eia,ejb,ekc,eld->eabcd", material.tangent(np.eye(3)), axes, axes, axes, axes, optimize=True
    )
    i, j = np.transpose(_VOIGT)
    V = A[:, i[:, None], j[:, None], i[None], j[None]]
    return 0.5 * (V + A[:, i[:, None], j[:, None], j[None], i[None]])


def _without_stress(V: np.ndarray, kept: list[int], free: list[int]) -> np.ndarray:
    """What V (n, 6, 6) is for the strains `kept` if the stresses `free` are zero."""
    mixed = V[:, kept][:, :, free]
    return V[:, kept][:, :, kept] - mixed @ np.linalg.solve(V[:, free][:, :, free], np.swapaxes(mixed, 1, 2))


def small_poisson(material: Material) -> float:
    """ν at rest, or a typical one for materials that have no single ratio."""
    return material.poisson_ratio if isinstance(material, Isotropic) else TYPICAL_POISSON


def checked_law(material: Any, sheet: Sheet) -> dict[int, Material]:
    """The material of every region of a sheet."""
    regions = np.unique(sheet.regions).tolist()
    given: dict[int, Any] = dict(
        material if isinstance(material, Mapping) else dict.fromkeys(regions, material)
    )
    for region in regions:
        if region not in given:
            raise InputError(
                "material", expected=f"a Material for region {region}", got=f"regions {sorted(given)}"
            )
    for law in given.values():
        if not isinstance(law, Material):
            expected = "a Material, or a dictionary from region to Material"
            raise InputError("material", expected=expected, got=type(law).__name__)
        refuse_softening(law, "a sheet")
    return given


@kernel
def plane_stress(code, c, axes, volume, eps, across, N, C, tangent):
    """The energy of all triangles; writes N, C and `across` (ne,): λ₃ by Newton's method, from its values."""
    F, G, P, A, Z = np.zeros((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((9, 9)), np.empty((4, 4))
    energy, always = 0.0, code >= 0  # a literal True would compile everything anew
    for e in range(len(eps)):
        F[0, 0], F[1, 1], F[0, 1] = 1.0 + eps[e, 0], 1.0 + eps[e, 1], 0.5 * eps[e, 2]
        F[1, 0], stretch, psi, converged = F[0, 1], across[e], np.inf, False
        for _ in range(MOST_ITERATIONS):
            F[2, 2] = stretch
            _turn(axes[e], F, G)
            psi = evaluate(code, c, G, 0.0, P, A, always)
            if not psi < np.inf:
                return np.inf
            pull, stiff = _component(axes[e], P, 2, 2), _second_component(axes[e], A, 2, 2, 2, 2)
            step = -pull / stiff if stiff > 0.0 else (-0.1 if pull > 0.0 else 0.1) * stretch
            step = max(-0.5 * stretch, min(step, stretch))
            stretch += step
            converged = abs(step) < CONVERGED_STEP * stretch
            if converged:
                break
        if not converged:
            return np.inf
        across[e] = stretch
        _strain_tangent(axes[e], A, Z)
        N[e, 0] = _component(axes[e], P, 0, 0)
        N[e, 1] = _component(axes[e], P, 1, 1)
        N[e, 2] = 0.5 * (_component(axes[e], P, 0, 1) + _component(axes[e], P, 1, 0))
        pull = _component(axes[e], P, 2, 2)
        energy += volume[e] * (psi - 0.5 * pull * pull / Z[3, 3])
        for i in range(3):  # what the last, tiny step still changes
            N[e, i] = volume[e] * (N[e, i] - Z[i, 3] * pull / Z[3, 3])
        if tangent:
            for i in range(3):
                for j in range(3):
                    C[e, i, j] = volume[e] * (Z[i, j] - Z[i, 3] * Z[3, j] / Z[3, 3])
    return energy


@kernel
def _strain_tangent(Q, A, Z):
    """Z (4, 4): second derivatives of ψ by (ε₁₁, ε₂₂, 2ε₁₂, F₃₃) in the axes Q."""
    for p in range(4):
        for q in range(p + 1):
            total = 0.0
            for s in range(2 if p == 2 else 1):  # F₁₂ and F₂₁, half of 2ε₁₂ each
                for t in range(2 if q == 2 else 1):
                    i, j = (s, 1 - s) if p == 2 else (min(p, 2), min(p, 2))
                    k, l = (t, 1 - t) if q == 2 else (min(q, 2), min(q, 2))
                    total += _second_component(Q, A, i, j, k, l)
            Z[p, q] = Z[q, p] = total * (0.5 if p == 2 else 1.0) * (0.5 if q == 2 else 1.0)


@kernel
def _component(Q, X, i, j):
    """(QᵀXQ)_ij."""
    total = 0.0
    for a in range(3):
        for b in range(3):
            total += Q[a, i] * X[a, b] * Q[b, j]
    return total


@kernel
def _second_component(Q, A, i, j, k, l):
    """∂P_ij/∂F_kl in the axes Q, from A (9, 9) in those of space."""
    total = 0.0
    for a in range(3):
        for b in range(3):
            for c in range(3):
                for d in range(3):
                    total += Q[a, i] * Q[b, j] * Q[c, k] * Q[d, l] * A[3 * a + b, 3 * c + d]
    return total


@kernel
def _turn(Q, X, out):
    """out = Q X Qᵀ."""
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                for l in range(3):
                    total += Q[i, k] * X[k, l] * Q[j, l]
            out[i, j] = total
