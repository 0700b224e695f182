"""A factor after a change of low rank: A + UᵀCU, by Woodbury's formula on the factor of A.

    (A + UᵀCU)⁻¹ = A⁻¹ − A⁻¹Uᵀ (C⁻¹ + UA⁻¹Uᵀ)⁻¹ UA⁻¹

For couplings that the pattern of A has no room for, such as those of bodies that touch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.factor import Factor, NotPositiveDefinite, Reals, Rows
from pliant.algebra.rows import SparseRows


class Updated(Factor):
    """A + UᵀCU from the factor of A, sparse rows U (k, ndof) and C⁻¹ (k, k).

    The matrix [A Uᵀ; U −C⁻¹] has the same negative eigenvalues whichever of its blocks is eliminated first: that gives their
    number here. Unless `indefinite`, the first use raises NotPositiveDefinite if there are some.
    """

    def __init__(self, factor: Factor, U: SparseRows, C_inverse: Reals, *, indefinite: bool = False) -> None:
        self.factor, self.symbolic, self.U = factor, factor.symbolic, U
        self.smallest_pivot_ratio = factor.smallest_pivot_ratio
        self._C_inverse, self._indefinite = C_inverse, indefinite
        self._inner: Reals | None = None  # C⁻¹ + UA⁻¹Uᵀ, known with the first compliance
        self._inverse: Reals | None = None
        self._negative = 0

    @property
    def negative(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Negative eigenvalues."""
        self._solved(np.zeros((len(self._C_inverse), 0)))
        return self._negative

    @property
    def pivot_ratios(self) -> Reals:
        """Of A."""
        return self.factor.pivot_ratios

    def solve(self, b: ArrayLike) -> Reals:
        """(A + UᵀCU)⁻¹ b for b (ndof,)."""
        x = self.factor.solve(b)
        return x - self.factor.solve(self.U.transpose_dot(self._solved(self.U.dot(x))))

    def compliance(self, H: Rows) -> Reals:
        """W = H (A + UᵀCU)⁻¹ Hᵀ (m, m)."""
        H = self._rows(H)
        both = SparseRows(H.indptr, H.indices, H.data, H.shape).above(self.U)
        W, m = self.factor.compliance(both), H.shape[0]
        self._close(W[m:, m:])
        W = W[:m, :m] - W[:m, m:] @ self._solved(W[m:, :m])
        return 0.5 * (W + W.T)

    def _solved(self, b: Reals) -> Reals:
        """(C⁻¹ + UA⁻¹Uᵀ)⁻¹ b."""
        if self._inner is None:
            self._close(self.factor.compliance(self.U))
        assert self._inner is not None
        if self._inverse is None:  # asked for several times
            self._inverse = np.asarray(np.linalg.inv(self._inner), np.float64)
        return np.asarray(self._inverse @ b, np.float64)

    def _close(self, W: Reals) -> None:
        """Take note of UA⁻¹Uᵀ."""
        if self._inner is not None:
            return
        self._inner = self._C_inverse + W
        self._negative = self.factor.negative + _positive(self._inner) - _positive(self._C_inverse)
        if self._negative > 0 and not self._indefinite:
            raise NotPositiveDefinite(-1)


def _positive(A: Reals) -> int:
    """How many eigenvalues are positive; all of them, where it has a Cholesky factor."""
    try:
        return len(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        pass
    return int((np.linalg.eigvalsh(A) > 0.0).sum())
