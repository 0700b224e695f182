"""State bases and hyper-reduction: POD, vibrations, sparse weights, and what they are good for together."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.errors import InputError
from pliant.reduction.ecsw import cell_forces, ecsw, spread_out
from pliant.reduction.modal import mass_matrix, modal, vibrations
from pliant.reduction.model import reduced_model
from pliant.reduction.non_negative import sparse_weights
from pliant.reduction.pod import displacements, pod
from pliant.reduction.reduce import expanded, reduce
from pliant.reduction.responses import responses
from pliant.reduction.state_basis import StateBasis, node_volumes
from tests.core.test_models import DOWN, bar, cables

TOP = 3.0  # [N] pulled at most


@cache
def robot() -> pl.Robot:
    return cables(cells=(10, 2, 2), gravity=DOWN)


@cache
def driven(postures: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tensions (s, 2), coordinates (s, nq) and tips (s, 3) of the bar with two cables."""
    tensions = TOP * np.random.default_rng(seed).uniform(0, 1, (postures, 2))
    tensions[np.arange(postures), np.arange(postures) % 2] = 0.0  # one cable at a time
    found = [
        pl.static(robot(), {"top": pl.Known(effort=t), "bottom": pl.Known(effort=b)}) for t, b in tensions
    ]
    tips = np.array([r.displacement["tip"] for r in found])
    return tensions, np.array([r.q for r in found]), tips


# POD


@settings(max_examples=25)
@given(st.integers(1, 6), st.floats(1e-6, 0.5), st.integers(0, 10_000))
def test_pod_leaves_no_more_than_its_tolerance(rank, tolerance, seed):
    """In the norm ∫|u|² dV, and with the fewest modes: one less would leave more."""
    body, rng = robot().body, np.random.default_rng(seed)
    free = ~body.fixed.ravel()
    U = rng.normal(size=(free.size, rank)) * free[:, None] * 10.0 ** -np.arange(rank)
    S = body.q0 + (U @ rng.normal(size=(rank, 9))).T
    basis = pod(body, S, tolerance=tolerance)
    w = np.repeat(np.sqrt(node_volumes(body)), 3)[:, None]
    V = w * (S - body.q0).T

    def left(k: int) -> float:
        Q = np.linalg.qr(w * basis.modes.reshape(-1, len(basis))[:, :k])[0] if k else np.zeros((len(V), 0))
        return float(np.linalg.norm(V - Q @ (Q.T @ V)) / np.linalg.norm(V))

    assert left(len(basis)) <= tolerance * (1 + 1e-6) + 1e-9
    assert len(basis) == 1 or left(len(basis) - 1) > tolerance * (1 - 1e-6)


def test_pod_refuses_what_it_cannot_use():
    body, S = robot().body, driven()[1]
    for bad, word in ((S[:0], "none"), (np.array([body.q0, body.q0]), "nothing moves"), (S[:, :-3], "mesh")):
        with pytest.raises(InputError, match=word):
            pod(body, bad)
    with pytest.raises(InputError, match="rank"):
        pod(body, S, modes=len(S) + 1)
    with pytest.raises(InputError, match="rank"):
        pod(body, S, modes=2).first(3)


def test_snapshots_that_are_not_finite_are_named_and_left_out():
    body, S = robot().body, driven()[1].copy()
    S[2, 5] = np.nan
    basis = pod(body, S, modes=3)
    assert basis.skipped == ("snapshot 3: nan or inf in its coordinates",)
    np.testing.assert_allclose(basis.values, pod(body, np.delete(S, 2, axis=0), modes=3).values)


def test_given_bases_must_be_independent():
    body = robot().body
    shapes = pod(body, driven()[1], modes=3).modes
    assert len(StateBasis.given(body, shapes)) == 3
    with pytest.raises(InputError, match="rank 3"):
        StateBasis.given(body, np.concatenate([shapes, shapes[:, :, :1]], axis=2))
    both = StateBasis.given(body, shapes).joined(StateBasis.given(body, shapes))
    assert len(both) == 3  # nothing new


# Vibrations


def test_vibrations_of_a_cantilever(within):
    """ω₁ = 1.8751² √(EI/ρA)/L², twice (both ways), and all M-orthonormal with K φ = ω² M φ."""
    E, rho, L, a = 2e5, 1000.0, 0.3, 0.02
    mesh = pl.mesh.box((L, a, a), cells=(30, 2, 2), kind="hex")
    body = pl.Solid(mesh, pl.Hooke(young=E, poisson=0.0), density=rho, fixed=mesh.nodes[:, 0] < 1e-9)
    beam = pl.Robot(body, {"tip": pl.Row(pl.Position(body.points([[L, a / 2, a / 2]])))})
    omega, dq, _ = vibrations(beam, beam.rest, 5)
    exact = 1.8751**2 * np.sqrt(E * a**4 / 12 / (rho * a**2)) / L**2
    within(omega[:2] / exact - 1.0, 0.01, "first frequency")
    M = mass_matrix(beam, beam.rest.q, body.free)
    K = beam.pattern.to_csr(body.linearise(body.q0, np.zeros(3))[2])
    np.testing.assert_allclose(dq.T @ (M @ dq), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(dq.T @ (K @ dq), np.diag(omega**2), atol=1e-6 * omega[-1] ** 2)
    lean = modal(beam, modes=5)
    small = reduce(beam, lean)  # the reduced robot has the same frequencies, by whichever solver
    np.testing.assert_allclose(vibrations(small, small.rest, 4)[0], omega[:4], rtol=1e-6)


def test_modal_derivatives_bend_with_the_motion(within):
    """Vibrations with their derivatives follow a large deflection without snapshots; alone they do not."""
    arm = cables(cells=(10, 1, 1))
    laws = {"top": pl.Known(effort=0.5)}
    true = pl.static(arm, laws).displacement["tip"]
    far = np.linalg.norm(true - [0.1, 0.01, 0.01])
    errors = []
    for derivatives in (False, True):
        small = reduce(arm, modal(arm, modes=6, derivatives=derivatives))
        errors.append(np.linalg.norm(pl.static(small, laws).displacement["tip"] - true) / far)
    within(errors[1], 0.1, "with derivatives")
    assert errors[1] < 0.5 * errors[0]


def test_a_modal_basis_can_be_where_it_was_made():
    """About a loaded state, the state itself is in the basis."""
    loaded = pl.static(robot(), {"top": pl.Known(effort=0.4)})
    small = reduce(robot(), modal(robot(), loaded.state, modes=4))
    q = small.body.expand(small.body.project(loaded.q))
    np.testing.assert_allclose(q, loaded.q, atol=1e-9)


# Sparse weights


@settings(max_examples=30)
@given(st.integers(3, 12), st.integers(5, 40), st.integers(0, 10_000))
def test_sparse_weights_are_positive_and_meet_the_tolerance(rows, columns, seed):
    """b = G·1 can be met exactly; few columns meet a tolerance, and the end is the true minimum."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(rows, columns))
    b = G.sum(axis=1)
    for tolerance in (0.1, 1e-8):
        w = sparse_weights(G, b, tolerance=tolerance)
        assert (w.values > 0).all() and len(w.support) <= rows
        error = np.linalg.norm(G[:, w.support] @ w.values - b) / np.linalg.norm(b)
        assert error == pytest.approx(w.error, abs=1e-12)
        assert error <= tolerance or len(w.support) == min(rows, columns)
    slope = G.T @ (b - G[:, w.support] @ w.values)  # Karush–Kuhn–Tucker
    assert slope.max() <= 1e-7 * np.linalg.norm(b) * np.linalg.norm(G, axis=0).max()


def test_spread_out_points_are_far_apart():
    x = np.random.default_rng(0).normal(size=(200, 3))
    chosen = spread_out(x, 10)
    apart = lambda which: min(np.linalg.norm(x[a] - x[b]) for a in which for b in which if a != b)
    assert len(set(chosen.tolist())) == 10 and apart(chosen) > 3.0 * apart(range(10))
    assert len(spread_out(np.zeros((5, 2)), 3)) == 0


# Hyper-reduction


def test_forces_of_cells_add_up_to_those_of_the_body():
    from pliant.bodies.reduced import Reduced
    from pliant.bodies.sampling import sample

    body, S = robot().body, driven()[1]
    whole = Reduced(body, pod(body, S, modes=4).modes)
    every = sample(body.assembly, body.coordinates.rest)
    a = whole.project(S[1])
    G = cell_forces(whole, every, a[None])
    assert G.shape == (4, len(body.mesh.cells))
    assert np.linalg.norm(G.sum(axis=1)) == pytest.approx(1.0)
    _, r, blocks = whole.linearise(a, np.zeros(3))  # the same direction, in the norm of the energy there
    r, K = r[:4], whole.pattern.to_csr(blocks).toarray()[:4, :4]
    value, vector = np.linalg.eigh(K)
    expected = -(vector / np.sqrt(value)) @ vector.T @ r
    np.testing.assert_allclose(G.sum(axis=1), expected / np.linalg.norm(expected), atol=1e-9)


def test_hyper_reduced_bar_on_held_out_commands(within):
    """Few cells, errors below 1 % of the stroke; and a tighter tolerance keeps more cells and errs less."""
    body, S = robot().body, driven(12)[1]
    basis = pod(body, S, modes=9)
    held, _, tips = driven(6, seed=5)
    stroke = np.linalg.norm(driven(12)[2] - pl.static(robot()).displacement["tip"], axis=1).max()
    assert stroke > 0.02
    kept, errors = [], []
    for tolerance in (0.2, 0.002):
        sampling = ecsw(body, basis.modes, S, tolerance=tolerance)
        assert sampling.error <= tolerance and (sampling.weights > 0).all()
        small = reduce(robot(), basis, sampling)
        got = [pl.static(small, {"top": pl.Known(effort=t), "bottom": pl.Known(effort=b)}) for t, b in held]
        kept.append(len(sampling))
        errors.append(max(np.linalg.norm(r.displacement["tip"] - t) for r, t in zip(got, tips)) / stroke)
    assert kept[0] < kept[1] < 0.6 * len(body.mesh.cells)
    assert errors[1] < errors[0]
    within(errors[1], 0.01, "tip error of the stroke")
    q = expanded(small, got[-1].state)
    assert np.abs(q - driven(6, seed=5)[1][-1]).max() < 0.02 * stroke


def test_responses_bring_the_compliance_along(within):
    """From one snapshot and its responses: W of the actuators there is that of the full robot."""
    result = pl.static(robot(), {"top": pl.Known(effort=0.4)})
    more = responses(result)["responses"]
    assert more.shape == (2, robot().nq)
    body = robot().body
    basis = pod(body, result.q[None], modes=3, more=more.T)
    small = reduce(robot(), basis)
    again = pl.static(small, {"top": pl.Known(effort=0.4)})
    W, full = (pl.compliance(r.robot, r.state).matrix[:2, :2] for r in (again, result))
    within(W / full - 1.0, 1e-3, "compliance of the cables")


def test_displacements_are_of_this_body():
    U, skipped = displacements(robot().body, driven()[1])
    assert U.shape == (robot().body.coordinates.rest.size, 6) and not skipped
    with pytest.raises(InputError, match="Solid"):
        modal(robot_of_a_rod(), modes=2)


def robot_of_a_rod() -> pl.Robot:
    lines = pl.mesh.line((0, 0, 0), (0.1, 0, 0), elements=4)
    body = pl.Beam(lines, pl.bodies.Circle(0.005), pl.Hooke(young=1e5, poisson=0.3), density=1000.0, fixed=0)
    return pl.Robot(body)


def test_snapshots_of_another_robot_are_refused():
    from pliant.reduction import collect, plans

    plan = plans.pull(robot(), {"top": (0.0, 0.4)}, steps=3, drive="effort")
    shots = collect(robot(), plan, probe=responses)
    assert len(reduced_model(robot(), shots, modes=2).basis) == 2
    other = cables(bar(cells=(9, 2, 2)), gravity=DOWN)
    with pytest.raises(InputError, match="snapshots"):
        reduced_model(other, shots)
