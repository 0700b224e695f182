"""The taut path: closed forms, the shortest path by search, derivatives, exceptional configurations."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.membrane.shapes import Disc, Polygon, Shape, box, regular, rotation
from pliant.membrane.wrapping import BEHIND, FRONT, LEFT, RIGHT, TOUCHING, Contact, Pulley, along_span, wrap

HEXAGON = regular(6, 0.2)


def shortest_by_search(start, end, polygons) -> float:
    """Dijkstra over corners that see each other; polygons are obstacles. Nothing here knows of sides."""
    world = [shape.corners @ rotation(pose[2]).T + pose[:2] for shape, pose in polygons]
    points = np.vstack([start, end, *world])
    blocked = lambda a, b: any(_cuts(a, b, w) for w in world)
    distance, done, queue = {0: 0.0}, set(), [(0.0, 0)]
    while queue:
        d, i = heapq.heappop(queue)
        if i in done:
            continue
        done.add(i)
        for j in range(len(points)):
            step = float(np.linalg.norm(points[j] - points[i]))
            if j not in done and d + step < distance.get(j, np.inf) and not blocked(points[i], points[j]):
                distance[j] = d + step
                heapq.heappush(queue, (d + step, j))
    return distance[1]


def _cuts(a, b, corners) -> bool:
    """Whether the segment a–b passes through the inside of a convex polygon."""
    lo, hi = 0.0, 1.0
    for p, q in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        n = np.array([q[1] - p[1], p[0] - q[0]]) / np.linalg.norm(q - p)
        f0, f1 = n @ (a - p), n @ (b - p)
        if f0 > -1e-9 and f1 > -1e-9:
            return False
        if f0 * f1 < 0.0:
            t = f0 / (f0 - f1)
            lo, hi = (max(lo, t), hi) if f0 > 0.0 else (lo, min(hi, t))
    return hi - lo > 1e-9


def random_scene(rng: np.random.Generator):
    """Shapes along a line from (0, 0) to (2, 0), apart from each other, on random sides."""
    m = int(rng.integers(1, 4))
    shapes: list[Shape] = []
    for _ in range(m):
        kind = rng.random()
        if kind < 0.4:
            shapes.append(Disc(rng.uniform(0.0, 0.12)))
        elif kind < 0.8:
            shapes.append(regular(int(rng.integers(3, 8)), rng.uniform(0.05, 0.18)))
        else:
            shapes.append(Polygon(regular(5, 0.1).corners, radius=0.03))
    sides = rng.choice([LEFT, RIGHT], m)
    z = [0.0, 0.0, 2.0, 0.0]
    for x in 2.0 * (np.arange(m) + 1) / (m + 1):
        z += [x + 0.04 * rng.normal(), 0.15 * rng.normal(), rng.uniform(0.0, 6.0)]
    return shapes, sides, np.array(z)


def path_of(shapes, sides, z):
    poses = z[4:].reshape(-1, 3)
    return wrap(z[:2], z[2:4], [Pulley(s, p, int(k)) for s, p, k in zip(shapes, poses, sides, strict=True)])


def flat(gradient: np.ndarray) -> np.ndarray:
    """Rows of start, pulleys and end in the order of z."""
    return np.concatenate([gradient[0, :2], gradient[-1, :2], gradient[1:-1].ravel()])


def test_a_disc_has_its_closed_form():
    # The centre lies `depth` below the line, on the left of a cable that runs along x.
    r, depth, half = 0.1, 0.15, 0.5
    path = wrap((-half, 0.0), (half, 0.0), [Pulley(Disc(r), (0.0, -depth, 0.7), LEFT)])
    d = np.hypot(half, depth)
    slope = np.arctan2(depth, half) + np.arcsin(r / d)
    assert path.turn[0] == pytest.approx(2.0 * slope, abs=1e-14)
    assert path.length == pytest.approx(2.0 * np.sqrt(d**2 - r**2) + 2.0 * r * slope, abs=1e-14)
    assert path.pose_gradient[0] == pytest.approx([0.0, -2.0 * np.sin(slope), 0.0], abs=1e-14)


def test_a_crossed_belt_has_its_closed_form():
    r1, r2, d = 0.1, 0.2, 1.0
    pulleys = [Pulley(Disc(r1), (0.0, 0.0, 0.0), LEFT), Pulley(Disc(r2), (d, 0.0, 0.0), RIGHT)]
    path = wrap((-1.0, 2.0), (2.0, -2.0), pulleys)
    assert path.touching.all()
    assert path.span[1] == pytest.approx(np.sqrt(d**2 - (r1 + r2) ** 2), abs=1e-14)


def test_random_paths_have_the_derivatives_of_their_length():
    rng, e, worst = np.random.default_rng(3), 1e-6, [0.0, 0.0]
    for _ in range(60):
        shapes, sides, z = random_scene(rng)
        path = path_of(shapes, sides, z)
        if path.inside.any():
            continue
        steps = e * np.eye(len(z))
        up, down = (
            [path_of(shapes, sides, z + d) for d in steps],
            [path_of(shapes, sides, z - d) for d in steps],
        )
        by_hand = np.array([(u.length - d.length) / (2 * e) for u, d in zip(up, down, strict=True)])
        slopes = np.array(
            [(flat(u.gradient) - flat(d.gradient)) / (2 * e) for u, d in zip(up, down, strict=True)]
        )
        n = 3 * (len(shapes) + 2)
        keep = [0, 1, n - 3, n - 2, *range(3, n - 3)]
        worst[0] = max(worst[0], np.abs(by_hand - flat(path.gradient)).max())
        worst[1] = max(worst[1], np.abs(slopes - path.hessian[np.ix_(keep, keep)]).max())
    assert worst[0] < 1e-8 and worst[1] < 1e-5


def test_random_paths_are_taut():
    """Shapes on both sides: the path turns only towards what it touches and cuts nothing: it is shortest."""
    rng, tried = np.random.default_rng(8), 0
    for _ in range(40):
        shapes, sides, z = random_scene(rng)
        path, poses = path_of(shapes, sides, z), z[4:].reshape(-1, 3)
        if path.inside.any() or (path.contact.state == BEHIND).any():
            continue
        tried += 1
        line = path.polyline(arc=0.03)
        assert np.linalg.norm(np.diff(line, axis=0), axis=1).sum() == pytest.approx(path.length, rel=1e-4)
        assert (path.turn >= 0.0).all()
        share = np.linspace(0.0, 1.0, 9)[:, None, None]
        dense = (line[:-1] + share * np.diff(line, axis=0)).reshape(-1, 2)
        for shape, pose in zip(shapes, poses, strict=True):
            local = (dense - pose[:2]) @ rotation(pose[2])
            assert min(shape.distance(p) for p in local) > -2e-5
    assert tried > 25


@pytest.mark.parametrize("seed", range(12))
def test_polygons_are_passed_by_the_shortest_way(seed):
    """All polygons reach over the line from below, on its left: the path is the shortest over them."""
    rng = np.random.default_rng(seed)
    polygons, x = [], 0.0
    for _ in range(int(rng.integers(1, 4))):
        radius = rng.uniform(0.1, 0.25)
        x += radius + rng.uniform(0.05, 0.3)
        polygons.append(
            (
                regular(int(rng.integers(3, 8)), radius),
                np.array([x, rng.uniform(-0.6, 0.0) * radius, rng.uniform(0, 6)]),
            )
        )
        x += radius + 0.02
    start, end = np.array([-0.2, 0.0]), np.array([x + 0.2, 0.0])
    flip = np.array([1.0, -1.0])
    path = wrap(start, end, [Pulley(shape, pose, RIGHT) for shape, pose in polygons])
    floor = (Polygon([(-50.0, -50.0), (50.0, -50.0), (50.0, -0.8), (-50.0, -0.8)]), np.zeros(3))
    pillars = [
        (
            Polygon([(p[0] - 1e-3, -0.9), (p[0] + 1e-3, -0.9), (p[0] + 1e-3, p[1]), (p[0] - 1e-3, p[1])]),
            np.zeros(3),
        )
        for _, p in polygons
    ]
    assert path.length == pytest.approx(
        shortest_by_search(start, end, [*polygons, *pillars, floor]), rel=1e-9
    )
    mirrored = [
        Pulley(Polygon((s.corners @ rotation(p[2]).T * flip)[::-1]), (*(p[:2] * flip), 0.0), LEFT)
        for s, p in polygons
    ]
    assert wrap(start, end, mirrored).length == pytest.approx(path.length, rel=1e-12)


@given(st.floats(-0.35, 0.35), st.floats(-0.25, 0.4), st.floats(0.0, 6.28), st.integers(3, 9))
def test_a_polygon_is_touched_where_the_angle_is_greatest(x, y, turned, sides):
    """The rule of the thesis, written out: from each end the corner with the greatest angle to their line."""
    a, b = np.array([-0.6, 0.0]), np.array([0.6, 0.0])
    shape = regular(sides, 0.2)
    path = wrap(a, b, [Pulley(shape, (x, -y, turned), LEFT)])
    corners = shape.corners @ rotation(turned).T + (x, -y)
    if corners[:, 1].min() > -1e-6:
        assert path.length == pytest.approx(1.2, abs=1e-9)
        return
    angle = lambda p, s: np.arctan2(-(corners[:, 1] - p[1]), s * (corners[:, 0] - p[0]))
    first, last = corners[np.argmax(angle(a, 1.0))], corners[np.argmax(angle(b, -1.0))]
    assert path.contact_points()[0] == pytest.approx(np.array([first, last]), abs=1e-7)


@given(st.floats(-0.25, 0.25), st.floats(0.0, 6.28), st.sampled_from(["disc", "hexagon"]))
def test_length_and_slope_are_continuous_at_engagement(x, turned, kind):
    shape = HEXAGON if kind == "hexagon" else Disc(0.2)
    lowest = (shape.corners @ rotation(turned).T)[:, 1].min() - shape.radius
    at = lambda gap: wrap((-0.6, 0.0), (0.6, 0.0), [Pulley(shape, (x, gap - lowest, turned), LEFT)])
    free, held = at(1e-9), at(-1e-9)
    assert held.touching[0] and not free.touching[0]
    assert held.length == pytest.approx(free.length, abs=1e-12)
    assert held.gradient == pytest.approx(free.gradient, abs=1e-3 if kind == "disc" else 1e-7)


def test_a_pulley_that_leaves_the_span_is_followed():
    """Pressed in, then moved past an end and up beside it: the cable stays hooked, its length never jumps."""
    way = np.vstack(
        [
            np.linspace((0.2, 0.3), (0.2, -0.3), 60),
            np.linspace((0.2, -0.3), (0.75, -0.3), 60),
            np.linspace((0.75, -0.3), (0.75, 0.3), 60),
        ]
    )
    contact, lengths = None, []
    for x, y in way:
        path = wrap((-0.5, 0.0), (0.5, 0.0), [Pulley(Disc(0.1), (x, y, 0.0))], contact=contact)
        contact = path.contact
        lengths.append(path.length)
    assert contact is not None and contact.state[0] == TOUCHING and contact.turn[0] > np.pi
    assert np.abs(np.diff(lengths)).max() < 2.5 * np.linalg.norm(np.diff(way, axis=0), axis=1).max()


def test_a_pulley_that_passes_an_end_is_ignored_until_it_is_back_in_front():
    contact, states = None, []
    way = [(0.7, 0.3), (0.7, -0.3), (0.2, -0.3), (0.2, -0.09), (0.2, 0.3), (0.2, 0.05)]
    for x, y in way:
        path = wrap((-0.5, 0.0), (0.5, 0.0), [Pulley(Disc(0.1), (x, y, 0.0))], contact=contact)
        contact = path.contact
        states.append(int(contact.state[0]))
    assert states == [FRONT, BEHIND, BEHIND, BEHIND, FRONT, TOUCHING]


def test_a_cable_winds_more_than_once():
    contact, turns = None, np.linspace(0.0, 6.0 * np.pi, 400)
    for t in turns:
        end = (0.5 * np.cos(t), 0.5 * np.sin(t))
        path = wrap((-0.5, 0.0), end, [Pulley(Disc(0.1), (0.0, 0.05, 0.0))], contact=contact)
        contact = path.contact
    back = wrap((-0.5, 0.0), (0.5, 0.0), [Pulley(Disc(0.1), (0.0, 0.05, 0.0))])
    assert path.length - back.length == pytest.approx(3 * 2.0 * np.pi * 0.1, abs=1e-12)
    polygon, contact = regular(5, 0.1), None
    for t in turns:
        end = (0.5 * np.cos(t), 0.5 * np.sin(t))
        path = wrap((-0.5, 0.0), end, [Pulley(polygon, (0.0, 0.02, 0.0))], contact=contact)
        contact = path.contact
    back = wrap((-0.5, 0.0), (0.5, 0.0), [Pulley(polygon, (0.0, 0.02, 0.0))])
    assert path.length - back.length == pytest.approx(3 * polygon.perimeter, abs=1e-12)


@pytest.mark.parametrize("shape", [Disc(0.15), HEXAGON])
def test_an_end_inside_the_hull_is_reported_and_the_length_goes_on(shape):
    """The start moves through the edge into the shape: length continuous, slope too for a disc."""
    contact, before = None, None
    for x in np.linspace(-0.4, -0.1, 301):
        path = wrap((x, 0.0), (0.5, 0.0), [Pulley(shape, (0.0, -0.05, 0.1))], contact=contact)
        contact = path.contact
        if before is not None:
            assert abs(path.length - before.length) < 1.2e-3 * (1.0 if isinstance(shape, Disc) else 1.1)
            if isinstance(shape, Disc):
                assert np.abs(path.gradient - before.gradient).max() < 0.12
        before = path
    assert path.inside[0] and path.touching[0]


def test_several_objects_share_a_cable():
    discs = [Pulley(Disc(0.1), (x, y, 0.0)) for x, y in ((0.5, -0.2), (1.0, -0.05), (1.5, -0.25))]
    path = wrap((0.0, 0.0), (2.0, 0.0), discs)
    assert path.touching.tolist() == [True, False, True]  # the middle one hangs above the deflected cable
    lower = [discs[0], Pulley(Disc(0.1), (1.0, -0.4, 0.0)), discs[2]]
    assert wrap((0.0, 0.0), (2.0, 0.0), lower).touching.all()
    assert along_span((0.0, 0.0), (2.0, 0.0), lower[::-1]).tolist() == [2, 1, 0]
    balance = path.gradient.sum(axis=0)
    assert balance[:2] == pytest.approx([0.0, 0.0], abs=1e-14)  # the cable pulls on itself with no net force


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Polygon([(0, 0), (0, 1), (1, 1), (1, 0)]), "clockwise"),
        (lambda: Polygon([(0, 0), (1, 0), (0.1, 0.1), (0, 1)]), "convex"),
        (lambda: Polygon([(0, 0), (1, 0), (1, 0), (0, 1)]), "coincide"),
        (lambda: Polygon([(0, 0), (1, 0)]), "three or more"),
        (lambda: Disc(-0.1), "≥ 0"),
        (lambda: box(0.1, 0.0), "> 0"),
        (lambda: regular(2, 0.1), "≥ 3"),
        (lambda: wrap((0, 0), (0, 0)), "apart"),
        (lambda: wrap((0, 0), (1, 0), [Pulley(Disc(0.0), (0.0, 0.0, 0.0))]), "coincide"),
        (lambda: wrap((0, 0), (1, 0), [Pulley(Disc(0.1), (0.5, 0.0, 0.0), 2)]), "LEFT"),
        (lambda: wrap((0, np.nan), (1, 0)), "finite"),
        (lambda: wrap((0, 0), (1, 0), [Pulley(Disc(0.1), (0.5, 0.0))]), "three finite"),
        (lambda: wrap((0, 0), (1, 0), contact=Contact(np.zeros(1, int), np.zeros(1))), "0 pulleys"),
    ],
)
def test_bad_input_is_refused_with_a_reason(make, words):
    with pytest.raises(InputError, match=words):
        make()
