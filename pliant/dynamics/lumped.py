"""The inverse of a lumped mass matrix, as a factor: nothing to factorise."""

from __future__ import annotations

import numpy as np

import pliant.sparse as sp
from pliant.algebra import Factor, Pattern
from pliant.algebra.factor import Symbolic
from pliant.errors import InputError


class _OnPattern(Symbolic):
    """All that a factor asks of an analysis."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def factorise(self, data, *, indefinite):
        """Nothing to do."""
        return Lumped(self.pattern, data)


class Lumped(Factor):
    """A⁻¹ of a mass matrix that couples no two nodes; translation and rotation of a rigid region may be."""

    def __init__(self, pattern: Pattern, A: np.ndarray) -> None:
        self.symbolic, self.negative, self.smallest_pivot_ratio = _OnPattern(pattern), 0, 1.0
        self._pair = np.flatnonzero((pattern.rows == pattern.cols + 1) & A.any(axis=(1, 2)))
        coupled = (pattern.rows != pattern.cols) & A.any(axis=(1, 2))
        coupled[self._pair] = False
        if coupled.any():
            hint = 'Make the body with Solid(…, mass="lumped").'
            raise InputError(
                "mass for central differences", expected="lumped at the nodes", got="consistent", hint=hint
            )
        blocks = A[pattern.diagonal]
        if not (np.linalg.eigvalsh(blocks) > 0.0).all():
            raise InputError(
                "mass for central differences",
                expected="more than zero at every node",
                got="nodes without mass",
            )
        self._inverse = np.linalg.inv(blocks)
        second = pattern.rows[self._pair]
        both = np.concatenate(
            [
                np.concatenate([blocks[second - 1], A[self._pair].transpose(0, 2, 1)], axis=2),
                np.concatenate([A[self._pair], blocks[second]], axis=2),
            ],
            axis=1,
        )
        self._second, self._both = second, np.linalg.inv(both) if len(second) else both

    @property
    def pivot_ratios(self) -> np.ndarray:
        """Not of interest here: ones."""
        return np.ones(3 * len(self._inverse))

    def solve(self, b) -> np.ndarray:
        """A⁻¹ b for b (ndof,) or (ndof, k)."""
        b = np.asarray(b, float)
        x = np.einsum("nij,nj...->ni...", self._inverse, b.reshape(-1, 3, *b.shape[1:]))
        if len(self._second):
            at = (3 * self._second[:, None] - 3 + np.arange(6)).ravel()
            pairs = np.einsum("nij,nj...->ni...", self._both, b[at].reshape(-1, 6, *b.shape[1:]))
            x = x.reshape(b.shape)
            x[at] = pairs.reshape(len(at), *b.shape[1:])
        return x.reshape(b.shape)

    def compliance(self, H) -> np.ndarray:
        """W = H A⁻¹ Hᵀ (m, m)."""
        dense = sp.csr_array((H.data, H.indices, H.indptr), shape=H.shape).toarray()
        W = dense @ self.solve(dense.T)
        return 0.5 * (W + W.T)
