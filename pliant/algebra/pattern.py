"""Sparsity of a symmetric block matrix: which pairs of nodes are coupled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pliant.sparse as sp
from pliant.arrays import frozen_view
from pliant.errors import InputError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Lower half of a symmetric block matrix: blocks (rows[k], cols[k]) with rows ≥ cols.

    Sorted by (row, col), every pair once, the diagonal always present. Values on a pattern are an array
    (nb, block, block): block k is K[rows[k], cols[k]], diagonal blocks are full. Build one with `from_pairs`.
    """

    size: int
    rows: Indices
    cols: Indices
    block: int = 3

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            object.__setattr__(self, name, _indices(getattr(self, name)))
        if self.size < 0 or self.block < 1:
            raise InputError("pattern", expected="size ≥ 0 and block ≥ 1", got=(self.size, self.block))
        if self.rows.shape != self.cols.shape or self.rows.ndim != 1:
            raise InputError("pattern", expected="rows, cols (nb,)", got=(self.rows.shape, self.cols.shape))
        inside = np.all((self.cols >= 0) & (self.rows >= self.cols) & (self.rows < self.size))
        if not inside or np.any(np.diff(self._keys) <= 0) or np.any(self.diagonal < 0):
            raise InputError(
                "pattern",
                expected="sorted lower pairs, each once, with the diagonal",
                got=f"{len(self.rows)} pairs that are not",
                hint="Use Pattern.from_pairs.",
            )

    @classmethod
    def from_pairs(cls, size: int, i: ArrayLike, j: ArrayLike, *, block: int = 3) -> Pattern:
        """The pattern of the coupled pairs (i[k], j[k]), in any order, with duplicates and i < j allowed."""
        i, j = np.asarray(i, np.int64).ravel(), np.asarray(j, np.int64).ravel()
        _check_pairs(size, i, j)
        every = np.arange(size, dtype=np.int64)
        keys = np.concatenate([np.maximum(i, j) * size + np.minimum(i, j), every * (size + 1)])
        rows, cols = np.divmod(np.unique(keys), max(size, 1))
        return cls(size, rows, cols, block)

    @staticmethod
    def concatenate(patterns: Sequence[Pattern]) -> Pattern:
        """Block-diagonal pattern of several matrices, such as one per body."""
        if not patterns or len({p.block for p in patterns}) != 1:
            got = [p.block for p in patterns]
            raise InputError("patterns", expected="at least one, all of one block size", got=got)
        offsets = np.cumsum([0] + [p.size for p in patterns])
        rows = np.concatenate([p.rows + o for p, o in zip(patterns, offsets)])
        cols = np.concatenate([p.cols + o for p, o in zip(patterns, offsets)])
        return Pattern(int(offsets[-1]), rows, cols, patterns[0].block)

    @property
    def ndof(self) -> int:
        """Rows of the scalar matrix."""
        return self.size * self.block

    @cached_property
    def diagonal(self) -> Indices:
        """(size,) index of each diagonal block."""
        every = np.arange(self.size)
        return _indices(self.find(every, every)[0])

    @cached_property
    def _keys(self) -> Indices:
        return self.rows * self.size + self.cols

    def find(self, i: ArrayLike, j: ArrayLike) -> tuple[Indices, NDArray[np.bool_]]:
        """Block index k of each pair (−1 if absent), and whether i < j, so that the data is the transpose."""
        i, j = np.broadcast_arrays(np.asarray(i, np.int64), np.asarray(j, np.int64))
        keys = np.maximum(i, j) * self.size + np.minimum(i, j)
        k = np.searchsorted(self._keys, keys)
        inside = (np.minimum(i, j) >= 0) & (np.maximum(i, j) < self.size) & (k < len(self._keys))
        present = inside & (self._keys[np.where(inside, k, 0)] == keys) if len(self._keys) else inside
        return np.where(present, k, -1), i < j

    def union(self, i: ArrayLike, j: ArrayLike) -> Pattern:
        """This pattern with more coupled pairs."""
        i, j = np.asarray(i, np.int64).ravel(), np.asarray(j, np.int64).ravel()
        pairs = np.concatenate([self.rows, i]), np.concatenate([self.cols, j])
        return Pattern.from_pairs(self.size, *pairs, block=self.block)

    def zeros(self) -> NDArray[np.float64]:
        """Values of the zero matrix, (nb, block, block)."""
        return np.zeros((len(self.rows), self.block, self.block))

    def to_csr(self, data: ArrayLike) -> sp.csr_array:
        """The scalar matrix (ndof, ndof), both halves, from values (nb, block, block)."""
        blocks = np.asarray(data, np.float64).reshape(-1, self.block, self.block)
        if len(blocks) != len(self.rows):
            raise InputError("data", expected=f"{len(self.rows)} blocks", got=len(blocks))
        indptr, indices, source = self._full
        lower = source < len(blocks)
        full = np.empty((len(source), self.block, self.block))
        full[lower] = blocks[source[lower]]
        full[~lower] = blocks[source[~lower] - len(blocks)].transpose(0, 2, 1)
        return sp.csr_array(sp.bsr_array((full, indices, indptr), shape=(self.ndof, self.ndof)))

    @cached_property
    def _full(self) -> tuple[Indices, Indices, Indices]:
        """Compressed rows of both halves: indptr, indices, and the block k (or nb + k for its transpose)."""
        below = np.flatnonzero(self.rows > self.cols)
        rows = np.concatenate([self.rows, self.cols[below]])
        cols = np.concatenate([self.cols, self.rows[below]])
        source = np.concatenate([np.arange(len(self.rows)), len(self.rows) + below])
        order = np.argsort(rows * self.size + cols)
        indptr = np.searchsorted(rows[order], np.arange(self.size + 1))
        return indptr, cols[order], source[order]


def _indices(values: ArrayLike) -> Indices:
    return frozen_view(values, np.int64)


def _check_pairs(size: int, i: Indices, j: Indices) -> None:
    if i.shape != j.shape:
        raise InputError("pairs", expected="as many i as j", got=(len(i), len(j)))
    if len(i) and (min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= size):
        got = (int(min(i.min(), j.min())), int(max(i.max(), j.max())))
        raise InputError("pairs", expected=f"indices from 0 to {size - 1}", got=got)
