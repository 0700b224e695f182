"""Kernel of the laws written with isochoric invariants: ψ = w(Ī₁) + c₀₁(Ī₂ − 3) + K/2 (J − 1)²."""

from __future__ import annotations

from .arruda_boyce import arruda_boyce
from .codes import ARRUDA_BOYCE, MOONEY_RIVLIN
from .material import LOCAL
from .mooney_rivlin import add_second_invariant, mooney_rivlin
from .tensors import (
    LARGEST_ENERGY,
    VOLUME_FLOOR,
    add_volume_tangent,
    cofactor,
    inadmissible,
    inner,
    set_diagonal,
)
from .yeoh import yeoh


@inner
def _first_invariant_law(code, c, i1):
    """(w, w', w'') of Ī₁."""
    if code == MOONEY_RIVLIN:
        return mooney_rivlin(c, i1)
    if code == ARRUDA_BOYCE:
        return arruda_boyce(c, i1)
    return yeoh(c, i1)


@inner
def _first_invariant_tangent(A, F, C, along, scale, cross):
    """A = scale I + along F⊗F + cross (F⊗C + C⊗F)."""
    set_diagonal(A, scale)
    for i in range(9):
        f, c = F[i // 3, i % 3], C[i // 3, i % 3]
        p, q = along * f + cross * c, cross * f
        for k in range(3):
            A[i, 3 * k] += p * F[k, 0] + q * C[k, 0]
            A[i, 3 * k + 1] += p * F[k, 1] + q * C[k, 1]
            A[i, 3 * k + 2] += p * F[k, 2] + q * C[k, 2]


@inner
def isochoric(code, c, F, s, P, A, tangent):
    """P = 2w'a F + (K(J − 1) + s − 2w'Ī₁/3J) cof F + the Ī₂ part, with a = J^(−2/3) and Ī₁ = a F:F."""
    K = c[LOCAL]
    J = cofactor(F, P)
    if not J > VOLUME_FLOOR:
        return inadmissible(P, A, tangent)
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += F[i, j] * F[i, j]
    a = J ** (-2.0 / 3.0)
    i1 = a * square
    w, w1, w2 = _first_invariant_law(code, c, i1)
    rate = -2.0 * i1 / (3.0 * J)  # ∂Ī₁/∂J
    g = K * (J - 1.0) + s + w1 * rate
    if tangent:
        slope = K + w2 * rate * rate - w1 * rate * 5.0 / (3.0 * J)
        cross = 2.0 * a * (w2 * rate - 2.0 * w1 / (3.0 * J))
        _first_invariant_tangent(A, F, P, 4.0 * w2 * a * a, 2.0 * w1 * a, cross)
        add_volume_tangent(A, F, P, g, slope)
    for i in range(3):
        for j in range(3):
            P[i, j] = 2.0 * w1 * a * F[i, j] + g * P[i, j]
    psi = w + 0.5 * K * (J - 1.0) ** 2
    if code == MOONEY_RIVLIN:
        psi += add_second_invariant(c, F, J, square, P, A, tangent)
    if not abs(psi) < LARGEST_ENERGY:
        return inadmissible(P, A, tangent)
    return psi
