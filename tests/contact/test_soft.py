"""Contact of deformable bodies with each other and with themselves."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant import contact
from pliant.contact.detect import opponents
from pliant.contact.detect.keeping import kept
from pliant.contact.detect.nearest import TIE
from pliant.contact.detect.skin import Skin
from pliant.contact.stiffness import facet_stiffness, over_facets
from tests.contact.common import (
    SOFT,
    bar,
    brute_distance,
    check_rows,
    deformed,
    fork,
    leaning,
    placed,
    winding,
)

KINDS = pytest.mark.parametrize(("kind", "order"), [("tet", 1), ("tet", 2), ("hex", 1)])


def pair(gap: float = 0.001, *, kind: str = "tet", order: int = 1, turn: float = 0.0) -> pl.Robot:
    """A bar above another, `gap` apart at their nearest, the upper one turned about x and z."""
    low, high = bar(kind=kind, order=order), bar(kind=kind, order=order)
    R = Rotation.from_euler("xz", (turn, 0.4)).as_matrix()
    mesh = high.mesh.transformed(rotation=R, translation=(0.013, 0.002, 0))
    up = 0.02 + gap - mesh.nodes[:, 2].min()
    high = pl.Solid(mesh.transformed(translation=(0, 0, up)), SOFT, order=order)
    return pl.Robot([low, high])


def samples_only(detector: contact.Detector, q: np.ndarray) -> contact.Contacts:
    """Contacts of single samples, without rows of surfaces."""
    return detector.detect_samples(q, detector.alarm)


def rows_only(detector: contact.Detector, q: np.ndarray) -> contact.Contacts:
    """Rows of surfaces, without single points."""
    found = detector.detect(q)
    return found.take(np.flatnonzero(found.over_area))


def forks(slope: float, **options) -> tuple[pl.Robot, np.ndarray]:
    robot = pl.Robot(fork(**options))
    return robot, placed(robot, leaning(robot.body.mesh.nodes, slope))


# Between bodies


@KINDS
@pytest.mark.parametrize("turn", [0.0, 0.1])
@pytest.mark.parametrize("gap", [0.001, -0.0004])
def test_rows_between_bodies_are_the_derivative_of_the_gap(kind, order, turn, gap):
    robot = pair(gap, kind=kind, order=order, turn=turn)
    detector, q = contact.Detector(robot), deformed(robot, amplitude=5e-5)
    rows = check_rows(robot, detector, q, step=1e-8, detect=partial(rows_only, detector))
    assert len(rows) > 4
    found = check_rows(robot, detector, q, step=1e-8, detect=partial(samples_only, detector))
    assert set(found.opponent) == {0, 1} and (np.diff(found.stencil.ptr) == 4).all()


def test_flat_faces_are_the_gap_apart():
    robot = pair(0.001)
    found = samples_only(contact.Detector(robot), robot.rest.q)
    over = np.abs(found.normal[:, 2]) > 1 - 1e-9
    assert over.sum() > 20
    np.testing.assert_allclose(found.gap[over], 0.001, atol=1e-12)
    lower = found.opponent == 0  # touched by samples of the upper bar: pushed up
    assert (found.normal[lower, 2] > 0).all() and (found.normal[~lower, 2] < 0).all()
    robot = pair(-0.0005)
    deep = samples_only(contact.Detector(robot), robot.rest.q)
    over = np.abs(deep.normal[:, 2]) > 1 - 1e-9
    np.testing.assert_allclose(deep.gap[over], -0.0005, atol=1e-12)
    assert over.sum() > 20


@KINDS
def test_action_and_reaction(kind, order):
    """Contact forces between bodies add up to nothing, in force and in moment."""
    robot = pair(0.0005, kind=kind, order=order, turn=0.15)
    detector = contact.Detector(robot, friction=0.5)
    q = deformed(robot, amplitude=1e-4)
    found = detector.detect(q)
    rng = np.random.default_rng(0)
    x = robot.positions(q)
    nodal = found.rows(q).transpose_dot(rng.uniform(0, 1, len(found))).reshape(-1, 3)
    assert np.linalg.norm(nodal[: len(x) // 2].sum(axis=0)) > 0.1
    np.testing.assert_allclose(nodal.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(x, nodal).sum(axis=0), 0.0, atol=1e-13)
    slip = found.tangent_rows(q).transpose_dot(rng.normal(size=2 * len(found))).reshape(-1, 3)
    np.testing.assert_allclose(slip.sum(axis=0), 0.0, atol=1e-12)


def test_only_the_pairs_of_bodies_asked_for():
    low, middle, high = (bar(origin=(0, 0, z)) for z in (0.0, 0.021, 0.042))
    robot = pl.Robot([low, middle, high])
    every = contact.Detector(robot)
    assert every.opponents == ("body 0", "body 1", "body 2")
    assert set(samples_only(every, robot.rest.q).opponent) == {0, 1, 2}
    found = every.detect(robot.rest.q)
    assert found.over_area.any() and len(found) < len(samples_only(every, robot.rest.q))
    some = contact.Detector(robot, between_bodies=[(0, 1)])
    assert some.opponents == ("body 0", "body 1")
    body = some.cloud.body[samples_only(some, robot.rest.q).sample]
    assert set(body) == {0, 1}
    assert set(some.cloud.body[some.detect(robot.rest.q).sample]) <= {0, 1}
    assert contact.Detector(robot, between_bodies=False).opponents == ()


def test_nothing_is_touched_through_a_thin_plate():
    """Of three thin plates in a stack the outer ones do not feel each other."""
    plates = [pl.mesh.box((0.06, 0.06, 0.002), cells=(4, 4, 1), origin=(0, 0, z)) for z in (0, 0.0025, 0.005)]
    robot = pl.Robot([pl.Solid(mesh, SOFT, order=1) for mesh in plates])
    found = contact.Detector(robot).detect(robot.rest.q, 0.02)
    body = contact.Detector(robot).cloud.body[found.sample]
    assert found.gap.min() > 0.00049
    nearest = np.abs(found.opponent - body) == 1
    np.testing.assert_allclose(found.gap[nearest & (np.abs(found.normal[:, 2]) > 0.999)], 0.0005, atol=1e-12)


def test_a_sample_deep_in_a_wall_is_pushed_back_where_it_came_from():
    """A bar 1.2 mm deep in a wall of 2 mm is nearer to the far side of it."""
    wall = pl.mesh.box((0.002, 0.06, 0.06), cells=(1, 4, 4), origin=(0.0588, -0.02, -0.02))
    robot = pl.Robot([bar(), pl.Solid(wall, SOFT, order=1)])
    detector = contact.Detector(robot, alarm=0.003)
    found = samples_only(detector, robot.rest.q)
    mine = (found.opponent == 1) & (found.position[:, 0] > 0.0599)
    assert mine.sum() > 8
    np.testing.assert_allclose(found.gap[mine], -0.0012, atol=1e-12)
    np.testing.assert_allclose(found.normal[mine], np.tile([-1, 0, 0], (mine.sum(), 1)), atol=1e-12)
    rows = detector.detect(robot.rest.q)
    assert rows.over_area.sum() == 9 and len(rows) < len(found)
    np.testing.assert_allclose(rows.gap[rows.over_area], -0.0012, atol=1e-12)


# With itself


@KINDS
def test_the_prongs_of_a_fork_meet(kind, order):
    slope = 0.06
    robot, q = forks(slope, kind=kind, order=order)
    detector = contact.Detector(robot, self_contact=True, alarm=0.003)
    found = samples_only(detector, q)
    assert found.gap.min() < -1e-4 < found.gap.max()
    z = found.position[:, 2]
    facing = 0.004 - 2 * slope * (z - 0.004)  # across the gap, along x; the normal leans with the prong
    inner = np.abs(found.normal[:, 0]) > 0.99
    np.testing.assert_allclose(found.gap[inner], (facing * np.cos(np.arctan(slope)))[inner], atol=3e-5)
    assert inner.mean() > 0.6
    across = (2 * slope * 0.036 - 0.004) * np.cos(np.arctan(slope))  # at the tips, which are a way out too
    assert 0.85 * across < detector.penetration(q) < across


@KINDS
@pytest.mark.parametrize("slope", [0.04, 0.06])
def test_rows_within_a_body_are_the_derivative_of_the_gap(kind, order, slope):
    robot, q = forks(slope, kind=kind, order=order)
    detector = contact.Detector(robot, self_contact=True, alarm=0.003)
    q = robot.retract(q, 2e-5 * np.random.default_rng(0).normal(size=robot.ndof))
    check_rows(robot, detector, q, step=1e-8, detect=partial(samples_only, detector))
    check_rows(robot, detector, q, step=1e-8, detect=partial(rows_only, detector))
    found = detector.detect(q)
    assert len(found) > 20 and found.over_area.any()
    nodal = found.rows(q).transpose_dot(np.ones(len(found))).reshape(-1, 3)
    x = robot.positions(q)
    np.testing.assert_allclose(nodal.sum(axis=0), 0.0, atol=1e-11)
    np.testing.assert_allclose(np.cross(x, nodal).sum(axis=0), 0.0, atol=1e-11)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("shape", ["box", "trunk", "pneunet", "finger", "bellows", "tripod", "tower"])
def test_nothing_touches_itself_at_rest(shape, order):
    """Nor where the mesh is coarse against its walls; slits as narrow as the alarm distance are seen."""
    slit = {"pneunet": 0.002, "tower": 0.002}.get(shape, np.inf)
    robot = pl.Robot(pl.Solid(getattr(pl.mesh, shape)(), SOFT, order=order))
    detector = contact.Detector(robot, self_contact=True)
    found = detector.detect(robot.rest.q)
    assert len(found) == 0 if slit > detector.alarm else found.gap.min() > 0.999 * slit
    assert len(detector.detect(robot.rest.q, min(detector.alarm, 0.99 * slit))) == 0
    assert detector.penetration(robot.rest.q) == 0.0


@pytest.mark.parametrize("angle", [-1.5, 1.5])
@pytest.mark.parametrize(("shape", "along", "side"), [("box", 0, 2), ("trunk", 2, 0), ("finger", 0, 2)])
def test_bending_is_no_contact(shape, along, side, angle):
    robot = pl.Robot(pl.Solid(getattr(pl.mesh, shape)(), SOFT, order=1))
    X = robot.body.mesh.nodes.copy()
    radius = np.ptp(X[:, along]) / angle
    turn, height = X[:, along] / radius, X[:, side] - X[:, side].mean()
    X[:, along], X[:, side] = (radius - height) * np.sin(turn), radius - (radius - height) * np.cos(turn)
    assert len(contact.Detector(robot, self_contact=True).detect(placed(robot, X))) == 0


def test_stretching_a_thin_wall_is_no_contact():
    """A shell stretched to a third of its thickness, its far side within reach all the time."""
    mesh = pl.mesh.hollow_sphere(0.02, 0.022, around=32, across=1)
    robot = pl.Robot(pl.Solid(mesh, SOFT, order=1))
    inside_too = contact.Samples.on(robot.body, mesh.surface)
    detector = contact.Detector(robot, self_contact=True, samples=inside_too, alarm=0.01)
    r = np.linalg.norm(mesh.nodes, axis=1, keepdims=True)
    for stretch in (1.0, 1.3, 1.7):
        thin = 0.02 * stretch + (r - 0.02) / stretch**2
        assert len(detector.detect(placed(robot, mesh.nodes / r * thin))) == 0


def test_pairs_of_patches():
    robot, q = forks(0.05)
    surface = robot.body.mesh.surface
    left = surface.patch((surface.facet_normals[:, 0] > 0.9) & (surface.centres[:, 0] < 0.01))
    right = surface.patch((surface.facet_normals[:, 0] < -0.9) & (surface.centres[:, 0] > 0.01))
    detector = contact.Detector(robot, self_contact=[(left, right)], alarm=0.003)
    assert detector.opponents == ("pair 0 second", "pair 0 first")
    found = detector.detect(q)
    assert {0, 1} == set(found.opponent)
    on_left = found.position[:, 0] < 0.01
    assert (on_left == (found.opponent == 0)).all()
    every = contact.Detector(robot, self_contact=True, alarm=0.003).detect(q)
    across = np.abs(every.normal[:, 0]) > 0.99
    assert np.isclose(found.gap.min(), every.gap[across].min())
    one_way = contact.Detector(robot, self_contact=[(left, left)], alarm=0.003)
    assert one_way.opponents == ("pair 0 second",) and len(one_way.detect(q)) == 0


# The tree of boxes


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(*[st.floats(-0.5, 0.5)] * 3),
    st.tuples(*[st.floats(-0.015, 0.015)] * 3),
    st.floats(0.0005, 0.01),
    st.integers(0, 1000),
)
def test_the_tree_finds_what_looking_at_all_triangles_finds(turn, shift, reach, seed):
    robot = _PAIR
    rng = np.random.default_rng(seed)
    low, high = (b.mesh.nodes for b in robot.bodies)
    moved = (high - high.mean(axis=0)) @ Rotation.from_rotvec(turn).as_matrix().T + high.mean(axis=0) + shift
    X = np.vstack([low, moved]) + 3e-4 * rng.normal(size=(len(low) + len(moved), 3))
    quick, slow = _PAIR_DETECTORS
    _assert_same(quick, slow, placed(robot, X), reach)


@settings(max_examples=25, deadline=None)
@given(st.floats(-0.1, 0.1), st.floats(0.0005, 0.006), st.integers(0, 1000))
def test_the_tree_finds_the_same_within_a_body(slope, reach, seed):
    noise = 2e-4 * np.random.default_rng(seed).normal(size=_FORK.body.mesh.nodes.shape)
    q = placed(_FORK, leaning(_FORK.body.mesh.nodes, slope) + noise)
    quick, slow = _FORK_DETECTORS
    _assert_same(quick, slow, q, reach)


def _assert_same(quick: contact.Detector, slow: contact.Detector, q: np.ndarray, reach: float) -> None:
    a, b = quick.detect_samples(q, reach), slow.detect_samples(q, reach)
    np.testing.assert_array_equal(a.index, b.index)
    np.testing.assert_allclose(a.gap, b.gap, rtol=2 * TIE, atol=1e-15)


def _with_one_leaf(detector: contact.Detector) -> contact.Detector:
    """A detector whose trees have a single node, so that it looks at all triangles."""
    for b, skin in detector._skins.items():
        detector._skins[b] = Skin(skin.body, 0.5 * skin.geodesics.limit, leaf=10**9)
        assert len(detector._skins[b].links) == 1
    detector._search = opponents.SoftSearch(detector.cloud, detector._skins, detector.soft)
    return detector


_PAIR, _FORK = pair(0.001), pl.Robot(fork())
_PAIR_DETECTORS = contact.Detector(_PAIR), _with_one_leaf(contact.Detector(_PAIR))
_FORK_DETECTORS = (
    contact.Detector(_FORK, self_contact=True),
    _with_one_leaf(contact.Detector(_FORK, self_contact=True)),
)


def test_distances_between_bodies_against_all_triangles():
    """Where no rule applies: the distance to the nearest triangle, with the sign of the winding number."""
    robot = pair(0.0002, turn=0.05)
    detector = contact.Detector(robot)
    q = deformed(robot, amplitude=2e-4)
    found = samples_only(detector, q)
    p, T = found.position, robot.bodies[0].mesh.surface.triangles
    X = robot.bodies[0].positions(q[robot.q_spans[0]])
    mine = (found.opponent == 0) & (np.abs(found.normal[:, 2]) > 0.9)
    np.testing.assert_allclose(np.abs(found.gap[mine]), brute_distance(p[mine], X, T), atol=1e-14)
    assert ((winding(p[mine], X, T) > 0.5) == (found.gap[mine] < 0)).all()
    assert (found.gap[mine] < 0).any() and (found.gap[mine] > 0).any()


# Stiffness


@KINDS
def test_pushes_turn_with_the_facets(kind, order, within):
    """−∂(Hᵀλ)/∂q by differences is UᵀCU for contacts over facets that touch."""
    robot = pair(1e-7, kind=kind, order=order, turn=0.0)
    detector = contact.Detector(robot)
    q = deformed(robot, amplitude=2e-5)
    found = samples_only(detector, q)
    rng = np.random.default_rng(1)
    force = np.where(np.abs(found.gap) < 1e-4, rng.uniform(0.5, 1.0, len(found)), 0.0)
    push = lambda x: pushed(samples_only(detector, x), found, force, x)
    U, C_inverse = facet_stiffness(found, force, q)
    over = np.zeros(len(found), bool)
    over[:] = (found.stencil.weight.reshape(-1, 4)[:, 1:] < -1e-6).all(axis=1)
    assert over[force > 0].sum() == len(C_inverse) // 4 > 3
    force[~over] = 0.0
    for _ in range(5):
        dq = rng.normal(size=robot.ndof)
        h = 1e-9 / np.abs(dq).max()
        change = (push(robot.retract(q, h * dq)) - push(robot.retract(q, -h * dq))) / (2 * h)
        predicted = U.transpose_dot(np.linalg.solve(C_inverse, U.dot(dq)))
        within(np.linalg.norm(change + predicted) / np.linalg.norm(change), 2e-2, f"facets {kind} {order}")


def pushed(now, before, force, q):
    """Hᵀλ with the forces of earlier contacts."""
    return now.rows(q).transpose_dot(now.carried(before, force))


def test_a_pushing_sample_keeps_its_facet_until_it_is_well_beside_it():
    """Moved across an edge, it stays on the plane it was on for a while; what does not push takes the nearest
    facet.
    """
    robot = pair(1e-6, turn=0.05)
    detector = contact.Detector(robot)
    q = deformed(robot, amplitude=2e-5)
    before = samples_only(detector, q)
    over = over_facets(before)
    crossed = 0
    for push in (2e-4, 5e-4, 1e-3, 3e-3):
        moved = q.copy().reshape(-1, 3)
        moved[len(robot.bodies[0].mesh.nodes) :] += (push, 0.5 * push, 0)  # the upper bar slides
        fresh = samples_only(detector, moved.ravel())
        again = kept(fresh, before, over.astype(float), moved.ravel())
        assert np.array_equal(again.index, fresh.index)
        idle = kept(fresh, before, 0.0 * over, moved.ravel())
        assert np.array_equal(idle.stencil.point, fresh.stencil.point)
        place = fresh.matched(before)
        other = np.flatnonzero((again.stencil.point != fresh.stencil.point).reshape(-1, 4).any(axis=1))
        crossed += len(other)
        assert over[place[other]].all() and (place[other] >= 0).all()
        p = again.points.positions(moved.ravel())
        for k in other:
            sample, *facet = again.stencil.point[4 * k : 4 * k + 4]
            assert set(facet) == set(before.stencil.point[4 * place[k] + 1 : 4 * place[k] + 4])
            weights = -again.stencil.weight[4 * k + 1 : 4 * k + 4]
            assert weights.min() > -0.1 and abs(weights.sum() - 1) < 1e-12
            foot = weights @ p[facet]
            assert np.allclose(p[sample] - foot, again.gap[k] * again.normal[k], atol=1e-12)
            assert np.allclose(again.tangents[k] @ again.normal[k], 0, atol=1e-12)
    assert crossed > 5
