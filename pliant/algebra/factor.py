"""What every factorisation offers, whichever backend computed it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pliant.sparse as sp
from pliant.algebra.jit import plain
from pliant.algebra.pattern import Pattern
from pliant.algebra.rows import SparseRows
from pliant.errors import InputError, PliantError

Reals = NDArray[np.float64]


class NotPositiveDefinite(PliantError):
    """A matrix that Cholesky cannot factorise: `block` is the block row of the pivot that failed.

    The index is in the numbering of the pattern, −1 if the backend cannot tell.
    """

    def __init__(self, block: int, *, indefinite: bool = False) -> None:
        self.block = block
        what = "singular" if indefinite else "not positive definite"
        where = f" at block {block}" if block >= 0 else ""
        hint = "Something is not supported, or" if indefinite else "Something buckles or is not supported, or"
        super().__init__(f"The matrix is {what}{where}. {hint} the tangent is not that of a stable state.")


class Rows(Protocol):
    """Sparse rows in compressed form: a SciPy csr_array, or anything lighter with the same fields."""

    @property
    def indptr(self) -> Any: ...
    @property
    def indices(self) -> Any: ...
    @property
    def data(self) -> Any: ...
    @property
    def shape(self) -> Any: ...


class Condensation(NamedTuple):
    """A condensed to rows H (m, ndof) under a load b: W = HA⁻¹Hᵀ (m, m) and the rows' motion HA⁻¹b (m,).

    For efforts λ (m,) of the rows, `answer` gives x = A⁻¹(b + Hᵀλ) (ndof,), and `response` A⁻¹Hᵀλ alone.
    """

    W: Reals
    motion: Reals
    answer: Callable[[Reals], Reals]
    response: Callable[[Reals], Reals]


class Symbolic(ABC):
    """The analysis of a pattern: everything that does not depend on the values."""

    pattern: Pattern

    @abstractmethod
    def factorise(self, data: Reals, *, indefinite: bool) -> Factor:
        """See `pliant.algebra.factorise`."""


class Factor(ABC):
    """A = Pᵀ L S Lᵀ P with S = diag(±1), ready to solve.

    `negative` counts the negative pivots: the negative eigenvalues of A (−1: the backend cannot tell).
    `smallest_pivot_ratio` is the least |pivot| / |diagonal entry of A|. Rounding leaves about 1e-16 times the
    condition number, so below 1e-11 or so a motion has no support, even though Cholesky went through.
    """

    symbolic: Symbolic
    negative: int
    smallest_pivot_ratio: float

    @property
    def plain(self) -> Factor:
        """That of A without a change of low rank."""
        return self

    @property
    @abstractmethod
    def pivot_ratios(self) -> Reals:
        """(ndof,) |pivot| / |diagonal entry|, at most 1, by scalar row; tiny for motions without support."""

    @abstractmethod
    def solve(self, b: ArrayLike) -> Reals:
        """A⁻¹ b for b (ndof,) or (ndof, k)."""

    @abstractmethod
    def compliance(self, H: Rows) -> Reals:
        """W = H A⁻¹ Hᵀ (m, m), symmetric, for sparse rows H (m, ndof); duplicate entries are summed."""

    def half(self, H: SparseRows) -> Half:
        """Rows H (m, ndof), half solved: ready for one load after the other."""
        return Half(self, H)

    def half_loaded(self, H: SparseRows, b: Reals) -> tuple[Half, Condensation]:
        """Rows H (m, ndof), half solved, and their condensation under a first load b (ndof,)."""
        rows = self.half(H)
        return rows, rows.loaded(b)

    def condense(self, H: SparseRows, b: Reals) -> Condensation:
        """W, motion and answer of rows H under a load b (ndof,)."""
        return self.half_loaded(H, b)[1]

    def _right_hand_side(self, b: ArrayLike) -> Reals:
        array = plain(b)
        ndof = self.symbolic.pattern.ndof
        if array.ndim not in (1, 2) or len(array) != ndof:
            raise InputError("b", expected=f"({ndof},) or ({ndof}, k)", got=array.shape)
        return array

    def _rows(self, H: Any) -> Any:
        """H in compressed rows: as it is if it has that format, in SciPy's class or a lighter one."""
        if getattr(H, "format", None) != "csr":
            H = sp.csr_array(H)
        if H.shape[1] != self.symbolic.pattern.ndof:
            raise InputError("H", expected=f"(m, {self.symbolic.pattern.ndof})", got=H.shape)
        return H


class Half:
    """Rows H (m, ndof) of a factor, and W = HA⁻¹Hᵀ (m, m), for one load after the other."""

    W: Reals

    def __init__(self, factor: Factor, H: SparseRows) -> None:
        self.W = factor.compliance(H) if H.shape[0] else np.zeros((0, 0))
        self._factor, self._H = factor, H

    def loaded(self, b: Reals) -> Condensation:
        """The condensation of the rows under a load b (ndof,)."""
        x = self._factor.solve(b)
        response = lambda lam: self._factor.solve(self._H.transpose_dot(lam))
        return Condensation(
            self.W, self._H.dot(x), lambda lam: x + response(lam) if lam.any() else x, response
        )


def check_data(pattern: Pattern, data: ArrayLike) -> Reals:
    """Values on a pattern as a flat array."""
    array = plain(data)
    if array.shape != (len(pattern.rows), pattern.block, pattern.block):
        expected = (
            f"({len(pattern.rows)}, {pattern.block}, {pattern.block}), one block per pair of the pattern"
        )
        raise InputError("data", expected=expected, got=array.shape)
    return array.reshape(-1)


def failure(data: Reals, block: int, *, indefinite: bool) -> PliantError:
    """The error for a pivot that failed: the fault may lie in the numbers."""
    if not np.isfinite(data).all():
        return InputError("data", expected="finite values", got=f"{np.sum(~np.isfinite(data))} that are not")
    return NotPositiveDefinite(block, indefinite=indefinite)
