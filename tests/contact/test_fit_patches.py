"""Modes of patches: which are merged, and that deep modes share among more contacts on their way to the same
equilibrium.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

import pliant as pl
from pliant import reduction
from pliant.contact.modes import WIDENED, Members
from pliant.errors import InputError
from pliant.reduction import patches, plans
from pliant.robots import manipulator

FADE = 1e-4
forces = arrays.arrays(float, (7, 5), elements=st.floats(0.0, 10.0, width=16))


# Which patches form a mode


def test_patches_cost_nothing_together_that_never_push_at_once_or_push_in_proportion():
    first, other = np.array([3.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 2.0, 5.0])
    assert patches.cost(np.stack([first, other])) == 0.0
    assert patches.cost(np.stack([first, first])) == pytest.approx(0.0, abs=1e-12)
    swapped = np.array([1.0, 3.0, 0.0, 0.0])
    spread = np.log(0.75 / 0.25) ** 2  # four logs, each half of that away from their mean
    assert patches.cost(np.stack([first, swapped])) == pytest.approx(spread)


def test_what_competes_is_kept_apart():
    """Patches 0 and 1 push by turns, 2 and 3 too; 0 and 2 push at once in shares that change."""
    by_turns = np.array([[1, 0], [0, 1]])
    strong, weak = np.kron(by_turns, [1.0, 9.0, 3.0]), np.kron(by_turns, [8.0, 1.0, 4.0])
    mode = patches.merged(np.vstack([strong, weak]), 2)
    assert mode[0] == mode[1] != mode[2] == mode[3]


@settings(max_examples=25)
@given(forces)
def test_sizes_are_nested_and_costs_do_not_rise_with_them(force):
    sizes = {k: patches.merged(force, k) for k in range(1, 8)}
    cost = {k: sum(patches.cost(force[m == j]) for j in range(k)) for k, m in sizes.items()}
    for k in range(1, 7):
        assert set(sizes[k]) == set(range(k))
        parents = {(fine, coarse) for fine, coarse in zip(sizes[k + 1], sizes[k], strict=True)}
        assert len(parents) == k + 1  # each finer mode lies in one coarser mode
    assert cost[7] <= min(cost.values()) + 1e-9


def test_contacts_of_a_patch_stay_together():
    beside = csr_array(np.kron(np.eye(3), np.ones((2, 2)) - np.eye(2)))
    S = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0], [4.0, 1.0], [1.0, 7.0]])
    np.testing.assert_array_equal(patches.grouped(S, beside, 3).sum(axis=0), [2, 2, 2])
    two = patches.grouped(S, beside, 2)
    assert (two[::2] == two[1::2]).all() and (two.sum(axis=1) == 1).all()
    with pytest.raises(InputError, match="at most 3"):
        patches.grouped(S, beside, 4)


# A mode that is deep


def mode(gaps):
    n = len(gaps)
    offset = np.array([-FADE * np.log(n)])  # closed where one contact is
    members = Members(np.arange(n), np.zeros(n, int), np.full(n, 1.0 / n), offset, FADE)
    _, least, sums = members.closing(np.array(gaps), 0.1)
    shares = np.zeros(n)
    shares[sums.item] = sums.share
    return float(least[0]), shares


def test_a_deep_mode_pushes_contacts_beside_the_deepest_too():
    """At a depth d contacts count by e^(−δ/ℓ') with ℓ' = d/2, and the gap is between the deepest and their
    mean.
    """
    gaps = np.array([-2e-3, -1e-3, 5e-3])
    least, shares = mode(gaps)
    assert shares[1] / shares[0] == pytest.approx(np.exp(-1e-3 / (WIDENED * 2e-3)), rel=1e-3)
    assert gaps[0] - FADE * np.log(3) < least < shares @ gaps + FADE * np.log(3)


@given(st.floats(0.0, 1e-3))
def test_closed_modes_do_not_know_of_it(other):
    least, shares = mode([0.0, other])
    assert least == pytest.approx(-FADE * np.log1p(np.exp(-other / FADE)), abs=2e-3 * FADE)
    assert shares[1] == pytest.approx(1.0 / (1.0 + np.exp(other / FADE)), abs=1e-3)


@given(st.floats(1e-5, 1e-3))
def test_gaps_change_continuously_with_depth(apart):
    """Also where the wider shares set in, and never faster than the contacts move by much."""
    depths = np.linspace(0.0, 1e-3, 400)
    gaps = np.array([mode([-d, apart - d])[0] for d in depths])
    steps = -np.diff(gaps) / np.diff(depths)
    assert steps.max() < 1.6 and steps.min() > 0.3


# On a robot


@pytest.fixture(scope="module")
def robot():
    return _spine()


def _spine(contact: bool = True) -> pl.Robot:
    size = {"length": 0.1, "sections": 1, "vertebrae": 4, "reach": (0.04, 0.04), "backbone": (0.003, 0.003)}
    return manipulator(**size, gap=0.0015, contact=contact)


def test_modes_of_patches_replace_contact(robot):
    pulls = plans.trajectories(robot, {"tendon 1": np.linspace(5.0, 8.0, 8)})
    shots = reduction.collect(robot, pulls)
    fit = reduction.contact_basis(robot, shots, 2, method="patches")
    laws = {"tendon 1": pl.Known(effort=7.7)}
    full, free, reduced = (pl.static(r, laws).displacement["tip"] for r in (robot, _spine(False), fit.robot))
    assert np.linalg.norm(reduced - full) < 0.1 * np.linalg.norm(free - full)
    assert fit.basis.modes.shape[1] == 2 and len(fit.errors) == 1
    for column in fit.basis.modes.T:  # even weights
        np.testing.assert_allclose(column[column > 0], 1.0 / (column > 0).sum())
