"""Creep, relaxation and recovery without inertia, against the closed forms of springs and dashpots."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Rigid
from pliant.dynamics import KelvinVoigt, Maxwell, Prony, Rayleigh, StandardLinear

YOUNG, LENGTH, AREA, TIME, RATIO = 2e5, 0.1, 4e-4, 2.0, 0.6
ZENER = StandardLinear(TIME, RATIO)


@pytest.fixture(scope="module")
def bar() -> pl.Robot:
    """A bar without Poisson's effect, pulled by a plate at its end: one spring E A/L."""
    mesh = pl.mesh.box((LENGTH, 0.02, 0.02), cells=(3, 1, 1), order=1)
    plate = Rigid(mesh.nodes[:, 0] > LENGTH - 1e-9, name="plate")
    law = pl.Hooke(young=YOUNG, poisson=0.0, small_strain=True)
    body = pl.Solid(mesh, law, density=1.0, fixed=mesh.nodes[:, 0] < 1e-9, rigid=[plate])
    pull = pl.Slider(body.region_points("plate")[:1], (1, 0, 0))
    return pl.Robot(body, {"pull": pl.Row(pull, pl.Observed())})


def after(bar, steps, damping, key, state=None):
    """λ and δ after (value, dt) one by one."""
    out = []
    for value, dt in steps:
        laws = {"pull": pl.Known(**{key: value})}
        result = pl.static(bar, laws, state=state, damping=damping, dt=dt)
        state = result.state
        out.append((result.effort["pull"][0], result.displacement["pull"][0]))
    return np.array(out), state


def test_relaxation(bar):
    """A strain that is held: F = k d (1 + ratio e^(−t/time)), whatever the steps."""
    d, times = 0.001, np.array([0.0, 0.5, 3.0, 0.2, 100.0])
    found, state = after(bar, [(d, t) for t in times], ZENER, "displacement")
    expected = YOUNG * AREA / LENGTH * d * (1 + RATIO * np.exp(-np.cumsum(times) / TIME))
    assert np.allclose(found[:, 0], expected, rtol=1e-7)
    assert np.isclose(state.t, times.sum())


def test_a_ramp(bar):
    """At a steady rate: F = k v (t + ratio time (1 − e^(−t/time))), in one step as in ten."""
    v, t = 0.0005, 3.0
    expected = YOUNG * AREA / LENGTH * v * (t + RATIO * TIME * (1 - np.exp(-t / TIME)))
    for n in (1, 10):
        steps = [(v * t * (k + 1) / n, t / n) for k in range(n)]
        found, _ = after(bar, steps, ZENER, "displacement")
        assert np.isclose(found[-1, 0], expected, rtol=1e-7)


def test_creep_and_recovery(bar):
    """Under a load it creeps with (1 + ratio) time, and goes back as it came."""
    F, k, slow = 0.4, YOUNG * AREA / LENGTH, (1 + RATIO) * TIME
    share = lambda t: 1 - RATIO / (1 + RATIO) * np.exp(-t / slow)
    n, h = 16, 0.2
    found, state = after(bar, [(F, 0.0), *[(F, h)] * n], ZENER, "effort")
    t = h * np.arange(n + 1)
    assert np.allclose(found[:, 1], F / k * share(t), rtol=1e-3)
    found, _ = after(bar, [(0.0, 0.0), *[(0.0, h)] * n], ZENER, "effort", state)
    left = share(t[-1] + t) - share(t)
    assert np.allclose(found[:, 1], F / k * left, atol=2e-3 * F / k)


def test_creep_is_of_second_order(bar):
    F, k, slow = 0.4, YOUNG * AREA / LENGTH, (1 + RATIO) * TIME
    exact = F / k * (1 - RATIO / (1 + RATIO) * np.exp(-2.0 / slow))
    error = []
    for n in (2, 4, 8):
        found, _ = after(bar, [(F, 0.0), *[(F, 2.0 / n)] * n], ZENER, "effort")
        error.append(abs(found[-1, 1] - exact))
    assert np.allclose(np.log2(np.divide(error[:-1], error[1:])), 2.0, atol=0.1)


def test_settled_is_statics(bar):
    """After infinite time nothing but the slow modulus is left, whatever was before."""
    _, state = after(bar, [(0.002, 0.0), (-0.001, 0.3)], ZENER, "displacement")
    settled, state = after(bar, [(0.0005, np.inf)], ZENER, "displacement", state)
    plain = pl.static(bar, {"pull": pl.Known(displacement=0.0005)})
    assert np.isclose(settled[0, 0], plain.effort["pull"][0], rtol=1e-9)
    again, _ = after(bar, [(0.0005, 1.0)], ZENER, "displacement", state)
    assert np.isclose(again[0, 0], settled[0, 0], rtol=1e-9)


def test_prony_and_maxwell(bar):
    """Branches add; without a slow modulus the stress fades to nothing."""
    d, k = 0.001, YOUNG * AREA / LENGTH
    found, _ = after(bar, [(d, 0.0), (d, 1.5)], Prony([(0.3, 1.0), (0.5, 10.0)]), "displacement")
    expected = k * d * (1 + 0.3 * np.exp(-1.5) + 0.5 * np.exp(-0.15))
    assert np.isclose(found[-1, 0], expected, rtol=1e-7)
    found, _ = after(bar, [(d, 0.0), (d, 30.0)], Maxwell(1.0), "displacement")
    assert np.isclose(found[-1, 0], k * d * np.exp(-30.0), rtol=1e-4)


def test_a_dashpot_beside_the_spring(bar):
    """It creeps as 1 − e^(−t/time), by Euler's method."""
    F, k, n = 0.4, YOUNG * AREA / LENGTH, 40
    found, _ = after(bar, [(F, 0.05)] * n, KelvinVoigt(1.0), "effort")
    t = 0.05 * np.arange(1, n + 1)
    assert np.allclose(found[:, 1], F / k * (1 - 1.05 ** -np.arange(1, n + 1)), rtol=1e-6)
    assert np.allclose(found[:, 1], F / k * (1 - np.exp(-t)), atol=0.01 * F / k)


def test_large_strain_at_once_and_in_load_steps():
    """The time passes with the loads: more load steps, same end."""
    mesh = pl.mesh.box((LENGTH, 0.01, 0.01), cells=(6, 1, 1), order=1)
    body = pl.Solid(
        mesh, pl.NeoHookean(young=YOUNG, poisson=0.4), density=1000.0, fixed=mesh.nodes[:, 0] < 1e-9
    )
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    options = {"damping": ZENER, "dt": 1.0}
    one = pl.static(robot, **options)
    four = pl.static(robot, load_steps=4, **options)
    assert np.abs(one.q - four.q).max() < 1e-8 * robot.length
    assert np.allclose(one.state.memory, four.state.memory, atol=1e-6 * np.abs(one.state.memory).max())
    sudden, settled = pl.static(robot, damping=ZENER, dt=0.0), pl.static(robot, damping=ZENER, dt=np.inf)
    down = lambda result: float(-(result.positions - robot.positions(robot.rest.q))[:, 2].min())
    assert down(sudden) < down(one) < down(settled)
    assert np.isclose(down(settled), down(pl.static(robot)), rtol=1e-7)


def test_motion_goes_on_from_what_is_remembered(bar):
    """A simulation from a state that has relaxed for a second creeps on as statics does."""
    pull = {"pull": pl.Known(effort=0.4)}
    _, state = after(bar, [(0.4, 0.0), *[(0.4, 0.1)] * 10], ZENER, "effort")
    later, _ = after(bar, [(0.4, 0.1)] * 10, ZENER, "effort", state)
    sim = pl.Simulation(bar, time_step=0.05, damping=ZENER, state=state)
    assert sim.t == state.t
    begun = float(pl.static(bar, pull, state=state, damping=ZENER, dt=0.0).displacement["pull"][0])
    for _ in range(20):
        moment = sim.step(pull)
    crept = later[-1, 1] - begun
    assert np.isclose(moment.displacement["pull"][0] - begun, crept, rtol=0.02)
    assert crept > 0.05 * begun


def test_what_makes_no_sense_is_said(bar):
    law = {"pull": pl.Known(effort=0.1)}
    for options, word in [
        ({"dt": 1.0}, "damping and dt"),
        ({"damping": ZENER}, "damping and dt"),
        ({"damping": Rayleigh(mass=1.0), "dt": 1.0}, "damping and dt"),
        ({"damping": ZENER, "dt": -1.0}, "dt"),
        ({"damping": Maxwell(1.0), "dt": np.inf}, "Maxwell"),
        ({"damping": KelvinVoigt(1.0), "dt": 0.0}, "KelvinVoigt"),
    ]:
        with pytest.raises(pl.PliantError, match=word):
            pl.static(bar, law, **options)
    wrong = bar.rest.with_(memory=np.zeros(3))
    with pytest.raises(pl.PliantError, match="memory"):
        pl.static(bar, law, state=wrong, damping=ZENER, dt=1.0)


def test_the_inverse_model_takes_time_along(bar):
    """Its efforts are those of statics in the same time; held at a target they relax."""
    end = pl.Position(bar.body.region_points("plate")[:1], directions="x")
    robot = pl.Robot(bar.body, {"pull": pl.Row(bar.rows["pull"].interaction, pl.Bounded(effort=(-9, 9)))})
    robot = pl.Robot(bar.body, {**robot.rows, "end": pl.Row(end, pl.Target())})
    control = pl.Inverse(robot, damping=ZENER, dt=0.25)
    state, target, k = None, LENGTH + 0.001, YOUNG * AREA / LENGTH
    for _ in range(12):
        out = control.step({"end": target})
        same = {"pull": pl.Known(displacement=out.displacement["pull"])}
        held = pl.static(robot, same, state=state, damping=ZENER, dt=0.25)
        state = held.state
        assert out.effort["pull"][0] == pytest.approx(held.effort["pull"][0], rel=1e-4, abs=1e-6)
        assert np.allclose(out.state.memory, state.memory, rtol=1e-3, atol=1e-3)
    assert out.state.t == pytest.approx(3.0)
    assert abs(out.error["end"][0]) < 1e-6
    reached = out.effort["pull"][0] - k * 0.001
    for _ in range(4):
        out = control.step()
    fallen = out.effort["pull"][0] - k * 0.001
    assert fallen == pytest.approx(reached * np.exp(-1.0 / TIME), rel=1e-2)
    assert pl.Inverse(robot).step().state.memory.size == 0
    with pytest.raises(pl.InputError, match="viscous material"):
        pl.Inverse(robot, damping=ZENER)
