"""Large contact problems with a known answer, and the factor they are solved with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from pliant.bench.lcp import SPACING, SPHERE, STIFFNESS, punch, slender
from pliant.bench.rod import LENGTH, STATIONS, section
from pliant.solvers import lcp
from pliant.solvers.cholesky import append, remove, solve

EXACT = 1e-10


def complementary(W, q, solution):
    """Forces push, gaps are open, never both; evaluated here."""
    gap = W @ solution.effort + q
    assert solution.certificate.solved and solution.certificate.residual <= EXACT
    assert np.all(solution.effort >= 0.0)
    assert gap.min() >= -EXACT * np.abs(q).max()
    assert np.abs(gap[solution.effort > 0.0]).max(initial=0.0) <= EXACT * np.abs(q).max()


@pytest.mark.parametrize("pushing", [60, 240])
def test_a_sphere_on_a_half_space_presses_as_hertz_says(pushing):
    """F = 4/3 E* √R d^(3/2), a² = R d, p₀ = 3F / (2π a²)."""
    contact = punch(900, pushing, scatter=0.0)
    s = lcp(contact.W, contact.q)
    complementary(contact.W, contact.q, s)
    depth = pushing * SPACING**2 / (np.pi * SPHERE)
    force = 4.0 / 3.0 * STIFFNESS * np.sqrt(SPHERE) * depth**1.5
    assert s.effort.sum() == pytest.approx(force, rel=0.02)
    assert np.count_nonzero(s.effort) == pytest.approx(pushing, rel=0.1)
    peak = 3.0 * force / (2.0 * np.pi * SPHERE * depth)
    assert s.effort.max() / SPACING**2 == pytest.approx(peak, rel=0.05)


@pytest.mark.parametrize("problem", [punch(900, 110), slender(900)], ids=["punch", "slender"])
def test_a_solution_nearby_is_a_good_start(problem):
    cold = lcp(problem.W, problem.q)
    complementary(problem.W, problem.q, cold)
    for seed in range(3):
        q = problem.nearby(seed)
        warm, fresh = lcp(problem.W, q, start=cold), lcp(problem.W, q)
        complementary(problem.W, q, warm)
        assert warm.certificate.iterations < fresh.certificate.iterations
        size = np.abs(fresh.effort).max()
        assert np.allclose(warm.effort, fresh.effort, atol=1e-6 * size)


def test_more_contacts_than_ways_to_move():
    """A body with a few modes among obstacles it can pass: hundreds of dependent contacts, unique gaps."""
    rng = np.random.default_rng(0)
    angles, heights = rng.uniform(0, 2 * np.pi, 300), LENGTH * rng.uniform(0.1, 1.0, 300)
    rows = [np.cos(a) * section(h)[0] + np.sin(a) * section(h)[1] for a, h in zip(angles, heights)]
    modes = rng.normal(size=(3 * STATIONS + 1, 12))
    H = np.array(rows) @ modes
    W, q = H @ H.T, rng.uniform(0.0, 1e-3, 300) - H @ rng.normal(size=12) * 1e-3
    assert np.linalg.matrix_rank(W) <= 12
    s = lcp(W, q)
    complementary(W, q, s)
    again = lcp(W, q, start=rng.uniform(size=300) * s.effort.max())
    complementary(W, q, again)
    assert np.allclose(again.gap, s.gap, atol=1e-9 * np.abs(q).max())


@njit
def _change(U, S, members, k, row, position):
    """Append a row, or remove a position if `row` is negative; then solve for ones."""
    if row >= 0:
        append(U, S, members, k, row, 1e-14)
    else:
        remove(U, members, k, position)


@njit
def _solve(U, k, z):
    solve(U, k, z)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_a_factor_that_gains_and_loses_rows_stays_the_factor(n, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n + 3))
    S, U = A @ A.T, np.full((n, n), np.nan)
    members, inside = np.zeros(n, np.int64), []
    for _ in range(30):
        outside = [i for i in range(n) if i not in inside]
        if outside and (not inside or rng.random() < 0.6):
            i = int(rng.choice(outside))
            _change(U, S, members, len(inside), i, 0)
            inside.append(i)
        else:
            position = int(rng.integers(len(inside)))
            _change(U, S, members, len(inside), -1, position)
            del inside[position]
        k = len(inside)
        assert members[:k].tolist() == inside
        z = np.ones(n)
        _solve(U, k, z)
        np.testing.assert_allclose(S[np.ix_(inside, inside)] @ z[:k], np.ones(k), atol=1e-9)
