"""Coulomb friction in forward statics: what sticks, what slips, and where the forces point."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Surroundings

PRESSED = 0.001  # [m]


def block(mu: float, floor: Plane | None = None) -> pl.Robot:
    """A soft block under a rigid lid that is moved; it stands on a floor."""
    mesh = pl.mesh.box((0.03, 0.03, 0.02), cells=(3, 3, 2))
    top = pl.mesh.near_plane(mesh, (0, 0, 0.02), (0, 0, 1))
    lid = pl.Rigid(top, name="lid")
    body = pl.Solid(mesh, pl.Hooke(young=1e5, poisson=0.3), rigid=lid)
    points = body.region_points("lid")
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    rows = {name: pl.Row(pl.Slider(points, axis)) for name, axis in axes.items()}
    rows["turn"] = pl.Row(pl.Orientation(points))
    floor = floor or Plane((0, 0, 0), (0, 0, 1), name="floor")
    return pl.Robot(body, rows, surroundings=Surroundings([floor], friction=mu))


def moved(robot: pl.Robot, x: float, y: float = 0.0, start: pl.Result | None = None) -> pl.Result:
    level = robot.bundle.delta(robot.bundle.positions(robot.rest.q))[robot.named("turn")]
    where = {"x": x, "y": y, "z": -PRESSED, "turn": level}
    laws = {name: pl.Known(displacement=value) for name, value in where.items()}
    return pl.static(robot, laws, state=start and start.state)


def pressed_and_moved(mu: float, way: np.ndarray, steps: int = 8, far: float = 0.004) -> pl.Result:
    robot = block(mu)
    now = moved(robot, 0.0)
    for share in np.arange(1, steps + 1) / steps:
        now = moved(robot, *(share * far * way), start=now)
    return now


def drag(result: pl.Result) -> np.ndarray:
    """Sum of the friction forces on the block (3,) [N]."""
    return np.einsum("ka,kai->i", result.friction_force, result.contacts.tangents)


@pytest.mark.parametrize("mu", [0.1, 0.4, 0.6])
def test_a_pushed_block_slips_at_mu_times_its_load(mu):
    result = pressed_and_moved(mu, np.array([1.0, 0.0]), far=0.01 * mu + 0.001, steps=10)
    load = result.contact_force.sum()
    np.testing.assert_allclose(drag(result), [-mu * load, 0.0, 0.0], atol=1e-3 * mu * load)
    np.testing.assert_allclose(result.effort["x"], mu * load, rtol=1e-3)  # the lid feels it


def test_below_the_threshold_it_sticks_and_the_force_is_elastic():
    """As if glued: half the motion, half the force, and no point of the sole moves along the floor."""
    robot = block(10.0)
    start = moved(robot, 0.0)
    small, large = moved(robot, 1e-4, start=start), moved(robot, 2e-4, start=start)
    np.testing.assert_allclose(2.0 * drag(small)[0], drag(large)[0], rtol=1e-3)
    assert np.abs(large.contacts.slip(large.q, start.q)[large.contact_force > 0]).max() < 1e-9


@pytest.mark.parametrize("degrees", [0.0, 17.0, 45.0, 130.0])
def test_friction_opposes_slip_in_every_direction_alike(degrees):
    """A true cone: neither the size nor the direction of friction depends on how tangents lie."""
    way = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    result = pressed_and_moved(0.3, way)
    load, force = result.contact_force.sum(), drag(result)
    np.testing.assert_allclose(force[:2], -0.3 * load * way, atol=3e-3 * load)


def test_coulombs_law_holds_at_every_contact():
    """Inside the cone; sticking where strictly inside; slip against the force on its edge."""
    robot = block(0.4)
    start = moved(robot, 0.0)
    result = moved(robot, 1.2e-3, start=start)  # some stick, some slip
    normal, force = result.contact_force, result.friction_force
    size, slip = np.linalg.norm(force, axis=1), result.contacts.slip(result.q, start.q)
    scale = normal.max()
    assert (size <= 0.4 * normal + 1e-8 * scale).all()
    sticks = (normal > 0) & (size < (0.4 - 1e-6) * normal)
    slips = (normal > 0) & ~sticks
    assert sticks.any() and slips.any()
    assert np.abs(slip[sticks]).max() < 1e-9
    along = np.einsum("ka,ka->k", slip[slips], force[slips])
    product = np.linalg.norm(slip[slips], axis=1) * size[slips]
    np.testing.assert_allclose(along, -product, atol=1e-8 * scale * PRESSED)


def test_friction_keeps_its_force_when_nothing_moves_on():
    robot = block(0.4)
    first = moved(robot, 5e-4, start=moved(robot, 0.0))
    again = moved(robot, 5e-4, start=first)
    np.testing.assert_allclose(again.positions, first.positions, atol=1e-9)


def test_without_friction_nothing_drags():
    result = pressed_and_moved(0.0, np.array([1.0, 0.0]), steps=2)
    assert not result.friction_force.any() and abs(result.effort["x"][0]) < 1e-6
