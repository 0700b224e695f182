"""Quadratic programs: optimality, multipliers, infeasible and singular ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.solvers import qp


def program(seed, n, m, rank):
    """A random feasible program with a solution of unit size."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(rank, n))
    A = rng.normal(size=(m, n))
    inside = rng.uniform(-0.3, 0.3, n)
    return B.T @ B, rng.normal(size=n), -np.ones(n), np.ones(n), A, A @ inside - 0.2, A @ inside + 0.5


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 12), st.floats(-9, 6))
def test_optimality(seed, n, m, decade):
    Q, c, lo, hi, A, lower, upper = program(seed, n, m, n + 2)
    size = 10.0**decade
    s = qp(size * Q, size * c, lo, hi, A, lower, upper)
    assert s.certificate.solved
    assert s.certificate.residual < 1e-8
    assert np.allclose(
        size * (Q @ s.effort + c), s.bound_multiplier + A.T @ s.row_multiplier, atol=1e-7 * size
    )
    assert np.all(s.effort >= lo - 1e-9) and np.all(s.rows <= upper + 1e-9)


def test_multipliers_are_derivatives_of_the_optimal_cost():
    Q, c, lo, hi, A, lower, upper = program(3, 5, 6, 7)
    c = 5 * c
    s, step = qp(Q, c, lo, hi, A, lower, upper), 1e-6
    held = [j for j in range(5) if abs(s.bound_multiplier[j]) > 1e-6]
    rows = [i for i in range(6) if abs(s.row_multiplier[i]) > 1e-6]
    assert held and rows
    for j in held:
        moved = (lo if s.bound_multiplier[j] > 0 else hi).copy()
        moved[j] += step
        bounds = (moved, hi) if s.bound_multiplier[j] > 0 else (lo, moved)
        assert (qp(Q, c, *bounds, A, lower, upper).cost - s.cost) / step == pytest.approx(
            s.bound_multiplier[j], rel=1e-3
        )
    for i in rows:
        moved = (lower if s.row_multiplier[i] > 0 else upper).copy()
        moved[i] += step
        bounds = (moved, upper) if s.row_multiplier[i] > 0 else (lower, moved)
        assert (qp(Q, c, lo, hi, A, *bounds).cost - s.cost) / step == pytest.approx(
            s.row_multiplier[i], rel=1e-3
        )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(0, 6))
def test_redundant_variables(seed, n, m):
    """A singular Q reaches the same cost as a tiny definite one, and the certificate says what was added."""
    Q, c, lo, hi, A, lower, upper = program(seed, n, m, n - 1)
    s = qp(Q, c, lo, hi, A, lower, upper)
    assert s.certificate.solved
    assert s.certificate.regularised > 0.0
    near = qp(Q + 1e-9 * np.eye(n), c, lo, hi, A, lower, upper)
    assert s.cost == pytest.approx(near.cost, abs=1e-7)


def test_infeasible_rows_give_the_least_violation():
    s = qp(np.eye(2), [1.0, 1.0], 0.0, 1.0, [[1.0, 1.0]], 3.0, 4.0)
    assert s.certificate.status == "infeasible"
    assert np.allclose(s.effort, [1.0, 1.0])  # the nearest point of the box: 2 instead of 3
    assert s.certificate.feasibility > 0.1


def test_contradicting_bounds_are_met_halfway():
    s = qp(np.eye(2), [1.0, 1.0], [2.0, -1.0], [1.0, 1.0])
    assert s.certificate.status == "infeasible"
    assert np.allclose(s.effort, [1.5, -1.0])


def test_unbounded_is_not_called_solved():
    assert not qp(np.zeros((2, 2)), [1.0, -1.0], -np.inf, np.inf).certificate.solved


def test_start_changes_nothing():
    Q, c, lo, hi, A, lower, upper = program(5, 6, 8, 8)
    s = qp(Q, c, lo, hi, A, lower, upper)
    again = qp(Q, c, lo, hi, A, lower, upper, start=s)
    assert np.allclose(s.effort, again.effort, atol=1e-12)
    assert not s.effort.flags.writeable


def test_input_errors():
    with pytest.raises(InputError, match="Q, c"):
        qp(np.eye(3), [1.0, 2.0], 0, 1)
    with pytest.raises(InputError, match="lo"):
        qp(np.eye(2), [1.0, 2.0], [0, 0, 0], 1)
    with pytest.raises(InputError, match="finite"):
        qp(np.eye(2), [np.nan, 2.0], 0, 1)
    with pytest.raises(InputError, match="A"):
        qp(np.eye(2), [1.0, 2.0], 0, 1, np.ones((1, 3)))
