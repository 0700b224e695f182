"""A factor after a change of low rank: A + UᵀCU, by Woodbury's formula on the factor of A.

    (A + UᵀCU)⁻¹ = A⁻¹ − A⁻¹Uᵀ (C⁻¹ + UA⁻¹Uᵀ)⁻¹ UA⁻¹

For couplings that the pattern of A has no room for, such as those of bodies that touch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.factor import Condensation, Factor, Half, NotPositiveDefinite, Reals, Rows
from pliant.algebra.pattern import Indices
from pliant.algebra.rows import SparseRows
from pliant.algebra.small import Symmetric


class Updated(Factor):
    """A + UᵀCU from the factor of A, sparse rows U (k, ndof) and C⁻¹ (k, k), or (k,) if it is diagonal.

    The matrix [A Uᵀ; U −C⁻¹] has the same negative eigenvalues whichever of its blocks is eliminated first: that gives their
    number here. Unless `indefinite`, the first use raises NotPositiveDefinite if there are some.
    """

    def __init__(self, factor: Factor, U: SparseRows, C_inverse: Reals, *, indefinite: bool = False) -> None:
        self.factor, self.symbolic, self.U = factor, factor.symbolic, U
        self.smallest_pivot_ratio = factor.smallest_pivot_ratio
        self._C_inverse, self._indefinite = C_inverse, indefinite
        # C⁻¹ + UA⁻¹Uᵀ, and the rows that were condensed first, with the places of U's among them.
        self._inner: Symmetric | None = None
        self._seen: tuple[Half, Indices] | None = None
        self._negative = 0

    @property
    def negative(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Negative eigenvalues."""
        self._closed()
        return self._negative

    @property
    def plain(self) -> Factor:
        """That of A alone."""
        return self.factor

    @property
    def pivot_ratios(self) -> Reals:
        """Of A."""
        return self.factor.pivot_ratios

    def solve(self, b: ArrayLike) -> Reals:
        """(A + UᵀCU)⁻¹ b for b (ndof,)."""
        inner = self._closed()
        assert self._seen is not None
        (rows, mine), efforts = self._seen, np.zeros(len(self._seen[0].W))
        found = rows.loaded(np.asarray(b, float))
        efforts[mine] = -inner.solve(found.motion[mine])
        return found.answer(efforts)

    def compliance(self, H: Rows) -> Reals:
        """W = H (A + UᵀCU)⁻¹ Hᵀ (m, m)."""
        H = self._rows(H)
        rows = SparseRows(H.indptr, H.indices, H.data, H.shape)
        return self.condense(rows, np.zeros(H.shape[1])).W

    def condense(self, H: SparseRows, b: Reals) -> Condensation:
        """As that of any factor; U takes part as rows of their own."""
        m = H.shape[0]
        rows, alone = self.factor.begun(H.above(self.U), b)
        mine = m + np.arange(len(self._C_inverse))
        inner = self._closed((rows, mine))
        W, motion, back = inner.eliminated(rows.W, alone.motion, mine, m)
        efforts = lambda lam, load: np.concatenate([lam, -(back[:, :m] @ lam + load * back[:, m])])
        return Condensation(
            W,
            motion,
            lambda lam: alone.answer(efforts(lam, 1.0)),
            lambda lam: alone.response(efforts(lam, 0.0)),
        )

    def _closed(self, seen: tuple[Half, Indices] | None = None) -> Symmetric:
        """C⁻¹ + UA⁻¹Uᵀ; seen: rows of which U are those at the given places, if such are known."""
        if self._inner is None:
            rows, mine = self._seen = seen or (self.factor.half(self.U), np.arange(len(self._C_inverse)))
            C_inverse, diagonal = self._C_inverse, self._C_inverse.ndim == 1
            positive = int((C_inverse > 0).sum()) if diagonal else Symmetric(C_inverse).positive
            C_inverse = np.diag(C_inverse) if diagonal else C_inverse
            self._inner = Symmetric(C_inverse + rows.W[np.ix_(mine, mine)])
            self._negative = self.factor.negative + self._inner.positive - positive
        if self._negative > 0 and not self._indefinite:
            raise NotPositiveDefinite(-1)
        return self._inner
