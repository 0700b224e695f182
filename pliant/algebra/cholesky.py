"""Multifrontal Cholesky: dense fronts on the elimination tree, BLAS on every front."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra import blas
from pliant.algebra.condensation import condense
from pliant.algebra.elimination import supernodes
from pliant.algebra.factor import (
    Condensation,
    Factor,
    Half,
    Reals,
    Rows,
    Symbolic,
    check_data,
    failure,
)
from pliant.algebra.jit import plain
from pliant.algebra.kernels import STRIP, factorise_fronts
from pliant.algebra.ordering import metis_dissections, minimum_degree, nested_dissection
from pliant.algebra.pattern import Pattern
from pliant.algebra.rows import SparseRows
from pliant.algebra.substitution import answer, load, solve_many, solve_one
from pliant.algebra.symbolic import Fronts, layout
from pliant.algebra.team import together
from pliant.errors import InputError, PliantError

NO_LOAD = np.zeros(0)
LEAST_FOR_METIS = 1e8  # operations in minimum degree's order: a few milliseconds
SPARE_MEMORIES = 2  # of factors that nobody uses, at most: a step needs one at a time, seldom two


class Memory(NamedTuple):
    """What one factor needs: L by panels, the stack of updates meanwhile, signs and ratios of its pivots."""

    panels: Reals
    stack: Reals
    signs: Reals
    ratios: Reals


class Pool:
    """The spare memory of one analysis; fresh memory costs as much as a small factorisation.

    A factor takes memory here and gives it back when nobody uses the factor any more. A copy begins empty.
    """

    def __init__(self) -> None:
        self._spare: list[Memory] = []

    def __reduce__(self) -> tuple[type[Pool], tuple[()]]:
        return Pool, ()

    def take(self, entries: int, ndof: int, stack: int) -> Memory:
        """Memory for L with so many entries, its values undefined."""
        try:
            return self._spare.pop()
        except IndexError:
            return Memory(np.empty(entries), np.empty(stack), np.ones(ndof), np.ones(ndof))

    def give(self, memory: Memory) -> None:
        """Take memory back."""
        if len(self._spare) < SPARE_MEMORIES:
            self._spare.append(memory)


@dataclass(frozen=True, eq=False)
class CholeskySymbolic(Symbolic):
    """Order, tree and memory layout of the fronts."""

    pattern: Pattern
    ordering: str  # the order that was chosen
    flops: float  # operations of a factorisation
    fronts: Fronts
    stack: int  # scalars of the updates that wait for their parents, at most
    pool: Pool = field(default_factory=Pool)

    @classmethod
    def of(cls, pattern: Pattern, coordinates: Reals | None = None) -> CholeskySymbolic:
        """The analysis with the cheapest order known. METIS is asked only where it can save milliseconds."""
        trees = {"minimum degree": supernodes(pattern, minimum_degree(pattern))}
        if coordinates is not None:
            trees["nested dissection"] = supernodes(pattern, nested_dissection(pattern, coordinates))
        if trees["minimum degree"].flops * pattern.block**3 > LEAST_FOR_METIS:
            for n, order in enumerate(metis_dissections(pattern)):
                trees[f"METIS {n}"] = supernodes(pattern, order)
        ordering = min(trees, key=lambda name: trees[name].flops)
        flops = trees[ordering].flops * pattern.block**3
        return cls(pattern, ordering, flops, *layout(pattern, trees[ordering]))

    @cached_property
    def phases(self) -> int:
        """Of a factorisation by several threads, see `factorise_fronts`."""
        pivots = self.pattern.block * np.diff(self.fronts.first)[self.fronts.top]
        return 1 + int(np.sum(-(-pivots // STRIP) + 2))

    @property
    def entries(self) -> int:
        """Numbers stored in L."""
        return int(self.fronts.panel[-1])

    def factorise(self, data: Reals, *, indefinite: bool = False) -> Cholesky:
        """See `pliant.algebra.factorise`."""
        return Cholesky(self, data, indefinite)


class Cholesky(Factor):
    """Factor of `CholeskySymbolic`: a value. Its memory comes from the pool of its analysis, see `Pool`."""

    symbolic: CholeskySymbolic

    def __init__(self, symbolic: CholeskySymbolic, data: Reals, indefinite: bool) -> None:
        addresses = blas.addresses()
        if addresses is None:
            raise PliantError('SciPy exports no BLAS here. Use analyse(..., backend="splu").')
        flat = check_data(symbolic.pattern, data)
        self.symbolic = symbolic
        self._memory = symbolic.pool.take(symbolic.entries, symbolic.pattern.ndof, symbolic.stack)
        self._layout = addresses, symbolic.fronts, symbolic.pattern.block
        fronts = symbolic.fronts
        failed, self.negative, self.smallest_pivot_ratio = together(
            factorise_fronts,
            symbolic.phases,
            *self._layout,
            flat,
            bool(indefinite),
            *self._memory,
            np.full(len(fronts.subtree_end) + 1, -1),
            shared=len(fronts.top) > 0,
        )
        if failed >= 0:
            block = symbolic.fronts.order[failed // symbolic.pattern.block]
            raise failure(flat, int(block), indefinite=indefinite)

    def __del__(self) -> None:
        if hasattr(self, "_memory"):  # not if the matrix was refused
            self.symbolic.pool.give(self._memory)

    def _values(self) -> tuple[Any, Fronts, int, Reals, Reals]:
        return *self._layout, self._memory.panels, self._memory.signs

    @property
    def pivot_ratios(self) -> Reals:
        """(ndof,) |pivot| / |diagonal entry|, at most 1, by scalar row."""
        blocks = self._memory.ratios.reshape(-1, self.symbolic.pattern.block)
        return blocks[self.symbolic.fronts.place].ravel()

    def solve(self, b: ArrayLike) -> Reals:
        """A⁻¹ b for b (ndof,) or (ndof, k)."""
        b = self._right_hand_side(b)
        x = np.empty(b.shape)
        if b.ndim == 1:
            solve_one(*self._values(), b, x)
        elif b.size:
            solve_many(*self._values(), b, x)
        return x

    def compliance(self, H: Rows) -> Reals:
        """W = H A⁻¹ Hᵀ (m, m), symmetric, for sparse rows H (m, ndof); duplicate entries are summed."""
        return self.half(H).W

    def half(self, H: Rows) -> HalfSolved:
        """Rows H (m, ndof) with Z = L⁻¹PHᵀ: loads and efforts need one half of a solve each."""
        return self._halved(H, NO_LOAD)[0]

    def half_loaded(self, H: SparseRows, b: Reals) -> tuple[Half, Condensation]:
        """As for any factor; the load is condensed with the rows, as one more of them, if there are some."""
        if not H.shape[0]:
            return super().half_loaded(H, b)
        rows, motion = self._halved(H, self._right_hand_side(b))
        answered = lambda lam, load: rows.answered(with_load(lam, load), np.zeros(len(b)))
        return rows, Condensation(
            rows.W, motion, lambda lam: answered(lam, 1.0), lambda lam: answered(lam, 0.0)
        )

    def _halved(self, H: Rows, b: Reals) -> tuple[HalfSolved, Reals]:
        """The rows, and their motion (m,) under b (ndof,)."""
        rows = self._rows(H)
        start, columns, values = rows.indptr, rows.indices, rows.data
        if not isinstance(rows, SparseRows):
            start, columns, values = plain(start, np.int64), plain(columns, np.int64), plain(values)
        m = len(start) - 1
        W, motion = np.empty((m, m)), np.empty(m)
        half = condense(*self._values(), self.negative, start, columns, values, b, W, motion)
        if not len(half[0]):
            expected = f"column indices from 0 to {self.symbolic.pattern.ndof - 1}"
            raise InputError("H", expected=expected, got=(int(columns.min()), int(columns.max())))
        return HalfSolved(self, W, half), motion


class HalfSolved(Half):
    """Rows of a `Cholesky` factor with Z = L⁻¹PHᵀ of them, perhaps with that of a load as one more row."""

    def __init__(self, factor: Cholesky, W: Reals, half: tuple[Any, ...]) -> None:
        self.W, self._factor, self._half = W, factor, half

    def loaded(self, b: Reals) -> Condensation:
        """Under a load b (ndof,)."""
        b, m = self._factor._right_hand_side(b), len(self.W)
        y, motion = np.empty(len(b)), np.empty(m + 1)
        load(*self._factor._values(), self._half, b, y, motion)
        answered = lambda lam, y: self.answered(with_load(lam, 0.0), y)
        return Condensation(
            self.W, motion[:m], lambda lam: answered(lam, y), lambda lam: answered(lam, np.zeros(len(y)))
        )

    def answered(self, lam: Reals, y: Reals) -> Reals:
        """A⁻¹(b + Hᵀλ) (ndof,), given y = L⁻¹Pb (ndof,) and efforts λ (m + 1,).

        The last effort is that of the load condensed with the rows: 1 to have it, 0 to leave it out.
        """
        x = np.empty(len(y))
        answer(*self._factor._values(), self._half, y, lam, x)
        return x


def with_load(lam: Reals, load: float) -> Reals:
    """Efforts λ (m,) of rows, and behind them that of a load."""
    both = np.empty(len(lam) + 1)
    both[:-1], both[-1] = lam, load
    return both
