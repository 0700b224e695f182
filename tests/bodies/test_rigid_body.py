"""A rigid body against closed forms: its mass, its weight, and how it moves, slides and lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import pliant as pl
from pliant.bodies import Ball, RigidBody
from pliant.contact import Surroundings
from tests.bodies.shells.common import dense, wiggled

G = 9.81
DOWN = (0.0, 0.0, -G)
SIDES: Any = np.array([0.06, 0.04, 0.02])


def brick(density: float = 1000.0, origin: Any = -SIDES / 2, **options: Any) -> RigidBody:
    mesh = pl.mesh.box(SIDES, cells=(1, 1, 1), kind="hex", origin=origin)
    return RigidBody(mesh, density=density, **options)


def rod(**options: Any) -> RigidBody:
    """A slender bar of 200 mm along x, hinged about y at its end."""
    mesh = pl.mesh.box((0.2, 0.02, 0.02), cells=(1, 1, 1), kind="hex", origin=(0, -0.01, -0.01))
    return RigidBody(mesh, density=1000.0, joint=pl.Hinge((0, 1, 0), (0, 0, 0)), **options)


# Mass


def test_mass_and_inertia_of_a_brick_are_those_of_the_book():
    a, b, c = SIDES
    turn, at = Rotation.from_euler("xyz", [0.3, -0.4, 1.0]).as_matrix(), np.array([0.5, -0.2, 0.1])
    mesh = pl.mesh.box(SIDES, cells=(2, 1, 1), kind="tet", origin=-SIDES / 2).transformed(turn, at)
    found = RigidBody(mesh, density=800.0).properties
    m = 800.0 * a * b * c
    book = turn @ np.diag(m / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])) @ turn.T
    assert found.mass == pytest.approx(m, rel=1e-12)
    np.testing.assert_allclose(found.centre, at, atol=1e-12)
    np.testing.assert_allclose(found.inertia, book, atol=1e-12 * m)


def test_a_void_weighs_nothing():
    """A hollow sphere of triangles has the inertia ⅖ m (R⁵ − r⁵)/(R³ − r³), up to its facets."""
    inner, outer = 0.6, 1.0
    mesh = pl.mesh.hollow_sphere(inner, outer, around=48, across=1)
    body = RigidBody(mesh, mass=3.0)
    book = 0.4 * 3.0 * (outer**5 - inner**5) / (outer**3 - inner**3)
    np.testing.assert_allclose(body.properties.inertia, book * np.eye(3), atol=0.01 * book)


@pytest.mark.parametrize("joint", [None, Ball((0.1, 0.02, 0.0)), pl.Hinge((1, 2, 3), (0.05, 0, 0))])
def test_forces_are_derivatives_of_the_energy_and_kinetic_energy_is_that_of_its_points(joint):
    body, gravity = brick(joint=joint), np.array([1.0, 2.0, -9.0])
    q, rng = wiggled(body), np.random.default_rng(3)
    d = rng.normal(size=6) * body.free
    E: Any = lambda s: body.linearise(body.retract(q, s * d), gravity)
    h = 1e-5
    _, r, K = E(0.0)
    assert (E(-h)[0] - E(h)[0]) / (2 * h) == pytest.approx(r @ d, rel=1e-7)
    assert (E(-h)[1] - E(h)[1]) @ d / (2 * h) == pytest.approx(d @ dense(body, K) @ d, rel=1e-6, abs=1e-12)
    corners, half = [], SIDES / (2 * np.sqrt(3))  # eight points with the brick's mass and inertia
    for sign in np.ndindex(2, 2, 2):
        corners.append((2 * np.array(sign) - 1) * half)
    points = body.points(np.array(corners))
    speed = (points.position(body.retract(q, 1e-6 * d)) - points.position(body.retract(q, -1e-6 * d))) / 2e-6
    kinetic = 0.5 * body.total_mass / 8 * (speed**2).sum()
    assert 0.5 * d @ dense(body, body.mass(q)) @ d == pytest.approx(kinetic, rel=1e-6)


def test_what_cannot_be_is_an_error_that_says_so():
    sheet = pl.mesh.sheet((0.1, 0.1), cells=(1, 1))
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({}, None, "density=… or mass=…"),
        ({"density": 1.0, "mass": 1.0}, None, "both"),
        ({"density": -1.0}, None, "number > 0"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 3.0)}, None, "sum of the other two"),
        ({"mass": 1.0}, sheet, "closed surface"),
        ({"mass": 1.0, "joint": pl.Hinge((0, 0, 1), (0, 0, 0)), "fixed": True}, None, "both"),
    ]
    for options, mesh, said in cases:
        shape = pl.mesh.box(SIDES, cells=(1, 1, 1)) if mesh is None else mesh
        with pytest.raises(pl.InputError, match=said):
            RigidBody(shape, **options)
    held = RigidBody(sheet, mass=1.0, centre=(0.05, 0.05, 0), inertia=(1.0, 1.0, 2.0), fixed=True)
    assert held.rigid_modes() == 0 and held.total_mass == 1.0


# Motion


def half_period(start: float, step: float, scheme: str) -> float:
    """Time from a start angle above the lowest place to the other turning point, by parabola."""
    body = rod()
    motor = pl.Motor(body.region_points(), (0, 1, 0), middle=np.pi / 2)
    robot = pl.Robot(body, {"angle": pl.Row(motor)}, gravity=DOWN)
    begin = body.placed(rotation=Rotation.from_euler("y", np.pi / 2 - start))
    simulation = pl.Simulation(robot, time_step=step, scheme=scheme, state=robot.rest.with_(q=begin))
    angle = [np.pi / 2 - start]
    while len(angle) < 3 or angle[-1] > angle[-2]:
        angle.append(float(simulation.step().displacement["angle"][0]))
    a, b, c = angle[-3:]
    return step * (len(angle) - 2 + 0.5 * (a - c) / (a - 2 * b + c))


@pytest.mark.parametrize("start", [0.1, 1.5, 2.8])
def test_a_pendulum_swings_in_its_period_however_far(start):
    """T/2 = 2 K(sin² θ₀/2)/ω₀, and its error falls with the square of the time step."""
    body = rod()
    own = np.sqrt(body.total_mass * G * 0.1 / body.assembly.inertia[2, 2])
    book = 2.0 * ellipk(np.sin(0.5 * start) ** 2) / own
    coarse, fine = (half_period(start, step, "midpoint") / book - 1 for step in (8e-3, 2e-3))
    assert abs(fine) < 1e-4 and abs(fine) < 0.1 * abs(coarse)


def free_top(scheme: str, step: float, steps: int):
    """A brick that spins about its middle axis, which is unstable: it turns over."""
    body = brick()
    robot = pl.Robot(body)
    spin = np.array([3.0, 30.0, 3.0])
    state = robot.rest.with_(v=np.concatenate([[0.1, 0.0, 0.0], spin]))
    simulation = pl.Simulation(robot, time_step=step, scheme=scheme, state=state)
    states = [state, *(simulation.step() and simulation.state for _ in range(steps))]
    return body, states


def test_a_free_top_keeps_its_energy_and_angular_momentum(within):
    body, states = free_top("midpoint", 2e-3, 210)
    kinetic = [0.5 * s.v @ dense(body, body.mass(s.q)) @ s.v for s in states]
    momentum, turning = (np.array(x) for x in zip(*(body.momentum(s.q, s.v) for s in states), strict=True))
    about = turning - np.cross([s.q[-12:-9] for s in states], momentum)  # about the centre of mass
    assert min(s.v[4] for s in states) < -24.0 < 24.0 < max(s.v[4] for s in states)
    within(np.ptp(kinetic) / kinetic[0], 1e-9, "energy")
    within(np.ptp(momentum, axis=0).max() / np.linalg.norm(momentum[0]), 1e-12, "momentum")
    within(
        np.ptp(np.linalg.norm(about, axis=1)) / np.linalg.norm(about[0]), 1e-9, "size of the angular momentum"
    )
    off = [np.linalg.norm(about[-1] - about[0]) / np.linalg.norm(about[0])]
    body, halved = free_top("midpoint", 1e-3, 420)
    last, first = (body.momentum(halved[k].q, halved[k].v) for k in (-1, 0))
    spun = last[1] - np.cross(halved[-1].q[-12:-9], last[0]) - first[1]
    off.append(np.linalg.norm(spun) / np.linalg.norm(first[1]))
    assert off[0] < 0.01 and off[1] < 0.3 * off[0]  # its direction to second order


def test_a_gyroscope_precesses():
    """A symmetric top whose axis is at θ from the vertical goes round at Ω: I₁Ω² cos θ − I₃ω₃Ω + mgl = 0."""
    mesh = pl.mesh.tube_sheet(0.03, 0.01, around=24, along=1, caps=True)
    moments, arm, mass, theta = np.array([2e-5, 2e-5, 4e-5]), 0.05, 0.1, 0.7
    disc = mesh.transformed(translation=(0, 0, arm - 0.005))
    body = RigidBody(disc, mass=mass, centre=(0, 0, arm), inertia=moments, joint=Ball((0, 0, 0)))
    I1, I3, spin = moments[0] + mass * arm**2, moments[2], 300.0
    b = I3 * spin
    omega = (b - np.sqrt(b * b - 4 * I1 * np.cos(theta) * mass * G * arm)) / (2 * I1 * np.cos(theta))
    robot = pl.Robot(body, gravity=DOWN)
    tilt = Rotation.from_euler("y", theta)
    along = tilt.as_matrix()[:, 2]
    turning = omega * np.array([0, 0, 1.0]) + (spin - omega * np.cos(theta)) * along
    start = robot.rest.with_(
        q=body.placed(rotation=tilt), v=np.concatenate([np.zeros(3), tilt.as_matrix().T @ turning])
    )
    simulation = pl.Simulation(robot, time_step=2.5e-4, scheme="midpoint", state=start)
    for _ in range(320):
        simulation.step()
    axis = body.pose(simulation.state.q)[0][:, 2]
    assert np.arccos(axis[2]) == pytest.approx(theta, abs=2e-3)
    assert np.unwrap([0.0, np.arctan2(axis[1], axis[0])])[1] == pytest.approx(omega * 0.08, rel=5e-3)


# Contact


def test_a_block_on_a_soft_block_is_carried(within):
    """Statics of a rigid brick that lies on a soft one: the contact carries its weight."""
    mesh = pl.mesh.box((0.08, 0.06, 0.02), cells=(4, 3, 2), kind="hex", origin=(-0.04, -0.03, -0.02))
    foot = pl.mesh.near_plane(mesh, point=(0, 0, -0.02), normal=(0, 0, 1))
    soft = pl.Solid(mesh, pl.Hooke(young=1e5, poisson=0.4), density=1000.0, fixed=foot)
    block = brick(origin=(-0.03, -0.02, 0.0005))
    robot = pl.Robot([soft, block], gravity=DOWN, surroundings=Surroundings())
    result = pl.static(robot)
    assert result.certificate.converged
    within(result.contact_force.sum() / (block.total_mass * G) - 1.0, 1e-6, "weight")


@pytest.mark.parametrize("slope, holds", [(0.28, True), (0.32, False)])
def test_a_brick_slides_where_the_slope_is_steeper_than_its_friction(slope, holds):
    """μ = 0.3: it rests where tan α < μ, in statics and time; beyond, it slides with g (sin α − μ cos α)."""
    normal = np.array([-slope, 0.0, 1.0]) / np.hypot(slope, 1.0)
    turn = Rotation.align_vectors([normal], [[0, 0, 1]])[0]
    mesh = pl.mesh.box(SIDES, cells=(1, 1, 1), kind="hex", origin=(-0.03, -0.02, 0.0))
    body = RigidBody(mesh.transformed(turn), density=1000.0)
    around = Surroundings([pl.Plane((0, 0, 0), normal, name="slope")], friction=0.3)
    robot = pl.Robot(body, gravity=DOWN, surroundings=around)
    simulation = pl.Simulation(robot, time_step=2e-3)
    for _ in range(100):
        moment = simulation.step()
    moved = float(np.linalg.norm(body.pose(simulation.state.q)[1] - body.pose(body.q0)[1]))
    if holds:
        assert moved < 1e-6
        assert pl.static(robot).certificate.converged
    else:
        alpha = np.arctan(slope)
        away = 0.5 * G * (np.sin(alpha) - 0.3 * np.cos(alpha)) * 0.2**2
        assert moved == pytest.approx(away, rel=0.02)
        assert moment.contact_force.sum() == pytest.approx(body.total_mass * G * np.cos(alpha), rel=1e-3)
        with pytest.raises(pl.ConvergenceError, match="No equilibrium"):
            pl.static(robot)
