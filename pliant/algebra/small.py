"""Small dense symmetric matrices, factorised: the inner matrix of a change of low rank, and what its rows take from others.

[W  Yᵀ] [λ]        W' = W − Yᵀ A⁻¹ Y,      d' = d − Yᵀ A⁻¹ e,      back = A⁻¹ [Y e]
[Y  A ] [μ]
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.factor import NotPositiveDefinite, Reals
from pliant.algebra.jit import inner, kernel
from pliant.algebra.pattern import Indices


class Symmetric:
    """A (k, k) as L D Lᵀ, with pivots of one or two rows; `positive` counts its positive eigenvalues."""

    def __init__(self, A: Reals) -> None:
        from scipy.linalg.lapack import dsytrf  # type: ignore[attr-defined]  # slow to import

        self._factors, self._pivots, info = dsytrf(A, lower=1) if len(A) else (A, np.zeros(0, int), 0)
        if info > 0:
            raise NotPositiveDefinite(-1, indefinite=True)
        single = self._pivots > 0  # a pivot of two rows has an eigenvalue of either sign
        self.positive = int((np.diagonal(self._factors)[single] > 0).sum() + (~single).sum() // 2)

    def solve(self, b: Reals) -> Reals:
        """A⁻¹ b for b (k,) or (k, m)."""
        from scipy.linalg.lapack import dsytrs  # type: ignore[attr-defined]

        return dsytrs(self._factors, self._pivots, b, lower=1)[0] if b.size else np.array(b)

    def eliminated(self, W: Reals, d: Reals, mine: Indices, m: int) -> tuple[Reals, Reals, Reals]:
        """W' (m, m) and d' (m,) of the first m rows of W and d, and `back` (k, m + 1); Y and e are the rows `mine` (k,) of W and d."""
        across = W[mine, :m]
        back = self.solve(np.column_stack([across, d[mine]]))
        left = W[:m, :m] - across.T @ back[:, :m]
        return 0.5 * (left + left.T), d[:m] - across.T @ back[:, m], back


class Negative:
    """A negative definite, as −L Lᵀ, in compiled loops: what modes in contact ask for in every step."""

    positive = 0

    def __init__(self, L: Reals) -> None:
        self._L = L

    def solve(self, b: Reals) -> Reals:
        """A⁻¹ b for b (k,)."""
        return _solved(self._L, b)

    def eliminated(self, W: Reals, d: Reals, mine: Indices, m: int) -> tuple[Reals, Reals, Reals]:
        """See `Symmetric`."""
        return _eliminated(self._L, W, d, mine, m)


def factorised(W: Reals, mine: Indices, C_inverse: Reals) -> Symmetric | Negative:
    """C⁻¹ + W (k, k) of the rows `mine` of W, C⁻¹ (k, k), or (k,) if it is diagonal."""
    if C_inverse.ndim == 1:
        L, definite = _negated(W, mine, C_inverse)
        if definite:
            return Negative(L)
    A = W[np.ix_(mine, mine)]
    return Symmetric(A + (np.diag(C_inverse) if C_inverse.ndim == 1 else C_inverse))


@inner
def lower(A, dependent):
    """A (k, k) ← L with A = LLᵀ, in its lower half; False if a pivot is not above that share `dependent` of its diagonal entry."""
    for i in range(len(A)):
        for j in range(i + 1):
            value = A[i, j]
            for n in range(j):
                value -= A[i, n] * A[j, n]
            if i > j:
                A[i, j] = value / A[j, j]
            elif value > dependent * A[i, i]:
                A[i, i] = np.sqrt(value)
            else:
                return False
    return True


@inner
def substitute(L, x):
    """x (k, m) ← (LLᵀ)⁻¹ x."""
    k, m = x.shape
    for i in range(k):
        for n in range(i):
            for j in range(m):
                x[i, j] -= L[i, n] * x[n, j]
        for j in range(m):
            x[i, j] /= L[i, i]
    for i in range(k - 1, -1, -1):
        for n in range(i + 1, k):
            for j in range(m):
                x[i, j] -= L[n, i] * x[n, j]
        for j in range(m):
            x[i, j] /= L[i, i]


@kernel
def _negated(W, mine, diagonal):
    """L (k, k) of −(W + diagonal) on the rows `mine`, and whether that is positive definite."""
    k = len(mine)
    L = np.empty((k, k))
    for i in range(k):
        for j in range(i + 1):
            L[i, j] = -W[mine[i], mine[j]] - (diagonal[i] if i == j else 0.0)
        if not L[i, i] > 0.0:
            return L, False
    return L, lower(L, 0.0)


@kernel
def _solved(L, b):
    x = (-b).reshape(-1, 1)
    substitute(L, x)
    return x[:, 0].copy()


@kernel
def _eliminated(L, W, d, mine, m):
    k = len(mine)
    back, left, rest = np.empty((k, m + 1)), np.empty((m, m)), np.empty(m)
    for i in range(k):
        for j in range(m):
            back[i, j] = -W[mine[i], j]
        back[i, m] = -d[mine[i]]
    substitute(L, back)
    for a in range(m):
        rest[a] = d[a]
        for i in range(k):
            rest[a] -= W[mine[i], a] * back[i, m]
        for b in range(a + 1):
            value = 0.5 * (W[a, b] + W[b, a])
            for i in range(k):
                value -= 0.5 * (W[mine[i], a] * back[i, b] + W[mine[i], b] * back[i, a])
            left[a, b] = left[b, a] = value
    return left, rest, back
