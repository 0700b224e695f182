"""Cables and membranes: derivatives, the thesis's example, slack and taut, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.membrane.bodies import At, PlanarBody
from pliant.membrane.cable import Cable, Membrane, Over
from pliant.membrane.joints import Free, Prismatic, Revolute, Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.shapes import Disc, Polygon, regular
from pliant.membrane.simulation import Simulation
from pliant.membrane.wrapping import RIGHT
from pliant.studies.mirano2017.engaging import L, ballast_scene, jump

G = 9.81


def crane(friction=0.0) -> Mechanism:
    """A cable and a skin over turning and sliding bodies, through a ring, on both sides."""
    return Mechanism(
        [
            PlanarBody("boom", Revolute(start=0.8), 1.0, 0.1, (0.4, 0.0), regular(5, 0.1)),
            PlanarBody(
                "wheel", Free(start=(0.9, 0.1, 0.2)), 0.5, 0.02, (0.01, 0.0), Disc(0.12, centre=(0.02, 0.01))
            ),
            PlanarBody(
                "load",
                Free(start=(1.6, -0.4, 0.0)),
                0.7,
                0.03,
                shape=Polygon(regular(6, 0.08).corners, radius=0.02),
            ),
        ],
        cables=[
            Cable(
                "hoist",
                [
                    At("world", (-1.0, 0.2)),
                    At("boom", (0.8, 0.05)),
                    Over("wheel", RIGHT),
                    At("world", (1.4, -0.7)),
                    At("load", (0.0, 0.05)),
                ],
            )
        ],
    )


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_cable_has_the_derivatives_of_its_length(seed):
    """J and J̇v of φ = L(q) − length, at random postures and speeds."""
    mech, rng, e = crane(), np.random.default_rng(seed), 1e-5
    q, v = mech.q0 + 0.05 * rng.normal(size=mech.ndof), rng.normal(size=mech.ndof)
    _, J, bias = mech.cable_rows(q, v)
    value = lambda s: mech.cable_rows(q + s * v)[0][0]
    slope = np.array(
        [
            (mech.cable_rows(q + d)[0][0] - mech.cable_rows(q - d)[0][0]) / (2 * e)
            for d in e * np.eye(mech.ndof)
        ]
    )
    assert J[0] == pytest.approx(slope, abs=1e-8)
    assert bias[0] == pytest.approx(
        (value(10 * e) - 2 * value(0.0) + value(-10 * e)) / (10 * e) ** 2, abs=2e-4
    )
    tilt = (mech.cable_rows(q + e * v)[1][0] - mech.cable_rows(q - e * v)[1][0]) / (2 * e)
    assert bias[0] == pytest.approx(tilt @ v, abs=1e-6)


@given(st.floats(-3.0, 3.0), st.floats(0.05, 3.0), st.floats(0.1, 5.0), st.floats(0.1, 5.0))
@settings(max_examples=25)
def test_the_ballast_accelerates_as_in_the_thesis(vx, vy, point_mass, ballast_mass):
    """Just after the point touches: b̈ = −2 v_y²/l, the point is not accelerated, the tension is m_b |b̈|."""
    mech = ballast_scene(point_mass, ballast_mass)
    v = np.array([vx, -vy, 0.0])
    before, none = mech.acceleration([0.0, 1e-12, 0.0], v)
    after, effort = mech.acceleration([0.0, -1e-12, 0.0], v)
    assert before == pytest.approx(np.zeros(3), abs=1e-9) and none[0] == pytest.approx(0.0, abs=1e-9)
    assert after == pytest.approx([0.0, 0.0, -2.0 * vy**2 / L], rel=1e-9, abs=1e-9)
    assert -effort[0] == pytest.approx(ballast_mass * 2.0 * vy**2 / L, rel=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_engagement_is_not_impulsive(seed):
    """Theorem 1: the impulse that the constraint with the new wrap point asks of velocities is nothing."""
    change, met = jump(np.random.default_rng(seed))
    assert met and change < 1e-9


def test_a_weight_on_a_cable_swings_as_a_pendulum(within):
    """Taut all the time: its length over a minute, energy over ten seconds, the period of a large swing."""
    mech = Mechanism(
        [PlanarBody("bob", Translating(start=(0.6, -0.8)), 0.4)],
        cables=[Cable("string", [At("world"), At("bob")])],
        gravity=(0.0, -G),
    )
    sim = Simulation(mech)
    start, worst, drift, kinetic = sim.energy.total, 0.0, 0.0, 0.0
    for k in range(60):
        for _ in range(10):
            sim.run(0.1)
            worst = max(worst, abs(sim.moment.length["string"] - 1.0))
            kinetic = max(kinetic, sim.energy.kinetic)
            if k < 10:
                drift = max(drift, abs(sim.energy.total - start))
    within(worst, 1e-6, "of the length, in 60 s")
    within(drift / kinetic, 1e-3, "energy in 10 s")
    swing = np.arctan2(0.6, 0.8)
    from scipy.special import ellipk

    period = 4.0 * np.sqrt(1.0 / G) * ellipk(np.sin(swing / 2.0) ** 2)
    sim = Simulation(mech)
    sim.advance(round(5 * period / sim.time_step))
    assert sim.q == pytest.approx([0.6, -0.8], abs=2e-3)


def test_the_tension_of_a_hanging_weight_is_its_weight():
    mech = Mechanism(
        [PlanarBody("bob", Translating(start=(0.0, -1.0)), 0.4)],
        cables=[Cable("string", [At("world"), At("bob")])],
        gravity=(0.0, -G),
    )
    assert -mech.acceleration(mech.q0)[1][0] == pytest.approx(0.4 * G)
    assert Simulation(mech).run(0.1).tension["string"] == pytest.approx(0.4 * G, rel=1e-9)


def test_a_slack_cable_lets_go_and_catches_without_bounce():
    """Thrown up under its hook: free flight, then the cable takes the radial velocity only."""
    mech = Mechanism(
        [PlanarBody("bob", Translating(start=(0.3, 0.0)), 0.4)],
        cables=[Cable("string", [At("world"), At("bob")], length=0.5)],
    )
    sim = Simulation(mech, v=[0.6, 0.3])
    sim.run(0.2)
    assert sim.q == pytest.approx([0.42, 0.06], abs=1e-12) and sim.moment.tension["string"] == 0.0
    caught = None
    while caught is None:
        before = sim.v
        sim.step()
        caught = sim.v if sim.moment.tension["string"] > 0.0 else None
    radial = sim.q / np.linalg.norm(sim.q)
    assert caught @ radial == pytest.approx(0.0, abs=1e-9)
    assert caught == pytest.approx(before - (before @ radial) * radial, abs=1e-3)
    sim.run(1.0)
    assert np.linalg.norm(sim.q) == pytest.approx(0.5, abs=1e-9)
    assert np.linalg.norm(sim.v) == pytest.approx(np.linalg.norm(caught), rel=1e-4)


def test_a_pull_on_two_sides_of_a_pulley_balances():
    """Atwood's machine: a cable over a fixed disc between two weights."""
    one, two = 0.9, 0.5
    mech = Mechanism(
        [
            PlanarBody("left", Prismatic(at=(-0.1, -1.0), angle=-np.pi / 2), one),
            PlanarBody("right", Prismatic(at=(0.1, -1.0), angle=-np.pi / 2), two),
            PlanarBody("wheel", shape=Disc(0.1)),
        ],
        cables=[Cable("rope", [At("left"), Over("wheel", RIGHT, always=True), At("right")])],
        gravity=(0.0, -G),
    )
    a, efforts = mech.acceleration(mech.q0)
    assert a == pytest.approx([G * (one - two) / (one + two), -G * (one - two) / (one + two)])
    assert -efforts[0] == pytest.approx(2.0 * one * two * G / (one + two))
    moment = Simulation(mech).run(0.3)
    assert moment.q[0] == pytest.approx(0.5 * a[0] * 0.09, rel=1e-6)
    assert moment.wrench("rope", "wheel") == pytest.approx(
        [0.0, 4.0 * one * two * G / (one + two) * -1.0, 0.0], abs=1e-9
    )


# Membranes


def skin(**options) -> Mechanism:
    """A skin of 1 m between fixed points and a disc that may touch it."""
    options = {"stiffness": 150.0, **options}
    return Mechanism(
        [PlanarBody("ball", Free(start=(0.5, 0.3, 0.0)), 0.2, 1e-3, shape=Disc(0.1))],
        cables=[Membrane("skin", [At("world"), Over("ball"), At("world", (1.0, 0.0))], **options)],
    )


def test_the_tension_of_a_membrane_follows_hooke_with_preload_and_damping():
    mech = skin(preload=0.05, damping=4.0)
    assert mech.tension([0.5, 0.3, 0.0])[0] == pytest.approx(150.0 * 0.05)
    q = np.array([0.5, -0.1, 0.0])
    stretch = mech.length(q)[0] - 1.0
    assert mech.tension(q)[0] == pytest.approx(150.0 * (stretch + 0.05))
    up = np.array([0.0, 1e-6, 0.0])
    slope = (mech.length(q + up)[0] - mech.length(q - up)[0]) / 2e-6
    assert mech.tension(q, [0.0, -0.2, 0.0])[0] == pytest.approx(150.0 * (stretch + 0.05) - 4.0 * 0.2 * slope)
    fast_release = mech.tension(q, [0.0, 50.0, 0.0])[0]
    assert fast_release == 0.0  # a skin pulls or does nothing
    energy = lambda q: mech.energy(q)[1]
    by_hand = np.array([(energy(q + d) - energy(q - d)) / 2e-6 for d in 1e-6 * np.eye(3)])
    assert mech.forces(q) == pytest.approx(-by_hand, abs=1e-6)


def test_a_membrane_with_a_long_rest_length_starts_slack():
    mech = skin(rest_length=1.1)
    assert mech.tension(mech.q0)[0] == 0.0 and mech.forces([0.5, 0.05, 0.0]) == pytest.approx(np.zeros(3))
    assert mech.tension([0.5, -0.4, 0.0])[0] == pytest.approx(
        150.0 * (mech.length([0.5, -0.4, 0.0])[0] - 1.1)
    )


def test_a_ball_bounces_on_a_skin_and_keeps_its_energy(within):
    """Contact is made and broken many times in ten seconds without loss; no guards are needed."""
    mech = skin(preload=0.02)
    mech = Mechanism(mech.bodies, cables=mech.cables, gravity=(0.0, -G))
    sim = Simulation(mech)
    start, energy, touched, kinetic = sim.energy.total, [], [], []
    for _ in range(500):
        sim.run(0.02)
        energy.append(sim.energy.total - start)
        kinetic.append(sim.energy.kinetic)
        touched.append(sim.moment.contact("skin")["ball"] == "touching")
    assert np.abs(np.diff(np.array(touched, int))).sum() > 10
    within(np.array(energy) / max(kinetic), 1e-3, "energy in 10 s of bouncing")


def test_the_ends_of_a_skin_push_away_what_would_swallow_them():
    """Its energy is that of a stiff spring on the depth.

    Without a bumper the end goes in and the contact is called inside.
    """
    scene = lambda **options: Mechanism(
        [PlanarBody("box", Free(start=(0.99, 0.25, 0.6), damping=0.5), 0.2, 1e-3, shape=regular(4, 0.2))],
        cables=[
            Membrane("skin", [At("world"), Over("box"), At("world", (1.0, 0.0))], 100.0, 2.0, 0.02, **options)
        ],
        gravity=(0.0, -G),
    )
    mech, q = scene(), np.array([0.97, 0.02, 0.3])
    by_hand = np.array([(mech.energy(q + d)[1] - mech.energy(q - d)[1]) / 2e-6 for d in 1e-6 * np.eye(3)])
    assert mech.forces(q) == pytest.approx(-by_hand, rel=1e-5, abs=1e-4)
    assert np.abs(mech.forces(q)).max() > 50.0  # far more than the skin alone
    words = lambda sim: [sim.run(0.02).contact("skin")["box"] for _ in range(30)]
    depth = lambda mech, q: mech.bodies[0].shape.distance(_local(q, (1.0, 0.0)))
    stiff = Simulation(mech)
    words(stiff)
    assert depth(mech, stiff.q) > -0.01
    soft = Simulation(scene(bumper=0.0))
    assert "inside" in words(soft)


def _local(pose, point):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, s], [-s, c]]) @ (np.array(point) - pose[:2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: skin(bumper=-1.0), "bumper"),
        (lambda: skin(stiffness=-1.0), "stiffness"),
        (lambda: skin(damping=-1.0), "damping"),
        (lambda: skin(preload=-0.1), "rest_length"),
        (lambda: skin(preload=0.1, rest_length=0.9), "both"),
        (lambda: skin(friction=-0.1), "friction"),
        (lambda: skin(preload=1.0, friction=0.3), "rest length"),
        (lambda: Cable("c", [At("world")]), "both ends"),
        (lambda: Cable("c", [Over("a"), At("world")]), "both ends"),
        (lambda: Cable("c", [At("world"), At("a")], length=-1.0), "length"),
        (lambda: Over("a", 0), "side"),
    ],
)
def test_bad_input_is_refused_with_a_reason(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_cables_that_do_not_fit_are_refused():
    bob = PlanarBody("bob", Translating(start=(0.6, -0.8)), 0.4)
    with pytest.raises(InputError, match="1 m or more"):
        Mechanism([bob], cables=[Cable("string", [At("world"), At("bob")], length=0.9)])
    with pytest.raises(InputError, match="coincide"):
        Mechanism([bob], cables=[Cable("string", [At("world"), At("world"), At("bob")])])
    with pytest.raises(InputError, match="shape"):
        Mechanism([bob], cables=[Cable("string", [At("world"), Over("bob"), At("world", (1.0, 0.0))])])
    with pytest.raises(InputError, match="bbo"):
        Mechanism([bob], cables=[Cable("string", [At("world"), At("bbo")])])
    crossing = [
        Membrane("one", [At("world", (0.0, 0.0)), At("world", (1.0, 1.0))], 100.0),
        Membrane("two", [At("world", (0.0, 1.0)), At("world", (1.0, 0.0))], 100.0),
    ]
    with pytest.raises(InputError, match="'one' and 'two' cross"):
        Mechanism([bob], cables=crossing)
