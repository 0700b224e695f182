"""The chain rule in compiled loops, and the sparse rows it makes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

import pliant.sparse as sp


class SparseRows(NamedTuple):
    """H in compressed rows; a column may occur twice in a row (the entries add up). Lighter than a SciPy array."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]

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

    def above(self, other: SparseRows) -> SparseRows:
        """These rows, then those of another."""
        indptr = np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]])
        indices, data = np.concatenate([self.indices, other.indices]), np.concatenate([self.data, other.data])
        return SparseRows(indptr, indices, data, (self.shape[0] + other.shape[0], self.shape[1]))

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


@njit(cache=True, error_model="numpy")
def chain_rows(gradient, stencil_point, ptr, plain, weight, J, nnz):
    """H's entries: gᵀ J for each stencil point and each block that moves it."""
    out = np.empty(nnz)
    k = 0
    for e in range(len(stencil_point)):
        g0, g1, g2 = gradient[e, 0], gradient[e, 1], gradient[e, 2]
        for s in range(ptr[stencil_point[e]], ptr[stencil_point[e] + 1]):
            if plain[s]:
                w = weight[s]
                out[k], out[k + 1], out[k + 2] = w * g0, w * g1, w * g2
            else:
                for c in range(3):
                    out[k + c] = g0 * J[s, 0, c] + g1 * J[s, 1, c] + g2 * J[s, 2, c]
            k += 3
    return out


@njit(cache=True, error_model="numpy")
def point_forces(row_ptr, stencil_point, gradient, lam, count):
    """Σ λₖ ∂δₖ/∂p: the force each interaction puts on its points, (P, 3) [N]."""
    forces = np.zeros((count, 3))
    for i in range(len(row_ptr) - 1):
        for e in range(row_ptr[i], row_ptr[i + 1]):
            for c in range(3):
                forces[stencil_point[e], c] += lam[i] * gradient[e, c]
    return forces


@njit(cache=True, error_model="numpy")
def add_curvature(K, M, pair, s, t, mode, placement, plain, weight, J):
    """K −= Jₛᵀ M Jₜ for every coupling, in the half of K that is stored."""
    B, C = np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(pair)):
        a, b, m = s[n], t[n], M[pair[n]]
        if plain[a] and plain[b]:
            w = weight[a] * weight[b]
            for i in range(3):
                for j in range(3):
                    B[i, j] = w * m[i, j]
        else:
            for i in range(3):
                for j in range(3):
                    C[i, j] = m[i, 0] * J[b, 0, j] + m[i, 1] * J[b, 1, j] + m[i, 2] * J[b, 2, j]
            for i in range(3):
                for j in range(3):
                    B[i, j] = J[a, 0, i] * C[0, j] + J[a, 1, i] * C[1, j] + J[a, 2, i] * C[2, j]
        k = placement[n]
        for i in range(3):
            for j in range(3):
                if mode[n] == 0:
                    K[k, i, j] -= B[i, j]
                elif mode[n] == 1:
                    K[k, i, j] -= B[j, i]
                else:
                    K[k, i, j] -= B[i, j] + B[j, i]
