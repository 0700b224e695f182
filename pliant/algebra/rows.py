"""Sparse rows in compressed form, with the few products that a step needs as compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

import pliant.sparse as sp


class SparseRows(NamedTuple):
    """H in compressed rows, lighter than a SciPy array; columns that occur twice in a row add up."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def none(cls, n: int) -> SparseRows:
        """No row, of n columns."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), (0, n))

    @property
    def format(self) -> str:
        """As SciPy says it, for whoever accepts sparse rows of either kind."""
        return "csr"

    def dot(self, x: np.ndarray) -> np.ndarray:
        """H x, (m,)."""
        return _rows_dot(self.indptr, self.indices, self.data, x)

    def transpose_dot(self, lam: np.ndarray) -> np.ndarray:
        """Hᵀλ, (n,)."""
        return _rows_transpose_dot(self.indptr, self.indices, self.data, lam, self.shape[1])

    def norms(self) -> np.ndarray:
        """Euclidean length of every row, (m,)."""
        csr = self.to_csr()
        return np.sqrt(np.asarray((csr * csr).sum(axis=1)).ravel())

    def take(self, rows: np.ndarray) -> SparseRows:
        """The given rows, in the given order."""
        indptr, indices, data = _take_rows(self.indptr, self.indices, self.data, rows)
        return SparseRows(indptr, indices, data, (len(rows), self.shape[1]))

    def parted(
        self, rows: np.ndarray, given: np.ndarray, effort: np.ndarray, r: np.ndarray
    ) -> tuple[SparseRows, np.ndarray]:
        """Some rows, and r + Hᵀλ (n,) with the efforts λ (m,) of those that are `given` (m,)."""
        indptr, indices, data, load = _parted(self.indptr, self.indices, self.data, rows, given, effort, r)
        return SparseRows(indptr, indices, data, (len(rows), self.shape[1])), load

    def above(self, other: SparseRows) -> SparseRows:
        """These rows, then those of another."""
        joined = _rows_above(*self[:3], *other[:3])
        return SparseRows(*joined, (self.shape[0] + other.shape[0], self.shape[1]))

    def to_csr(self) -> sp.csr_array:
        """As a SciPy array."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)


@njit(cache=True, error_model="numpy")
def _rows_dot(indptr, indices, data, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


@njit(cache=True, error_model="numpy")
def _rows_transpose_dot(indptr, indices, data, lam, n):
    y = np.zeros(n)
    for i in range(len(indptr) - 1):
        if lam[i] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                y[indices[k]] += data[k] * lam[i]
    return y


@njit(cache=True, error_model="numpy")
def _rows_above(indptr, indices, data, more_ptr, more_indices, more_data):
    m, n, k = len(indptr) - 1, len(data), len(more_data)
    ptr, index, value = np.empty(m + len(more_ptr), np.int64), np.empty(n + k, np.int64), np.empty(n + k)
    for i in range(m):
        ptr[i] = indptr[i]
    for i in range(len(more_ptr)):
        ptr[m + i] = n + more_ptr[i]
    for i in range(n):
        index[i], value[i] = indices[i], data[i]
    for i in range(k):
        index[n + i], value[n + i] = more_indices[i], more_data[i]
    return ptr, index, value


@njit(cache=True, error_model="numpy")
def _parted(indptr, indices, data, rows, given, effort, r):
    load = r.copy()
    for i in range(len(given)):
        if given[i] and effort[i] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                load[indices[k]] += data[k] * effort[i]
    ptr, index, value = _take_rows(indptr, indices, data, rows)
    return ptr, index, value, load


@njit(cache=True, error_model="numpy")
def _take_rows(indptr, indices, data, rows):
    ptr = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        ptr[i + 1] = ptr[i] + indptr[rows[i] + 1] - indptr[rows[i]]
    index, value = np.empty(ptr[-1], np.int64), np.empty(ptr[-1])
    for i in range(len(rows)):
        first = indptr[rows[i]]
        for k in range(ptr[i + 1] - ptr[i]):
            index[ptr[i] + k] = indices[first + k]
            value[ptr[i] + k] = data[first + k]
    return ptr, index, value
