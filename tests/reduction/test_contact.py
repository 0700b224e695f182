"""Contact bases: factorisations whose error falls, modes that push as contacts would, bases of one robot."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import pliant as pl
from pliant import reduction
from pliant.contact import ContactBasis
from pliant.contact.modes import Members
from pliant.errors import InputError
from pliant.reduction import factorisation, plans
from pliant.reduction.contact_fit import _evened, _measured_offsets
from pliant.reduction.coverage import disjoint
from pliant.robots import manipulator

build = partial(
    manipulator,
    length=0.1,
    sections=1,
    vertebrae=4,
    reach=(0.04, 0.04),
    backbone=(0.003, 0.003),
    gap=0.0015,
)
matrices = arrays.arrays(float, (9, 7), elements=st.floats(0.0, 10.0, width=32)).filter(lambda S: S.any())


# Factorisation


@settings(max_examples=25)
@given(matrices)
def test_nested_errors_fall_and_stay_above_the_best(S):
    sizes = list(factorisation.nested(S, 6))
    errors = [factorisation.error(Psi, S) for Psi in sizes]
    assert all((Psi >= 0).all() for Psi in sizes)
    assert all(b <= a + 1e-6 for a, b in pairwise(errors))
    sigma = np.linalg.svd(S, compute_uv=False)
    best = [np.sqrt((sigma[k + 1 :] ** 2).sum() / (sigma**2).sum()) for k in range(len(sizes))]
    assert all(e >= b - 1e-6 for e, b in zip(errors, best, strict=True))


def test_a_product_of_parts_is_found_exactly():
    rng = np.random.default_rng(1)
    parts = np.kron(np.eye(4), np.ones((5, 1))) * rng.uniform(0.5, 1, (20, 1))  # disjoint supports
    S = parts @ rng.uniform(0, 1, (4, 30))
    Psi = factorisation.normalised(factorisation.hals(S, 4))
    assert factorisation.error(Psi, S) < 5e-3 and np.allclose(Psi.sum(axis=0), 1.0)
    expected = parts / parts.sum(axis=0)
    overlap = (Psi / np.linalg.norm(Psi, axis=0)).T @ (expected / np.linalg.norm(expected, axis=0))
    assert overlap.max(axis=0).min() > 0.95


def test_als_depends_on_its_seed_and_hals_on_nothing():
    S = np.random.default_rng(0).uniform(0, 1, (30, 40)) ** 4
    one, two = (factorisation.als(S, 8, seed=s) for s in (0, 1))
    assert factorisation.error(one, S) != pytest.approx(factorisation.error(two, S), rel=1e-6)
    np.testing.assert_array_equal(factorisation.als(S, 8, seed=0), one)
    np.testing.assert_array_equal(factorisation.hals(S, 8), factorisation.hals(S, 8))
    assert (one >= 0).all()


# The rule for contacts that are far


def mode(gaps, psi, fade=1e-3, reach=0.1):
    """δ̂ and shares (n,) of one mode of all contacts."""
    n = len(gaps)
    members = Members(np.arange(n), np.zeros(n, int), np.array(psi, float), np.zeros(1), fade)
    _, least, sums = members.closing(np.array(gaps, float), reach)
    shares = np.zeros(n)
    shares[sums.item] = sums.share
    return (float(least[0]) if len(least) else np.inf), shares


def test_contacts_that_touch_alike_share_as_in_the_snapshots():
    least, shares = mode([0.0, 0.0, 0.0], [0.2, 0.5, 0.3])
    assert least == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(shares, [0.2, 0.5, 0.3])


def test_a_distant_contact_does_not_switch_its_mode_off():
    """The paper's mean gap Ψᵀδ would be +4.9 mm and the mode off; here the one that touches pushes alone."""
    touching = -1e-4
    for far in (0.01, 1.0, np.inf):
        least, shares = mode([touching, far], [0.5, 0.5])
        assert least == pytest.approx(touching + 1e-3 * np.log(2.0), abs=1e-6)
        assert shares[0] == pytest.approx(1.0, abs=1e-4) and shares[1] < 1e-4


@given(st.floats(-2e-3, 5e-3), st.floats(0.05, 0.95))
def test_shares_are_the_gradient_of_the_gap_and_never_pull(gap, psi):
    gaps, weights, h = np.array([gap, 3e-4, -2e-4]), [psi, 1 - psi, 0.5], 1e-8
    least, shares = mode(gaps, weights)
    assert (shares >= 0).all() and shares.sum() == pytest.approx(1.0)
    slope = [(mode(gaps + h * e, weights)[0] - mode(gaps - h * e, weights)[0]) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(shares, slope, atol=2e-3)  # shares below a thousandth are left out
    assert least <= gaps.max() + 1e-3 * np.log(1 / min(weights)) and least >= gaps.min() - 1e-3 * np.log(1.5)


def test_a_large_fade_is_the_papers_rule():
    gaps, psi = np.array([1e-3, -5e-4, 2e-3]), np.array([0.3, 0.6, 0.1])
    least, shares = mode(gaps, psi, fade=10.0)
    assert least == pytest.approx(psi @ gaps, rel=1e-3)
    np.testing.assert_allclose(shares, psi, rtol=1e-3)


@settings(max_examples=40)
@given(arrays.arrays(float, (9, 5), elements=st.floats(0.0, 3.0, width=16)))
def test_every_contact_has_one_mode_and_no_mode_is_lost(Psi):
    found = disjoint(Psi)
    assert ((found == 0) | (found == Psi)).all() and ((found > 0).sum(axis=1) <= 1).all()
    if (Psi > 0).all():  # contacts enough for all
        assert found.any(axis=0).all()


@settings(max_examples=25)
@given(st.integers(2, 40), st.floats(1e-3, 0.5))
def test_with_even_weights_a_contact_that_pushed_rarely_holds_as_well(count, rare):
    """Alone at the surface, every contact closes its mode at the same depth; by force a rare one sinks in."""
    S = np.ones((count, 3))
    S[0] = [rare, 0.0, 0.0]
    by_force = factorisation.normalised(S.mean(axis=1, keepdims=True))
    even = factorisation.normalised(_evened(by_force, S, 1.0))
    alone = lambda i, psi: mode(np.where(np.arange(count) == i, 0.0, 0.05), psi[:, 0])[0]
    assert alone(0, even) == pytest.approx(alone(1, even), abs=1e-12)
    assert alone(0, by_force) - alone(1, by_force) == pytest.approx(1e-3 * np.log(3.0 / rare), rel=1e-6)


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(1, 6), st.sampled_from([1e-5, 1e-4, 1e-3]))
def test_measured_offsets_close_modes_in_the_mean_of_the_snapshots(count, shots, fade):
    rng = np.random.default_rng(count)
    gaps, S = rng.uniform(0, 2e-3, (count, shots)), rng.uniform(0.1, 5, (count, shots))
    gaps[rng.integers(count), :] = 0.0
    Psi = np.full((count, 1), 1.0 / count)
    (offset,) = _measured_offsets(Psi, S, gaps, fade)
    closed = [offset + mode(gaps[:, s], Psi[:, 0], fade)[0] for s in range(shots)]
    assert S.sum(axis=0) @ closed / S.sum() == pytest.approx(
        0.0, abs=0.05 * fade
    )  # small shares are left out


# On a robot


@pytest.fixture(scope="module")
def robot():
    return build()


@pytest.fixture(scope="module")
def shots(robot):
    return reduction.collect(robot, plans.trajectories(robot, {"tendon 1": np.linspace(5.0, 8.0, 16)}))


@pytest.fixture(scope="module")
def fit(robot, shots):
    return reduction.contact_basis(robot, shots, 3, fade=3e-5)


def laws(force):
    return {"tendon 1": pl.Known(effort=force)}


def test_the_basis_is_non_negative_normalised_and_disjoint(fit):
    modes = fit.basis.modes
    assert (modes >= 0).all() and np.allclose(modes.sum(axis=0), 1.0)
    assert (
        modes.shape[1] == 3 and ((modes > 0).sum(axis=1) == 1).all()
    )  # no contact in two modes: rows stay independent
    assert fit.snapshots == 16 and not fit.skipped


def test_reduced_contact_is_between_full_and_none(robot, fit):
    full = pl.static(robot, laws(8.0))
    free = pl.static(build(contact=False), laws(8.0))
    reduced = pl.static(fit.robot, laws(8.0))
    missed = np.linalg.norm(free.displacement["tip"] - full.displacement["tip"])
    assert np.linalg.norm(reduced.displacement["tip"] - full.displacement["tip"]) < 0.1 * missed
    detector = robot.surroundings.detector(robot)
    assert detector.penetration(reduced.q) < 0.1 * detector.penetration(free.q)
    assert len(reduced.contacts) <= 3 and (reduced.contact_force >= 0).all()
    inner, force = reduced.contacts.on_samples(reduced.contact_force)
    assert force.sum() == pytest.approx(reduced.contact_force.sum()) and len(inner) > len(reduced.contacts)


def test_even_weights_replace_contact_too(robot, shots):
    fit = reduction.contact_basis(robot, shots, 3, fade=3e-5, even=True)
    modes = fit.basis.modes
    mine = modes.max(axis=1)[:, None] == modes
    np.testing.assert_allclose(
        modes[mine & (modes > 0)], (1.0 / (modes > 0).sum(axis=0))[mine.argmax(axis=1)]
    )
    full, free, reduced = (pl.static(r, laws(8.0)) for r in (robot, build(contact=False), fit.robot))
    missed = np.linalg.norm(free.displacement["tip"] - full.displacement["tip"])
    assert np.linalg.norm(reduced.displacement["tip"] - full.displacement["tip"]) < 0.1 * missed


def test_rows_are_the_gradient_of_the_modes_gaps(robot, shots, fit):
    detector = fit.robot.surroundings.detector(fit.robot)
    q = shots.coordinates[-1]
    contacts, rng = detector.detect(q), np.random.default_rng(0)
    H = contacts.rows(q)
    for _ in range(3):
        dq = 1e-7 * rng.normal(size=robot.ndof) * robot.body.free
        ahead, behind = (detector.detect(robot.retract(q, s * dq)) for s in (1, -1))
        np.testing.assert_array_equal(ahead.index, contacts.index)
        np.testing.assert_allclose((ahead.gap - behind.gap) / 2, H.dot(dq), rtol=2e-3, atol=1e-10)


def test_candidates_measure_what_the_search_finds(robot, shots, fit):
    full, reduced = (r.surroundings.detector(r) for r in (robot, fit.robot))
    q = shots.coordinates[-1]
    found, inner = full.detect_samples(q, full.alarm), reduced.detect(q).inner
    place = found.matched(replace(inner, points=found.points))
    assert (place >= 0).sum() > 5
    np.testing.assert_allclose(found.gap[place >= 0], inner.gap[place[place >= 0]], atol=1e-9)
    np.testing.assert_allclose(found.normal[place >= 0], inner.normal[place[place >= 0]], atol=1e-6)


def test_dynamics_stays_where_statics_rests(fit):
    rest = pl.static(fit.robot, laws(8.0))
    damping = pl.dynamics.Rayleigh(mass=1.0, stiffness=0.005)
    simulation = pl.Simulation(fit.robot, state=rest.state, damping=damping)
    for _ in range(20):
        moment = simulation.step(laws(8.0))
    moved = np.linalg.norm(moment.displacement["tip"] - rest.displacement["tip"])
    assert moved < 1e-4 * fit.robot.length and moment.contact_force.sum() > 0


def test_an_obstacle_that_the_basis_does_not_know_is_touched_as_usual(robot, fit):
    wall = pl.contact.Plane((0.041, 0.0, 0.0), (-1.0, 0.0, 0.0), name="wall")
    full, reduced = (pl.static(r, laws(3.0), obstacles=wall) for r in (robot, fit.robot))
    assert reduced.touch("wall").push == pytest.approx(full.touch("wall").push, rel=0.05)
    assert full.touch("wall").push > 0.01


def test_a_known_environment_is_reduced_the_same_way():
    free = build(contact=False)
    before = pl.static(free, laws(2.0)).positions[:, 0].max()
    wall = pl.contact.Plane((before, 0.0, 0.0), (-1.0, 0.0, 0.0), name="wall")
    robot = pl.Robot(
        free.body,
        free.rows,
        gravity=free.gravity,
        name="among walls",
        surroundings=pl.contact.Surroundings(obstacles=[wall]),
    )
    shots = reduction.collect(robot, plans.pull(robot, {"tendon 1": (0.0, 4.0)}, steps=5))
    fit = reduction.contact_basis(robot, shots, 1)
    full, reduced = (pl.static(r, laws(3.3)) for r in (robot, fit.robot))
    assert full.touch("wall").push > 0.01
    assert reduced.touch("wall").push == pytest.approx(full.touch("wall").push, rel=0.05)
    assert len(reduced.contacts) == 1


def test_sizes_are_chosen_by_held_out_error(robot, shots):
    fit = reduction.contact_basis(robot, shots)
    assert 1 <= len(fit.basis) <= 8 and len(fit.held_out) >= len(fit.basis)
    assert fit.held_out[len(fit.basis) - 1] <= fit.held_out[0]


# What is refused


def test_snapshots_that_cannot_make_a_basis_are_refused(robot, shots):
    zeros = replace(shots, contact=np.zeros_like(shots.contact))
    nothing = shots.take(np.zeros(16, bool))
    short = replace(shots, contact=shots.contact[:, :7])
    negative = replace(shots, contact=-shots.contact)
    for bad, message in ((zeros, "zeros only"), (nothing, "finite"), (short, "contacts"), (negative, "push")):
        with pytest.raises(InputError, match=message):
            reduction.contact_basis(robot, bad, 1)
    for size in (0, 99, 2.5, True):
        with pytest.raises(InputError, match="rank"):
            reduction.contact_basis(robot, shots, size)
    with pytest.raises(InputError, match="method"):
        reduction.contact_basis(robot, shots, 1, method="svd")


def test_nan_is_named_and_counted(robot, shots):
    contact = shots.contact.copy()
    contact[14, 3] = np.nan
    fit = reduction.contact_basis(robot, replace(shots, contact=contact), 1)
    assert fit.snapshots == 15 and fit.skipped == ("trajectory 1, step 15: nan or inf in contact",)
    assert "1 skipped" in repr(fit)


def test_a_basis_of_another_mesh_is_refused(shots, fit):
    other = build(reach=(0.041, 0.041))
    with pytest.raises(InputError, match="samples it was made on"):
        reduction.with_contact_basis(other, fit.basis)
    with pytest.raises(InputError, match="samples it was made on"):
        replace(other.surroundings, basis=fit.basis).detector(other)
    with pytest.raises(InputError, match="snapshots"):
        reduction.contact_basis(other, shots, 1)
    with pytest.raises(InputError, match="samples"):
        reduction.with_contact_basis(build(vertebrae=5), fit.basis)


def test_bases_are_saved_without_pickles(fit, tmp_path):
    fit.basis.save(tmp_path / "basis.npz")
    read = ContactBasis.load(tmp_path / "basis.npz")
    for name in ("index", "modes", "touched", "corner_ptr", "corner", "offset"):
        np.testing.assert_array_equal(getattr(read, name), getattr(fit.basis, name))
    assert (read.fade, read.opponents, read.digest) == (fit.basis.fade, fit.basis.opponents, fit.basis.digest)
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="contact basis"):
        ContactBasis.load(tmp_path / "bad.npz")
