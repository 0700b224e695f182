"""SciPy's SuperLU behind the same calls, for machines where the kernels cannot reach BLAS, and as a check."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import pliant.sparse as sp
from pliant.algebra.factor import Factor, Reals, Rows, Symbolic, check_data, failure
from pliant.algebra.ordering import minimum_degree
from pliant.algebra.pattern import Pattern


class SuperLUSymbolic(Symbolic):
    """Minimum-degree order and where every value goes in the permuted compressed columns."""

    def __init__(self, pattern: Pattern) -> None:
        order = minimum_degree(pattern)
        self.pattern = pattern
        self.dofs = (pattern.block * order[:, None] + np.arange(pattern.block)).ravel()
        blocks = (len(pattern.rows), pattern.block, pattern.block)
        number = np.arange(1.0, np.prod(blocks) + 1.0).reshape(blocks)  # from 1: zeros would be dropped
        permuted = sp.csc_array(pattern.to_csr(number)[self.dofs][:, self.dofs])
        self.indptr, self.indices = permuted.indptr, permuted.indices
        self.source = permuted.data.astype(np.int64) - 1

    def factorise(self, data: Reals, *, indefinite: bool = False) -> SuperLU:
        """See `pliant.algebra.factorise`."""
        return SuperLU(self, check_data(self.pattern, data), indefinite)


class SuperLU(Factor):
    """Factor of `SuperLUSymbolic`."""

    symbolic: SuperLUSymbolic

    def __init__(self, symbolic: SuperLUSymbolic, data: Reals, indefinite: bool) -> None:
        from scipy.sparse.linalg import splu  # slow to import

        n = symbolic.pattern.ndof
        self.symbolic = symbolic
        A = sp.csc_array((data[symbolic.source], symbolic.indices, symbolic.indptr), shape=(n, n))
        try:
            # diagonal pivots unless one is exactly zero: then the signs of U's diagonal are the inertia
            options = {"SymmetricMode": True}
            self._lu = splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise failure(data, -1, indefinite=indefinite) from error
        pivots = self._lu.U.diagonal()[self._lu.perm_c]
        symmetric = np.array_equal(self._lu.perm_r, self._lu.perm_c)
        entries = np.maximum(np.abs(A.diagonal()), np.abs(pivots))
        self._ratios = np.abs(pivots) / entries
        self.negative = int(np.sum(pivots < 0)) if symmetric else -1
        self.smallest_pivot_ratio = float(self._ratios.min(initial=1.0))
        if not np.all(self._ratios > 0) or (self.negative != 0 and not indefinite):
            bad = np.flatnonzero(~(pivots > 0))
            first = bad[np.argmin(self._lu.perm_c[bad])] if len(bad) else -1
            block = int(symbolic.dofs[first]) // symbolic.pattern.block if len(bad) else -1
            raise failure(data, block, indefinite=indefinite)

    @property
    def pivot_ratios(self) -> Reals:
        """(ndof,) |pivot| / |diagonal entry|, at most 1, by scalar row."""
        ratios = np.empty_like(self._ratios)
        ratios[self.symbolic.dofs] = self._ratios
        return ratios

    def solve(self, b: ArrayLike) -> Reals:
        """A⁻¹ b for b (ndof,) or (ndof, k)."""
        b = self._right_hand_side(b)
        x = np.empty(b.shape)
        x[self.symbolic.dofs] = self._lu.solve(b[self.symbolic.dofs])
        return x

    def compliance(self, H: Rows) -> Reals:
        """W = H A⁻¹ Hᵀ (m, m), symmetric, for sparse rows H (m, ndof); duplicate entries are summed."""
        rows = self._rows(H)
        H = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
        W = H @ self.solve(H.T.toarray())
        return 0.5 * (W + W.T)
