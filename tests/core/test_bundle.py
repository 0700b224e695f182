"""The chain rule from points to coordinates: H and geometric stiffness of all interactions on real bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.algebra import SparseRows
from pliant.core.view import View, linearise
from pliant.interactions import registry
from tests.core.test_models import trial  # noqa: F401  (a fixture)

NAMES = [name for name, _ in registry]
EVERY = pytest.mark.parametrize("name", NAMES)
GRAVITY = np.array([1.0, -2.0, -9.0])
STEP = 5e-7


def build(trial: Any, *names: str) -> pl.Robot:  # noqa: F811
    bodies, specimen = trial
    rows = {name: pl.Row(dict(registry)[name](specimen)) for name in names}
    return pl.Robot(bodies, rows, gravity=GRAVITY)


def deformed(robot: pl.Robot, seed: int = 1, amplitude: float = 0.002) -> np.ndarray:
    """A random q near rest, regions turned by some degrees."""
    dq = amplitude * np.random.default_rng(seed).normal(size=robot.ndof)
    for body, span in zip(robot.bodies, robot.dq_spans, strict=True):
        for block in body.region_block:  # rotations are angles, not lengths
            dq[span][3 * block + 3 : 3 * block + 6] = (0.2, -0.3, 0.25)
    return robot.retract(robot.rest.q, dq)


def directions(robot: pl.Robot, count: int = 3) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(count, robot.ndof))


def at(robot: pl.Robot, q: np.ndarray, lam: np.ndarray, *, tangent: bool = True) -> View:
    linear = linearise(robot, q, lam, robot.rest.internal, GRAVITY, tangent=tangent)
    assert linear is not None
    return linear


def difference(f: Any, robot: pl.Robot, q: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Central difference of f along d, through the retraction."""
    return (f(robot.retract(q, STEP * d)) - f(robot.retract(q, -STEP * d))) / (2 * STEP)


def bodies_stiffness(robot: pl.Robot, q: np.ndarray) -> np.ndarray:
    """K of the bodies alone on the robot's pattern."""
    K = robot.pattern.zeros()
    for n, body in enumerate(robot.bodies):
        own = body.linearise(q[robot.q_spans[n]], GRAVITY)[2]
        K[robot.body_placement[robot.block_spans[n]]] = own
    return K


def efforts(robot: pl.Robot, q: np.ndarray) -> np.ndarray:
    """Random efforts whose geometric stiffness is about that of the bodies, without enormous forces."""
    lam = np.random.default_rng(3).uniform(0.5, 1.0, robot.bundle.rows)
    stiffness, linear = np.abs(bodies_stiffness(robot, q)).max(), at(robot, q, lam)
    extra = np.abs(linear.K - at(robot, q, 0 * lam).K).max()
    force = np.abs(linear.H.transpose_dot(lam)).max()
    return lam * min(stiffness / max(extra, 1e-300), 10 * stiffness * robot.length / max(force, 1e-300))


def unlocked(robot: pl.Robot) -> np.ndarray:
    """(ndof,) 1 for free coordinates: locked ones have a made-up diagonal in K."""
    return np.concatenate([body.free for body in robot.bodies]).astype(float)


def spin_term(robot: pl.Robot, d: np.ndarray, force: np.ndarray) -> np.ndarray:
    """½ dω × r on the rotations of regions: how a torque in turning axes changes, beyond the Hessian."""
    out = np.zeros(robot.ndof)
    free = unlocked(robot)
    for body, span in zip(robot.bodies, robot.dq_spans, strict=True):
        for block in body.region_block:
            turn = slice(span.start + 3 * block + 3, span.start + 3 * block + 6)
            out[turn] = 0.5 * np.cross(d[turn] * free[turn], force[turn]) * free[turn]
    return out


def assert_close(actual: np.ndarray, expected: np.ndarray, tol: float = 1e-6, scale: float = 0.0) -> None:
    scale = max(scale, float(np.abs(expected).max(initial=0.0)), float(np.abs(actual).max(initial=0.0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tol * scale + 1e-14)


@EVERY
def test_jacobian_is_the_derivative_of_delta(trial, name):  # noqa: F811
    robot = build(trial, name)
    integrable = robot.rows[name].interaction.integrable
    q = deformed(robot) if integrable else robot.rest.q
    H = at(robot, q, np.zeros(robot.bundle.rows), tangent=False).H
    for d in directions(robot):
        rate = difference(lambda x: robot.bundle.delta(robot.bundle.positions(x)), robot, q, d)
        assert_close(H.dot(d), rate)


@EVERY
def test_locked_coordinates_carry_no_force(trial, name):  # noqa: F811
    robot = build(trial, name)
    q = deformed(robot)
    H = at(robot, q, np.zeros(robot.bundle.rows), tangent=False).H.to_csr().toarray()
    assert not H[:, unlocked(robot) == 0].any()


@EVERY
def test_tangent_is_the_derivative_of_the_residual(trial, name):  # noqa: F811
    """K b = −d(r + Hᵀλ)/dq b, with the loads of liquids in r; the symmetric part for follower forces."""
    robot = build(trial, name)
    q = deformed(robot)
    lam = efforts(robot, q)
    linear = at(robot, q, lam)
    K, free = robot.pattern.to_csr(linear.K), unlocked(robot)
    residual = lambda x: -at(robot, x, lam, tangent=False).residual()
    ds = directions(robot) * free
    rates = np.array([difference(residual, robot, q, d) for d in ds])
    rates -= [spin_term(robot, d, linear.residual()) for d in ds]
    product = np.array([K @ d for d in ds])
    if robot.rows[name].interaction.integrable:
        assert_close(product, rates)
    symmetric = 0.5 * (ds @ rates.T + rates @ ds.T)
    assert_close(ds @ product.T, symmetric)
    assert_close(K.toarray(), K.toarray().T, tol=1e-10)


@EVERY
def test_affine_rows_add_stiffness_only_through_regions(trial, name):  # noqa: F811
    robot = build(trial, name)
    q, row = deformed(robot), robot.rows[name].interaction
    lam = np.random.default_rng(3).uniform(0.5, 1.0, robot.bundle.rows)
    added = np.abs(at(robot, q, lam).K - at(robot, q, 0 * lam).K)
    if not len(row.pairs()):
        added[robot.rotation_placement] = 0.0
        assert not added.any()


def test_liquid_weighs_on_the_walls(trial):  # noqa: F811
    """The load of a liquid adds up to ρ V g, and it is what r has beyond the bodies' own forces."""
    bodies, specimen = trial
    cavity = pl.Cavity(specimen.skin, specimen.triangles, liquid_density=1000.0)
    robot = pl.Robot(bodies, {"water": pl.Row(cavity)}, gravity=GRAVITY)
    q = deformed(robot)
    p = robot.bundle.positions(q)
    volume = cavity.rest_volume + cavity.value(p)[0]
    forces = robot.bundle.loads(q, p, GRAVITY)
    assert_close(forces.sum(axis=0), 1000.0 * volume * GRAVITY, tol=1e-9)
    extra = at(robot, q, np.zeros(1), tangent=False).r
    for n, body in enumerate(bodies):
        extra[robot.dq_spans[n]] -= body.linearise(q[robot.q_spans[n]], GRAVITY, tangent=False)[1]
    d = directions(robot)[0]
    moved = difference(lambda x: robot.bundle.positions(x), robot, q, d)
    assert np.vdot(forces, moved) == pytest.approx(extra @ d, rel=1e-6)  # the same power


def test_many_rows_at_once_are_the_rows_one_by_one(trial):  # noqa: F811
    """Stacking interactions in one robot only stacks H and δ, and adds up their stiffness."""
    whole = build(trial, *NAMES)
    q = deformed(whole)
    lam = np.random.default_rng(5).uniform(0.1, 1.0, whole.bundle.rows)
    stacked = at(whole, q, lam)
    H, K = stacked.H.to_csr().toarray(), whole.pattern.to_csr(stacked.K).toarray()
    base = whole.pattern.to_csr(bodies_stiffness(whole, q)).toarray()
    total, scale = base.copy(), np.abs(K).max()
    for name in NAMES:
        alone, span = build(trial, name), whole.spans[name]
        single = at(alone, q, lam[span])
        np.testing.assert_allclose(H[span], single.H.to_csr().toarray(), rtol=0, atol=1e-15 * np.abs(H).max())
        np.testing.assert_array_equal(stacked.delta[span], single.delta)
        total += alone.pattern.to_csr(single.K).toarray() - base
    assert_close(K, total, tol=1e-12, scale=scale)


def test_a_cable_through_two_bodies_couples_them():
    """Its tension pulls the bodies together, and their blocks in K meet."""
    mesh = pl.mesh.box((0.05, 0.02, 0.02), cells=(2, 1, 1), kind="hex")
    other = mesh.transformed(translation=(0.07, 0.0, 0.0))
    fixed = [np.abs(m.nodes[:, 0] - x) < 1e-9 for m, x in ((mesh, 0.0), (other, 0.12))]
    left, right = (
        pl.Solid(m, pl.Hooke(young=1e5, poisson=0.3), fixed=f) for m, f in zip((mesh, other), fixed)
    )
    path = [left.points([[0.05, 0.01, 0.01]]), right.points([[0.07, 0.01, 0.01]])]
    tips = {"a": pl.Position(path[0]), "b": pl.Position(path[1])}
    rows = {"cable": pl.Row(pl.Cable(path)), **{name: pl.Row(tip) for name, tip in tips.items()}}
    robot = pl.Robot((left, right), rows)
    between = (robot.pattern.rows >= left.pattern.size) & (robot.pattern.cols < left.pattern.size)
    assert between.any()
    result = pl.static(robot, {"cable": pl.Known(effort=1.0)})
    a, b = result.displacement["a"][0] - 0.05, 0.07 - result.displacement["b"][0]
    assert a > 1e-4 and a == pytest.approx(b, rel=1e-9)  # the two meet half way
    assert result.displacement["cable"][0] == pytest.approx(a + b, rel=1e-9)
    pulled = pl.static(robot, {"cable": pl.Known(displacement=result.displacement["cable"][0])})
    assert pulled.effort["cable"][0] == pytest.approx(1.0, rel=1e-6)
    W = pl.compliance(robot)
    assert np.abs(W["a", "b"]).max() == 0.0  # slack, nothing connects them
    taut = pl.compliance(robot, result.state)["a", "b"]  # a taut string resists moving sideways, not along
    assert taut[1, 1] > 0.0 and taut[2, 2] > 0.0 and abs(taut[0, 0]) < 1e-9 * taut[1, 1]


# Sparse rows


@st.composite
def rows(draw: Any) -> tuple[SparseRows, np.ndarray]:
    """Random compressed rows, some empty, with columns that may repeat; and the dense matrix they mean."""
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    counts = draw(st.lists(st.integers(0, 6), min_size=m, max_size=m))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices, data = rng.integers(0, n, indptr[-1]), rng.normal(size=indptr[-1])
    dense = np.zeros((m, n))
    np.add.at(dense, (np.repeat(np.arange(m), counts), indices), data)
    return SparseRows(indptr, indices, data, (m, n)), dense


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows(), st.integers(0, 2**31))
def test_sparse_rows_are_the_matrix_they_mean(case, seed):
    H, dense = case
    rng = np.random.default_rng(seed)
    x, lam = rng.normal(size=H.shape[1]), rng.normal(size=H.shape[0]) * rng.integers(0, 2, H.shape[0])
    scipy = sp.csr_array((H.data, H.indices, H.indptr), shape=H.shape)
    np.testing.assert_allclose(H.dot(x), scipy @ x, atol=1e-13)
    np.testing.assert_allclose(H.dot(x), dense @ x, atol=1e-13)
    np.testing.assert_allclose(H.transpose_dot(lam), scipy.T @ lam, atol=1e-13)
    np.testing.assert_allclose(H.norms(), np.linalg.norm(dense, axis=1), atol=1e-13)
    np.testing.assert_allclose(H.to_csr().toarray(), dense, atol=1e-15)
    chosen = rng.integers(0, H.shape[0], rng.integers(0, 7))  # any order, with repetitions, maybe none
    taken = H.take(chosen)
    assert taken.shape == (len(chosen), H.shape[1]) and taken.format == "csr"
    np.testing.assert_allclose(taken.to_csr().toarray(), dense[chosen], atol=1e-15)
    np.testing.assert_allclose(taken.dot(x), dense[chosen] @ x, atol=1e-13)
    given = rng.integers(0, 2, H.shape[0]).astype(bool)
    parted, load = H.parted(chosen, given, lam, x)
    np.testing.assert_array_equal(parted.data, taken.data)
    np.testing.assert_allclose(load, x + dense[given].T @ lam[given], atol=1e-13)


def test_rows_of_a_robot_condense_like_a_scipy_matrix(trial):  # noqa: F811
    """Columns repeat where points share nodes; the factor accepts either form."""
    from pliant.algebra import factorise

    robot = build(trial, "cable", "stretch", "position")
    linear = at(robot, robot.rest.q, np.zeros(robot.bundle.rows))
    factor = factorise(robot.symbolic, linear.K)
    W = factor.compliance(linear.H)
    csr = linear.H.to_csr()
    K = robot.pattern.to_csr(linear.K).toarray()
    assert_close(W, csr @ np.linalg.solve(K, csr.toarray().T), tol=1e-9)
    assert_close(W, factor.compliance(csr), tol=1e-12)
    assert_close(W, W.T, tol=1e-13)
