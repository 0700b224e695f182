"""Low-rank changes of a factor against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.algebra import NotPositiveDefinite, SparseRows, Updated, analyse, factorise
from tests.algebra.test_factor import grid, sparse_rows


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


@given(st.integers(0, 10_000), st.floats(1e-3, 1e1))
def test_rows_are_condensed_and_answered(seed, size):
    """W, motion and answers against dense algebra, also where C is diagonal, and for a second load."""
    A, U, C, factor, rng = changed(seed, size)
    C = np.diag(np.diagonal(C))
    full = A + U.to_csr().toarray().T @ C @ U.to_csr().toarray()
    if np.abs(np.diagonal(C)).min() < 1e-3 * size or np.linalg.cond(full) > 1e8:
        return
    csr = sparse_rows(len(A), rng, m=4)
    H = SparseRows(csr.indptr, csr.indices, csr.data, csr.shape)
    b, lam, h = rng.normal(size=len(A)), rng.normal(size=H.shape[0]), H.to_csr().toarray()
    plain = Updated(factor, U, np.linalg.inv(C), indefinite=True)
    diagonal = Updated(factor, U, 1.0 / np.diagonal(C), indefinite=True)
    close = lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12 * np.linalg.cond(full) * np.abs(b).max())
    for updated in (plain, diagonal):
        rows = updated.condense(H, b)
        close(rows.W, h @ np.linalg.solve(full, h.T))
        close(rows.motion, h @ np.linalg.solve(full, b))
        close(rows.answer(lam), np.linalg.solve(full, b + h.T @ lam))
        close(rows.response(lam), np.linalg.solve(full, h.T @ lam))
        close(updated.solve(lam @ h), np.linalg.solve(full, h.T @ lam))
    half, first = factor.half_loaded(H, b)
    for load, rows in ((b, first), (2.0 * b, half.loaded(2.0 * b))):
        close(rows.motion, h @ np.linalg.solve(A, load))
        close(rows.answer(lam), np.linalg.solve(A, load + h.T @ lam))
        close(rows.answer(0.0 * lam), np.linalg.solve(A, load))
        close(rows.response(lam), np.linalg.solve(A, h.T @ lam))


@given(st.integers(0, 10_000), st.floats(0.05, 2.0))
def test_softer_rows_are_distinguished_from_buckling(seed, size):
    """A − Σ stiff hᵀh, rows h among those condensed: as dense algebra says, refused if indefinite."""
    A, U, _, factor, rng = changed(seed, 1.0)
    u = U.to_csr().toarray()
    soft = np.diagonal(u @ np.linalg.solve(A, u.T))
    stiff = size * rng.uniform(0.2, 1.0, len(u)) / np.where(soft > 0, soft, 1.0)
    full = A - u.T @ np.diag(stiff) @ u
    least = np.linalg.eigvalsh(full).min()
    if abs(least) < 1e-6 * np.abs(A).max():
        return
    others = sparse_rows(len(A), rng, m=3)
    H = U.above(SparseRows(others.indptr, others.indices, others.data, others.shape))
    b = rng.normal(size=len(A))
    softer = Updated(factor, U, -1.0 / stiff)
    if least < 0:
        with pytest.raises(NotPositiveDefinite):
            softer.condense(H, b)
        return
    rows, h, lam = softer.condense(H, b), H.to_csr().toarray(), rng.normal(size=H.shape[0])
    close = lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12 * np.linalg.cond(full) * np.abs(b).max())
    close(rows.W, h @ np.linalg.solve(full, h.T))
    close(rows.motion, h @ np.linalg.solve(full, b))
    close(rows.answer(lam), np.linalg.solve(full, b + h.T @ lam))
    close(rows.response(lam), np.linalg.solve(full, h.T @ lam))
    close(softer.solve(b), np.linalg.solve(full, b))
    close(softer.plain.solve(b), np.linalg.solve(A, b))
    assert softer.negative == 0
