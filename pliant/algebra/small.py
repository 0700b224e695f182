"""Small dense symmetric matrices, factorised: LDLᵀ by LAPACK."""

from __future__ import annotations

import numpy as np

from pliant.algebra.factor import NotPositiveDefinite, Reals
from pliant.algebra.pattern import Indices

BLOCK = 64  # columns


class Symmetric:
    """A (k, k) as L D Lᵀ, with pivots of one or two rows; `positive` counts its positive eigenvalues."""

    def __init__(self, A: Reals) -> None:
        from scipy.linalg.lapack import dsytrf  # type: ignore[attr-defined]  # slow to import

        self._factors, self._pivots, info = A, np.zeros(0, int), 0
        if len(A):  # with memory for a block of columns at a time, without which LAPACK takes one by one
            self._factors, self._pivots, info = dsytrf(A, lower=1, lwork=BLOCK * len(A))
        if info > 0:
            raise NotPositiveDefinite(-1, indefinite=True)
        single = self._pivots > 0  # a pivot of two rows has an eigenvalue of either sign
        self.positive = int((np.diagonal(self._factors)[single] > 0).sum() + (~single).sum() // 2)

    def solve(self, b: Reals) -> Reals:
        """A⁻¹ b for b (k,) or (k, m)."""
        from scipy.linalg.lapack import dsytrs  # type: ignore[attr-defined]

        return dsytrs(self._factors, self._pivots, b, lower=1)[0] if b.size else np.array(b)

    def eliminated(self, W: Reals, d: Reals, chosen: Indices, m: int) -> tuple[Reals, Reals, Reals]:
        """The first m rows of W and d after those `chosen` (k,) are eliminated with A, and `back` (k, m + 1).

        With Y = W[chosen, :m] and e = d[chosen],

            W' = W − Yᵀ A⁻¹ Y,      d' = d − Yᵀ A⁻¹ e,      back = A⁻¹ [Y e]
        """
        Y = W[chosen, :m]
        back = self.solve(np.column_stack([Y, d[chosen]]))
        left = W[:m, :m] - Y.T @ back[:, :m]
        return 0.5 * (left + left.T), d[:m] - Y.T @ back[:, m], back
