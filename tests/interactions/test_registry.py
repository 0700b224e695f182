"""One suite for every interaction in the registry, on every body: derivatives, power, rigid motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant.interactions as interactions
from pliant.interactions import Combined, Interaction, registry
from pliant.interactions.bundle import Bundle
from pliant.points import Points
from tests.interactions.test_specimens import Trial, state, trial  # noqa: F401  (trial is a fixture)

NAMES = [name for name, _ in registry]
GRAVITY = np.array([1.0, -2.0, -9.0])
EVERY = pytest.mark.parametrize("name", NAMES)
SEED = st.integers(0, 10**6)
QUICK = settings(max_examples=5, deadline=None, derandomize=True)


def build(name: str, trial: Trial) -> Interaction:  # noqa: F811
    return dict(registry)[name](trial.specimen)


def deformed(i: Interaction, trial: Trial, rng: np.random.Generator) -> np.ndarray:  # noqa: F811
    """Random positions: rest, turned by up to half a turn and disturbed; not just those a body can take."""
    p = i.rest @ Rotation.from_rotvec(rng.uniform(-1.7, 1.7, 3)).as_matrix().T
    return p + 0.03 * trial.size * rng.normal(size=p.shape)


def force(i: Interaction, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """Hᵀλ on the points, (P, 3)."""
    ptr, point = i.stencil()
    out = np.zeros_like(p)
    np.add.at(out, point, np.repeat(lam, np.diff(ptr))[:, None] * i.gradient(p))
    return out


def apply(pairs: np.ndarray, blocks: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The symmetric matrix stored on the pairs, times d (P, 3)."""
    out = np.zeros_like(d)
    i, j = pairs.T
    np.add.at(out, i, np.einsum("nab,nb->na", blocks, d[j]))
    off = i != j
    np.add.at(out, j[off], np.einsum("nab,na->nb", blocks[off], d[i[off]]))
    return out


def difference(f, x, d, h):
    return (f(x + h * d) - f(x - h * d)) / (2 * h)


def assert_same(actual, expected, tol=1e-6):
    scale = max(np.abs(expected).max(initial=0.0), np.abs(actual).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tol * scale + 1e-12)


@EVERY
def test_shapes_and_units(trial, name):  # noqa: F811
    i = build(name, trial)
    ptr, point = i.stencil()
    m, P, pairs = i.size, i.point_count, i.pairs()
    assert i.value(i.rest).shape == (m,) and len(ptr) == m + 1 and ptr[-1] == len(point)
    assert i.gradient(i.rest).shape == (len(point), 3) and point.max() < P
    assert (pairs[:, 0] >= pairs[:, 1]).all() and len(np.unique(pairs, axis=0)) == len(pairs)
    assert i.hessian(i.rest, np.ones(m)).shape == (len(pairs), 3, 3)
    assert i.load_hessian(i.rest, GRAVITY).shape == (len(pairs), 3, 3)
    assert i.unit and i.effort_unit and i.effort_range[0] < i.effort_range[1]


@EVERY
def test_gradient_is_the_derivative_of_the_value(trial, name):  # noqa: F811
    i = build(name, trial)

    @QUICK
    @given(SEED)
    def check(seed):
        rng = np.random.default_rng(seed)
        p = deformed(i, trial, rng) if i.integrable else i.rest  # a follower's H is one at rest only
        d = rng.normal(size=p.shape)
        ptr, point = i.stencil()
        rate = np.add.reduceat((i.gradient(p) * d[point]).sum(1), ptr[:-1])
        assert_same(rate, difference(i.value, p, d, 1e-6 * trial.size))

    check()


@EVERY
def test_hessian_is_the_derivative_of_the_force(trial, name):  # noqa: F811
    i = build(name, trial)

    @QUICK
    @given(SEED)
    def check(seed):
        rng = np.random.default_rng(seed)
        p, lam = deformed(i, trial, rng), rng.normal(size=i.size)
        c, d = rng.normal(size=(2, *p.shape))
        rate = lambda e: difference(lambda x: force(i, x, lam), p, e, 1e-6 * trial.size)
        blocks = i.hessian(p, lam)
        if i.integrable:
            assert_same(apply(i.pairs(), blocks, d), rate(d))
        else:
            assert_same(
                np.vdot(c, apply(i.pairs(), blocks, d)), 0.5 * (np.vdot(c, rate(d)) + np.vdot(d, rate(c)))
            )
        same = i.pairs()[:, 0] == i.pairs()[:, 1]
        assert_same(blocks[same], np.swapaxes(blocks[same], 1, 2), 1e-12)

    check()


@EVERY
def test_load_hessian_is_the_derivative_of_the_load(trial, name):  # noqa: F811
    i, rng = build(name, trial), np.random.default_rng(5)
    p = deformed(i, trial, rng)
    d = rng.normal(size=p.shape)
    if i.load(p, GRAVITY) is None:
        assert not i.load_hessian(p, GRAVITY).any()
        return
    rate = difference(lambda x: i.load(x, GRAVITY), p, d, 1e-6 * trial.size)
    assert_same(apply(i.pairs(), i.load_hessian(p, GRAVITY), d), rate)


def chain(i: Interaction, q: np.ndarray, dq: np.ndarray, p: np.ndarray) -> np.ndarray:
    """ṗ = J dq, (P, 3)."""
    points = Points.concatenate(i.points)
    rate = np.zeros_like(p)
    moved = np.einsum("eij,ej->ei", points.jacobian(q), dq.reshape(-1, 3)[points.block])
    np.add.at(rate, points.entry_point, moved)
    return rate


@EVERY
def test_power_through_the_body(trial, name):  # noqa: F811
    """λ·δ̇ = (Hᵀλ)·q̇, with H from the chain rule that robots use."""
    i, rng, body = build(name, trial), np.random.default_rng(3), trial.body
    q = state(trial, 4) if i.integrable else body.q0
    dq, lam = rng.normal(size=body.ndof), rng.normal(size=i.size)
    bundle = Bundle([i], [body], [0], [0], body.ndof)
    p = bundle.positions(q)
    H = bundle.jacobian(q, bundle.gradient(p))
    value = lambda h: lam @ i.value(Points.concatenate(i.points).position(body.retract(q, h * dq)))
    h = 1e-6 * trial.size
    powers = force(i, p, lam) * chain(i, q, dq, p)  # of the points; in a rigid body their sum may be zero
    least = 1e-2 * np.abs(powers).sum() * np.ones(1)
    both = lambda x: np.append(x, least)
    assert_same(both(dq @ H.transpose_dot(lam)), both((value(h) - value(-h)) / (2 * h)))
    assert_same(both(dq @ H.transpose_dot(lam)), both(powers.sum()), 1e-10)


@EVERY
def test_geometric_stiffness_through_the_body(trial, name):  # noqa: F811
    """d²(λ·δ)/dh² along q ⊕ h dq: the interaction's own Hessian and the turning of rigid regions."""
    i, rng, body = build(name, trial), np.random.default_rng(6), trial.body
    if not i.integrable:
        pytest.skip("a follower force has no potential")
    q, dq, lam = state(trial, 7), rng.normal(size=body.ndof), rng.normal(size=i.size)
    points = Points.concatenate(i.points)
    p = points.position(q)
    rate, turning = chain(i, q, dq, p), dq.reshape(-1, 3)[points.block[points.turning]]
    second = np.vdot(rate, apply(i.pairs(), i.hessian(p, lam), rate))
    second += np.einsum("ei,eij,ej->", turning, points.second(q, force(i, p, lam)), turning)
    value = lambda h: lam @ i.value(points.position(body.retract(q, h * dq)))
    h = 1e-4 * trial.size
    numeric = (value(h) - 2 * value(0.0) + value(-h)) / h**2
    noise = 1e-15 * np.abs(lam) @ (np.abs(i.value(p)) + np.abs(p).max() * np.abs(i.gradient(p)).max()) / h**2
    assert abs(second - numeric) < 1e-4 * abs(second) + noise


FREE_MOTION = {"cable", "cavity", "cavity, capped", "cavity, liquid", "curvature", "stretch", "combined"}
NO_NET_FORCE = FREE_MOTION | {"motor", "orientation", "orientation, soft", "curvature, signed"}
NO_NET_FORCE |= {name for name in NAMES if name.startswith("magnet")}


@pytest.mark.parametrize("name", sorted(FREE_MOTION))
def test_rigid_motion_changes_nothing(trial, name):  # noqa: F811
    i, rng = build(name, trial), np.random.default_rng(8)
    p, lam = deformed(i, trial, rng), rng.normal(size=i.size)
    moved = p @ Rotation.random(random_state=1).as_matrix().T + trial.size * rng.normal(size=3)
    assert_same(i.value(moved), i.value(p), 1e-9)
    f = force(i, p, lam)
    assert np.linalg.norm(np.cross(p, f).sum(0)) < 1e-12 * np.linalg.norm(f) * np.linalg.norm(p) + 1e-15


@pytest.mark.parametrize("name", sorted(NO_NET_FORCE))
def test_no_net_force(trial, name):  # noqa: F811
    i, rng = build(name, trial), np.random.default_rng(9)
    f = force(i, deformed(i, trial, rng), rng.normal(size=i.size))
    assert np.linalg.norm(f.sum(0)) < 1e-12 * np.abs(f).sum()


def test_the_registry_has_every_interaction(trial):  # noqa: F811
    assert len(set(NAMES)) == len(NAMES)
    public = [getattr(interactions, name) for name in interactions.__all__]
    public = {c for c in public if isinstance(c, type) and issubclass(c, Interaction)} - {Interaction}
    assert {type(build(name, trial)) for name in NAMES} == public


def test_combined_rows_and_efforts(trial):  # noqa: F811
    inner = build("position", trial)
    basis = np.random.default_rng(0).normal(size=(inner.size, 3))
    combined, beta = Combined(inner, basis), np.array([1.0, -2.0, 0.5])
    p = deformed(inner, trial, np.random.default_rng(1))
    np.testing.assert_allclose(combined.value(p), basis.T @ inner.value(p))
    np.testing.assert_allclose(force(combined, p, beta), force(inner, p, basis @ beta))
