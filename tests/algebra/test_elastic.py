"""Factorisation of elastic bodies: equilibrium, stability, and motions without support."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.algebra import NotPositiveDefinite, Pattern, analyse, factorise
from pliant.algebra.cholesky import CholeskySymbolic
from pliant.algebra.elimination import supernodes
from pliant.algebra.ordering import minimum_degree, nested_dissection


def close(a, b, relative):
    np.testing.assert_allclose(a, b, rtol=0, atol=relative * np.abs(b).max())


def point_rows(ndof, rng, m):
    """Rows that each read a few coordinates."""
    columns = rng.integers(0, ndof, 4 * m)
    return sp.csr_array((rng.normal(size=4 * m), columns, np.arange(0, 4 * m + 1, 4)), shape=(m, ndof))


def box_of_tetrahedra(nx, ny, nz, rng):
    """Nodes and cells of a jittered box, six tetrahedra per cube."""
    grid = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    nodes = np.stack(np.unravel_index(grid.ravel(), grid.shape), axis=1) + rng.uniform(
        -0.1, 0.1, (grid.size, 3)
    )
    cells = []
    for axes in itertools.permutations(range(3)):  # Kuhn's subdivision: one path of edges per permutation
        path = np.cumsum([np.zeros(3, int)] + [np.eye(3, dtype=int)[a] for a in axes], axis=0)
        corners = [grid[i : i + nx, j : j + ny, k : k + nz].ravel() for i, j, k in path]
        cells.append(np.stack(corners, axis=1))
    return nodes, np.concatenate(cells)


def stiffness(nodes, cells, lame=2.0, shear=1.0):
    """Blocks of linear elasticity with linear tetrahedra: pairs i, j, K_ab = V(λ a bᵀ + μ b aᵀ + μ a·b I)."""
    edges = nodes[cells[:, 1:]] - nodes[cells[:, :1]]
    volume = np.abs(np.linalg.det(edges)) / 6
    inverse = np.linalg.inv(edges).transpose(0, 2, 1)
    gradient = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    outer = np.einsum("eai,ebj->eabij", gradient, gradient)
    trace = np.einsum("eabii->eab", outer)[..., None, None] * np.eye(3)
    blocks = (lame * outer + shear * (outer.swapaxes(3, 4) + trace)) * volume[:, None, None, None, None]
    i, j = np.broadcast_arrays(cells[:, :, None], cells[:, None, :])
    return i.ravel(), j.ravel(), blocks.reshape(-1, 3, 3)


def assemble(size, i, j, blocks):
    pattern = Pattern.from_pairs(size, i, j)
    k, flipped = pattern.find(i, j)
    data = pattern.zeros()
    np.add.at(data, k[~flipped], blocks[~flipped])
    return pattern, data


def elastic_box(nx=3, ny=3, nz=6, clamped=True, seed=0):
    """Pattern, values and node positions of an elastic box, without the clamped nodes at its bottom."""
    nodes, cells = box_of_tetrahedra(nx, ny, nz, np.random.default_rng(seed))
    free = np.flatnonzero(nodes[:, 2] > 0.5) if clamped else np.arange(len(nodes))
    new = np.full(len(nodes), -1)
    new[free] = np.arange(len(free))
    i, j, blocks = stiffness(nodes, cells)
    kept = (new[i] >= 0) & (new[j] >= 0)
    return *assemble(len(free), new[i[kept]], new[j[kept]], blocks[kept]), nodes[free]


@pytest.mark.parametrize("where", [0.02, 0.5, 0.98])
def test_inertia_of_an_elastic_body_past_an_eigenvalue(where):
    pattern, data, nodes = elastic_box(2, 2, 4)
    eigenvalues = np.linalg.eigvalsh(pattern.to_csr(data).toarray())
    below = int(where * len(eigenvalues))
    shift = 0.5 * (eigenvalues[below - 1] + eigenvalues[below])
    data[pattern.diagonal] -= shift * np.eye(3)
    factor = factorise(analyse(pattern, nodes), data, indefinite=True)
    assert factor.negative == below
    assert factorise(analyse(pattern, backend="splu"), data, indefinite=True).negative == below


def test_backends_agree_on_an_elastic_body():
    pattern, data, nodes = elastic_box()
    rng = np.random.default_rng(1)
    ours = factorise(analyse(pattern, nodes), data)
    theirs = factorise(analyse(pattern, backend="splu"), data)
    b, H = rng.normal(size=pattern.ndof), point_rows(pattern.ndof, rng, m=30)
    close(ours.solve(b), theirs.solve(b), 1e-10)
    close(ours.compliance(H), theirs.compliance(H), 1e-10)
    assert theirs.negative == ours.negative == 0
    assert min(ours.smallest_pivot_ratio, theirs.smallest_pivot_ratio) > 1e-6


def test_a_uniform_strain_needs_no_interior_forces():
    """Patch test: boundary nodes moved by u = Gx leave the interior in equilibrium at u = Gx."""
    nodes, cells = box_of_tetrahedra(4, 4, 4, np.random.default_rng(2))
    _, data = assemble(len(nodes), *stiffness(nodes, cells))
    G = np.random.default_rng(3).normal(size=(3, 3))
    u = nodes @ G.T
    inner = np.all((nodes > 0.5) & (nodes < 3.5), axis=1)
    pattern = Pattern.from_pairs(len(nodes), *stiffness(nodes, cells)[:2])
    K = pattern.to_csr(data)
    load = -(K @ np.where(inner[:, None], 0.0, u).ravel()).reshape(-1, 3)[inner]
    new = np.cumsum(inner) - 1
    kept = inner[pattern.rows] & inner[pattern.cols]
    interior = Pattern.from_pairs(inner.sum(), new[pattern.rows[kept]], new[pattern.cols[kept]])
    factor = factorise(analyse(interior, nodes[inner]), data[kept])
    close(factor.solve(load.ravel()).reshape(-1, 3), u[inner], 1e-12)


def test_loose_motions_show_in_the_pivots():
    """A body without support has six of them, and they lie in that body."""
    fixed, fixed_data, fixed_nodes = elastic_box(2, 2, 3)
    loose, loose_data, loose_nodes = elastic_box(2, 2, 3, clamped=False)
    pattern = Pattern.concatenate([fixed, loose])
    nodes, data = np.concatenate([fixed_nodes, loose_nodes]), np.concatenate([fixed_data, loose_data])
    factor = factorise(analyse(pattern, nodes), data, indefinite=True)
    tiny = np.flatnonzero(factor.pivot_ratios < 1e-11)
    assert len(tiny) == 6
    assert tiny.min() >= fixed.ndof
    assert factor.smallest_pivot_ratio < 1e-11
    assert factorise(analyse(fixed, fixed_nodes), fixed_data).smallest_pivot_ratio > 1e-4


def test_a_factor_stays_what_it_is_whatever_is_factorised_later():
    pattern, data, nodes = elastic_box()
    rng = np.random.default_rng(4)
    symbolic = analyse(pattern, nodes)
    b, H = rng.normal(size=pattern.ndof), point_rows(pattern.ndof, rng, m=20)
    fresh = factorise(symbolic, data)
    x, W, answer = fresh.solve(b), fresh.compliance(H), fresh.half(H).loaded(b).answer
    for _ in range(4):
        close(factorise(symbolic, 3.0 * data).solve(b), x / 3.0, 1e-12)
        with pytest.raises(NotPositiveDefinite):
            factorise(symbolic, -data)
        assert factorise(symbolic, -data, indefinite=True).negative == pattern.ndof
    np.testing.assert_array_equal(fresh.solve(b), x)
    np.testing.assert_array_equal(fresh.compliance(H), W)
    del fresh
    factorise(symbolic, 2.0 * data)
    close(answer(np.zeros(20)), x, 1e-12)  # what an answer needs stays with it


def test_memory_of_factors_is_used_again_and_not_pickled():
    pattern, data, nodes = elastic_box()
    symbolic = analyse(pattern, nodes)
    first = factorise(symbolic, data)._memory.panels
    again = factorise(symbolic, data)
    assert again._memory.panels is first
    assert len(pickle.dumps(symbolic)) < 3 * first.nbytes


def test_dissection_needs_far_fewer_operations_than_no_order():
    pattern, _, nodes = elastic_box(9, 9, 9)
    natural = supernodes(pattern, np.arange(pattern.size)).flops
    dissected = supernodes(pattern, nested_dissection(pattern, nodes)).flops
    degree = supernodes(pattern, minimum_degree(pattern)).flops
    assert dissected < 0.5 * natural
    assert degree < natural
    symbolic = analyse(pattern, nodes)
    assert isinstance(symbolic, CholeskySymbolic)
    assert symbolic.flops == 27 * min(dissected, degree)
