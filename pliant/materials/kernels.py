"""The three compiled functions a body calls at its quadrature points; they branch on the code of the law.

The energy of an element is Σ_g w_g ψ_loc(F_g) + V U(ϑ̄), ϑ̄ the mean of the dilatation ϑ(F_g) over the element.
ψ_loc comes from `evaluate`, ϑ from `dilatation`, U from `volumetric`; with s = U'(ϑ̄) `evaluate` returns the
whole stress of the point and the part of the tangent that does not couple points (the rest is
U''(ϑ̄)/V Σ_g w_g D_g ⊗ Σ_h w_h D_h, D = ∂ϑ/∂F).

From compiled code pass `code` and `tangent` as variables: numba compiles everything anew for a literal True.
"""

from __future__ import annotations

from .anisotropic import anisotropic
from .codes import ANISOTROPIC, HOOKE, HOOKE_SMALL, NEO_HOOKEAN, OGDEN, SAINT_VENANT
from .hooke import corotated, small_strain
from .isochoric import isochoric
from .material import MEAN
from .neo_hookean import log_volumetric, neo_hookean
from .ogden import ogden
from .saint_venant import green_lagrange, saint_venant
from .tensors import cofactor, kernel, polar_rotation


@kernel
def evaluate(code, c, F, s, P, A, tangent):
    """ψ_loc(F) [J/m³]; writes P = ∂ψ_loc/∂F + s ∂ϑ/∂F (3,3) [Pa] and, if tangent, A = ∂P/∂F at fixed s.

    A (9,9) is row-major, A[3i+j, 3k+l] = ∂P_ij/∂F_kl. Returns inf (P and A zero) where F is inadmissible.
    """
    if code == HOOKE:
        return corotated(c, F, s, P, A, tangent)
    if code == HOOKE_SMALL:
        return small_strain(c, F, s, P, A, tangent)
    if code == NEO_HOOKEAN:
        return neo_hookean(c, F, s, P, A, tangent)
    if code == SAINT_VENANT:
        return saint_venant(c, F, s, P, A, tangent)
    if code == ANISOTROPIC:
        return anisotropic(c, F, s, P, A, tangent)
    if code == OGDEN:
        return ogden(c, F, s, P, A, tangent)
    return isochoric(code, c, F, s, P, A, tangent)


@kernel
def dilatation(code, F, D):
    """ϑ(F), one at rest, and D = ∂ϑ/∂F (3,3).

    Corotational: ϑ = tr(RᵀF) − 2, D = R. Small strain: ϑ = tr F − 2, D = I. St Venant and anisotropic:
    ϑ = 1 + tr E, D = F. Others: ϑ = J, D = cof F. Each is the measure in which the law's U is exact.
    """
    if code == HOOKE:
        polar_rotation(F, D)
        theta = -2.0
        for i in range(3):
            for j in range(3):
                theta += D[i, j] * F[i, j]
        return theta
    if code == HOOKE_SMALL:
        for i in range(3):
            for j in range(3):
                D[i, j] = 1.0 if i == j else 0.0
        return F[0, 0] + F[1, 1] + F[2, 2] - 2.0
    if code in (SAINT_VENANT, ANISOTROPIC):
        for i in range(3):
            for j in range(3):
                D[i, j] = F[i, j]
        return 1.0 + green_lagrange(F, 0, 0) + green_lagrange(F, 1, 1) + green_lagrange(F, 2, 2)
    return cofactor(F, D)


@kernel
def volumetric(code, c, theta):
    """(U, U', U'') [J/m³] of the mean dilatation; zeros for parameters(split=False)."""
    if code == NEO_HOOKEAN:
        return log_volumetric(c, theta)
    gap = theta - 1.0
    return 0.5 * c[MEAN] * gap * gap, c[MEAN] * gap, c[MEAN]
