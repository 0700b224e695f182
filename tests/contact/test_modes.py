"""Modes: the stiffness of their weights, the triangles that their contacts touch, and steps that leave
nothing out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant import reduction
from pliant.contact.detect.candidates import nearest_candidate
from pliant.contact.detect.rules import FACING
from pliant.contact.modes import Modes
from pliant.dynamics import Rayleigh, Simulation, implicit
from pliant.dynamics.inertia import _product
from pliant.reduction import plans
from pliant.robots import manipulator
from tests.contact.common import brute_distance

SIZE = {"length": 0.1, "sections": 1, "vertebrae": 4, "reach": (0.04, 0.04), "backbone": (0.003, 0.003)}


def laws(force: float) -> dict[str, pl.Known]:
    return {"tendon 1": pl.Known(effort=force)}


@pytest.fixture(scope="module")
def full():
    return manipulator(**SIZE, gap=0.0015)


@pytest.fixture(scope="module")
def shots(full):
    return reduction.collect(full, plans.trajectories(full, {"tendon 1": [5.0, 6.0, 7.0, 7.5, 8.0]}))


@pytest.fixture(scope="module")
def robot(full, shots):
    basis = reduction.contact_basis(full, shots, 2, fade=3e-5).basis
    around = replace(full.surroundings, basis=basis)
    return pl.Robot(full.bodies, full.rows, gravity=full.gravity, surroundings=around)


@pytest.fixture(scope="module")
def bent(robot):
    return pl.static(robot, laws(8.0))


def changed(robot, K, change, dq):
    """(K + UᵀCU) dq."""
    moved = _product(robot.pattern.rows, robot.pattern.cols, K, dq)
    if change is None:
        return moved
    U, C_inverse = change
    C_inverse = np.diag(C_inverse) if C_inverse.ndim == 1 else C_inverse
    return moved + U.transpose_dot(np.linalg.solve(C_inverse, U.dot(dq)))


def modes(detector, q) -> Modes:
    found = detector.detect(q)
    assert isinstance(found, Modes)
    return found


def test_contact_stiffness_of_modes_is_the_derivative_of_their_push(robot, bent, within):
    """−∂(Hᵀβ)/∂q by differences: shares change, facets turn, levers swing."""
    q, force = bent.q, bent.contact_force
    detector = robot.surroundings.detector(robot)
    found = detector.detect(q)
    assert force.max() > 0 and len(found) == len(force)
    K, change = detector.stiffness(np.zeros((len(robot.pattern.rows), 3, 3)), found, force, q, exact=True)

    def push(x):
        now = detector.detect(x)
        return now.rows(x).transpose_dot(now.carried(found, force))

    rng = np.random.default_rng(0)
    for _ in range(3):
        dq = rng.normal(size=robot.ndof) * robot.body.free / robot.reach
        h = 2e-8 / np.abs(robot.reach * dq).max()
        slope = (push(robot.retract(q, h * dq)) - push(robot.retract(q, -h * dq))) / (2 * h)
        error = np.linalg.norm(slope + changed(robot, K, change, dq)) / np.linalg.norm(slope)
        within(error, 5e-3, "contact stiffness")


def test_changing_weights_never_soften_a_mode(robot, bent, within):
    """Hᵀ(diag s − ssᵀ/Σs)H has no negative eigenvalue, with all shares and with the large ones alone."""
    contacts, force = modes(robot.surroundings.detector(robot), bent.q), bent.contact_force
    for exact in (False, True):
        change = contacts.weight_stiffness(force, bent.q, exact=exact)
        assert change is not None
        U, C_inverse = change[0].to_csr().toarray(), change[1]
        stiffness = U.T @ np.diag(1.0 / C_inverse) @ U
        eigenvalues = np.linalg.eigvalsh(stiffness)
        assert eigenvalues.max() > 0
        within(eigenvalues.min() / eigenvalues.max(), 1e-9, "negative stiffness")


def test_rows_and_gaps_of_some_modes_and_of_later_places(robot, bent):
    found = modes(robot.surroundings.detector(robot), bent.q)
    assert len(found) > 1
    np.testing.assert_allclose(found.shares.of(np.ones(len(found.inner))), 1.0)
    last = found.take(np.array([len(found) - 1]))
    rows = found.rows(bent.q).to_csr().toarray()
    np.testing.assert_array_equal(last.rows(bent.q).to_csr().toarray(), rows[-1:])
    np.testing.assert_allclose(last.position, found.position[-1:])
    dq = 1e-6 * robot.body.free / robot.reach
    moved = found.rows(bent.q).dot(dq)
    then = found.followed(bent.q, robot.retract(bent.q, dq))
    np.testing.assert_allclose(then.gap - found.gap, moved, atol=1e-2 * np.abs(moved).max())


def test_a_mode_is_the_smooth_minimum_of_its_contacts(robot, bent):
    """δ̂ = o + Σ Ψ̃δ + ℓ Σ Ψ̃ log(Ψ̃/ψ) of the contacts and shares that it reports."""
    found, basis = modes(robot.surroundings.detector(robot), bent.q), robot.surroundings.basis
    for k, j in enumerate(found.index):
        mine = slice(found.shares.ptr[k], found.shares.ptr[k + 1])
        contact, share = found.shares.item[mine], found.shares.share[mine]
        psi = basis.modes[np.searchsorted(basis.index, found.inner.index[contact]), j]
        middle = share @ found.inner.gap[contact]
        expected = basis.offset[j] + middle + basis.fade * (share * np.log(share / psi)).sum()
        assert found.gap[k] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("radius", [0.0, 0.02])
def test_candidates_are_measured_as_brute_force_does(radius):
    """Samples above three triangles each: the distance to the nearest that faces them, its normal and the
    point on it.
    """
    rng, n = np.random.default_rng(3), 200
    corner = rng.normal(size=(3 * n, 3, 3))
    sample = rng.normal(size=(n, 3))
    p = np.concatenate([sample, corner.reshape(-1, 3)])
    rows = n + np.arange(9 * n).reshape(-1, 3)
    radii = np.full(n, radius)
    gap, normal, triangle, weights = nearest_candidate(
        p, np.arange(n), radii, 3 * np.arange(n + 1), rows, 0.5
    )
    seen = np.flatnonzero(np.isfinite(gap))
    assert 20 < len(seen) < n
    for i in seen:
        below = weights[i] @ corner[triangle[i]]
        assert triangle[i] // 3 == i and weights[i].min() >= 0 and weights[i].sum() == pytest.approx(1.0)
        assert abs(gap[i] + radius) == pytest.approx(np.linalg.norm(sample[i] - below))
        np.testing.assert_allclose(below + (gap[i] + radius) * normal[i], sample[i], atol=1e-12)
        for t in range(3 * i, 3 * i + 3):  # a nearer one is nearest at its rim, and seen from the side
            a, b, c = corner[t]
            across = np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a))
            distance = brute_distance(sample[i : i + 1], corner[t], np.arange(3)[None])[0]
            nearer = distance < abs(gap[i] + radius) - 1e-12
            assert not nearer or abs(across @ (sample[i] - a)) < FACING * distance


@pytest.mark.parametrize("reduced", [False, True])
def test_contacts_that_seem_to_stay_open_are_left_out_of_no_solution(full, robot, monkeypatch, reduced):
    """A swing into contact and out of it, with all contacts condensed and with those that matter."""

    def swing():
        sim = Simulation(robot if reduced else full, damping=Rayleigh(mass=1.0, stiffness=0.005))
        return [sim.step(laws(force)) for force in (*np.linspace(0, 8, 12), 8, 8, *np.linspace(8, 0, 6))]

    monkeypatch.setattr(implicit, "FEW_CONTACTS", 0)
    found = swing()
    monkeypatch.setattr(implicit, "FEW_CONTACTS", 10**9)
    every = swing()
    assert (
        max(len(m.contact_force) for m in found) > 1 and max((m.contact_force > 0).sum() for m in found) > 0
    )
    for one, other in zip(found, every, strict=True):  # rows that say the same share a force as they like
        np.testing.assert_allclose(one.q, other.q, atol=1e-8 * full.length)
        forces = [m.contacts.push(m.q, m.contact_force) for m in (one, other)]
        np.testing.assert_allclose(*forces, atol=1e-4)


def test_steps_in_which_a_mode_diverges_are_taken_in_parts(robot, monkeypatch):
    """Ribs let go and pulled together at once: the shares of a mode change altogether within a step."""

    def struck() -> list:
        sim = Simulation(robot, scheme="euler", damping=Rayleigh(mass=1.0, stiffness=0.002))
        return [sim.step(laws(force)) for force in [*[9.0] * 6, *[0.0] * 4, *[9.0] * 10]]

    diverged = lambda m: m.contacts is not None and m.contacts.diverged(m.contact_force)
    found = struck()
    assert all(m.certificate.load_steps >= 4 for m in found if diverged(m))
    assert any(m.certificate.load_steps > 1 for m in found)
    monkeypatch.setattr(Modes, "diverged", lambda *_: False)
    whole = struck()
    monkeypatch.undo()
    assert any(diverged(m) and m.certificate.load_steps == 1 for m in whole)
