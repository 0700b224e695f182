"""Factorisation, solves and condensation against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pliant.algebra import NotPositiveDefinite, Pattern, analyse, factorise
from pliant.algebra.elimination import supernodes
from pliant.algebra.ordering import minimum_degree, nested_dissection
from pliant.algebra.splu import SuperLUSymbolic
from pliant.errors import InputError, PliantError

quick = settings(deadline=None, max_examples=40, derandomize=True)
both_backends = pytest.mark.parametrize("backend", ["multifrontal", "splu"])


def random_symmetric(pattern, rng):
    data = rng.normal(size=pattern.zeros().shape)
    data[pattern.diagonal] += data[pattern.diagonal].transpose(0, 2, 1)
    return data


def positive_definite(pattern, rng):
    """Random values made positive definite by a dominant diagonal, scaled by rows over six decades."""
    data = random_symmetric(pattern, rng)
    rows = np.abs(pattern.to_csr(data)).sum(axis=1)
    data[pattern.diagonal] += np.eye(pattern.block) * (rows.reshape(-1, pattern.block)[:, :, None] + 0.1)
    scale = 10.0 ** rng.uniform(-3, 3, pattern.size)
    return data * (scale[pattern.rows] * scale[pattern.cols])[:, None, None]


@st.composite
def patterns(draw, largest=30):
    """Random graphs from isolated nodes over forests and several components to dense."""
    size, block = draw(st.integers(1, largest)), draw(st.sampled_from([1, 2, 3, 6]))
    density, seed = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 6.0])), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, size, (2, int(density * size)))
    same = i % 3 == j % 3 if draw(st.booleans()) else np.ones(len(i), bool)
    pattern = Pattern.from_pairs(size, i[same], j[same], block=block)
    coordinates = rng.normal(size=(size, 3)).round(1) if draw(st.booleans()) else None
    return pattern, coordinates, rng


def grid(n, block=3):
    """A positive definite matrix on an n × n grid of nodes."""
    nodes = np.arange(n * n).reshape(n, n)
    i = np.concatenate([nodes[1:].ravel(), nodes[:, 1:].ravel()])
    j = np.concatenate([nodes[:-1].ravel(), nodes[:, :-1].ravel()])
    pattern = Pattern.from_pairs(n * n, i, j, block=block)
    return pattern, positive_definite(pattern, np.random.default_rng(0))


def sparse_rows(ndof, rng, m=7):
    """Rows with duplicate entries, and one empty row."""
    count = rng.integers(1, 6, m)
    count[rng.integers(m)] = 0
    indptr = np.concatenate([[0], np.cumsum(count)])
    columns = rng.integers(0, ndof, indptr[-1])
    return sp.csr_array((rng.normal(size=indptr[-1]), columns, indptr), shape=(m, ndof))


def close(a, b, relative):
    np.testing.assert_allclose(a, b, rtol=0, atol=relative * np.abs(b).max(initial=1e-300))


@quick
@given(patterns())
def test_solve_and_compliance_match_dense_algebra(problem):
    pattern, coordinates, rng = problem
    data = positive_definite(pattern, rng)
    A = pattern.to_csr(data).toarray()
    factor = factorise(analyse(pattern, coordinates), data)
    unit = np.sqrt(np.diag(A))  # A is well conditioned once its rows are scaled
    inverse = np.linalg.inv(A / np.outer(unit, unit))
    b = rng.normal(size=(pattern.ndof, 4)) * unit[:, None]
    close(unit[:, None] * factor.solve(b), inverse @ (b / unit[:, None]), 1e-12)
    close(factor.solve(b[:, 0]), factor.solve(b)[:, 0], 1e-12)
    H = sparse_rows(pattern.ndof, rng)
    H.data *= unit[H.indices]
    scaled = H.toarray() / unit
    W = factor.compliance(H)
    close(W, scaled @ inverse @ scaled.T, 1e-12)
    np.testing.assert_array_equal(W, W.T)
    assert factor.negative == 0
    assert 1e-3 < factor.smallest_pivot_ratio <= 1.0


@quick
@given(patterns(largest=15), st.floats(-2.0, 2.0))
def test_indefinite_matrices_give_their_inertia(problem, shift):
    pattern, coordinates, rng = problem
    data = random_symmetric(pattern, rng)
    data[pattern.diagonal] += shift * np.eye(pattern.block)
    A = pattern.to_csr(data).toarray()
    eigenvalues = np.linalg.eigvalsh(A)
    assume(np.abs(eigenvalues).min() > 1e-3 * np.abs(eigenvalues).max())
    factor = factorise(analyse(pattern, coordinates), data, indefinite=True)
    assume(factor.smallest_pivot_ratio > 1e-5)  # without pivoting, a tiny pivot costs digits
    assert factor.negative == np.sum(eigenvalues < 0)
    b = rng.normal(size=(pattern.ndof, 3))
    close(factor.solve(b), np.linalg.solve(A, b), 1e-7)
    close(factor.solve(b[:, 0]), np.linalg.solve(A, b[:, 0]), 1e-7)
    H = sparse_rows(pattern.ndof, rng)
    close(factor.compliance(H), H @ np.linalg.solve(A, H.toarray().T), 1e-7)


@both_backends
def test_the_failing_block_is_named_in_the_original_numbering(backend):
    pattern, data = grid(5)
    symbolic = analyse(pattern, backend=backend)
    alone = Pattern.from_pairs(12, [], [])
    good = np.broadcast_to(np.eye(3), (12, 3, 3)).copy()
    for block in (0, 5, 11):
        bad = good.copy()
        bad[block, 1, 1] = -1.0
        with pytest.raises(NotPositiveDefinite, match=f"block {block}") as caught:
            factorise(analyse(alone, backend=backend), bad)
        assert caught.value.block == block
    with pytest.raises(NotPositiveDefinite):
        factorise(symbolic, -data)
    assert factorise(symbolic, -data, indefinite=True).negative == pattern.ndof


@both_backends
def test_a_zero_pivot_is_singular_even_when_indefinite(backend):
    pattern = Pattern.from_pairs(3, [0, 1], [1, 2], block=2)
    data = pattern.zeros()
    data[pattern.diagonal] = np.eye(2)
    data[pattern.diagonal[1]] = 0.0
    with pytest.raises(NotPositiveDefinite, match="singular"):
        factorise(analyse(pattern, backend=backend), data, indefinite=True)


@quick
@given(patterns())
def test_orders_are_permutations_and_fronts_postordered(problem):
    pattern, _, rng = problem
    orders = [minimum_degree(pattern), nested_dissection(pattern, rng.normal(size=(pattern.size, 3)))]
    orders.append(nested_dissection(pattern, np.zeros((pattern.size, 3))))
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(pattern.size))
        tree = supernodes(pattern, order)
        np.testing.assert_array_equal(np.sort(tree.order), np.arange(pattern.size))
        fronts = np.arange(len(tree.parent))
        assert np.all((tree.parent > fronts) | (tree.parent == -1))
        assert np.all(tree.below[tree.parent == -1] == 0)
        assert tree.first[-1] == pattern.size


def test_wrong_input_is_named():
    pattern, data = grid(4)
    nodes = np.zeros((pattern.size, 3))
    symbolic = analyse(pattern, nodes)
    factor = factorise(symbolic, data)
    with pytest.raises(InputError, match="backend"):
        analyse(pattern, backend="umfpack")
    with pytest.raises(InputError, match="coordinates"):
        analyse(pattern, nodes[1:])
    with pytest.raises(InputError, match="one block per pair"):
        factorise(symbolic, data[1:])
    with pytest.raises(InputError, match="finite"):
        factorise(symbolic, np.where(np.arange(len(data))[:, None, None] == 3, np.nan, data))
    with pytest.raises(InputError, match=f"\\({pattern.ndof},\\)"):
        factor.solve(np.zeros(3))
    with pytest.raises(InputError, match="H"):
        factor.compliance(sp.csr_array((2, 3)))
    outside = sp.csr_array((1, pattern.ndof))
    outside.indptr, outside.indices, outside.data = np.array([0, 1]), np.array([pattern.ndof]), np.ones(1)
    with pytest.raises(InputError, match="column indices"):
        factor.compliance(outside)


def test_without_reachable_blas_superlu_takes_over(monkeypatch):
    pattern, data = grid(4)
    expected = factorise(analyse(pattern), data).solve(np.ones(pattern.ndof))
    monkeypatch.setattr("pliant.algebra.blas.addresses", lambda: None)
    symbolic = analyse(pattern)
    assert isinstance(symbolic, SuperLUSymbolic)
    close(factorise(symbolic, data).solve(np.ones(pattern.ndof)), expected, 1e-12)
    with pytest.raises(PliantError, match="splu"):
        factorise(analyse(pattern, backend="multifrontal"), data)
