"""Contact in forward statics: who pushes, how hard, and that nobody pulls or penetrates."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Cylinder, Plane, Sphere, Surroundings
from pliant.core.view import linearise

YOUNG, SIDE = 3e5, 0.02
DOWN = (0.0, 0.0, -9.81)


def block(poisson: float = 0.0, **more) -> pl.Robot:
    """A block that hangs from its top."""
    mesh = pl.mesh.box((SIDE, SIDE, SIDE), cells=(3, 3, 3))
    top = pl.mesh.near_plane(mesh, (0, 0, SIDE), (0, 0, 1))
    return pl.Robot(pl.Solid(mesh, pl.Hooke(young=YOUNG, poisson=poisson), density=1000, fixed=top), **more)


def beam(**more) -> pl.Robot:
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(10, 2, 2))
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=YOUNG, poisson=0.45), density=1100, fixed=clamp)
    tip = body.points([[0.1, 0.01, 0.01]])
    rows = {
        "tip": pl.Row(pl.Position(tip)),
        "load": pl.Row(pl.PointForce(tip, direction=(0, 0, 1))),
    }
    return pl.Robot(body, rows, gravity=DOWN, **more)


def vertical(result: pl.Result) -> float:
    """Force [N] of the contacts along z."""
    return float(result.contact_force @ result.contacts.normal[:, 2])


@pytest.mark.parametrize("depth", [1e-4, 5e-4, 2e-3])
def test_a_block_on_a_plate_carries_hookes_force(depth):
    """Pressed by `depth`, without Poisson's ratio and weight: E A d / h, on all of its face alike."""
    result = pl.static(block(), obstacles=[Plane((0, 0, depth), (0, 0, 1))])
    np.testing.assert_allclose(vertical(result), YOUNG * SIDE * depth, rtol=1e-6)
    np.testing.assert_allclose(result.positions[:, 2].min(), depth, atol=1e-9)


def test_weight_goes_into_the_floor():
    """A block between its support and a floor just below: both carry, together the weight."""
    robot = block(gravity=DOWN)
    result = pl.static(robot, obstacles=[Plane((0, 0, 0), (0, 0, 1))])
    stress = 1000 * 9.81 * SIDE / 2  # of the column under its own weight, held at both ends
    np.testing.assert_allclose(vertical(result), stress * SIDE**2, rtol=1e-6)


@pytest.mark.parametrize("load", [0.0, -0.5, -1.5])
@pytest.mark.parametrize(
    "obstacle",
    [
        Plane((0, 0, -0.002), (0, 0, 1)),
        Cylinder((0.06, -0.05, -0.006), (0.06, 0.05, -0.006), 0.004),
        Sphere((0.08, 0.01, -0.012), 0.01),
    ],
    ids=lambda o: type(o).__name__,
)
def test_signorini_holds(obstacle, load):
    result = pl.static(beam(), {"load": pl.Known(effort=load)}, obstacles=[obstacle])
    certificate, found = result.certificate, result.contacts
    assert certificate.converged and certificate.constraint < 1e-9
    assert (result.contact_force >= 0).all() and found.gap.min(initial=0.0) > -1e-9
    scale = max(1e-3, result.contact_force.max(initial=0.0)) * result.robot.length
    assert np.abs(result.contact_force * found.gap).max(initial=0.0) < 1e-8 * scale


def test_contact_forces_balance_the_load():
    """The clamp's reaction is what is left of weight, load and contact: moments too, by virtual work."""
    result = pl.static(beam(), {"load": pl.Known(effort=-1.0)}, obstacles=[Plane((0, 0, -0.002), (0, 0, 1))])
    H = result.contacts.rows(result.q)
    robot, state = result.robot, result.state
    linear = linearise(robot, state.q, state.effort, state.internal, state.gravity, tangent=False)
    left = linear.residual() + H.transpose_dot(result.contact_force)
    assert np.abs(left).max() < 1e-7


def test_without_contact_nothing_changes():
    free = pl.static(beam())
    far = pl.static(beam(), obstacles=[Plane((0, 0, -0.2), (0, 0, 1))])
    np.testing.assert_allclose(far.positions, free.positions, atol=1e-12)
    assert not far.contact_force.any() and free.contacts is None


def test_surroundings_go_with_the_robot():
    floor = Plane((0, 0, -0.002), (0, 0, 1))
    own = pl.static(beam(surroundings=Surroundings([floor])))
    given = pl.static(beam(), obstacles=[floor])
    np.testing.assert_allclose(own.positions, given.positions, atol=1e-12)


def test_a_robot_inside_an_obstacle_comes_out():
    ball = Sphere((0.08, 0.01, -0.002), 0.01)
    robot = beam()
    before = pl.contact.Detector(robot, [ball]).penetration(robot.rest.q)
    after = pl.static(robot, obstacles=[ball])
    assert before > 5e-3 and after.contacts.gap.min() > -1e-9


def test_two_bodies_push_each_other_alike():
    """Two blocks, one above the other and pressed together: the seam is in the middle."""
    meshes = [pl.mesh.box((SIDE,) * 3, cells=(2, 2, 2)) for _ in range(2)]
    meshes[1] = meshes[1].transformed(translation=(0, 0, SIDE - 1e-3))  # 1 mm inside each other
    faces = (0.0, 2 * SIDE - 1e-3)
    bodies = [
        pl.Solid(m, pl.Hooke(young=YOUNG, poisson=0.0), fixed=pl.mesh.near_plane(m, (0, 0, z), (0, 0, 1)))
        for m, z in zip(meshes, faces)
    ]
    result = pl.static(pl.Robot(bodies))
    k = len(bodies[0].mesh.nodes)
    top = result.positions[:k][np.isclose(bodies[0].mesh.nodes[:, 2], SIDE)]
    np.testing.assert_allclose(top[:, 2], SIDE - 0.5e-3, atol=1e-6)
    from_above = result.contacts.normal[:, 2] < 0  # samples of the lower body, pushed down
    pushed = abs(float(result.contact_force[from_above] @ result.contacts.normal[from_above, 2]))
    pushed += float(result.contact_force[~from_above] @ result.contacts.normal[~from_above, 2])
    np.testing.assert_allclose(pushed, YOUNG * SIDE * 0.5e-3, rtol=1e-6)


def test_surroundings_of_the_wrong_kind_are_refused():
    with pytest.raises(pl.InputError, match="surroundings"):
        beam(surroundings=[Sphere((0, 0, 0), 0.1)])


@pytest.mark.parametrize(
    "gap, sound", [(0.0, True), (2e-6, True), (1e-3, False), (-1e-3, False), (0.5, False)]
)
def test_pairs_that_were_kept_push_only_where_they_touch(gap, sound):
    """What Newton's method took for closed must be: neither open, nor deep, nor out of sight."""
    from types import SimpleNamespace

    from pliant.newton import KEEP_PAIRS_AFTER, Iterate, _cleared

    robot = block()
    detector = Surroundings().detector(robot, [Plane((0, 0, 0), (0, 0, 1), name="floor")])
    touching = detector.detect(robot.rest.q)
    detector.replace(Plane((0, 0, -gap), (0, 0, 1), name="floor"))
    push = np.where(np.arange(len(touching)) == 3, 1.0, 0.0)
    now = Iterate(robot.rest.q, np.zeros(0), touching, push, full=KEEP_PAIRS_AFTER + 1)
    scene = SimpleNamespace(detector=detector, robot=robot)
    after, clear = _cleared(SimpleNamespace(scene=scene, allowance=np.zeros(detector.size)), now)
    assert clear == sound
    assert sound or after.contacts is not touching
