"""Small dense symmetric matrices, factorised: the inner matrix of a change of low rank, and what it does to condensed rows."""

from __future__ import annotations

import numpy as np

from pliant.algebra.factor import Condensation, NotPositiveDefinite, Reals
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
        """What is left of the first m rows of W and d, and `back` (k, m + 1), where Y and e are the rows `mine` (k,) of them.

        W' = W − Yᵀ A⁻¹ Y,      d' = d − Yᵀ A⁻¹ e,      back = A⁻¹ [Y e]
        """
        across = W[mine, :m]
        back = self.solve(np.column_stack([across, d[mine]]))
        left = W[:m, :m] - across.T @ back[:, :m]
        return 0.5 * (left + left.T), d[:m] - across.T @ back[:, m], back


def soften(found: Condensation, rows: Indices, stiff: Reals) -> Condensation:
    """Of A − Σ stiff hᵀh instead of A, where h are some `rows` (k,) of the condensed ones, stiff (k,) > 0: efforts λ act on A as
    λ + stiff Hx. Raises NotPositiveDefinite where A does not stand that."""
    W, motion, definite = softened(found.W, found.motion, rows, stiff)
    if not definite:
        raise NotPositiveDefinite(-1)
    whole = lambda lam, load: _whole(W, motion, rows, stiff, lam, load)
    return Condensation(
        W, motion, lambda lam: found.answer(whole(lam, 1.0)), lambda lam: found.response(whole(lam, 0.0))
    )


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
def softened(W, d, rows, stiff):
    """W (m, m) and d (m,) of A − Σ stiff hᵀh, from those of A, where h are some `rows` (k,) of the condensed ones; and whether that is
    positive definite if A is.

        W' = W + Yᵀ (1/stiff − W_rr)⁻¹ Y,      d' = d + Yᵀ (1/stiff − W_rr)⁻¹ d_r,      Y = W_r
    """
    m, k = len(d), len(rows)
    L, x = np.empty((k, k)), np.empty((k, m + 1))
    left, rest = np.empty((m, m)), np.empty(m)
    for i in range(k):
        for j in range(i + 1):
            L[i, j] = (1.0 / stiff[i] if i == j else 0.0) - W[rows[i], rows[j]]
        if not L[i, i] > 0.0:
            return left, rest, False
        for j in range(m):
            x[i, j] = W[rows[i], j]
        x[i, m] = d[rows[i]]
    if not lower(L, 0.0):
        return left, rest, False
    substitute(L, x)
    for a in range(m):
        rest[a] = d[a]
        for i in range(k):
            rest[a] += W[rows[i], a] * x[i, m]
        for b in range(a + 1):
            value = W[a, b]
            for i in range(k):
                value += 0.5 * (W[rows[i], a] * x[i, b] + W[rows[i], b] * x[i, a])
            left[a, b] = left[b, a] = value
    return left, rest, True


@kernel
def _whole(W, motion, rows, stiff, lam, load):
    """λ + stiff Hx (m,), where Hx = Wλ + load · motion."""
    total = lam.copy()
    for i in range(len(rows)):
        x = load * motion[rows[i]]
        for j in range(len(lam)):
            x += W[rows[i], j] * lam[j]
        total[rows[i]] += stiff[i] * x
    return total
