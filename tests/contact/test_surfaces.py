"""Rows of surfaces that touch: patch tests, balance, symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant import contact
from pliant.arrays import frozen
from pliant.contact.detect.quadrature import Quadrature
from pliant.contact.detect.skin import Skin
from pliant.contact.detect.surfaces import depth_bound
from pliant.contact.detect.way import Met, Target, met_by_points
from tests.contact.common import brute_distance, placed, winding

YOUNG, SIDE, HEIGHT = 1e5, 0.04, 0.02  # [Pa], [m]
PRESSED = 0.002  # [m]
KINDS = {"tet4": ("tet", 1), "tet10": ("tet", 2), "hex8": ("hex", 1), "hex20": ("hex", 2)}
PAIRS = [
    ("tet4", "tet4", 3, 4),
    ("tet10", "tet10", 3, 4),
    ("tet10", "tet10", 2, 5),
    ("hex8", "hex8", 3, 5),
    ("hex20", "hex20", 2, 3),
    ("tet4", "hex8", 4, 3),
    ("tet10", "hex8", 2, 3),
    ("hex20", "tet10", 2, 3),
    ("tet4", "tet10", 5, 2),
]


def block(kind: str, cells: int, low: float, poisson: float = 0.0, young: float = YOUNG) -> pl.Solid:
    """A block on its lower side at `low` [m], held at the side away from z = HEIGHT."""
    shape, order = KINDS[kind]
    box = {"size": (SIDE, SIDE, HEIGHT), "cells": (cells, cells, 2), "origin": (0, 0, low), "kind": shape}
    mesh = pl.mesh.box(**box, order=order) if kind == "hex20" else pl.mesh.box(**box)
    held = 0.0 if low < HEIGHT / 2 else 2 * HEIGHT
    solid = pl.Solid(
        mesh, pl.Hooke(young, poisson), order=order, fixed=np.abs(mesh.nodes[:, 2] - held) < 1e-9
    )
    assert solid.mesh.kind == kind
    return solid


def pressed(
    lower: pl.Solid, upper: pl.Solid, *, swapped: bool = False, shift=(0.0, 0.0), friction: float = 0.0
):
    """The equilibrium of two blocks pressed together, the robot, and stress σ_zz of both [Pa]."""
    bodies = [upper, lower] if swapped else [lower, upper]
    robot = pl.Robot(bodies, surroundings=contact.Surroundings(friction=friction))
    q, span = robot.rest.q.copy(), robot.q_spans[bodies.index(upper)]
    q[span] = upper.move_supports(q[span], translation=(*shift, -PRESSED))
    result = pl.static(robot, state=robot.rest.with_(q=q))
    own = [result.q[robot.q_spans[bodies.index(b)]] for b in (lower, upper)]
    return result, robot, [b.stress(x)[..., 2, 2] for b, x in zip((lower, upper), own, strict=True)]


@pytest.mark.parametrize(("low", "high", "cells_low", "cells_high"), PAIRS)
def test_uniform_stress_goes_through_any_pair_of_meshes(low, high, cells_low, cells_high, within):
    """Two blocks with flush sides, pressed face to face: σ = −E ε in every cell, in a few iterations."""
    result, _, stresses = pressed(block(low, cells_low, 0.0), block(high, cells_high, HEIGHT))
    expected = -YOUNG * PRESSED / (2 * HEIGHT)
    for stress in stresses:
        within(np.abs(stress / expected - 1).max(), 0.01, f"stress {low} {high}")
    assert result.certificate.iterations <= 8


@pytest.mark.parametrize("kind", ["tet4", "tet10", "hex8"])
def test_the_order_of_bodies_does_not_matter(kind):
    """Also with Poisson's ratio, where the softer block bulges over the other's edge."""
    blocks = block(kind, 3, 0.0, 0.4), block(kind, 4, HEIGHT, 0.4, 3 * YOUNG)
    one, robot, _ = pressed(*blocks)
    two, other, _ = pressed(*blocks, swapped=True)
    q = np.concatenate([two.q[other.q_spans[1]], two.q[other.q_spans[0]]])
    np.testing.assert_allclose(q, one.q, atol=1e-9)
    assert one.contact_force.sum() == pytest.approx(two.contact_force.sum(), rel=1e-6)
    assert robot.surroundings.detector(robot).penetration(one.q) < 1e-5


def test_the_finer_surface_carries_the_points():
    for cells in ((3, 5), (5, 3)):
        robot = pl.Robot([block("hex8", cells[0], 0.0), block("hex8", cells[1], HEIGHT)])
        detector = contact.Detector(robot)
        rows = detector.detect(robot.rest.q)
        assert rows.over_area.any()
        assert set(detector.cloud.body[rows.sample[rows.over_area]]) == {int(cells[1] > cells[0])}


def test_friction_holds_what_rows_press(within):
    """Sheared below the cone the blocks stick, and the interface moves as one; above it they slide on it."""
    shift, mu = 2e-4, 0.5
    stuck, robot, _ = pressed(block("hex8", 3, 0.0), block("hex8", 4, HEIGHT), shift=(shift, 0), friction=mu)
    slip = stuck.contacts.slip(stuck.q, robot.rest.q)[stuck.contact_force > 0]
    within(slip / shift, 1e-6, "slip of what sticks")
    sliding, _, _ = pressed(block("hex8", 3, 0.0), block("hex8", 4, HEIGHT), shift=(0.002, 0), friction=0.1)
    along = np.linalg.norm(sliding.friction_force, axis=1)
    within(along.sum() / sliding.contact_force.sum() - 0.1, 1e-3, "friction over pressure")


@pytest.mark.parametrize("kind", ["tet4", "tet10", "hex8"])
def test_rows_turn_with_the_robot(kind):
    """Gaps stay, normals and rows turn, when everything is turned and moved."""
    lower, upper = block(kind, 3, 0.0), block(kind, 4, HEIGHT + 2e-4)
    robot = pl.Robot([lower, upper])
    rng = np.random.default_rng(3)
    x = robot.rest.q.reshape(-1, 3) + 3e-5 * rng.normal(size=(robot.nq // 3, 3))
    R = Rotation.from_rotvec((0.4, -0.7, 1.1)).as_matrix()
    detector = contact.Detector(robot)
    here, there = x.ravel(), (x @ R.T + (0.1, -0.2, 0.3)).ravel()
    a, b = detector.detect(here), detector.detect(there)
    np.testing.assert_array_equal(a.key, b.key)
    np.testing.assert_allclose(b.gap, a.gap, atol=1e-12)
    np.testing.assert_allclose(b.normal, a.normal @ R.T, atol=1e-8)
    H, G = (c.rows(q).to_csr().toarray().reshape(len(c), -1, 3) for c, q in ((a, here), (b, there)))
    np.testing.assert_allclose(G, H @ R.T, atol=1e-8)


def test_the_corner_of_a_cube_does_not_sink_into_a_face():
    """A stiff cube on its corner, pressed into a soft block."""
    soft = block("tet10", 3, 0.0)
    mesh = pl.mesh.box((0.012,) * 3, cells=(2, 2, 2), origin=(-0.006,) * 3)
    tip = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0].as_matrix()
    mesh = mesh.transformed(rotation=tip)
    mesh = mesh.transformed(translation=(0.021, 0.018, HEIGHT - mesh.nodes[:, 2].min()))
    top = mesh.nodes[:, 2] > mesh.nodes[:, 2].max() - 0.008
    cube = pl.Solid(mesh, pl.Hooke(100 * YOUNG, 0.3), order=1, fixed=top)
    robot = pl.Robot([soft, cube])
    q = robot.rest.q.copy()
    q[robot.q_spans[1]] = cube.move_supports(q[robot.q_spans[1]], translation=(0, 0, -0.001))
    result = pl.static(robot, state=robot.rest.with_(q=q))
    depth = robot.surroundings.detector(robot).penetration(result.q)
    assert depth < depth_bound(robot.length)
    assert result.contact_force.sum() > 0.01


def roof(low: float, ridge: int, slope: float, shift=(0.0, 0.0)) -> pl.Solid:
    """A block whose free side is a roof with its ridge along an axis, through the middle."""
    solid = block("hex8", 2, low)
    nodes, up = solid.mesh.nodes.copy(), 1.0 if low < HEIGHT / 2 else -1.0
    free = np.abs(nodes[:, 2] - HEIGHT) < 1e-9
    nodes[free, 2] -= up * slope * np.abs(nodes[free, 1 - ridge] - SIDE / 2)
    nodes[:, :2] += shift
    mesh = pl.mesh.Mesh(nodes, solid.mesh.cells)
    return pl.Solid(mesh, pl.Hooke(YOUNG, 0.0), fixed=~free)


@pytest.mark.parametrize("shift", [(0.0037, -0.0051), (0.0031, 0.0056)])
def test_ridges_that_cross_between_nodes_are_as_deep_as_contacts_say(shift):
    """Two roofs across each other, h deep where the ridges cross: a point there is h cos α inside."""
    slope, deep = 0.1, 1e-4
    robot = pl.Robot([roof(0.0, 0, slope), roof(HEIGHT, 1, slope, shift)])
    q = robot.rest.q.copy()
    q[robot.q_spans[1]][2::3] -= deep
    detector = contact.Detector(robot)
    contacts = detector.detect(q)
    expected, missed = deep / np.hypot(1.0, slope), 0.2 * depth_bound(robot.length)
    assert detector.penetration(q) == pytest.approx(expected, abs=1e-5 * robot.length)
    assert expected - missed < detector.depth(q, contacts) < 1.001 * expected
    assert (contacts.gap + contacts.margin).min() < missed - expected


# Depth


@pytest.mark.parametrize("kind", ["tet4", "hex8"])
@pytest.mark.parametrize("sunk", [0.0, 3e-4, 2e-3])
def test_penetration_is_that_of_all_points_of_the_surfaces(kind, sunk):
    """Against distances to all triangles from dense points that a winding number finds inside."""
    lower, upper = block(kind, 2, 0.0), block(kind, 3, HEIGHT)
    robot = pl.Robot([lower, upper])
    X = [b.mesh.nodes.copy() for b in robot.bodies]
    turn = Rotation.from_euler("xyz", (0.006, -0.004, 0.1) if sunk else (0.0,) * 3).as_matrix()
    X[1] = (X[1] - X[1].mean(axis=0)) @ turn.T + X[1].mean(axis=0)
    X[1][:, 2] -= X[1][:, 2].min() - HEIGHT + sunk
    brute = 0.0
    for mine, other in ((0, 1), (1, 0)):
        T, surface = robot.bodies[other].mesh.surface.triangles, robot.bodies[mine].mesh.surface
        b = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)]) / 12
        p = np.einsum("pa,tai->tpi", b, X[mine][surface.triangles]).reshape(-1, 3)
        inside = winding(p, X[other], T) > 0.5
        brute = max(brute, brute_distance(p[inside], X[other], T).max(initial=0.0))
    measured = contact.Detector(robot).penetration(placed(robot, np.vstack(X)))
    assert measured == pytest.approx(brute, rel=0.05, abs=1e-9)
    assert brute > 2e-5 if sunk else measured < 1e-15


def test_sections_of_a_tower_do_not_sink_into_each_other():
    """Driven against each other by a target out of reach; the certificate knows the depth."""
    robot = pl.robots.tower()
    controller = pl.Inverse(robot)
    goal = controller.targets["tip"] + np.array([0.6, -0.3, -0.5]) * robot.length
    detector = controller.detector
    bound = depth_bound(robot.length)
    for _ in range(16):
        out = controller.step(targets={"tip": goal})
        depth = detector.penetration(out.q)
        assert depth < bound and depth < out.certificate.penetration + 0.2 * bound
    assert np.asarray(out.contact_force).sum() > 0.5


# Overlap at the start


@pytest.mark.parametrize("inside", [False, True])
def test_bodies_that_overlap_are_named(inside):
    lower = block("tet4", 3, 0.0)
    size = (0.01,) * 3 if inside else (SIDE, SIDE, HEIGHT)
    mesh = pl.mesh.box(size, cells=(2, 2, 2), origin=(0.005, 0.005, 0.005))
    robot = pl.Robot(
        [lower, pl.Solid(mesh, pl.Hooke(YOUNG, 0.3), fixed=mesh.nodes[:, 2] > mesh.nodes[:, 2].max() - 1e-9)]
    )
    with pytest.raises(pl.PliantError, match=r"bodies 0 and 1 .* mm"):
        pl.static(robot)


def test_a_shallow_overlap_is_resolved(within):
    lower, upper = block("tet4", 3, 0.0), block("tet4", 4, HEIGHT - 5e-4)
    mesh = upper.mesh
    upper = pl.Solid(
        mesh, pl.Hooke(YOUNG, 0.0), order=1, fixed=mesh.nodes[:, 2] > mesh.nodes[:, 2].max() - 1e-9
    )
    robot = pl.Robot([lower, upper])
    result = pl.static(robot)
    expected = YOUNG * SIDE**2 * 5e-4 / (2 * HEIGHT)
    within(result.contact_force.sum() / expected - 1, 0.01, "force of an overlap")
    assert robot.surroundings.detector(robot).penetration(result.q) < 1e-5


# Round on flat


def test_a_dome_on_a_block_presses_as_on_fine_meshes(within):
    """About eight facets across the contact: 2 % of 0.597 N, where meshes up to 47 000 coordinates converge.

    Both are of the same soft stuff, 24 × 24 × 12 mm, the dome of radius 50 mm, pressed together by 0.8 mm.
    """
    width, height, radius = 0.024, 0.012, 0.05

    def solid(cells: int, low: float, dome: bool) -> pl.Solid:
        finer = ((0.3, 0.3), (0.3, 0.3), 1.0)
        corner = (-width / 2, -width / 2, low)
        mesh = pl.mesh.box((width, width, height), cells=(cells, cells, 3), origin=corner, grade=finer)
        x = mesh.nodes.copy()
        x[:, 2] += dome * (x[:, :2] ** 2).sum(axis=1) / (2 * radius) * (1 - x[:, 2] / height)
        mesh = mesh.with_nodes(x)
        held = np.abs(mesh.nodes[:, 2] - (height if dome else low)) < 1e-9
        return pl.Solid(mesh, pl.Hooke(YOUNG, 0.3), fixed=held)

    lower, upper = solid(9, -height, False), solid(10, 0.0, True)
    robot = pl.Robot([lower, upper])
    q = robot.rest.q.copy()
    q[robot.q_spans[1]] = upper.move_supports(q[robot.q_spans[1]], translation=(0, 0, -8e-4))
    result = pl.static(robot, state=robot.rest.with_(q=q))
    force = lower.reactions(result.q[robot.q_spans[0]])[lower.fixed.any(axis=1), 2].sum()
    within(force / 0.597 - 1, 0.02, "force of a dome")
    assert robot.surroundings.detector(robot).penetration(result.q) < 2e-5


@pytest.mark.parametrize("cells", [2, 16])
def test_points_of_a_wide_facet_meet_a_wall(cells):
    """Points of few large facets over a flat wall: the gap is the height, also over hundreds of triangles."""
    wall, above = block("tet4", cells, 0.0), block("tet4", 1, HEIGHT)
    skin, points, height = Skin(wall, 0.0), Quadrature(above.mesh.surface), 5e-4
    target, at = Target.of(skin, skin.surface), skin.posture(wall.q0)
    X = frozen(above.mesh.nodes + np.array([0.0, 0.0, height]))
    home = frozen(np.arange(len(X))[:, None] + [0, 0], int)
    known = False, target.wall, target.standing(at), 1e-3, 1e-3, np.zeros(0, np.int64)
    met, p = met_by_points(points.grid, X, home, *known)
    met = Met(*met)
    beneath = p[met.which]
    assert len(beneath) == 24  # twelve on each of the two triangles that look down
    assert ((beneath[:, :2] > 0.0) & (beneath[:, :2] < SIDE)).all()
    np.testing.assert_allclose(met.gap[met.which], height, rtol=0, atol=1e-12)
    corners = at.X[skin.triangles[met.triangle[met.which]]]
    partner = np.einsum("na,nai->ni", met.weights[met.which], corners)
    np.testing.assert_allclose(partner, beneath - (0.0, 0.0, height), rtol=0, atol=1e-12)
