"""Friction between skin and object: the capstan's ratio, what a grip can hold, rolling, no friction."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.membrane.bodies import At, Motor, PlanarBody
from pliant.membrane.cable import Membrane, Over
from pliant.membrane.joints import Free, Prismatic
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.moment import PlanarMoment
from pliant.membrane.shapes import Disc, Polygon, Shape, regular
from pliant.membrane.simulation import Simulation
from pliant.membrane.wrapping import LEFT, RIGHT

RADIUS = 0.1


def capstan(mu: float, shape: Shape, turn: float) -> Simulation:
    """A band over a fixed shape: its start is fixed, its end on a carriage that pulls it straight off."""
    up, down = np.array([np.cos(turn / 2), np.sin(turn / 2)]), np.array([np.cos(turn / 2), -np.sin(turn / 2)])
    start = RADIUS * np.array([-up[1], up[0]]) - 0.6 * up
    end = RADIUS * np.array([-down[1], down[0]]) + 0.6 * down
    bodies = [
        PlanarBody("wheel", shape=shape),
        PlanarBody("carriage", Prismatic(at=tuple(end), angle=-turn / 2), 0.5),
    ]
    path = [At("world", tuple(start)), Over("wheel", RIGHT), At("carriage")]
    rest = 1.199 + RADIUS * turn
    band = Membrane("band", path, 50.0, rest_length=rest, friction=mu, damping=2.0)
    return Simulation(
        Mechanism(bodies, cables=[band], motors=[Motor("carriage", 1e5, 3000.0)]), time_step=5e-3
    )


def tensions(moment: PlanarMoment) -> tuple[float, float]:
    """At the start and at the end of the band [N]."""
    pull = moment._work.pull
    return float(np.hypot(*pull[0, :2])), float(np.hypot(*pull[2, :2]))


def ramp(sim: Simulation, target: float) -> PlanarMoment:
    """Drive the carriage slowly."""
    here = sim.drive.target[0]
    for x in np.linspace(here, target, 101)[1:]:
        sim.run(0.02, {"carriage": x})
    return sim.run(0.5)


@pytest.mark.parametrize(("mu", "turn"), [(0.1, 1.0), (0.1, np.pi), (0.4, 2.0), (0.4, np.pi), (1.0, 1.5)])
def test_a_band_that_slips_has_the_ratio_of_the_capstan(mu, turn):
    """T₂/T₁ = exp(μφ) when pulled one way, its inverse when let back far enough."""
    sim = capstan(mu, Disc(RADIUS), turn)
    one, two = tensions(ramp(sim, 0.4))
    assert two / one == pytest.approx(np.exp(mu * turn), rel=1e-4)
    one, two = tensions(ramp(sim, 0.03))
    assert two / one == pytest.approx(np.exp(-mu * turn), rel=1e-4)


def test_a_band_that_sticks_stretches_on_one_side_only():
    sim = capstan(5.0, Disc(RADIUS), np.pi)
    before = tensions(sim.moment)
    after = tensions(ramp(sim, 0.05))
    assert after[0] == pytest.approx(before[0], rel=1e-5)
    half = 0.5 * (1.199 + RADIUS * np.pi)  # rest length of the piece that is pulled
    assert after[1] - before[1] == pytest.approx(50.0 * 2.0 * half / half * sim.q[0], rel=1e-6)


def test_many_corners_slip_like_a_disc():
    """A polygon turns the band by the same angle.

    Coulomb's law at each corner alone gives the exponential as corners grow finer.
    """
    for sides in (6, 12):
        turn = 2.0
        sim = capstan(0.3, regular(sides, RADIUS / np.cos(np.pi / sides)), turn)
        one, two = tensions(ramp(sim, 0.4))
        total = sim.state.memory.turn[1]
        assert two / one == pytest.approx(np.exp(0.3 * total), rel=1e-4)
    corner = lambda n: ((1 + 0.3 * np.tan(1.0 / n)) / (1 - 0.3 * np.tan(1.0 / n))) ** n  # n corners, 2/n each
    errors = [abs(corner(n) - np.exp(0.6)) for n in (8, 16)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def pinched(mu: float, *, preload=0.1, turns=True) -> Simulation:
    """A disc between two skins that reach over it from above and below; the ends are fixed."""
    ball = PlanarBody("ball", Free(damping=(2.0, 2.0, 0.02)), 0.2, 1e-3, shape=Disc(RADIUS))
    skin = lambda name, y, side: Membrane(
        name,
        [At("world", (-0.5, y)), Over("ball", side), At("world", (0.5, y))],
        200.0,
        0.5,
        preload,
        friction=mu,
    )
    return Simulation(
        Mechanism([ball], cables=[skin("low", -0.05, LEFT), skin("high", 0.05, RIGHT)]), time_step=2e-3
    )


def limit(sim: Simulation, mu: float) -> float:
    """The torque at which both skins slip everywhere [N·m]: r Σ (T₂ − T₁), their mean that without torque."""
    moment = sim.moment
    turn = sim.state.memory.turn[1]
    mean = 0.5 * (moment.tension["low"] + moment.tension["high"])
    return 2.0 * RADIUS * 2.0 * mean * np.tanh(0.5 * mu * turn)


def test_a_grip_with_friction_holds_a_torque_up_to_the_capstans_limit():
    mu = 0.5
    sim = pinched(mu)
    sim.run(1.0)
    most = limit(sim, mu)
    sim.run(3.0, wrenches={"ball": (0.0, 0.0, 0.9 * most)})
    held = sim.q[2]
    sim.run(3.0)
    assert sim.q[2] == pytest.approx(held, abs=1e-6) and 0.0 < held < 0.5  # it has turned a little and rests
    wrench = sum(sim.moment.wrench(name, "ball") for name in ("low", "high"))
    assert wrench == pytest.approx([0.0, 0.0, -0.9 * most], abs=1e-6)
    sim.run(3.0, wrenches={"ball": (0.0, 0.0, 1.2 * most)})
    assert sim.v[2] > 1.0  # it spins


def test_without_friction_any_torque_spins_the_object():
    sim = pinched(0.0)
    sim.run(2.0, wrenches={"ball": (0.0, 0.0, 1e-3)})
    assert sim.v[2] == pytest.approx(1e-3 / 0.02, rel=1e-6)  # as fast as its bearing lets it
    assert sum(sim.moment.wrench(n, "ball")[2] for n in ("low", "high")) == pytest.approx(0.0, abs=1e-12)


def test_little_friction_is_like_none():
    """μ → 0 gives the motion of the frictionless skin, a spring of the same stiffness."""
    ends = []
    for mu in (0.0, 1e-9):
        sim = pinched(mu)
        sim.run(1.0, wrenches={"ball": (0.8, 1.5, 0.0)})
        ends.append(np.array([*sim.q[:2], *sim.moment.tension.values()]))
    assert ends[1] == pytest.approx(ends[0], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("shape", [Disc(RADIUS), Polygon(regular(8, 0.08).corners, radius=0.03)])
def test_an_object_rolls_between_skins_that_move_apart(shape):
    """One skin is shifted along itself, the other is fixed: with friction the object rolls between them."""
    ball = PlanarBody("ball", Free(damping=(2.0, 2.0, 0.02)), 0.2, 1e-3, shape=shape)
    rail = PlanarBody("rail", Prismatic(at=(0.0, 0.08)), 0.5)
    low = Membrane(
        "low",
        [At("world", (-0.6, -0.08)), Over("ball", LEFT), At("world", (0.6, -0.08))],
        400.0,
        1.0,
        0.3,
        friction=1.5,
    )
    high = Membrane(
        "high",
        [At("rail", (-0.6, 0.0)), Over("ball", RIGHT), At("rail", (0.6, 0.0))],
        400.0,
        1.0,
        0.3,
        friction=1.5,
    )
    sim = Simulation(
        Mechanism([ball, rail], cables=[low, high], motors=[Motor("rail", 1e4, 200.0)]), time_step=2e-3
    )
    sim.run(0.5)
    for x in np.linspace(0.0, 0.2, 101)[1:]:
        sim.run(0.02, {"rail": x})
    sim.run(1.0)
    x, angle = sim.q[0], sim.q[2]
    assert x == pytest.approx(0.1, abs=0.01)  # half as far as the skin above
    # Rolled off on the lower skin, with some creep of the stretched bands.
    assert -angle * 0.1 == pytest.approx(0.1, rel=0.2)
    for x in np.linspace(0.2, 0.0, 101)[1:]:
        sim.run(0.02, {"rail": x})
    sim.run(1.0)
    assert sim.q[0] == pytest.approx(0.0, abs=0.01)


def test_an_impulse_of_the_hand_is_not_made_by_friction():
    """Nothing outside acts: forces of the bands on the object and on their ends are equal and opposite."""
    sim = pinched(0.7)
    sim.run(0.3, wrenches={"ball": (1.0, 0.5, 0.05)})
    pull = sim.moment._work.pull
    for own in (slice(0, 3), slice(3, 6)):
        assert pull[own, :2].sum(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_material_is_kept():
    sim = pinched(0.6)
    rest = [c.preload for c in sim.mechanism.cables]
    sim.run(2.0, wrenches={"ball": (3.0, 2.0, 0.3)})
    kept = sim.state.memory.rest
    assert [kept[:3].sum(), kept[3:].sum()] == pytest.approx([1.0 - r for r in rest], abs=1e-12)


@pytest.mark.parametrize("shape", [Disc(RADIUS), regular(6, RADIUS)])
def test_friction_only_takes_energy(shape):
    """A spinning, moving object without damping: time steps add little beside what slipping takes."""
    ball = PlanarBody("ball", Free(), 0.2, 1e-3, shape=shape)
    skin = lambda name, y, side: Membrane(
        name,
        [At("world", (-0.5, y)), Over("ball", side), At("world", (0.5, y))],
        200.0,
        preload=0.1,
        friction=0.3,
    )
    mech = Mechanism([ball], cables=[skin("low", -0.05, LEFT), skin("high", 0.05, RIGHT)])
    sim = Simulation(mech, v=[0.8, 0.3, 20.0])
    energy = [sim.energy.total]
    for _ in range(100):
        sim.run(0.02)
        energy.append(sim.energy.total)
    gained = np.diff(energy)
    assert energy[0] - energy[-1] > 0.2
    assert gained[gained > 0.0].sum() < 1e-5
