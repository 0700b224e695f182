"""Contact between samples: needles, balls, bars, edges and corners that are small against facets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant import contact
from pliant.bodies import Beam, Circle
from pliant.mesh import block_with_cavity
from pliant.mesh.lines import line, tree
from tests.contact.common import SOFT, bar, deformed
from tests.contact.test_depth import brute_depth

DEEPEST = 5e-4  # of the length: how deep anything may be where contact pushes
LEAST_BOUND = 1e-4  # [m], if that is more


def beam(cells: tuple[int, int, int] = (6, 1, 1), order: int = 2) -> pl.Robot:
    """A bar of 100 × 10 × 10 mm, clamped at x = 0."""
    mesh = pl.mesh.box((0.1, 0.01, 0.01), cells=cells, kind="tet", order=order)
    return pl.Robot(pl.Solid(mesh, SOFT, order=order, fixed=mesh.nodes[:, 0] < 1e-9), gravity=(0, 0, 0))


def slab() -> pl.Robot:
    """A slab of 40 × 40 × 20 mm with facets of 13 mm, clamped on top."""
    mesh = pl.mesh.box((0.04, 0.04, 0.02), cells=(3, 3, 2))
    return pl.Robot(pl.Solid(mesh, SOFT, fixed=mesh.nodes[:, 2] > 0.02 - 1e-9))


def bound(robot: pl.Robot) -> float:
    return max(LEAST_BOUND, DEEPEST * robot.length)


def check_touching(robot: pl.Robot, obstacle: contact.Obstacle, result) -> None:
    """Nothing is deeper than the bound, what pushes lies at the surface, and the certificate says so."""
    depth = brute_depth(robot, obstacle, result.q, 60)
    assert depth < bound(robot)
    assert result.certificate.penetration == pytest.approx(depth, abs=3e-5 * robot.length)
    pushing = result.contact_force > 0
    assert pushing.any()
    assert np.abs(obstacle.distance(result.contacts.position[pushing])[0]).max() < bound(robot)


LEANING = Rotation.from_euler("x", 0.8).as_matrix()
TURNED = Rotation.from_euler("xyz", (0.7, 0.6, 0.2)).as_matrix()
SMALL = {
    "needle": contact.Capsule((0.0217, 0.0191, -0.02), (0.0217, 0.0191, -1e-4), 3e-4),
    "ball": contact.Sphere((0.0217, 0.0191, -0.0045), 0.005),
    "bar": contact.Capsule((0.0117, 0.0191, -0.0008), (0.03, 0.0191, -0.0008), 0.001),
    "box": contact.Box((0.0217, 0.0191, -0.0047), (0.003, 0.003, 0.01)),
    "edge": contact.Box((0.0217, 0.0191, -0.005), (0.02, 0.0075, 0.0075), LEANING),
    "corner": contact.Box((0.0217, 0.0191, -0.0077), (0.01, 0.01, 0.01), TURNED),
    "post": contact.Cylinder((0.0217, 0.0191, -0.01), (0.0217, 0.0191, 0.0004), 0.002),
}


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_slab_lies_on_what_is_small(name):
    """Facets of 13 mm, and samples added neither for the obstacle nor by hand."""
    robot, obstacle = slab(), SMALL[name]
    samples = contact.Samples.on(robot.body)
    detector = contact.Detector(robot, [obstacle], samples=samples)
    assert detector.penetration(robot.rest.q) > bound(robot)  # it begins inside
    result = pl.static(robot, detector=detector)
    assert result.certificate.converged
    check_touching(robot, next(iter(detector.obstacles.values())), result)


def test_the_force_of_a_needle_is_that_of_a_finer_mesh():
    """A beam is bent by a needle between its nodes: what it takes depends on neither mesh nor samples."""
    needle = contact.Capsule((0.0721, 0.0047, -0.03), (0.0721, 0.0047, 0.0027), 3e-4, name="needle")
    force = {}
    for cells in ((6, 1, 1), (16, 3, 3)):
        robot = beam(cells)
        result = pl.static(robot, obstacles=needle)
        check_touching(robot, needle, result)
        force[cells] = result.touch("needle").force[2]
    assert force[6, 1, 1] == pytest.approx(force[16, 3, 3], rel=0.05)


def test_samples_made_for_the_obstacle_find_the_same_force():
    """Whether an obstacle is known when samples are made, or comes later, changes nothing that matters."""
    robot, ball = slab(), contact.Sphere((0.0217, 0.0191, -0.0092), 0.01, name="ball")
    known = contact.Detector(robot, [ball])
    later = contact.Detector(robot)
    later.add(ball)
    assert later.cloud.size < known.cloud.size / 10
    a, b = (pl.static(robot, detector=d).touch().push for d in (known, later))
    assert a == pytest.approx(b, rel=0.02)


def test_rows_are_few_and_their_keys_stay():
    """Held points stay rows with their keys; all report on base samples, and forces add up there."""
    robot, ball = slab(), contact.Sphere((0.0217, 0.0191, -0.0028), 0.003, name="ball")
    detector = contact.Detector(robot, samples=contact.Samples.on(robot.body))
    before = detector.detect(robot.rest.q)
    size = {"ball": detector.add(ball), "floor": detector.add(contact.Plane((0, 0, -0.001), (0, 0, 1)))}
    assert not len(before) and len(size) == 2
    found = detector.detect(robot.rest.q)
    between = found.key != found.index
    assert 0 < between.sum() < 8
    assert (np.diff(found.key) > 0).all() and (found.index < detector.size).all()
    np.testing.assert_array_equal(found.index, found.opponent * detector.cloud.size + found.sample)
    near = np.linalg.norm(found.position[between] - detector.cloud.rest[found.sample[between]], axis=1)
    assert near.max() < 0.014 / 2  # the sample next to it, on its facet
    force = np.arange(1.0, len(found) + 1)
    full = found.spread(force)
    assert full.shape == (detector.size,) and full.sum() == pytest.approx(force.sum())
    again = detector.redetect(deformed(robot, 3, 1e-4), found, force)
    assert np.isin(found.key[between], again.key).all()  # they pushed, so they stay
    carried = again.carried_forces(found, force, len(again))
    assert carried.sum() == pytest.approx(force.sum())
    lift = robot.retract(robot.rest.q, np.tile((0.0, 0.0, 1e-6), robot.ndof // 3))
    np.testing.assert_allclose(found.motion(lift, robot.rest.q)[between, 2], 1e-6, rtol=1e-6)


@pytest.mark.parametrize("order", [1, 2])
def test_rows_between_push_along_a_round_obstacle_and_across_a_facet_on_a_small_one(order):
    robot = pl.Robot(bar(kind="tet", order=order))
    q = deformed(robot, 2, 1e-4)
    for x in (0.0171, 0.0262, 0.0388):
        for radius in (0.002, 2e-4):
            ball = contact.Sphere((x, 0.0063, 2e-4 - radius), radius, name="ball")
            detector = contact.Detector(robot, [ball], samples=contact.Samples.on(robot.body))
            found = detector.detect(q)
            rows = np.flatnonzero(found.key != found.index)
            weights = np.add.reduceat(found.stencil.weight, found.stencil.ptr[:-1])
            np.testing.assert_allclose(weights, 1.0, atol=1e-12)
            np.testing.assert_allclose(found.places(q), found.position, atol=1e-12)
            gradient = ball.distance(found.position[rows])[1]
            if radius > 1e-3:
                np.testing.assert_allclose(found.normal[rows], gradient, atol=1e-12)
                check_slopes(robot, ball, detector, found, rows, q)
            else:
                deepest = rows[np.argmin(found.gap[rows])]
                assert abs(found.normal[deepest][2]) > 0.98  # as the skin there, which is little deformed


def check_slopes(robot, ball, detector, found, rows, q):
    """H is the derivative of the gap of the material point, and contact stiffness that of its push."""
    H, step, force = found.rows(q), 1e-7, np.zeros(len(found))
    force[rows] = 1.0
    zero = np.zeros((len(robot.pattern.rows), 3, 3))
    K, change = detector.stiffness(zero, found, force, q)
    assert change is None and not zero.any()
    i, j = robot.pattern.rows, robot.pattern.cols
    for d in np.random.default_rng(0).normal(size=(3, robot.ndof)):
        there = [found.places(robot.retract(q, s * step * d))[rows] for s in (1, -1)]
        gap, normal = zip(*(ball.distance(p) for p in there), strict=True)
        np.testing.assert_allclose(H.dot(d)[rows], (gap[0] - gap[1]) / (2 * step), rtol=1e-5, atol=1e-6)
        work = np.einsum("ki,ki->", normal[0] - normal[1], there[0] - there[1]) / (2 * step) ** 2
        x = d.reshape(-1, 3)
        quadratic = np.einsum("b,bi,bij,bj->", np.where(i == j, 1.0, 2.0), x[i], K, x[j])
        assert quadratic == pytest.approx(-work, rel=1e-4)


# Obstacles that come and jump while a controller runs.


def brute(controller: pl.Inverse) -> float:
    obstacles = controller.detector.obstacles.values()
    return max(brute_depth(controller.robot, o, controller.state.q, 24) for o in obstacles)


@pytest.mark.parametrize(("name", "radius"), [("cantilever", 0.003), ("beam", 0.01)])
def test_a_ball_added_while_running_stays_outside(name, radius):
    robot = pl.robots.gallery[name].build()
    controller = pl.Inverse(robot)
    tip = np.array(controller.targets["tip"])
    p = robot.positions(controller.state.q)
    at = p[np.argmin(np.abs(p[:, 0] - 0.7 * p[:, 0].max()))]
    low = p[np.abs(p[:, 0] - at[0]) < 0.05 * robot.length, 2].min()
    controller.detector.add(contact.Sphere((at[0] + 0.0013, at[1] + 0.0017, low - radius - 5e-4), radius))
    pushed = False
    for _ in range(25):
        out = controller.step({"tip": tip - np.array([0, 0, 0.03])[-len(tip) :]})
        depth = brute(controller)
        pushed |= bool(out.contact_force.any())
        assert depth < bound(robot) or out.certificate.status not in ("reached", "out of reach")
        assert out.certificate.penetration == pytest.approx(depth, abs=5e-5 * robot.length)
    assert pushed and depth < bound(robot)


def test_a_ball_that_jumps_in_comes_out_or_is_told():
    robot = pl.robots.gallery["cantilever"].build()
    controller = pl.Inverse(robot)
    p = robot.positions(controller.state.q)
    at = p[np.argmin(np.abs(p[:, 0] - 0.7 * p[:, 0].max()))]
    low = p[np.abs(p[:, 0] - at[0]) < 0.05 * robot.length, 2].min()
    controller.detector.add(contact.Sphere((at[0], at[1], low - 0.03), 0.006, name="ball"))
    for depth in (0.001, 0.003, 0.0015):
        centre = (at[0], at[1] + 0.002, low - 0.006 + depth)
        controller.detector.replace(contact.Sphere(centre, 0.006, name="ball"))
        for _ in range(12):
            out = controller.step()
            inside = brute(controller)
            assert inside < bound(robot) or out.certificate.status != "reached"
            assert out.certificate.penetration > 0.5 * inside - 1e-5
        assert inside < bound(robot)


# Overlap that samples do not show.


def cube() -> pl.Robot:
    mesh = pl.mesh.box((0.04,) * 3, cells=(3, 3, 3))
    body = pl.Solid(mesh, SOFT, density=1000.0, fixed=mesh.nodes[:, 2] < 1e-9)
    return pl.Robot(body, name="cube", gravity=(0, 0, 0))


INSIDE = {
    "ball": contact.Sphere((0.02, 0.02, 0.02), 0.005, name="pea"),
    "box": contact.Box((0.02, 0.02, 0.02), (0.01, 0.005, 0.006), name="pea"),
    "mesh": contact.TriangleMesh.of(pl.mesh.box((0.01,) * 3, origin=(0.015,) * 3), name="pea"),
}


@pytest.mark.parametrize("kind", sorted(INSIDE))
def test_an_obstacle_inside_a_body_is_an_error_that_names_both(kind):
    for solve in (pl.static, lambda robot, obstacles: pl.Simulation(robot, obstacles)):
        with pytest.raises(pl.PliantError, match=r"'pea'.*body 0 of 'cube'"):
            solve(cube(), obstacles=[INSIDE[kind]])
    outside = INSIDE[kind].moved(translation=(0.04, 0, 0))
    assert pl.static(cube(), obstacles=[outside]).certificate.penetration == 0.0


@pytest.mark.parametrize(
    "around",
    [
        contact.Sphere((0.02, 0.02, 0.02), 0.2, name="whale"),
        contact.Plane((0, 0, 0.1), (0, 0, 1), name="whale"),
        contact.Box((0.02, 0.02, 0.02), (0.2, 0.2, 0.2), name="whale"),
    ],
    ids=["ball", "plane", "box"],
)
def test_a_body_inside_an_obstacle_is_an_error_that_names_both(around):
    with pytest.raises(pl.PliantError, match=r"body 0 of 'cube'.*'whale'"):
        pl.static(cube(), obstacles=[around])


def test_a_controller_that_is_swallowed_goes_on_and_says_so():
    robot = pl.robots.gallery["cantilever"].build()
    controller = pl.Inverse(robot)
    controller.detector.add(contact.Sphere(robot.positions(robot.rest.q).mean(axis=0), 3 * robot.length))
    for _ in range(2):
        out = controller.step()
        assert len(out.contacts) < 250
        assert out.certificate.status not in ("reached", "out of reach", "holds")
        assert out.certificate.penetration > robot.length
        assert np.isfinite(out.q).all()


def test_a_controller_with_a_ball_inside_says_so():
    robot = pl.robots.gallery["cantilever"].build()
    controller = pl.Inverse(robot)
    p = robot.positions(controller.state.q)
    at = p[np.abs(p[:, 0] - 0.5 * p[:, 0].max()) < 0.1 * robot.length].mean(axis=0)
    controller.detector.add(contact.Sphere(at, 0.001, name="pea"))
    out = controller.step()
    assert out.certificate.penetration > 1e-3 and out.certificate.status != "reached"


# Rods of balls: between two of them the rod is as thick as they are


def rod(balls: int = 21) -> tuple[pl.Robot, Beam]:
    """A rod of 200 mm along x, 3 mm thick all round, with so many balls on its axis; clamped at x = 0."""
    body = Beam(
        line((0, 0, 0), (0.2, 0, 0), elements=8), Circle(0.003), pl.Hooke(2e7, 0.4), density=1000.0, fixed=0
    )
    samples = contact.Samples.around(body.at(np.linspace(0, 0.2, balls)), 0.003)
    return pl.Robot(body, surroundings=contact.Surroundings(samples=samples)), body


@pytest.mark.parametrize("place", [0.1, 0.1021, 0.105, 0.109])
def test_the_depth_in_a_rod_does_not_depend_on_where_its_balls_are(place):
    robot, _ = rod()
    for radius, deep in ((0.0003, 2e-4), (0.002, 5e-4)):
        ball = contact.Sphere((place, 0.0, 0.003 + radius - deep), radius, name="ball")
        wire = contact.Capsule(
            (place, -0.02, -0.003 - radius + deep), (place, 0.02, -0.003 - radius + deep), radius
        )
        for obstacle in (ball, wire):
            detector = contact.Detector(robot, [obstacle], samples=robot.surroundings.samples)
            assert detector.penetration(robot.rest.q) == pytest.approx(deep, abs=1e-5 * robot.length)
            found = detector.detect(robot.rest.q)
            deepest = found.gap.argmin()
            assert found.gap[deepest] == pytest.approx(-deep, abs=2e-5 * robot.length)
            np.testing.assert_allclose(
                found.normal[deepest], obstacle.distance([(place, 0, 0)])[1][0], atol=0.02
            )


def test_a_rod_lies_on_the_edge_of_a_block_between_its_balls():
    """The edge stays outside of the rod between its balls, and pushes as it does on a rod of many balls."""
    found = {}
    for balls in (21, 401):
        robot, body = rod(balls)
        block = contact.Box((0.1554, 0, -0.0113), (0.002, 0.02, 0.02), name="block")
        robot = pl.Robot(body, gravity=(0, 0, -9.81), surroundings=robot.surroundings)
        result = pl.static(robot, obstacles=[block])
        axis = body.at(np.linspace(0, 0.2, 4001)).position(result.q)
        depth = 0.003 - block.distance(axis)[0].min()
        assert abs(depth) < bound(robot)
        assert result.certificate.penetration == pytest.approx(max(depth, 0.0), abs=3e-5)
        assert result.contacts.standoff(result.contact_force) < bound(robot)
        found[balls] = result.contact_force.sum(), axis[-1]
    assert found[21][0] == pytest.approx(found[401][0], rel=0.01)
    assert np.linalg.norm(found[21][1] - found[401][1]) < 1e-3 * 0.2


def test_balls_are_joined_along_branches_only():
    """Neighbours on the axis, in whatever order they come; what lies off the axis is not joined."""
    fork = tree([line((0, 0, 0), (0.1, 0, 0), elements=4), line((0.1, 0, 0), (0.1, 0.05, 0), elements=2)])
    body = Beam(fork, Circle(0.002), SOFT, fixed=0)
    points = body.points([(0.1, 0, 0), (0, 0, 0), (0.05, 0, 0), (0.1, 0.05, 0), (0.05, 0, 0.002)])
    joined = contact.Samples.around(points, 0.002).joined
    assert {tuple(pair) for pair in joined.tolist()} == {(0, 2), (1, 2), (0, 3)}
    solid = bar()
    assert not len(contact.Samples.around(solid.node_points(np.arange(6)), 1e-3).joined)


def test_an_obstacle_in_a_void_is_inside_the_body_unless_the_void_is_sampled():
    """Nothing gets into a closed void from outside: a ball there has gone through a wall."""
    mesh = block_with_cavity((0.04,) * 3, radius=0.012, shape="sphere")
    body = pl.Solid(mesh, SOFT, fixed=mesh.nodes[:, 2] < -0.02 + 1e-9)
    robot, pea = pl.Robot(body, name="hollow"), contact.Sphere((0.0, 0.0, 0.0), 0.004, name="pea")
    detector = contact.Detector(robot, [pea])
    p = detector.outer.rest
    assert detector.penetration(robot.rest.q) == pytest.approx(np.linalg.norm(p, axis=1).min())
    assert detector.depth(robot.rest.q, detector.detect(robot.rest.q)) == detector.penetration(robot.rest.q)
    with pytest.raises(pl.PliantError, match=r"'pea'.*body 0 of 'hollow'"):
        pl.static(robot, obstacles=[pea])
    within = contact.Samples.on(body, body.mesh.surface)
    detector = contact.Detector(robot, [pea], samples=within)
    detector.require_apart(robot.rest.q)
    assert detector.penetration(robot.rest.q) == 0.0
