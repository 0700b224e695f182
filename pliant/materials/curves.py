"""Stress–stretch curves of a homogeneous sample, for plots and for comparison with a tensile test."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConvergenceError, InputError
from .material import Isotropic, Material

Array = NDArray[np.float64]

MOST_ITERATIONS = 60  # of Newton's method for the free entries of F
TYPICAL_POISSON = 0.3  # of materials that have no single ratio
NO_STRESS = 1e-12  # of the largest modulus: the free faces count as free
LEAST_STIFFNESS = 1e-10  # of the largest eigenvalue of the tangent, to which smaller ones are raised
SUFFICIENT_DECREASE = 1e-4  # of the slope times the step length, in the line search (Armijo)
SHORTEST_STEP = 1e-10  # step length at which the line search ends
ROUNDING = 1e-14  # of the energy, and of F: smaller changes are none
# The loaded line stays on its axis, so F can be upper triangular; its other entries are free (zero stress).
_UNIAXIAL_FREE = np.array([1, 2, 4, 5, 8])
_BIAXIAL_FREE = np.array([2, 5, 8])


def uniaxial(
    material: Material, stretch: ArrayLike, direction: ArrayLike = (1.0, 0.0, 0.0)
) -> NDArray[np.float64]:
    """Nominal stress (force over rest area) [Pa] at the given stretches, lateral faces free.

    direction (3,): the axis pulled, which matters for anisotropic materials.
    """
    if _is_incompressible(material):
        return _incompressible_curve(material, stretch, lateral=-0.5)
    Q = _frame(direction)
    return _curve(material, stretch, Q, loaded=np.array([0]), free=_UNIAXIAL_FREE)


def equibiaxial(material: Material, stretch: ArrayLike) -> Array:
    """Nominal stress [Pa] along x of a sheet stretched equally along x and y, free along z."""
    if _is_incompressible(material):
        return _incompressible_curve(material, stretch, lateral=-2.0)
    return _curve(material, stretch, np.eye(3), loaded=np.array([0, 4]), free=_BIAXIAL_FREE)


def _is_incompressible(material: Material) -> bool:
    return isinstance(material, Isotropic) and math.isinf(material.bulk_modulus)


def _incompressible_curve(material: Material, stretch: ArrayLike, lateral: float) -> Array:
    """dW/dλ per loaded axis at unit volume, the free stretches being λ^lateral: the pressure drops out."""
    from .incompressible import Incompressible

    if not material.incompressible:
        material = Incompressible(material)  # pyright: ignore[reportArgumentType]
    x = _checked(stretch)
    F = np.zeros((*x.shape, 3, 3))
    F[..., 0, 0] = x
    F[..., 2, 2] = x**lateral
    F[..., 1, 1] = x if lateral == -2.0 else x**lateral
    P = material.stress(F)
    return (P[..., 0, 0] - P[..., 2, 2] * F[..., 2, 2] / x)[()]


def _curve(material: Material, stretch: ArrayLike, Q: Array, *, loaded: NDArray, free: NDArray) -> Array:
    """Walk outward from stretch one on both sides, each state starting from the last."""
    x = _checked(stretch)
    flat, stress = x.ravel(), np.empty(x.size)
    for side in (flat >= 1.0, flat < 1.0):
        F, last = np.eye(3), 1.0
        for k in np.flatnonzero(side)[np.argsort(np.abs(np.log(flat[side])))]:
            steps = max(1, math.ceil(abs(math.log(flat[k] / last)) / 0.1))
            for target in np.geomspace(last, flat[k], steps + 1)[1:]:
                F = F * _thinning(material, target / last, len(loaded))
                F.flat[loaded] = last = target
                F, P = _relax(material, F, Q, free)
                stress[k] = P[0, 0]
    return stress.reshape(x.shape)[()]


def _thinning(material: Material, ratio: float, axes: int) -> float:
    """A guess of how much the free directions contract while the loaded ones grow by `ratio`."""
    nu = material.poisson_ratio if isinstance(material, Isotropic) else TYPICAL_POISSON
    return ratio ** (-nu if axes == 1 else -2.0 * nu / (1.0 - nu))


def _relax(material: Material, F: Array, Q: Array, free: NDArray) -> tuple[Array, Array]:
    """F and P on the axes Q that minimise ψ(Q F Qᵀ) over the free entries of F: Newton with a line search."""
    F = F.copy()
    energy = material.energy(Q @ F @ Q.T)
    for _ in range(MOST_ITERATIONS):
        P = Q.T @ material.stress(Q @ F @ Q.T) @ Q
        A = np.einsum("ai,bj,abcd,ck,dl->ijkl", Q, Q, material.tangent(Q @ F @ Q.T), Q, Q).reshape(9, 9)
        gradient = P.ravel()[free]
        if np.abs(gradient).max() <= NO_STRESS * np.abs(A).max():
            return F, P
        w, V = np.linalg.eigh(A[np.ix_(free, free)])
        w = np.maximum(np.abs(w), LEAST_STIFFNESS * np.abs(w).max())
        step = -V @ (V.T @ gradient / w)
        length, slope = 1.0, float(gradient @ step)
        while length > SHORTEST_STEP:
            trial = F.copy()
            trial.flat[free] += length * step
            value = material.energy(Q @ trial @ Q.T)
            if value <= energy + SUFFICIENT_DECREASE * length * slope + ROUNDING * abs(energy):
                break
            length *= 0.5
        F, energy = trial, value
        if length * np.abs(step).max() < ROUNDING:
            return F, Q.T @ material.stress(Q @ F @ Q.T) @ Q
    raise ConvergenceError(f"{type(material).__name__}: no stable state with free faces at F = {F.tolist()}.")


def _checked(stretch: ArrayLike) -> Array:
    x = np.asarray(stretch, dtype=float)
    if not (np.all(np.isfinite(x)) and np.all(x > 0)):
        raise InputError("stretch", expected="positive finite numbers (1 at rest)", got=stretch)
    return x


def _frame(direction: ArrayLike) -> Array:
    """A rotation whose first column is the direction."""
    d = np.asarray(direction, dtype=float)
    length = np.linalg.norm(d)
    if d.shape != (3,) or not length > 0:
        raise InputError("direction", expected="a vector of three numbers", got=direction)
    Q = np.linalg.qr(np.column_stack([d / length, np.eye(3)]))[0]
    Q *= np.sign(Q[:, 0] @ d)
    Q[:, 2] *= np.sign(np.linalg.det(Q))
    return Q
