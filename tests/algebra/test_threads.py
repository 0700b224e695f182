"""Large factors: METIS's order, fronts that threads share, and the limit on threads."""

from __future__ import annotations

import builtins
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import threads
from pliant.algebra import NotPositiveDefinite, Pattern, analyse, cholesky, factorise, symbolic
from pliant.algebra.elimination import supernodes
from pliant.algebra.ordering import metis_dissections, minimum_degree
from pliant.errors import InputError
from pliant.robots import trunk

quick = settings(deadline=None, max_examples=25, derandomize=True)


@pytest.fixture(autouse=True)
def limits():
    allowed = threads.threads()
    yield
    threads.limit(allowed)


@pytest.fixture
def shared(monkeypatch):
    """Fronts of any size are shared out."""
    monkeypatch.setattr(symbolic, "LEAST_SHARED", 0.0)


def cube(n):
    """A positive definite matrix on n³ nodes that are tied to their 26 neighbours."""
    at = np.stack(np.unravel_index(np.arange(n**3), (n, n, n)), axis=1)
    i, j = np.triu_indices(n**3, 1)
    near = np.abs(at[i] - at[j]).max(axis=1) == 1
    pattern = Pattern.from_pairs(n**3, i[near], j[near])
    rng = np.random.default_rng(0)
    K = rng.normal(size=pattern.zeros().shape)
    K[pattern.diagonal] += K[pattern.diagonal].transpose(0, 2, 1)
    rows = np.abs(pattern.to_csr(K)).sum(axis=1)
    K[pattern.diagonal] += np.eye(3) * (rows.reshape(-1, 3)[:, :, None] + 0.1)
    return pattern, K


def some_rows(ndof, m=6):
    rng = np.random.default_rng(1)
    columns = rng.integers(0, ndof, 4 * m)
    return sp.csr_array((rng.normal(size=4 * m), columns, np.arange(0, 4 * m + 1, 4)), shape=(m, ndof))


@pytest.mark.parametrize("indefinite", [False, True])
def test_threads_change_no_bit(indefinite, shared):
    pattern, K = cube(8)
    if indefinite:  # shifted into its spectrum
        K[pattern.diagonal] -= 40.0 * np.eye(3)
    analysed, b, H = analyse(pattern), np.ones(pattern.ndof), some_rows(pattern.ndof)
    assert len(analysed.fronts.top) > 1 and len(analysed.fronts.subtree_end) > 1
    found = []
    for count in (1, 2, 3):
        threads.limit(count)
        factor = factorise(analysed, K, indefinite=indefinite)
        found.append((factor.solve(b), factor.compliance(H), factor.pivot_ratios, factor.negative))
    for other in found[1:]:
        for mine, theirs in zip(found[0], other):
            np.testing.assert_array_equal(mine, theirs)
    A = pattern.to_csr(K).toarray()
    assert found[0][3] == np.sum(np.linalg.eigvalsh(A) < 0) and (found[0][3] > 0) == indefinite
    tolerance = 1e-6 if indefinite else 1e-12
    np.testing.assert_allclose(A @ found[0][0], b, atol=tolerance * np.abs(A).max())
    exact = H @ np.linalg.solve(A, H.toarray().T)
    np.testing.assert_allclose(found[0][1], exact, atol=tolerance * np.abs(exact).max())


@quick
@given(st.integers(1, 40), st.sampled_from([1, 2, 3, 6]), st.floats(0.0, 6.0), st.integers(0, 2**32 - 1))
def test_shared_fronts_of_random_patterns_match_dense_algebra(size, block, density, seed):
    rng = np.random.default_rng(seed)
    pattern = Pattern.from_pairs(size, *rng.integers(0, size, (2, int(density * size))), block=block)
    K = rng.normal(size=pattern.zeros().shape)
    K[pattern.diagonal] += K[pattern.diagonal].transpose(0, 2, 1)
    rows = np.abs(pattern.to_csr(K)).sum(axis=1)
    K[pattern.diagonal] += np.eye(block) * (rows.reshape(-1, block)[:, :, None] + 0.1)
    threads.limit(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symbolic, "LEAST_SHARED", 0.0)
        patch.setattr(cholesky, "LEAST_FOR_METIS", 0.0)
        factor = factorise(analyse(pattern), K)
    b = rng.normal(size=pattern.ndof)
    np.testing.assert_allclose(pattern.to_csr(K) @ factor.solve(b), b, atol=1e-10)


def test_the_first_pivot_that_fails_is_named_whoever_met_it(shared):
    pattern, K = cube(7)
    analysed = analyse(pattern)
    place = analysed.fronts.place
    K[pattern.diagonal[[40, 200, 300]]] *= -1.0
    first = min((40, 200, 300), key=lambda block: place[block])
    for count in (1, 2, 3):
        threads.limit(count)
        with pytest.raises(NotPositiveDefinite) as caught:
            factorise(analysed, K)
        assert place[caught.value.block] <= place[first]
        if count == 1:
            alone = caught.value.block
        assert caught.value.block == alone


def test_two_factors_at_once_do_not_disturb_each_other(shared):
    pattern, K = cube(7)
    analysed, b = analyse(pattern), np.ones(pattern.ndof)
    expected, wrong = factorise(analysed, K).solve(b), []
    threads.limit(2)

    def repeatedly(scale):
        for _ in range(20):
            if not np.allclose(factorise(analysed, scale * K).solve(b), expected / scale, rtol=1e-10):
                wrong.append(scale)

    running = [threading.Thread(target=repeatedly, args=(scale,)) for scale in (1.0, 2.0, 3.0)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not wrong


def test_metis_needs_fewer_operations_in_a_large_body_and_is_chosen():
    pattern, _ = cube(14)
    degree = supernodes(pattern, minimum_degree(pattern)).flops
    best = min(supernodes(pattern, order).flops for order in metis_dissections(pattern))
    assert best < 0.95 * degree
    analysed = analyse(pattern)
    assert analysed.ordering.startswith("METIS") and analysed.flops == 27 * best


def test_without_metis_minimum_degree_serves(monkeypatch):
    def missing(name, *rest):
        if name == "pymetis":
            raise ImportError(name)
        return real(name, *rest)

    real = builtins.__import__
    monkeypatch.setattr(cholesky, "LEAST_FOR_METIS", 0.0)
    monkeypatch.setattr(builtins, "__import__", missing)
    pattern, K = cube(5)
    analysed = analyse(pattern)
    assert analysed.ordering == "minimum degree"
    b = np.ones(pattern.ndof)
    np.testing.assert_allclose(pattern.to_csr(K) @ factorise(analysed, K).solve(b), b, atol=1e-10)


def test_a_robot_rests_at_the_same_place_with_any_number_of_threads(shared):
    import pliant as pl

    places = []
    for count in (1, 2):
        threads.limit(count)
        robot = trunk()
        cable = next(iter(robot.by_role("actuator")))
        places.append(pl.static(robot, {cable: pl.Known(effort=1.0)}).q)
    assert len(robot.symbolic.fronts.top) > 0
    np.testing.assert_array_equal(*places)


def test_the_limit_is_a_whole_number_and_may_come_from_the_environment():
    for wrong in (0, -1, 1.5, True, "two"):
        with pytest.raises(InputError, match="threads"):
            threads.limit(wrong)
    asked = "from pliant import threads; print(threads.threads())"
    said = lambda value: subprocess.run(
        [sys.executable, "-c", asked], env={"PLIANT_THREADS": value}, capture_output=True, text=True
    )
    assert said("3").stdout.strip() == "3"
    assert "PLIANT_THREADS" in said("many").stderr
