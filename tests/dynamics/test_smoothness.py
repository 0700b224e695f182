"""The default scheme: of second order where motion is smooth, Euler's where it is not, and it says which."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Prismatic, Rigid
from pliant.contact import Plane
from pliant.dynamics import KelvinVoigt, Rayleigh, Simulation, smoothness

DOWN = (0.0, 0.0, -9.81)
MASS, STIFFNESS = 0.008, 2.0  # [kg], [N/m] of the oscillator
OMEGA = np.sqrt(STIFFNESS / MASS)


def oscillator(**rows) -> pl.Robot:
    """A rigid slider of 8 g on a spring of 2 N/m, which "push" acts on."""
    mesh = pl.mesh.box((0.02, 0.02, 0.02), cells=(1, 1, 1), kind="hex")
    region = Rigid(lambda x: x[:, 0] > -1, "all", joint=Prismatic((1, 0, 0)))
    body = pl.Solid(mesh, pl.Hooke(3e5, 0.3), density=1000, rigid=region)
    along = pl.Slider(body.region_points("all"), direction=(1, 0, 0))
    return pl.Robot(body, {"x": pl.Row(along, pl.Elastic(STIFFNESS)), "push": pl.Row(along)})


def thrown(robot: pl.Robot, speed: float) -> pl.State:
    return robot.rest.with_(v=np.array([0, 0, speed, 0, 0, 0]))


def beam(**options) -> pl.Solid:
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1), kind="hex")
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    return pl.Solid(mesh, pl.Hooke(3e5, 0.3), density=1100, fixed=clamp, **options)


def cube(height: float, law=None) -> pl.Solid:
    mesh = pl.mesh.box((0.02,) * 3, cells=(2, 2, 2), kind="hex").transformed(translation=(0, 0, height))
    return pl.Solid(mesh, law or pl.Hooke(1e5, 0.3), density=1000)


# Accuracy


def test_damping_is_that_of_the_robot(within):
    """ζ = 0.05 at a hundred steps a period: by how much maxima fall, from the energy of four periods."""
    zeta, robot = 0.05, oscillator()
    sim = Simulation(
        robot,
        time_step=2 * np.pi / OMEGA / 100,
        damping=Rayleigh(mass=2 * zeta * OMEGA),
        state=thrown(robot, 0.1),
    )
    energy = []
    for _ in range(401):
        x = sim.step().displacement["x"][0]
        energy.append(sim.energy.kinetic + 0.5 * STIFFNESS * x * x)
    found = np.log(energy[0] / energy[400]) / (2 * OMEGA * 400 * sim.time_step)
    within(found / zeta - 1, 0.01, "damping ratio")


def pushed(steps: int, uneven: float = 0.0) -> float:
    """x of the oscillator after 0.6 s, pushed by 1 N from 0.2 s and by none from 0.4 s on."""
    robot = oscillator()
    sim, h = Simulation(robot, state=thrown(robot, 0.05)), 0.6 / steps
    for k in range(steps):
        sim.time_step = h * (1.0 + (uneven if k % 2 else -uneven))
        force = 0.02 if steps // 3 <= k < 2 * steps // 3 else 0.0
        moment = sim.step({"push": pl.Known(effort=force)})
    return moment.displacement["x"][0]


def exact() -> float:
    """The same in closed form."""
    x, v, w = 0.0, 0.05, OMEGA
    for force in (0.0, 0.02, 0.0):
        rest, t = force / STIFFNESS, 0.2
        x, v = (
            rest + (x - rest) * np.cos(w * t) + v / w * np.sin(w * t),
            v * np.cos(w * t) - (x - rest) * w * np.sin(w * t),
        )
    return x


@pytest.mark.parametrize("uneven", [0.0, 0.3])
def test_second_order_through_commands_that_jump_and_steps_that_change(uneven):
    errors = [abs(pushed(n, uneven) - exact()) for n in (120, 240, 480)]
    assert np.log2(errors[0] / errors[1]) > 1.7 and np.log2(errors[1] / errors[2]) > 1.7


def test_the_parabola_of_a_fall_is_exact_from_the_first_step_on():
    body = cube(0.0)
    sim = Simulation(pl.Robot(body, gravity=DOWN), time_step=0.01)
    for n in range(1, 6):
        fallen = sim.step().positions[:, 2] - body.mesh.nodes[:, 2]
        np.testing.assert_allclose(fallen, -0.5 * 9.81 * (0.01 * n) ** 2, rtol=1e-9)


# What takes its place, and why


def test_a_motion_without_breaks_is_of_second_order_throughout():
    sim = Simulation(pl.Robot(beam(), gravity=DOWN), time_step=2e-3)
    first, *rest = [sim.step().certificate for _ in range(20)]
    assert (first.scheme, first.fallback, first.iterations) == ("two stages", smoothness.START, 2)
    assert {(c.scheme, c.fallback, c.iterations) for c in rest} == {("bdf2", "", 1)}
    assert "two stages" in str(first) and smoothness.START in str(first)


def test_commands_that_jump_are_named():
    """One that jumps once begins a new smooth motion, one that jumps again and again is taken by Euler."""
    sim = Simulation(oscillator(), time_step=5e-3)
    asked = [0.0] * 3 + [0.02] * 3 + [0.02 + 1e-4 * k for k in range(5)] + [-0.03, 0.04, -0.05]
    steps = [sim.step({"push": pl.Known(effort=e)}).certificate for e in asked]
    by = lambda name: {k: c.fallback for k, c in enumerate(steps) if c.scheme == name}
    assert by("two stages") == {0: smoothness.START, 3: smoothness.COMMAND, 11: smoothness.COMMAND}
    assert by("euler") == {12: smoothness.JERK, 13: smoothness.JERK}


def test_steps_that_grow_start_afresh():
    sim = Simulation(pl.Robot(beam(), gravity=DOWN), time_step=1e-3)
    for _ in range(3):
        sim.step()
    sim.time_step = 1.9e-3
    assert sim.step().certificate.scheme == "bdf2"
    sim.time_step = 8e-3
    assert sim.step().certificate.fallback == smoothness.GROWN


@pytest.mark.parametrize("damping", [None, KelvinVoigt(1e-3)])
def test_a_cube_that_bounces_never_gains_energy(damping):
    """Dropped on a floor: flight is of second order, the blow Euler's, and the next flight lower."""
    floor, body = Plane((0, 0, 0), (0, 0, 1)), cube(0.02, pl.Hooke(2e4, 0.3))
    sim = Simulation(pl.Robot(body, gravity=DOWN), [floor], time_step=1e-3, damping=damping)
    energy, schemes, deepest = [sim.energy.total], set(), 0.0
    for _ in range(250):
        moment = sim.step()
        energy.append(sim.energy.total)
        schemes.add((moment.certificate.scheme, moment.certificate.fallback))
        deepest = min(deepest, moment.positions[:, 2].min())
    size = 9.81 * 0.008 * 0.02
    assert max(energy) < energy[0] + 1e-6 * size and np.diff(energy).max() < 1e-3 * size
    assert energy[-1] < energy[0] - 0.05 * size and deepest > -1e-9
    assert {("bdf2", ""), ("euler", smoothness.CONTACT), ("two stages", smoothness.START)} <= schemes


def test_a_run_is_taken_up_again_exactly():
    """From any state that was kept: in flight, at the blow, after a jump, with steps of other lengths."""
    floor, robot = Plane((0, 0, 0), (0, 0, 1)), pl.Robot(cube(2e-3), gravity=DOWN)
    make = lambda **options: Simulation(robot, [floor], damping=KelvinVoigt(1e-3), **options)
    lengths = [1e-3] * 10 + [1.5e-3] * 10 + [4e-3] * 5

    def onwards(sim: Simulation, lengths: list[float]) -> list[pl.State]:
        states = []
        for h in lengths:
            sim.time_step = h
            sim.step()
            states.append(sim.state)
        return states

    states = onwards(make(), lengths)
    for k in (0, 5, 12, 19, 21):
        again = onwards(make(state=states[k]), lengths[k + 1 :])
        np.testing.assert_array_equal(again[-1].q, states[-1].q)
        np.testing.assert_array_equal(again[-1].v, states[-1].v)
