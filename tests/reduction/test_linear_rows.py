"""Linear rows of a contact basis: points, which are contacts themselves, the paper's Ψᵀδ, and friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant import reduction
from pliant.contact import ContactBasis
from pliant.contact.modes import Members, Modes
from pliant.dynamics import Rayleigh, Simulation
from pliant.errors import InputError
from pliant.reduction import plans
from pliant.robots import manipulator

SIZE = {"length": 0.1, "sections": 1, "vertebrae": 4, "reach": (0.04, 0.04), "backbone": (0.003, 0.003)}


@pytest.fixture(scope="module")
def robot():
    return manipulator(**SIZE, gap=0.0015)


@pytest.fixture(scope="module")
def shots(robot):
    return reduction.collect(robot, plans.trajectories(robot, {"tendon 1": np.linspace(5.0, 8.0, 16)}))


@pytest.fixture(scope="module")
def points(robot, shots):
    return reduction.contact_basis(robot, shots, method="points")


@pytest.fixture(scope="module")
def papers(robot, shots):
    return reduction.contact_basis(robot, shots, 3, fade=np.inf)


def frictional(robot, mu):
    around = replace(robot.surroundings, friction=mu)
    return pl.Robot(robot.bodies, robot.rows, gravity=robot.gravity, name=robot.name, surroundings=around)


def modes_at(robot, q) -> Modes:
    found = robot.surroundings.detector(robot).detect(q)
    assert isinstance(found, Modes)
    return found


def test_an_infinite_fade_is_the_papers_rule_exactly():
    """δ̂ = Ψᵀδ with shares ψ; contacts that are far are not there."""
    gaps, psi = np.array([1e-3, -5e-4, np.inf]), np.array([0.3, 0.6, 0.1])
    members = Members(np.arange(3), np.zeros(3, int), psi, np.zeros(1), np.inf)
    which, least, sums = members.closing(gaps, 1.0)
    assert which.tolist() == [0] and least[0] == pytest.approx(0.3e-3 - 0.3e-3, abs=1e-18)
    assert sums.item.tolist() == [0, 1] and sums.share.tolist() == [0.3, 0.6] and members.beyond == 0.0
    assert not len(members.closing(np.full(3, np.inf), 1.0)[0])


def test_points_give_what_full_contact_gives(robot, points):
    """On a force between those of the snapshots, in statics and in time."""
    force = {"tendon 1": pl.Known(effort=7.7)}
    full, reduced = pl.static(robot, force), pl.static(points.robot, force)
    np.testing.assert_allclose(reduced.q, full.q, atol=1e-8)
    assert (
        reduced.contact_force.sum() == pytest.approx(full.contact_force.sum(), rel=1e-6)
        and points.errors[-1] < 0.01
    )
    both = [
        Simulation(r, time_step=0.01, scheme="euler", damping=Rayleigh(mass=10, stiffness=0.005))
        for r in (robot, points.robot)
    ]
    for share in np.minimum(np.arange(1, 61) / 20, 1.0):
        full, reduced = (sim.step({"tendon 1": pl.Known(effort=8.0 * share)}) for sim in both)
    assert reduced.contact_force.sum() > 0.1
    np.testing.assert_allclose(reduced.q, full.q, atol=1e-8)


def test_the_papers_rows_are_those_of_its_modes(robot, papers, tmp_path):
    q = pl.static(robot, {"tendon 1": pl.Known(effort=7.7)}).q
    found = modes_at(papers.robot, q)
    Psi = papers.basis.modes
    gap = np.full(robot.surroundings.detector(robot).size, np.nan)
    gap[found.inner.index] = found.inner.gap
    near = np.isfinite(gap[papers.basis.index])
    expected = Psi[near].T @ gap[papers.basis.index][near]
    np.testing.assert_allclose(found.gap, expected[found.index], atol=1e-15)
    assert (
        not papers.basis.offset.any() and found.weight_stiffness(np.ones(len(found)), q, exact=True) is None
    )
    rng, h = np.random.default_rng(0), 1e-7
    dq = rng.normal(size=robot.ndof)
    slope = [modes_at(papers.robot, robot.retract(q, s * h * dq)).gap for s in (1, -1)]
    np.testing.assert_allclose(found.rows(q).dot(dq), (slope[0] - slope[1]) / (2 * h), rtol=1e-4, atol=1e-6)
    papers.basis.save(tmp_path / "basis.npz")
    assert ContactBasis.load(tmp_path / "basis.npz").fade == np.inf


@pytest.mark.parametrize("mu", [0.2, 0.8])
def test_friction_at_points_is_that_of_full_contact(robot, points, mu):
    """Bent until pads touch, then pulled on and to the side, so that they rub."""

    def rubbed(model):
        start = pl.static(model, {"tendon 1": pl.Known(effort=8.0)}).state
        return pl.static(
            model, {"tendon 1": pl.Known(effort=14.0), "tendon 2": pl.Known(effort=3.0)}, state=start
        )

    without, full, reduced = (
        rubbed(model) for model in (robot, frictional(robot, mu), frictional(points.robot, mu))
    )
    assert np.abs(full.friction_force).sum() > 1.0
    assert np.linalg.norm(without.displacement["tip"] - full.displacement["tip"]) > 5e-6
    np.testing.assert_allclose(reduced.q, full.q, atol=1e-9)
    assert (np.linalg.norm(reduced.friction_force, axis=1) <= mu * reduced.contact_force + 1e-9).all()


def test_friction_of_a_mode_is_shared_out_like_its_push(robot, papers):
    """Slip has the tangent rows as derivative; the friction of contacts does the same work as the mode's."""
    reduced = frictional(papers.robot, 0.3)
    q = pl.static(robot, {"tendon 1": pl.Known(effort=7.7)}).q
    found, rng = modes_at(reduced, q), np.random.default_rng(1)
    dq, h = rng.normal(size=robot.ndof), 1e-7
    later = robot.retract(q, h * dq)
    slip = found.slip(later, q).ravel()
    np.testing.assert_allclose(found.tangent_rows(q).dot(dq), slip / h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.einsum("kai,ki->ka", found.tangents, found.normal), 0.0, atol=1e-12)
    force = rng.normal(size=(len(found), 2))
    on_contacts = found.friction_on_samples(force)
    np.testing.assert_allclose(
        np.sum(on_contacts * found.inner.motion(later, q)), force.ravel() @ slip, rtol=1e-9
    )
    _, push = found.on_samples(np.ones(len(found)))
    limit = np.linalg.norm(force, axis=1).max()
    assert (np.linalg.norm(on_contacts, axis=1) <= limit * push + 1e-12).all()  # the cone holds by contact


def test_what_has_no_meaning_is_refused(robot, shots, points):
    many = int(shots.contact.any(axis=0).sum())
    with pytest.raises(InputError, match=f"from 1 to {many}, the contacts that push"):
        reduction.contact_basis(robot, shots, many + 1, method="points")
    with pytest.raises(InputError, match="patches"):
        reduction.contact_basis(robot, shots, 2, method="patches", fade=np.inf)
    alone = reduction.contact_basis(robot, shots, 4, method="points", rings=0)
    assert len(alone.basis) == 4 < len(points.basis)
    with pytest.raises(InputError, match="points"):
        smooth = reduction.contact_basis(robot, shots, 2)
        frictional(smooth.robot, 0.3).surroundings.detector(robot)
