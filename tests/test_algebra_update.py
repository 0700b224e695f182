"""Low-rank changes of a factor against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_algebra import grid, sparse_rows

from pliant.algebra import NotPositiveDefinite, SparseRows, Updated, analyse, factorise


def changed(seed: int, size: float):
    """A matrix, rows U and C that makes A + UᵀCU indefinite when large, and the factor of A."""
    rng = np.random.default_rng(seed)
    pattern, data = grid(4)
    A = pattern.to_csr(data).toarray()
    rows = sparse_rows(pattern.ndof, rng, m=6)
    U = SparseRows(rows.indptr, rows.indices, rows.data, rows.shape)
    C = rng.normal(size=(6, 6))
    C = size * (C + C.T)
    return A, U, C, factorise(analyse(pattern), data), rng


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_updates_match_dense_algebra(seed, size):
    A, U, C, factor, rng = changed(seed, size)
    full = A + U.to_csr().toarray().T @ C @ U.to_csr().toarray()
    values = np.linalg.eigvalsh(full)
    if np.abs(values).min() < 1e-9 * np.abs(values).max():
        return
    updated = Updated(factor, U, np.linalg.inv(C), indefinite=True)
    assert updated.negative == (values < 0).sum()
    b, H = rng.normal(size=len(A)), sparse_rows(len(A), rng, m=4)
    scale = np.linalg.cond(full)
    assert np.allclose(full @ updated.solve(b), b, atol=1e-13 * scale * np.abs(b).max())
    W = H.toarray() @ np.linalg.solve(full, H.toarray().T)
    assert np.allclose(updated.compliance(H), W, atol=1e-12 * scale * np.abs(W).max())


def test_an_indefinite_update_is_refused_unless_asked_for():
    A, U, C, factor, _ = changed(1, 1e4)
    assert np.linalg.eigvalsh(A + U.to_csr().toarray().T @ C @ U.to_csr().toarray()).min() < 0
    with pytest.raises(NotPositiveDefinite):
        Updated(factor, U, np.linalg.inv(C)).solve(np.ones(len(A)))
    assert Updated(factor, U, np.linalg.inv(C), indefinite=True).negative > 0
