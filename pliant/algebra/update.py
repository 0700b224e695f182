"""A factor after a change of low rank: A + UᵀCU, by Woodbury's formula on the factor of A.

    (A + UᵀCU)⁻¹ = A⁻¹ − A⁻¹Uᵀ (C⁻¹ + UA⁻¹Uᵀ)⁻¹ UA⁻¹

For couplings that the pattern of A does not contain, such as those of bodies that touch. C⁻¹ + UA⁻¹Uᵀ is
called the capacitance matrix.
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

    The matrix [A Uᵀ; U −C⁻¹] has as many negative eigenvalues whichever of its blocks is eliminated first:
    that gives their number for A + UᵀCU. Unless `indefinite`, the first use raises NotPositiveDefinite if
    there are some.
    """

    def __init__(self, factor: Factor, U: SparseRows, C_inverse: Reals, *, indefinite: bool = False) -> None:
        self.factor, self.symbolic, self.U = factor, factor.symbolic, U
        self.smallest_pivot_ratio = factor.smallest_pivot_ratio
        self._C_inverse, self._indefinite = C_inverse, indefinite
        # The capacitance matrix, and the rows it was computed with: U stands at the given places among them.
        self._capacitance: Symmetric | None = None
        self._rows_with_U: tuple[Half, Indices] | None = None
        self._negative = 0

    @property
    def negative(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many eigenvalues of A + UᵀCU are negative."""
        self._factorised()
        return self._negative

    @property
    def plain(self) -> Factor:
        """The factor of A alone."""
        return self.factor

    @property
    def pivot_ratios(self) -> Reals:
        """Those of A."""
        return self.factor.pivot_ratios

    def solve(self, b: ArrayLike) -> Reals:
        """(A + UᵀCU)⁻¹ b for b (ndof,)."""
        capacitance = self._factorised()
        assert self._rows_with_U is not None
        rows, places = self._rows_with_U
        loaded, efforts = rows.loaded(np.asarray(b, float)), np.zeros(len(rows.W))
        efforts[places] = -capacitance.solve(loaded.motion[places])
        return loaded.answer(efforts)

    def compliance(self, H: Rows) -> Reals:
        """W = H (A + UᵀCU)⁻¹ Hᵀ (m, m)."""
        H = self._rows(H)
        rows = SparseRows(H.indptr, H.indices, H.data, H.shape)
        return self.condense(rows, np.zeros(H.shape[1])).W

    def condense(self, H: SparseRows, b: Reals) -> Condensation:
        """As that of any factor: the rows of U are condensed with those of H and then eliminated."""
        m = H.shape[0]
        rows, alone = self.factor.half_loaded(H.above(self.U), b)
        places = m + np.arange(len(self._C_inverse))
        W, motion, back = self._factorised((rows, places)).eliminated(rows.W, alone.motion, places, m)
        efforts = lambda lam, load: np.concatenate([lam, -(back[:, :m] @ lam + load * back[:, m])])
        return Condensation(
            W,
            motion,
            lambda lam: alone.answer(efforts(lam, 1.0)),
            lambda lam: alone.response(efforts(lam, 0.0)),
        )

    def _factorised(self, rows_with_U: tuple[Half, Indices] | None = None) -> Symmetric:
        """The capacitance matrix, from rows of which U are those at the given places, if such are at hand."""
        if self._capacitance is None:
            if rows_with_U is None:
                rows_with_U = self.factor.half(self.U), np.arange(len(self._C_inverse))
            rows, places = self._rows_with_U = rows_with_U
            C_inverse, diagonal = self._C_inverse, self._C_inverse.ndim == 1
            before = int((C_inverse > 0).sum()) if diagonal else Symmetric(C_inverse).positive
            C_inverse = np.diag(C_inverse) if diagonal else C_inverse
            self._capacitance = Symmetric(C_inverse + rows.W[np.ix_(places, places)])
            self._negative = self.factor.negative + self._capacitance.positive - before
        if self._negative > 0 and not self._indefinite:
            raise NotPositiveDefinite(-1)
        return self._capacitance
