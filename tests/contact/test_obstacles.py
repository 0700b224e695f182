"""Obstacles: distances in closed form, gradients, motion, pipes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import contact
from tests.contact.common import FORK, OBSTACLES, TURN, cloud, differences

EVERY = pytest.mark.parametrize("name", list(OBSTACLES))


def gap_of(obstacle, *p):
    gap, normal = obstacle.distance([p])
    return gap[0], normal[0]


@EVERY
def test_the_normal_is_the_unit_gradient_of_the_gap(name):
    obstacle, p = OBSTACLES[name], cloud()
    _, normal = obstacle.distance(p)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-12)
    step = 1e-7
    beside = [obstacle.distance(p + s * 2 * step * e)[1] for s in (1, -1) for e in np.eye(3)]
    smooth = np.max([np.abs(n - normal).max(axis=1) for n in beside], axis=0) < 0.01
    assert smooth.mean() > 0.95  # elsewhere two features are equally near
    rate = differences(lambda x: obstacle.distance(x)[0], p[smooth], step)
    np.testing.assert_allclose(rate, normal[smooth], atol=1e-4)


@EVERY
def test_the_gap_is_a_distance(name):
    """No gap changes faster than the point moves, and stepping back by it leads to the surface."""
    obstacle, p = OBSTACLES[name], cloud()
    gap, normal = obstacle.distance(p)
    other, _ = obstacle.distance(p[::-1])
    assert (np.abs(gap - other) <= np.linalg.norm(p - p[::-1], axis=1) + 1e-12).all()
    if name in ("pipe", "forked pipe"):  # a lower bound where tubes meet and in front of open ends
        return
    exact = gap < 0 if name == "closed pipe" else np.full(len(p), True)
    surface = (p - gap[:, None] * normal)[exact]
    assert np.abs(obstacle.distance(surface)[0]).max() < 1e-9
    nearest = np.linalg.norm(p[exact][:, None] - surface, axis=2).min(axis=1)
    np.testing.assert_allclose(nearest, np.abs(gap[exact]), atol=1e-9)


@EVERY
def test_a_moved_obstacle_moves_its_distance(name):
    obstacle, p = OBSTACLES[name], cloud()
    t = np.array([0.01, -0.02, 0.03])
    moved = obstacle.moved(rotation=TURN, translation=t)
    assert type(moved) is type(obstacle) and moved.name == obstacle.name and moved.convex == obstacle.convex
    gap, normal = obstacle.distance(p)
    there, turned = moved.distance(TURN.apply(p) + t)
    np.testing.assert_allclose(there, gap, atol=1e-14)
    away = np.abs(turned - TURN.apply(normal)).max(axis=1) < 1e-6
    assert away.mean() > 0.99  # on an edge of the field rounding may choose the other feature
    back = moved.moved(translation=-t).moved(rotation=TURN.inv())
    np.testing.assert_allclose(back.distance(p)[0], gap, atol=1e-14)


@EVERY
def test_gaps_of_convex_obstacles_linearise_on_the_safe_side(name):
    obstacle, p = OBSTACLES[name], cloud()
    gap, normal = obstacle.distance(p)
    ahead = p[::-1]
    linear = gap + np.einsum("pi,pi->p", normal, ahead - p)
    too_large = linear - obstacle.distance(ahead)[0]
    if obstacle.convex:
        assert (too_large < 1e-12).all()
    elif name != "container":  # in a box with flat walls only the corners are concave
        assert too_large.max() > 1e-3


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-0.1, 0.1), min_size=6, max_size=6), st.sampled_from(list(OBSTACLES)))
def test_any_two_points_are_at_least_the_difference_of_their_gaps_apart(numbers, name):
    p = np.reshape(numbers, (2, 3))
    gap, normal = OBSTACLES[name].distance(p)
    assert np.isfinite(gap).all() and np.isfinite(normal).all()
    assert abs(gap[1] - gap[0]) <= np.linalg.norm(p[1] - p[0]) + 1e-12


def test_known_gaps():
    gap, normal = gap_of(contact.Plane((0, 0, 1), (0, 0, 2)), 5, 6, 3)
    assert gap == 2 and (normal == [0, 0, 1]).all()
    gap, normal = gap_of(contact.Sphere((1, 0, 0), 0.5), 1, 3, 0)
    assert gap == 2.5 and (normal == [0, 1, 0]).all()
    capsule = contact.Capsule((0, 0, 0), (1, 0, 0), 0.25)
    assert gap_of(capsule, 0.5, 1, 0)[0] == 0.75 and gap_of(capsule, 3, 0, 0)[0] == 1.75
    box = contact.Box((0, 0, 0), (2, 4, 6))
    assert np.isclose(gap_of(box, 4, 6, 3)[0], 5.0)  # over an edge, 3 and 4 off its faces
    assert np.isclose(gap_of(box, 0.5, 0, 0)[0], -0.5)  # inside, nearest to x = 1
    assert np.isclose(
        gap_of(contact.Box((0, 0, 0), (2, 4, 6), rounding=0.5), 4.5, 6.5, 0)[0], np.hypot(4, 5) - 0.5
    )
    cylinder = contact.Cylinder((0, 0, 0), (0, 0, 2), 1)
    assert np.isclose(gap_of(cylinder, 4, 0, 6)[0], 5.0)  # over the rim
    assert np.isclose(gap_of(cylinder, 0.2, 0, 1.9)[0], -0.1) and np.isclose(gap_of(cylinder, 3, 0, 1)[0], 2)


@pytest.mark.parametrize("name", ["sphere", "capsule", "cylinder", "pipe"])
def test_points_on_an_axis_have_a_normal_too(name):
    obstacle = OBSTACLES[name]
    middle = (0.01, 0.02, -0.01) if name == "sphere" else (-0.02, 0, 0)
    if isinstance(obstacle, contact.Capsule | contact.Cylinder):
        middle = 0.5 * (obstacle.start + obstacle.end)
    gap, normal = gap_of(obstacle, *middle)
    assert np.isclose(np.linalg.norm(normal), 1.0) and np.isfinite(gap)


def test_half_space_is_another_word_for_plane():
    assert contact.HalfSpace is contact.Plane


# Pipes


def test_inside_a_forked_pipe():
    pipe = contact.ForkedPipe(FORK, (0.02, 0.015, 0.015))
    middle = [np.mean(path[-2:], axis=0) for path in FORK]  # of the last piece of each branch
    np.testing.assert_allclose(pipe.distance(middle)[0], [0.02, 0.015, 0.015])
    outside = [
        (0.05, 0, -0.05),
        (0, 0, 0.09),
        (0, 0.05, 0.03),
    ]  # beside the stem, in the crotch, beside the fork
    assert (pipe.distance(outside)[0] < 0).all()
    gap, normal = gap_of(pipe, 0.012, 0, -0.06)
    assert np.isclose(gap, 0.008) and np.allclose(normal, [-1, 0, 0])


def test_a_forked_pipe_is_the_union_of_its_branches():
    radii = (0.02, 0.015, 0.015)
    closed = contact.ForkedPipe(FORK, radii, open=False)
    branches = [contact.Pipe(path, r, open=(False, False)) for path, r in zip(FORK, radii)]
    p = cloud(2000)
    expected = np.max([b.distance(p)[0] for b in branches], axis=0)
    np.testing.assert_allclose(closed.distance(p)[0], expected, atol=1e-15)


def test_free_ends_are_open_and_joints_are_not():
    pipe = contact.ForkedPipe(FORK, 0.015)
    assert pipe.open == ((True, False), (False, True), (False, True))
    before, beside = (0, 0, -0.15), (0.06, 0, -0.15)
    assert gap_of(pipe, *before)[0] > 0.03 and gap_of(pipe, *beside)[0] > 0  # 45° funnel: 50 mm + 15 mm wide
    assert gap_of(pipe, 0.07, 0, -0.15)[0] < 0
    assert gap_of(contact.ForkedPipe(FORK, 0.015, open=False), *before)[0] < 0
    only_entry = contact.ForkedPipe(FORK, 0.015, open=[(True, False), (False, False), (False, False)])
    assert gap_of(only_entry, *before)[0] > 0 and gap_of(only_entry, 0.04, 0, 0.15)[0] < 0


def test_the_gap_is_continuous_through_a_mouth():
    pipe = contact.Pipe([(0, 0, 0), (0, 0, 1)], 0.1)
    z = np.linspace(-0.2, 0.2, 4001)
    for x in (0.0, 0.05, 0.0999):
        gap, _ = pipe.distance(np.column_stack([np.full(len(z), x), 0 * z, z]))
        assert np.abs(np.diff(gap)).max() < 1.01e-4
        assert (gap[z >= 0] >= 0.1 - x - 1e-12).all()


def test_a_sphere_bends_its_normals_as_differences_say():
    ball = contact.Sphere((0.1, -0.2, 0.3), 0.05)
    p = np.asarray(ball.centre) + 0.06 * np.random.default_rng(0).normal(size=(20, 3))
    far = np.linalg.norm(p - ball.centre, axis=1) > 0.02
    by_differences = contact.obstacles.Obstacle.curvature(ball, p[far], 1e-3)
    assert np.allclose(ball.curvature(p[far], 1e-3), by_differences, atol=1e-4 * np.abs(by_differences).max())
