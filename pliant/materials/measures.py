"""Strain and stress measures of deformation gradients F and nominal stresses P, batched over (..., 3, 3).

J = det F, C = FᵀF, U = √C the right stretch, R = F U⁻¹. Stresses in Pa.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

Array = NDArray[np.floating]


def small_strain(F: ArrayLike) -> Array:
    """ε = ½(F + Fᵀ) − I; not frame indifferent."""
    F = _tensors(F)
    return 0.5 * (F + _t(F)) - np.eye(3)


def right_cauchy_green(F: ArrayLike) -> Array:
    """C = FᵀF."""
    F = _tensors(F)
    return _t(F) @ F


def green_lagrange(F: ArrayLike) -> Array:
    """E = ½(FᵀF − I) = ½(U² − I)."""
    return 0.5 * (right_cauchy_green(F) - np.eye(3))


def right_stretch(F: ArrayLike) -> Array:
    """U = √(FᵀF), symmetric positive."""
    return _spectral(F, lambda squares: np.sqrt(squares))


def biot(F: ArrayLike) -> Array:
    """U − I, the strain that corotational elasticity works with."""
    return right_stretch(F) - np.eye(3)


def hencky(F: ArrayLike) -> Array:
    """ln U, the logarithmic strain; −inf where a direction has collapsed."""
    with np.errstate(divide="ignore"):
        return _spectral(F, lambda squares: 0.5 * np.log(squares))


def principal_stretches(F: ArrayLike) -> Array:
    """λ₁ ≥ λ₂ ≥ λ₃ (..., 3), the singular values of F."""
    return np.linalg.svd(_tensors(F), compute_uv=False)


def rotation(F: ArrayLike) -> Array:
    """The rotation (det +1) nearest to F."""
    U, _, Vt = np.linalg.svd(_tensors(F))
    U[..., :, 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
    return U @ Vt


def second_piola_kirchhoff(F: ArrayLike, P: ArrayLike) -> Array:
    """S = F⁻¹ P."""
    return np.linalg.solve(_tensors(F), _tensors(P))


def cauchy(F: ArrayLike, P: ArrayLike) -> Array:
    """σ = P Fᵀ/J, the force on the deformed area."""
    F, P = _tensors(F), _tensors(P)
    return P @ _t(F) / np.linalg.det(F)[..., None, None]


def von_mises(stress: ArrayLike) -> Array:
    """√(3/2 s:s) of a symmetric stress, s its deviator (..., )."""
    stress = _tensors(stress)
    deviator = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
    return np.sqrt(1.5 * np.sum(deviator**2, axis=(-2, -1)))


def principal(tensor: ArrayLike) -> Array:
    """Eigenvalues of a symmetric stress or strain, largest first (..., 3)."""
    return np.linalg.eigvalsh(_tensors(tensor))[..., ::-1]


def pressure(stress: ArrayLike) -> Array:
    """p = −tr σ/3, positive in compression (..., )."""
    return -np.trace(_tensors(stress), axis1=-2, axis2=-1) / 3.0


def _spectral(F: ArrayLike, function) -> Array:
    """f(FᵀF) by its eigenvalues."""
    squares, V = np.linalg.eigh(right_cauchy_green(F))
    return (V * function(np.maximum(squares, 0.0))[..., None, :]) @ _t(V)


def _tensors(value: ArrayLike) -> Array:
    value = np.asarray(value, dtype=float)
    if value.shape[-2:] != (3, 3):
        raise InputError("tensor", expected="shape (..., 3, 3)", got=value.shape)
    return value


def _t(value: Array) -> Array:
    return np.swapaxes(value, -1, -2)
