"""Obstacles: distances in closed form, gradients, motion; how every kind is drawn, written and sent."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant import contact
from pliant.contact.obstacles import KINDS, obstacle_of, surface_of, surfaces
from pliant.contact.obstacles.obstacle import Length, Obstacle, Offer, Point
from pliant.io.recording import Recorder, Recording
from pliant.io.stills import Stills
from pliant.project import load, save
from pliant.project.schema_contact import obstacle_spec
from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.form import OFFERED
from pliant.studio.messages import parse
from tests.contact.common import FORK, OBSTACLES, TURN, cloud, differences
from tests.studio.robots import bar

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


# Every kind of the registry: drawn, moved, written and sent


def nearly_the_same(one, other):
    p = cloud()
    return np.abs(one.distance(p)[0] - other.distance(p)[0]).max() < 1e-6


def test_there_is_an_example_of_every_kind():
    assert {type(o) for o in OBSTACLES.values()} == set(KINDS.values())
    assert all(made.kind == kind for kind, made in KINDS.items())


@EVERY
def test_its_surface_is_where_the_gap_is_zero(name):
    obstacle = OBSTACLES[name]
    vertices, triangles = obstacle.surface(np.zeros(3), 0.1)
    assert len(triangles) and triangles.max() < len(vertices)
    gap = obstacle.distance(vertices)[0]
    assert gap.min() > -1e-12  # tubes of a pipe end within others
    if not isinstance(obstacle, contact.Pipe | contact.ForkedPipe) and name != "rounded box":
        assert gap.max() < 1e-12


@EVERY
def test_it_is_moved_by_its_handle(name):
    session = Session(bar())
    known = session.add(replace(OBSTACLES[name], name="thing"))
    session.move(known, (0.3, -0.2, 0.1))
    np.testing.assert_allclose(session.obstacles[known].handle, (0.3, -0.2, 0.1), atol=1e-6)
    assert session.around.shapes[known]["centre"] == pytest.approx([0.3, -0.2, 0.1], abs=1e-6)


@EVERY
def test_it_travels_as_plain_data(name):
    """Through JSON, as in packets and recordings; what the page cannot draw brings its triangles."""
    obstacle = OBSTACLES[name]
    data = json.loads(json.dumps(obstacle.data(), allow_nan=False))
    assert data["kind"] in KINDS and nearly_the_same(obstacle_of(data), obstacle)
    assert obstacle.primitive or len(data["triangles"])
    np.testing.assert_allclose(
        surface_of(data, np.zeros(3), 0.1)[0], obstacle.surface(np.zeros(3), 0.1)[0], atol=1e-6
    )


@EVERY
def test_it_comes_back_from_a_project_file(name, tmp_path):
    robot = bar()
    around = contact.Surroundings([replace(OBSTACLES[name], name="thing").moved(translation=(9, 9, 9))])
    one = pl.Robot(robot.bodies, robot.rows, surroundings=around)
    (again,) = load(save(one, tmp_path / "robot.toml")).robot.surroundings.obstacles
    (given_one,) = one.surroundings.obstacles
    assert type(again) is type(given_one) and again.name == "thing"
    p = cloud() + 9
    np.testing.assert_allclose(again.distance(p)[0], given_one.distance(p)[0], rtol=0, atol=1e-13)


def test_recordings_of_version_0_1_have_obstacles():
    path = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]
    plane = obstacle_of({"kind": "plane", "centre": [0.0, 0.0, 0.1], "normal": [0.0, 0.0, 1.0]})
    assert plane.distance([(0.0, 0.0, 0.3)])[0] == pytest.approx([0.2])
    pipe = obstacle_of({"kind": "pipe", "centre": path[0], "paths": [path], "radii": [0.02]})
    fork = {
        "kind": "pipe",
        "centre": path[0],
        "paths": [path, [path[1], [0.2, 0.1, 0.0]]],
        "radii": [0.02, 0.01],
    }
    assert isinstance(pipe, contact.Pipe) and isinstance(obstacle_of(fork), contact.ForkedPipe)
    assert pipe.distance([(0.05, 0.0, 0.0)])[0] == pytest.approx([0.02])


@pytest.mark.parametrize("kind", OFFERED)
def test_the_studio_adds_what_it_offers(kind, tmp_path):
    desk = Desk({"bar": lambda: Session(bar())}, "bar", folder=tmp_path)
    parse(json.dumps({"do": "add", "kind": kind, "at": [0.2, 0.0, 0.3], "size": 0.02})).apply(desk)
    (made,) = desk.session.obstacles.values()
    assert type(made) is KINDS[kind]
    np.testing.assert_allclose(made.handle, (0.2, 0.0, 0.3), atol=1e-12)


@dataclass(frozen=True, eq=False)
class Disc(Obstacle):
    """A new kind, all of it: what lies within a distance of a point in x and y, however high."""

    kind: ClassVar[str] = "disc"
    offer: ClassVar[Offer | None] = Offer("Disc")

    centre: Point
    radius: Length

    def _distance(self, p, reach):
        away = (p - self.centre) * (1, 1, 0)
        far = np.linalg.norm(away, axis=1)
        return far - self.radius, away / far[:, None]

    def _moved(self, R, t):
        return {"centre": R @ np.asarray(self.centre) + t}

    @property
    def handle(self):
        return np.asarray(self.centre)

    def surface(self, middle, size):
        up = np.array([0.0, 0.0, 0.01])
        return surfaces.rod(self.handle - up, self.handle + up, self.radius, round_ends=False)


def test_a_new_kind_is_one_class(tmp_path, monkeypatch):
    """Nothing else knows it, and it is drawn, recorded, checked in a file and read again."""
    monkeypatch.setitem(KINDS, "disc", Disc)
    session = Session(bar())
    name = session.add(Disc((0.2, 0.0, 0.0), 0.01))
    assert name == "disc" and len(session.around.shapes[name]["triangles"])
    with Recorder(tmp_path / "run.mcap", session.stage) as recorder:
        recorder.write(session.step())
    (frame,) = Recording.read(tmp_path / "run.mcap")
    assert isinstance(obstacle_of(frame.obstacles["disc"]), Disc)
    said = obstacle_spec(Disc).model_validate({"kind": "disc", "centre": (0.2, 0.0, 0.0), "radius": 0.01})
    assert nearly_the_same(Disc(**said.model_dump(exclude={"kind"})), session.obstacles["disc"])
    monkeypatch.delitem(KINDS, "disc")  # who does not know it at all still draws it
    drawn, alone = (
        np.asarray(Stills(tmp_path, session.stage, size=(200, 200)).image(shown))
        for shown in (frame, replace(frame, obstacles={}))
    )
    assert (drawn != alone).any(axis=2).sum() > 20
