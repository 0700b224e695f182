"""A factor after a change of low rank: A + UᵀCU, by Woodbury's formula on the factor of A.

    (A + UᵀCU)⁻¹ = A⁻¹ − A⁻¹Uᵀ (C⁻¹ + UA⁻¹Uᵀ)⁻¹ UA⁻¹

For couplings that the pattern of A has no room for, such as those of bodies that touch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.factor import Condensation, Factor, NotPositiveDefinite, Reals, Rows
from pliant.algebra.rows import SparseRows


class Updated(Factor):
    """A + UᵀCU from the factor of A, sparse rows U (k, ndof) and C⁻¹ (k, k), or (k,) if it is diagonal.

    The matrix [A Uᵀ; U −C⁻¹] has the same negative eigenvalues whichever of its blocks is eliminated first: that gives their
    number here. Unless `indefinite`, the first use raises NotPositiveDefinite if there are some.
    """

    def __init__(self, factor: Factor, U: SparseRows, C_inverse: Reals, *, indefinite: bool = False) -> None:
        self.factor, self.symbolic, self.U = factor, factor.symbolic, U
        self.smallest_pivot_ratio = factor.smallest_pivot_ratio
        self._C_inverse, self._indefinite = C_inverse, indefinite
        self._inner: Symmetric | None = None  # C⁻¹ + UA⁻¹Uᵀ, known with the first compliance
        self._negative = 0

    @property
    def negative(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Negative eigenvalues."""
        self._closed()
        return self._negative

    @property
    def pivot_ratios(self) -> Reals:
        """Of A."""
        return self.factor.pivot_ratios

    def solve(self, b: ArrayLike) -> Reals:
        """(A + UᵀCU)⁻¹ b for b (ndof,)."""
        x = self.factor.solve(b)
        return x - self.factor.solve(self.U.transpose_dot(self._closed().solve(self.U.dot(x))))

    def compliance(self, H: Rows) -> Reals:
        """W = H (A + UᵀCU)⁻¹ Hᵀ (m, m)."""
        H = self._rows(H)
        W, m = (
            self.factor.compliance(SparseRows(H.indptr, H.indices, H.data, H.shape).above(self.U)),
            H.shape[0],
        )
        W = W[:m, :m] - W[:m, m:] @ self._closed(W[m:, m:]).solve(W[m:, :m])
        return 0.5 * (W + W.T)

    def condense(self, H: SparseRows, b: Reals, within: Any = None) -> Condensation:
        """As that of any factor, with one solve for b and one for each answer: U takes part as rows of their own.

        within (·,): the rows of H that are the first rows of U.
        """
        m, within = H.shape[0], np.zeros(0, np.int64) if within is None else within
        rest = np.arange(len(within), len(self._C_inverse))
        both = H.above(self.U.take(rest)) if len(rest) else H
        mine = np.concatenate([within, m + rest - len(within)])
        W, x = self.factor.compliance(both), self.factor.solve(b)
        inner, across, seen = self._closed(W[np.ix_(mine, mine)]), W[mine, :m], both.dot(x)
        back = inner.solve(np.column_stack([across, seen[mine]]))
        W_less = W[:m, :m] - across.T @ back[:, :m]

        def response(lam: Reals, load: float = 0.0) -> Reals:
            efforts = np.zeros(len(W))
            efforts[:m] = lam
            efforts[mine] -= back[:, :m] @ lam + load * back[:, m]
            return self.factor.solve(both.transpose_dot(efforts))

        motion = seen[:m] - across.T @ back[:, m]
        return Condensation(0.5 * (W_less + W_less.T), motion, lambda lam: x + response(lam, 1.0), response)

    def _closed(self, W: Reals | None = None) -> Symmetric:
        """C⁻¹ + W, with W = UA⁻¹Uᵀ if that is known."""
        if self._inner is None:
            W, C_inverse = self.factor.compliance(self.U) if W is None else W, self._C_inverse
            diagonal = C_inverse.ndim == 1
            self._inner = Symmetric(W + (np.diag(C_inverse) if diagonal else C_inverse))
            own = int((C_inverse > 0.0).sum()) if diagonal else Symmetric(C_inverse).positive
            self._negative = self.factor.negative + self._inner.positive - own
        if self._negative > 0 and not self._indefinite:
            raise NotPositiveDefinite(-1)
        return self._inner


class Symmetric:
    """A small symmetric matrix as L D Lᵀ, with pivots of one or two rows; `positive` counts its positive eigenvalues."""

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
