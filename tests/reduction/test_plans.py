"""Plans of commands: designs are orthogonal, trajectories end where they should, bad ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.errors import InputError
from pliant.reduction import hadamard, plans
from pliant.reduction.plackett_burman import plackett_burman

LIMITS = {"cable": (0.0, 0.01)}


@pytest.fixture(scope="module")
def finger():
    return pl.robots.finger(size=0.012)


@pytest.fixture(scope="module")
def manipulator():
    return pl.robots.manipulator(length=0.2, vertebrae=3)


@pytest.mark.parametrize("actuators", [*range(1, 41), 51, 91])
def test_designs_are_orthogonal_and_balanced(actuators):
    X = plackett_burman(actuators)
    runs = len(X)
    assert runs % 4 == 0 and runs > actuators and np.isin(X, (-1, 1)).all()
    np.testing.assert_array_equal(X.T @ X, runs * np.eye(actuators))
    np.testing.assert_array_equal(X.sum(axis=0), 0)
    assert ((X[-1] == -1).all() and len(np.unique(X, axis=0)) == runs) or actuators < 3
    if actuators <= 40:
        assert runs == 4 * (actuators // 4 + 1)  # the fewest there are


@given(st.integers(1, 30))
def test_hadamard_matrices_where_they_are_known(quarter):
    H = hadamard(4 * quarter)
    if H is None:
        assert 4 * quarter in (52, 92, 100, 116)
    else:
        np.testing.assert_array_equal(H @ H.T, 4 * quarter * np.eye(4 * quarter))


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "nine"])
def test_designs_refuse_what_is_no_number_of_actuators(bad):
    with pytest.raises(InputError, match="actuators"):
        plackett_burman(bad)


def test_the_manipulator_takes_twelve_postures(manipulator):
    plan = plans.plackett_burman(manipulator, steps=120)
    assert len(plan) == 12 and plan.size == 1440 and plan.drives == ("effort",) * 9
    ends = np.array([t[-1] for t in plan.trajectories])
    assert set(np.unique(ends)) == {0.0, 50.0}
    for t in plan.trajectories:  # from nothing, in equal steps
        np.testing.assert_allclose(
            np.diff(t, axis=0, prepend=0.0), np.tile(t[-1] / 120, (120, 1)), atol=1e-12
        )


def test_a_pull_goes_by_equal_steps(finger):
    plan = plans.pull(finger, {"cable": (0.0, 0.04)}, steps=800)
    (path,) = plan.trajectories
    assert plan.size == 800 and path[0, 0] == pytest.approx(5e-5) and path[-1, 0] == pytest.approx(0.04)
    assert plan.laws(path[3])["cable"].displacement == pytest.approx(2e-4)


def test_a_grid_has_all_combinations(manipulator):
    limits = {"tendon 1": (0.0, 4.0), "tendon 2": (1.0, 3.0)}
    plan = plans.grid(manipulator, limits, levels=3, steps=2)
    ends = {tuple(t[-1]) for t in plan.trajectories}
    assert ends == {(a, b) for a in (0.0, 2.0, 4.0) for b in (1.0, 2.0, 3.0)}


@pytest.mark.parametrize("design", [plans.latin_hypercube, plans.halton])
def test_random_designs_fill_every_range(design, manipulator):
    plan = design(manipulator, postures=10, seed=3)
    share = np.array([t[-1] for t in plan.trajectories]) / 50.0
    assert share.shape == (10, 9) and (share >= 0).all() and (share <= 1).all()
    again = design(manipulator, postures=10, seed=3)
    assert again.digest == plan.digest != design(manipulator, postures=10, seed=4).digest
    if design is plans.latin_hypercube:  # every tenth of every range once
        assert all(sorted((10 * column).astype(int)) == list(range(10)) for column in share.T)
    else:  # more points keep those before
        more = design(manipulator, postures=20, seed=3)
        np.testing.assert_array_equal(more.trajectories[9], plan.trajectories[9])


def test_trajectories_of_ones_own(manipulator):
    plan = plans.trajectories(manipulator, {"tendon 1": [[1.0, 2.0], [3.0]], "tendon 5": [[0.0, 1.0], [4.0]]})
    assert len(plan) == 2 and plan.size == 3
    np.testing.assert_array_equal(plan.trajectories[0], [[1.0, 0.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: plans.pull(r, {"cabel": (0, 1)}, steps=3), "cable"),
        (lambda r: plans.pull(r, {"cable": (0, np.inf)}, steps=3), "finite"),
        (lambda r: plans.pull(r, {"cable": (2, 1)}, steps=3), "finite"),
        (lambda r: plans.pull(r, {"cable": 3}, steps=3), "low, high"),
        (lambda r: plans.pull(r, LIMITS, steps=0), "steps"),
        (lambda r: plans.grid(r, LIMITS, levels=1), "levels"),
        (lambda r: plans.pull(r, {"tip": (0, 1)}, steps=2), "single row"),
        (lambda r: plans.pull(r, LIMITS, steps=2, drive="tension"), "drive"),
        (lambda r: plans.trajectories(r, {"cable": [0.0, np.nan]}), "finite"),
        (lambda r: plans.trajectories(r, {}), "at least one"),
        (lambda r: plans.halton(r, LIMITS, postures=-1), "postures"),
    ],
)
def test_bad_plans_are_refused(call, message, finger):
    with pytest.raises(InputError, match=message):
        call(finger)
