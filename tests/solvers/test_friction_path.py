"""Parts of the friction solver: the path from open contacts, its turns, the cone, and mode equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from pliant.solvers import friction
from pliant.solvers.friction.cone import OPEN, SLIP, STICK, change, classify, leaves_cone, margins, residuals
from pliant.solvers.friction.newton import newton
from pliant.solvers.friction.path import Path, advance, begin
from pliant.solvers.friction.scaled import Scaled, scaled
from tests.solvers.friction_common import law_error

quick = settings(deadline=None, max_examples=60, derandomize=True)
NONE = np.zeros(0)


@njit
def classified(mu, lo, hi, x, w, mode, slip):
    classify(mu, lo, hi, x, w, mode, slip)


def problem(seed: int, n: int, mu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contacts that penetrate, any compliance."""
    rng = np.random.default_rng(seed)
    A, q = rng.normal(size=(3 * n, 3 * n + 1)), rng.normal(size=3 * n)
    q[:n] -= 1.0
    return A @ A.T, q, np.full(n, mu)


def followed(s: Scaled, path: Path) -> int:
    """Go to the end, round by round; how many rounds went back."""
    back = 0
    for _ in range(3000):
        if path.stopped:
            break
        advance(s, path, 1)
        back += path.state["dz"][0] > 0.0
    assert path.stopped
    return back


def residual(s: Scaled, x: np.ndarray) -> float:
    return max(residuals.py_func(s.mu, s.lo, s.hi, x, s.W @ x + s.q)) / np.abs(s.q).max()


@quick
@given(st.integers(1, 10), st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.7, 1.5]))
def test_the_path_ends_in_a_solution(n, seed, mu):
    s = scaled(*problem(seed, n, mu), NONE, NONE, np.zeros(3 * n))
    for lift in (0, 1):
        path = begin(s, np.zeros(3 * n), lift)
        followed(s, path)
        assert residual(s, path.x) <= 1e-10


def test_the_path_turns_back_where_it_must():
    """With much friction z grows for a while, more than once: following it down would get stuck."""
    turns = 0
    for seed in range(20, 40):
        s = scaled(*problem(seed, 8, 1.5), NONE, NONE, np.zeros(24))
        path = begin(s, np.zeros(24), 0)
        turns += followed(s, path) > 0
        assert residual(s, path.x) <= 1e-10
    assert turns >= 3


@quick
@given(st.integers(1, 10), st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_a_path_from_the_solution_of_another_problem(n, seed, change):
    W, q, mu = problem(seed, n, 0.6)
    before = friction(W, q, mu)
    assert before.certificate.solved
    now = q + change * np.random.default_rng(seed + 1).normal(size=3 * n)
    s = scaled(W, now, mu, NONE, NONE, before.effort.copy())
    path = begin(s, s.x)
    followed(s, path)
    assert residual(s, path.x) <= 1e-10


def test_newton_finishes_what_is_nearly_right():
    W, q, mu = problem(4, 12, 0.5)
    exact = friction(W, q, mu)
    s = scaled(W, q, mu, NONE, NONE, exact.effort * (1.0 + 1e-3 * np.random.default_rng(0).normal(size=36)))
    error, steps = newton(s, s.x, 1e-13, 3)
    assert error <= 1e-13 and steps <= 4
    np.testing.assert_allclose(s.x * s.d, exact.effort, atol=1e-10 * np.abs(exact.effort).max())


def test_friction_may_leave_several_solutions():
    """Slip that pulls the contact shut: open and stuck are solutions. A start chooses; both are certified."""
    W, q, mu = np.eye(3), np.array([0.1, -1.0, 0.0]), np.array([1.5])
    W[0, 1] = W[1, 0] = -0.9
    opened = friction(W, q, mu)
    assert opened.certificate.solved and not opened.effort.any()
    stuck = friction(W, q, mu, start=-np.linalg.solve(W, q))
    assert stuck.certificate.solved and stuck.normal[0] > 4.0
    assert law_error(W, q, mu, opened) <= 1e-12 and law_error(W, q, mu, stuck) <= 1e-12


@quick
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 3.0))
def test_where_a_line_leaves_the_cone(seed, mu):
    rng = np.random.default_rng(seed)
    d = rng.normal(size=3)
    x = np.array([1.0, *(rng.uniform(0.0, mu / 2, 2))])
    h = leaves_cone.py_func(mu, *x, *d)
    inside = lambda t: mu * (x + t * d)[0] - np.hypot(*(x + t * d)[1:])
    if h < np.inf:
        assert abs(inside(h)) <= 1e-9 * (1.0 + h)
        assert inside(h + 1e-6 * (1.0 + h)) < 0.0
    assert all(inside(t) >= -1e-12 for t in np.linspace(0.0, min(h, 1e3), 50))


@pytest.mark.parametrize("state", [OPEN, STICK, SLIP])
def test_modes_change_where_their_margins_end(state):
    """Each mode, at its margin, is also the mode beyond it."""
    mu, x, w = np.array([0.5]), np.array([1.0, 0.3, 0.0]), np.zeros(3)
    if state == OPEN:
        x, w = np.zeros(3), np.array([0.2, 0.1, -0.4])
    if state == SLIP:
        x, w = np.array([1.0, 0.4, 0.3]), np.array([0.0, -0.8, -0.6])
    mode, slip, g = np.zeros(1, np.int64), np.zeros((1, 3)), np.zeros((2, 1))
    classified(mu, NONE, NONE, x, w, mode, slip)
    assert mode[0] == state
    margins.py_func(mu, NONE, NONE, x, w, mode, slip, g)
    expected = {OPEN: (0.2, np.inf), STICK: (0.2, np.inf), SLIP: (1.0, 1.0)}[state]
    np.testing.assert_allclose(g[:, 0], expected, atol=1e-12)
    for side in (0, 1) if state == SLIP else (0,):
        other = mode.copy()
        change.py_func(other, 0, side, 0)
        assert other[0] == {OPEN: SLIP, STICK: SLIP, SLIP: (OPEN, STICK)[side]}[state]
