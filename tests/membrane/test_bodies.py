"""Planar rigid bodies: inertia by Lagrange's equations, closed forms of motion, loops, motors, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.membrane.bodies import At, Motor, Pin, PlanarBody, Spring
from pliant.membrane.joints import Fixed, Free, Prismatic, Revolute, Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.shapes import rotation
from pliant.membrane.simulation import Simulation

G = 9.81


def chain(gravity=(0.0, -G), **joint) -> Mechanism:
    """One joint of every kind in a row."""
    return Mechanism(
        [
            PlanarBody("arm", Revolute(at=(0.1, 0.2), angle=0.3, start=0.4, **joint), 1.0, 0.05, (0.3, 0.02)),
            PlanarBody(
                "rail",
                Prismatic(parent="arm", at=(0.6, 0.0), angle=-0.2, start=0.1, **joint),
                0.4,
                0.01,
                (0.0, 0.1),
            ),
            PlanarBody("bracket", Fixed(parent="rail", at=(0.05, 0.1), angle=0.5), 0.2, 0.002, (0.02, 0.0)),
            PlanarBody(
                "plate", Translating(parent="bracket", start=(0.1, -0.1), **joint), 0.3, 0.004, (0.01, 0.03)
            ),
            PlanarBody(
                "kite",
                Free(parent="plate", at=(0.0, 0.1), start=(0.2, 0.1, -0.7), **joint),
                0.5,
                0.02,
                (0.05, 0.04),
            ),
        ],
        gravity=gravity,
    )


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_inertia_follows_lagrange(seed):
    """M v̇ + c = d/dt ∂T/∂v − ∂T/∂q, by finite differences of the kinetic energy of the centres of mass."""
    mech, rng, e = chain(), np.random.default_rng(seed), 1e-5
    n = mech.ndof
    q, v, a = (rng.normal(size=n) for _ in range(3))

    def kinetic(q, v):
        one, two = mech.poses(q + 1e-6 * v), mech.poses(q - 1e-6 * v)
        total = 0.0
        for body, p, m in zip(mech.bodies, one, two, strict=True):
            c = np.array(body.centre)
            speed = (p[:2] + rotation(p[2]) @ c - m[:2] - rotation(m[2]) @ c) / 2e-6
            total += 0.5 * body.mass * speed @ speed + 0.5 * body.inertia * ((p[2] - m[2]) / 2e-6) ** 2
        return total

    M = mech.mass(q)
    assert kinetic(q, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-7)
    momentum = lambda q, v: mech.mass(q) @ v
    rate = (momentum(q + e * v, v + e * a) - momentum(q - e * v, v - e * a)) / (2 * e)
    energy = lambda q: 0.5 * v @ mech.mass(q) @ v
    slope = np.array([(energy(q + d) - energy(q - d)) / (2 * e) for d in e * np.eye(n)])
    assert M @ a + mech.gyroscopic(q, v) == pytest.approx(rate - slope, rel=1e-6, abs=1e-6)


def test_weight_is_the_slope_of_its_energy():
    mech, e = chain(gravity=(1.0, -G)), 1e-6
    q = mech.q0 + 0.1
    energy = lambda q: mech.energy(q)[1]
    slope = np.array([(energy(q + d) - energy(q - d)) / (2 * e) for d in e * np.eye(mech.ndof)])
    assert mech.forces(q) == pytest.approx(-slope, abs=1e-7)


def test_springs_and_dashpots_pull_as_their_energy_says():
    e = 1e-6
    mech = Mechanism(
        chain().bodies,
        springs=[
            Spring(At("world", (1.0, 1.0)), At("kite", (0.1, 0.0)), 30.0, 0.2, 2.0),
            Spring(At("arm", (0.2, 0.1)), At("plate"), 12.0),
        ],
    )
    q, v = mech.q0 + 0.05, 0.3 * np.ones(mech.ndof)
    slope = np.array(
        [(mech.energy(q + d)[1] - mech.energy(q - d)[1]) / (2 * e) for d in e * np.eye(mech.ndof)]
    )
    assert mech.forces(q) == pytest.approx(-slope, abs=1e-6)
    loss = (mech.forces(q, v) - mech.forces(q)) @ v
    length = lambda q: np.linalg.norm(mech.place(q, At("kite", (0.1, 0.0))) - (1.0, 1.0))
    rate = (length(q + e * v) - length(q - e * v)) / (2 * e)
    assert loss == pytest.approx(-2.0 * rate**2, rel=1e-6)
    assert mech.forces(mech.q0)[0] == pytest.approx(
        Mechanism(
            chain().bodies, springs=[Spring(At("world", (1.0, 1.0)), At("kite", (0.1, 0.0)), 30.0, 0.2)]
        ).forces(mech.q0)[0]
    )


def test_a_pendulum_keeps_its_period():
    """Small swings: 2π √(I/mgl); and its energy over ten seconds."""
    m, l, turn = 0.7, 0.4, 0.02
    mech = Mechanism(
        [PlanarBody("bob", Revolute(angle=-np.pi / 2, start=0.01), m, turn, (l, 0.0))], gravity=(0.0, -G)
    )
    sim = Simulation(mech, time_step=2e-3)
    period = 2.0 * np.pi * np.sqrt((turn + m * l * l) / (m * G * l))
    start = sim.energy.total
    for _ in range(5):
        sim.run(2.0)
        assert sim.q[0] == pytest.approx(0.01 * np.cos(2.0 * np.pi * sim.t / period), abs=3e-5)
    assert sim.energy.total == pytest.approx(start, abs=1e-3 * m * G * l * 0.01**2 / 2)


def test_an_undamped_double_pendulum_keeps_its_energy(within):
    """Within 0.1 % over ten seconds of tumbling, measured against the energy it exchanges."""
    mech = Mechanism(
        [
            PlanarBody("one", Revolute(start=1.2), 1.0, 0.05, (0.3, 0.0)),
            PlanarBody("two", Revolute(parent="one", at=(0.6, 0.0), start=0.7), 0.5, 0.02, (0.25, 0.0)),
        ],
        gravity=(0.0, -G),
    )
    sim = Simulation(mech)
    start, energy, kinetic = sim.energy.total, [], []
    for _ in range(100):
        sim.run(0.1)
        energy.append(sim.energy.total)
        kinetic.append(sim.energy.kinetic)
    within((np.array(energy) - start) / max(kinetic), 1e-3, "energy drift")


def four_bar() -> Mechanism:
    return Mechanism(
        [
            PlanarBody("crank", Revolute(start=1.0), 0.5, 0.01, (0.1, 0.0)),
            PlanarBody("rocker", Revolute(at=(0.5, 0.0), start=1.6), 0.8, 0.03, (0.2, 0.0)),
            PlanarBody("rod", Revolute(parent="crank", at=(0.2, 0.0), start=-0.7), 0.6, 0.02, (0.2, 0.0)),
        ],
        pins=[Pin(At("rod", (0.45, 0.0)), At("rocker", (0.4, 0.0)))],
        gravity=(0.0, -G),
    )


def test_a_closed_loop_stays_closed(within):
    """A four-bar linkage that turns for a minute; the loop is assembled by the first step."""
    mech = four_bar()
    from scipy.optimize import least_squares

    gap = lambda q: mech.cable_rows(q)[0]
    q = least_squares(gap, mech.q0, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    sim = Simulation(mech, q=q, time_step=2e-3)
    start, worst, drift = sim.energy.total, 0.0, 0.0
    for _ in range(60):
        sim.run(1.0)
        worst, drift = max(worst, sim.violation), max(drift, abs(sim.energy.total - start))
    within(worst, 1e-6 * 0.5, "loop opening in 60 s [m]")
    within(drift, 0.01, "energy in 60 s [J]")


def test_rows_of_a_loop_have_their_derivatives():
    mech, e, rng = four_bar(), 1e-6, np.random.default_rng(1)
    q, v = mech.q0 + 0.1 * rng.normal(size=3), rng.normal(size=3)
    _, J, bias = mech.cable_rows(q, v)
    value = lambda q: mech.cable_rows(q)[0]
    rate = (mech.cable_rows(q + e * v)[1] @ v - mech.cable_rows(q - e * v)[1] @ v) / (2 * e)
    assert (value(q + e * v) - value(q - e * v)) / (2 * e) == pytest.approx(J @ v, abs=1e-8)
    assert bias == pytest.approx(rate, abs=1e-7)


def test_a_motor_holds_and_gives_way_at_its_limit():
    body = PlanarBody("arm", Revolute(), 1.0, 0.1, (0.5, 0.0))
    held = Mechanism([body], motors=[Motor("arm", 400.0, 20.0)], gravity=(0.0, -G))
    sim = Simulation(held)
    sim.run(6.0, {"arm": 0.2})
    sag = sim.drive.target[0] - sim.q[0]
    assert 400.0 * sag == pytest.approx(0.5 * G * np.cos(sim.q[0]), rel=1e-6)  # 1 kg at 0.5 m
    weak = Mechanism([body], motors=[Motor("arm", 400.0, 20.0, limit=2.0)], gravity=(0.0, -G))
    sim = Simulation(weak)
    first = sim.mechanism.acceleration(sim.q, drive=sim.mechanism.drive({"arm": 0.5}))[0]
    assert first[0] == pytest.approx((2.0 - 0.5 * G) / (0.1 + 0.25), rel=1e-12)


def test_a_free_body_flies_as_thrown():
    mech = Mechanism([PlanarBody("ball", Free(start=(0.0, 1.0, 0.0)), 0.3, 0.01)], gravity=(0.0, -G))
    sim = Simulation(mech, v=[2.0, 3.0, 5.0])
    sim.run(0.5)
    assert sim.q == pytest.approx([1.0, 1.0 + 1.5 - G / 8, 2.5], abs=1e-9)
    sim.run(0.1, wrenches={"ball": (0.0, 0.3 * G, 0.02)})
    assert sim.v == pytest.approx([2.0, 3.0 - 0.5 * G, 5.2], abs=1e-9)


def test_a_mechanism_has_the_surface_of_a_body():
    mech = chain()
    assert mech.ndof == 7 == len(mech.q0) == len(mech.coordinates)
    assert mech.coordinates[0] == "arm angle" and mech.coordinate("rail") == 1
    assert mech.positions(mech.q0).shape == (5, 3) and np.all(mech.positions(mech.q0)[:, 2] == 0.0)
    assert mech.retract(mech.q0, np.ones(7)) == pytest.approx(mech.q0 + 1.0)
    K, C = Mechanism(chain(stiffness=3.0, damping=0.2).bodies).tangent(mech.q0)
    assert np.allclose(K, 3.0 * np.eye(7)) and np.allclose(C, 0.2 * np.eye(7))


def test_the_rule_is_of_second_order():
    def end(h):
        sim = Simulation(chain(), time_step=h)
        sim.run(0.32)
        return sim.q

    fine = end(2.5e-4)
    errors = [np.abs(end(h) - fine).max() for h in (8e-3, 4e-3)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PlanarBody("a", Revolute(), mass=-1.0), "mass"),
        (lambda: PlanarBody("world", Revolute(), mass=1.0), "name"),
        (lambda: Revolute(stiffness=-1.0), "stiffness"),
        (lambda: Translating(start=(1.0, 2.0, 3.0)), "one finite number or 2"),
        (lambda: Motor("a", -1.0, 0.0), "stiffness"),
        (lambda: Spring(At("a"), At("b"), -3.0), "stiffness"),
        (lambda: Mechanism([]), "one or more"),
        (lambda: Mechanism([PlanarBody("a", Revolute(parent="b"), 1.0, 1.0)]), "parent"),
        (
            lambda: Mechanism(
                [PlanarBody("a", Revolute(parent="b"), 1, 1), PlanarBody("b", Revolute(parent="a"), 1, 1)]
            ),
            "circle",
        ),
        (lambda: Mechanism([PlanarBody("a", Revolute(), 1.0, 1.0)] * 2), "of its own"),
        (lambda: Mechanism([PlanarBody("a", Free(), 1.0, 0.0)]), "inertia in every"),
        (lambda: Mechanism([PlanarBody("a", Revolute(), 1.0, 1.0)], motors=[Motor("c", 1.0, 1.0)]), "motor"),
        (
            lambda: Mechanism(
                [PlanarBody("a", Revolute(), 1.0, 1.0)], motors=[Motor("a", 1.0, 1.0, coordinate=1)]
            ),
            "coordinate",
        ),
        (lambda: Mechanism([PlanarBody("a", Revolute(), 1.0, 1.0)]).mass([np.nan]), "finite"),
        (lambda: Simulation(chain(), time_step=0.0), "time_step"),
        (lambda: Simulation(chain()).step({"tail": 1.0}), "coordinate"),
    ],
)
def test_bad_input_is_refused_with_a_reason(make, words):
    with pytest.raises(InputError, match=words):
        make()
