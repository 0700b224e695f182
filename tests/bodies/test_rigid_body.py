"""A rigid body against closed forms: its mass, its weight, and how it moves, slides and lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

import pliant as pl
from pliant.bodies import Ball, Circle, Membrane, RigidBody
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
    own = np.sqrt(body.total_mass * G * 0.1 / body.assembly.content.inertia[2, 2])
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


# Rigid regions that weigh something of their own

LOAD: dict[str, Any] = {"mass": 0.2, "inertia": (2e-5, 3e-5, 4e-5)}


def with_load(kind: str) -> Any:
    """A body with a loaded rigid end, whose mass is off its centre."""
    law, end = pl.Hooke(young=1e6, poisson=0.4), lambda x: x[:, 0] > 0.1 - 1e-9
    where: dict[str, Any] = {"name": "end", "mass_centre": (0.12, 0.01, -0.02), **LOAD}
    if kind == "beam":
        rod_line = pl.mesh.line((0, 0, 0), (0.1, 0, 0), elements=4)
        region = pl.Rigid([4], centre=(0.1, 0, 0), **where)
        return pl.Beam(rod_line, Circle(0.004), law, density=0.0, fixed=0, rigid=region)
    hinged = pl.Rigid(end, joint=pl.Hinge((0, 1, 0), (0.1, 0, 0)), **where)
    if kind == "solid":
        mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(2, 1, 1), kind="hex")
        return pl.Solid(mesh, law, density=0.0, rigid=hinged)
    sheet = pl.mesh.sheet((0.1, 0.02), cells=(2, 1))
    region = pl.Rigid(lambda x: x[:, 0] > 0.04, **where)
    if kind == "shell":
        return pl.Shell(sheet, law, 0.002, density=0.0, rigid=region)
    return Membrane(sheet, law, 0.002, density=0.0, rigid=region)


@pytest.mark.parametrize("kind", ["beam", "solid", "shell", "membrane"])
def test_a_region_with_a_mass_weighs_and_moves_as_a_rigid_body_there(kind):
    body, gravity = with_load(kind), np.array([1.0, 2.0, -9.0])
    region = body.coordinates.region("end")
    first = 3 * int(body.region_block[region])
    q, rng = wiggled(body), np.random.default_rng(3)
    d = np.zeros(body.ndof)
    d[first : first + 6] = rng.normal(size=6)
    d *= body.free
    none, h = np.zeros(3), 1e-5

    def pulled(s: float) -> tuple[float, Any, Any]:  # what gravity adds: nothing else weighs
        at = body.retract(q, s * d)
        heavy, light = body.linearise(at, gravity), body.linearise(at, none)
        return heavy[0] - light[0], heavy[1] - light[1], dense(body, heavy[2]) - dense(body, light[2])

    (_, r, K), plus, minus = pulled(0.0), pulled(h), pulled(-h)
    assert (minus[0] - plus[0]) / (2 * h) == pytest.approx(r @ d, rel=1e-6)
    assert (minus[1] - plus[1]) @ d / (2 * h) == pytest.approx(d @ K @ d, rel=1e-5, abs=1e-9)
    # The kinetic energy and the centripetal forces of a brick of that mass, at the same motion.
    there = np.array([0.12, 0.01, -0.02])
    alike = RigidBody(pl.mesh.box((0.01,) * 3, cells=(1, 1, 1)), centre=there, **LOAD)
    turn, _ = body.pose(q, "end")
    frame = body.region_frame[region]
    spin = turn @ frame @ d[first + 3 : first + 6]
    speed = frame @ d[first : first + 3] + np.cross(
        spin, turn @ (there - body.coordinates.region_centre[region])
    )
    v = np.concatenate([speed, turn.T @ spin])
    kinetic = 0.5 * v @ dense(alike, alike.mass(alike.placed(rotation=turn))) @ v
    assert 0.5 * d @ dense(body, body.mass(q)) @ d == pytest.approx(kinetic, rel=1e-9)
    assert body.total_mass == pytest.approx(LOAD["mass"])
    c = body.gyroscopic(q, d)
    rate = lambda s: 0.5 * d @ dense(body, body.mass(body.retract(q, s * d))) @ d
    assert c is not None and 2 * c @ d == pytest.approx((rate(h) - rate(-h)) / h, rel=1e-4, abs=1e-9)


def test_a_load_at_the_end_of_a_rod_bends_it_as_a_force_there():
    """m g L³/3EI at small m, and the support carries it."""
    light = pl.Rigid([8], name="end", mass=1e-5)
    lines = pl.mesh.line((0, 0, 0), (0.2, 0, 0), elements=8)
    rod8 = pl.Beam(lines, Circle(0.004), pl.Hooke(young=5e6, poisson=0.45), fixed=0, density=0, rigid=light)
    result = pl.static(pl.Robot(rod8, gravity=DOWN))
    sunk = -(rod8.pose(result.state.q, "end")[1])[2]
    stiffness = 5e6 * np.pi * 0.004**4 / 4
    assert sunk == pytest.approx(1e-5 * G * 0.2**3 / (3 * stiffness), rel=5e-3)
    assert rod8.reactions(result.state.q, DOWN)[0, 2] == pytest.approx(1e-5 * G, rel=1e-6)
