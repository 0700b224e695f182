"""Complementarity solvers: certificates over random and degenerate problems, and cases with known answers."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.solvers import Solution, lcp, mcp
from pliant.solvers.complementarity.active_set import STALLED
from pliant.solvers.complementarity.warm_start import warm_start

quick = settings(deadline=None, max_examples=120, derandomize=True)
TOLERANCE = 1e-10


class Effort(NamedTuple):
    effort: np.ndarray


def semidefinite(rng, m):
    """A Aᵀ of any rank, some rows repeated or opposed, some in other units."""
    A = rng.normal(size=(m, rng.integers(0, m + 2)))
    if rng.random() < 0.5:
        A = A.round()  # exact ties
    for _ in range(rng.integers(0, m + 1)):
        A[rng.integers(m)] = A[rng.integers(m)] * rng.choice([1.0, -1.0, 2.0])
    A *= np.exp(rng.choice([0.0, 3.0]) * rng.normal(size=m))[:, None]
    return A @ A.T


def solvable(rng, W, lo, hi):
    """q such that some λ solves the problem, perhaps with λ and w both zero in places, and such a λ."""
    m = len(W)
    low = np.where(np.isfinite(lo), lo, np.where(np.isfinite(hi), hi, 1.0) - 3.0)
    high = np.where(np.isfinite(hi), hi, low + 3.0)
    lam = low + (high - low) * rng.choice([0.0, 0.5, 1.0], m)
    force = np.abs(rng.normal(size=m)).round(rng.integers(0, 3))
    w = np.where(lam == lo, force, np.where(lam == hi, -force, 0.0))
    return w - W @ lam, lam


def residual(W, q, lo, hi, solution):
    """The natural residual, computed independently of the solver."""
    unit = np.sqrt(np.maximum(np.abs(np.diag(W)), 1e-30 * np.abs(np.diag(W)).max(initial=1e-270)))
    lam, w = solution.effort * unit, (W @ solution.effort + q) / unit
    gap = lam - np.clip(lam - w, lo * unit, hi * unit)
    bound = (solution.effort == lo) | (solution.effort == hi)
    size = max(np.abs(q / unit).max(initial=0.0), np.abs(lam[bound]).max(initial=0.0))
    return np.abs(gap).max(initial=0.0) / size if size else 0.0


def certified(W, q, lo, hi, solution):
    assert solution.certificate.status == "solved"
    assert solution.certificate.solved
    assert solution.certificate.residual <= TOLERANCE
    assert residual(W, q, lo, hi, solution) <= 2 * TOLERANCE
    assert np.all((solution.effort >= lo) & (solution.effort <= hi))
    np.testing.assert_allclose(
        solution.gap, W @ solution.effort + q, atol=1e-9 * np.abs(q).max(initial=1e-300)
    )


def bounds(rng, m):
    lo = -np.abs(rng.normal(size=m)).round(1) * rng.integers(0, 2)
    hi = np.abs(rng.normal(size=m)).round(1)  # sometimes equal to lo
    lo[rng.random(m) < 0.2] = -np.inf
    hi[(rng.random(m) < 0.4) & np.isfinite(lo)] = np.inf
    return lo, hi


@quick
@given(st.integers(1, 25), st.integers(0, 2**32 - 1), st.booleans())
def test_lcp_is_complementary(m, seed, warm):
    rng = np.random.default_rng(seed)
    W, lo, hi = semidefinite(rng, m), np.zeros(m), np.full(m, np.inf)
    q, lam = solvable(rng, W, lo, hi)
    start = np.abs(lam + rng.normal(size=m)) if warm else None
    certified(W, q, lo, hi, lcp(W, q, start=start))


@quick
@given(st.integers(1, 25), st.integers(0, 2**32 - 1), st.booleans())
def test_mcp_is_complementary_between_bounds(m, seed, warm):
    rng = np.random.default_rng(seed)
    W, (lo, hi) = semidefinite(rng, m), bounds(rng, m)
    q, lam = solvable(rng, W, lo, hi)
    start = lam + rng.choice([0.0, 1.0]) * rng.normal(size=m) if warm else None
    certified(W, q, lo, hi, mcp(W, q, lo, hi, start=start))


@quick
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_mcp_with_redundant_equalities(m, seed):
    rng = np.random.default_rng(seed)
    W, (lo, hi) = semidefinite(rng, m), bounds(rng, m)
    free = rng.random(m) < 0.5
    lo[free], hi[free] = -np.inf, np.inf
    q, _ = solvable(rng, W, lo, hi)
    certified(W, q, lo, hi, mcp(W, q, lo, hi))


@quick
@given(st.integers(1, 8), st.integers(0, 12), st.integers(0, 2**32 - 1), st.booleans())
def test_mcp_with_an_indefinite_free_block(free, bounded, seed, hollow):
    """Negative eigenvalues that the equalities remove: the complement of bounded rows is semi-definite."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(free, free)))[0]
    block = vectors * rng.choice([-1.0, 1.0], free) * rng.uniform(0.3, 2.0, free) @ vectors.T
    if hollow and free == 2:
        block = np.array([[0.0, 1.0], [1.0, 0.0]])  # no diagonal pivot at all
    couple = rng.normal(size=(bounded, free))
    A = rng.normal(size=(bounded, max(bounded - 1, 0)))
    W = np.block([[block, couple.T], [couple, A @ A.T + couple @ np.linalg.solve(block, couple.T)]])
    W = 0.5 * (W + W.T)
    lo, hi = bounds(rng, free + bounded)
    lo[:free], hi[:free] = -np.inf, np.inf
    q, _ = solvable(rng, W, lo, hi)
    order = rng.permutation(free + bounded)
    W, q, lo, hi = W[np.ix_(order, order)], q[order], lo[order], hi[order]
    certified(W, q, lo, hi, mcp(W, q, lo, hi))


def test_proximal_steps_finish_what_degeneracy_stalls(monkeypatch):
    rng = np.random.default_rng(5)
    A = np.repeat(rng.normal(size=(6, 4)), 3, axis=0)  # every row three times
    W, lo, hi = A @ A.T, np.zeros(18), np.full(18, np.inf)
    q, _ = solvable(rng, W, lo, hi)
    module = sys.modules["pliant.solvers.complementarity.mcp"]
    exact, calls = module.solve_box, []

    def stalls_once(*problem):
        calls.append(problem)
        return (STALLED, 1) if len(calls) == 1 else exact(*problem)

    monkeypatch.setattr(module, "solve_box", stalls_once)
    certified(W, q, lo, hi, lcp(W, q))
    assert len(calls) > 1


def test_masses_on_springs_against_a_wall():
    """Two springs in series, k = 1 N/m, end pushed 3 m to a wall 1 m away: only the end touches, 2/2 N."""
    K = np.array([[2.0, -1.0], [-1.0, 1.0]])
    W = np.linalg.inv(K)
    free_gap = np.array([2.0, 1.0 - 3.0])
    solution = lcp(W, free_gap)
    np.testing.assert_allclose(solution.effort, [0.0, 1.0], atol=1e-14)
    np.testing.assert_allclose(solution.gap, [3.0, 0.0], atol=1e-14)


def test_uncoupled_rows_are_clipped():
    rng = np.random.default_rng(0)
    d, q = rng.uniform(1e-6, 1e3, 40), rng.normal(size=40)
    lo, hi = -rng.uniform(0, 1, 40), rng.uniform(0, 1, 40)
    solution = mcp(np.diag(d), q, lo, hi)
    np.testing.assert_allclose(solution.effort, np.clip(-q / d, lo, hi), rtol=1e-12)


def test_without_bounds_it_is_a_linear_solve():
    rng = np.random.default_rng(1)
    W, q = rng.normal(size=(30, 30)), rng.normal(size=30)
    W = W + W.T  # indefinite
    solution = mcp(W, q, -np.inf, np.inf)
    np.testing.assert_allclose(W @ solution.effort, -q, atol=1e-10)


def test_duplicated_contacts_share_or_swap():
    """The same row twice: with equal gaps either may carry the force, with unequal ones the tighter does."""
    W = np.full((2, 2), 2.0)
    equal = lcp(W, [-1.0, -1.0])
    assert equal.effort.sum() == pytest.approx(0.5, rel=1e-14)
    tighter = lcp(W, [-1.0, -3.0], start=[1.0, 0.0])
    np.testing.assert_allclose(tighter.effort, [0.0, 1.5], atol=1e-14)
    np.testing.assert_allclose(tighter.gap, [2.0, 0.0], atol=1e-14)


def test_units_do_not_matter():
    """Rows in newtons, pascals and newton-metres: rescaled rows give rescaled efforts."""
    rng = np.random.default_rng(2)
    A = rng.normal(size=(20, 25))
    W, (lo, hi) = A @ A.T, bounds(rng, 20)
    lo[:5], hi[:5] = -np.inf, np.inf
    q = solvable(rng, W, lo, hi)[0]
    unit = 10.0 ** rng.uniform(-6, 6, 20)
    plain = mcp(W, q, lo, hi)
    scaled = mcp(W * np.outer(unit, unit), q * unit, lo / unit, hi / unit)
    np.testing.assert_allclose(scaled.effort * unit, plain.effort, atol=1e-10)


def test_a_warm_start_confirms_a_solution_at_once():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(60, 80))
    W, q = A @ A.T, rng.normal(size=60) * 10
    cold = lcp(W, q)
    warm = lcp(W, q, start=cold)
    assert cold.certificate.iterations > 5
    assert warm.certificate.iterations == 1
    np.testing.assert_allclose(warm.effort, cold.effort, atol=1e-13)


def test_contradictions_are_reported():
    assert lcp(np.zeros((1, 1)), [-1.0]).certificate.status == "infeasible"
    assert lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]).certificate.status == "infeasible"
    twice = mcp(np.ones((2, 2)), [1.0, 2.0], -np.inf, np.inf)
    assert twice.certificate.status == "infeasible"
    assert twice.certificate.residual > 0.1


def test_gauss_seidel_agrees_on_an_easy_problem_and_admits_defeat_on_a_hard_one():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(20, 60))
    W, q = A @ A.T, rng.normal(size=20) * 20
    exact, easy = lcp(W, q), lcp(W, q, method="pgs")
    assert easy.certificate.solved
    np.testing.assert_allclose(easy.effort, exact.effort, atol=1e-9)
    chain = np.linalg.inv(2.0 * np.eye(80) - np.eye(80, k=1) - np.eye(80, k=-1))
    hard = lcp(chain, np.full(80, -1.0), method="pgs", iterations=5)
    assert hard.certificate.status == "not converged"
    assert hard.certificate.residual > 1e-6
    assert lcp(chain, np.full(80, -1.0)).certificate.residual < 1e-12


def test_no_rows_no_efforts():
    assert lcp(np.zeros((0, 0)), np.zeros(0)).effort.shape == (0,)
    assert mcp(np.zeros((0, 0)), np.zeros(0), 0.0, 1.0).certificate.solved


def test_solutions_are_read_only_and_input_is_not_touched():
    W, q = np.eye(2), np.array([-1.0, 1.0])
    W.flags.writeable = q.flags.writeable = False
    solution = lcp(W, q)
    assert isinstance(solution, Solution)
    with pytest.raises(ValueError):
        solution.effort[0] = 2.0
    np.testing.assert_array_equal(mcp(W, q, 0.0, np.inf, start=solution).effort, [1.0, 0.0])


def test_wrong_input_is_named():
    with pytest.raises(InputError, match="W, q"):
        lcp(np.eye(2), np.zeros(3))
    with pytest.raises(InputError, match="finite"):
        lcp(np.eye(2), [np.nan, 1.0])
    with pytest.raises(InputError, match="finite"):
        mcp([[np.nan, 0.0], [0.0, 1.0]], [-1.0, -1.0], 0.0, 1.0)
    with pytest.raises(InputError, match="row 1"):
        mcp(np.eye(2), np.zeros(2), [0.0, 1.0], [1.0, 0.0])
    with pytest.raises(InputError, match="start"):
        lcp(np.eye(2), np.zeros(2), start=np.zeros(3))
    with pytest.raises(InputError, match="active set"):
        lcp(np.eye(2), np.zeros(2), method="simplex")


def test_rows_that_touch_nothing_do_not_hide_the_others():
    """Their gap says nothing about how exact the answer of the others has to be."""
    W, q = np.diag([1e-6, 0.0]), np.array([-1e-4, 1.0])
    for found in (lcp(W, q), mcp(W, q, np.zeros(2), np.full(2, np.inf))):
        np.testing.assert_allclose(found.effort, [100.0, 0.0], rtol=1e-12)
        assert found.certificate.status == "solved"
    assert lcp(np.diag([1.0, 0.0]), np.array([-1.0, -1.0])).certificate.status != "solved"


# From a good guess


@quick
@given(st.integers(1, 20), st.integers(0, 2**32 - 1), st.booleans())
def test_what_a_guess_confirms_is_the_solution(m, seed, right):
    """From the solution itself always, from anything else if at all; springs are part of the matrix."""
    rng = np.random.default_rng(seed)
    A, compliance = rng.normal(size=(m, m)), np.where(rng.random(m) < 0.3, rng.random(m), 0.0)
    W, (lo, hi) = A @ A.T + 0.1 * np.eye(m), bounds(rng, m)
    q, lam = solvable(rng, W + np.diag(compliance), lo, hi)
    start = mcp(W + np.diag(compliance), q, lo, hi).effort if right else lam + rng.normal(size=m)
    effort, settled = warm_start(W, q + 1.0, np.arange(m), np.ones(m), compliance, lo, hi, start)
    if settled:
        assert residual(W + np.diag(compliance), q, lo, hi, Effort(effort)) <= TOLERANCE
        assert np.all((effort >= lo) & (effort <= hi))
    degenerate = np.isclose(start, lo, atol=1e-9) | np.isclose(start, hi, atol=1e-9)
    assert settled or not right or degenerate.any()


def test_a_guess_with_another_active_set_is_refused():
    """Two contacts of which the first one holds both; dependent rows are left to others."""
    W, q, none, more = (
        np.array([[2.0, 1.0], [1.0, 1.0]]),
        np.array([-1.0, -0.4]),
        np.zeros(3),
        np.full(3, np.inf),
    )
    rows = np.array([0, 2])  # of three
    effort, settled = warm_start(W, q, rows, none, none, none, more, np.array([1.0, 9.0, 0.0]))
    assert settled and effort == pytest.approx([0.5, 0.0])
    for start in ([0.0, 9.0, 1.0], [1.0, 9.0, 1.0], [0.0, 9.0, 0.0]):
        assert not warm_start(W, q, rows, none, none, none, more, np.array(start))[1]
    assert not warm_start(np.ones((2, 2)), q, rows, none, none, none, more, np.ones(3))[1]


def test_efforts_beyond_all_numbers_are_no_input_error():
    """Two rows say almost the same of something so stiff that its compliance is next to nothing."""
    W = 1e-305 * np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with np.errstate(all="ignore"):
        solution = mcp(W, [1e5, -1e5, -1e6], [-np.inf, 0.0, 0.0], np.inf)
    assert solution.certificate.status == "infeasible" and solution.certificate.residual == np.inf
