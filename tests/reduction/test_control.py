"""Observer and damper on reduced linear dynamics, and robots on reduced bodies in motion and in contact."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InputError
from pliant.reduction.campaign import collect
from pliant.reduction.controller import Damper
from pliant.reduction.linear_dynamics import linear_dynamics
from pliant.reduction.modal import mass_matrix, modal
from pliant.reduction.model import reduced_model
from pliant.reduction.observer import Observer
from pliant.reduction.plans import Plan
from pliant.reduction.reduce import reduce
from tests.core.test_models import DOWN, bar, cables

STEP = 0.005
WEAK = pl.dynamics.Rayleigh(mass=0.5, stiffness=1e-4)
TENSE = {"top": pl.Known(effort=0.5), "bottom": pl.Known(effort=0.5)}


@cache
def robot() -> pl.Robot:
    """A strip with a cable on either side of its weak way: they rule its slowest vibration."""
    mesh = pl.mesh.box((0.1, 0.03, 0.015), cells=(10, 1, 1), kind="hex")
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.4), density=1000.0, fixed=mesh.nodes[:, 0] < 1e-9)
    line = lambda z: pl.Cable(body.points([[x, 0.015, z] for x in np.linspace(0.0, 0.1, 5)]))
    rows = {
        name: pl.Row(line(z), pl.Bounded(effort=(0, 40))) for name, z in (("top", 0.014), ("bottom", 0.001))
    }
    rows["tip"] = pl.Row(pl.Position(body.points([[0.1, 0.015, 0.0075]])), pl.Target())
    return pl.Robot(body, rows, name="strip")


@cache
def small() -> pl.Robot:
    """The strip in vibrations about its pretensed state and their derivatives."""
    return reduce(robot(), modal(robot(), pl.static(robot(), TENSE).state, modes=6, derivatives=True))


def model(on: pl.Robot, modes: int = 6):
    return linear_dynamics(on, pl.static(on, TENSE).state, modes=modes, damping=WEAK)


# Linear dynamics


def test_a_reduced_robot_has_the_dynamics_of_the_full_one():
    """Frequencies, gains and readings as from all coordinates; the static gain C/ω² B + D is W exactly."""
    full, lean = model(robot()), model(small())
    np.testing.assert_allclose(lean.frequency, full.frequency, rtol=1e-3)
    np.testing.assert_allclose(np.abs(lean.B[0]), np.abs(full.B[0]), rtol=1e-3)
    for m, on in ((full, robot()), (lean, small())):
        W = pl.compliance(on, pl.static(on, TENSE).state).matrix[2:, :2]
        np.testing.assert_allclose(
            m.C @ (m.B / m.frequency[:, None] ** 2) + m.D, W, atol=1e-9 * np.abs(W).max()
        )


def test_discrete_steps_are_exact():
    """Against a closed form: one vibration from η = 1 at rest, after n steps."""
    m = model(robot(), modes=1)
    A, _, C = m.discrete(STEP)
    w, z = m.frequency[0], m.ratio[0]
    wd, t = w * np.sqrt(1 - z * z), 40 * STEP
    exact = np.exp(-z * w * t) * (np.cos(wd * t) + z * w / wd * np.sin(wd * t))
    assert (np.linalg.matrix_power(A, 40) @ [1.0, 0.0])[0] == pytest.approx(exact, abs=1e-10)
    assert C.shape == (3, 2)
    with pytest.raises(InputError):
        m.discrete(0.0)


# Observer


def test_the_observer_finds_what_it_does_not_measure():
    """Amplitudes and speeds of vibrations from positions of the tip alone, started wrong."""
    m = model(robot(), modes=3)
    observer = Observer(m, time_step=STEP, noise=1e-5)
    A, B, C = m.discrete(STEP)
    x = np.concatenate([[1e-3, 5e-4] / np.abs(m.C[:, :2]).max(axis=0), np.zeros(4)])
    start = np.linalg.norm(x)
    for k in range(600):
        u = 0.05 * np.sin(0.1 * k) * np.ones(2)
        x = A @ x + B @ u
        found = observer.update(m.reading + C @ x + m.D @ u, m.effort + u)
    assert np.linalg.norm(found - x) < 1e-3 * start
    with pytest.raises(InputError, match="reading"):
        observer.update([np.nan, 0, 0], m.effort)


# Damper


def test_the_loop_is_stable_with_vibrations_that_it_does_not_know():
    """A controller of six vibrations on a plant of twenty damps the first ten times better, excites none."""
    m, plant = model(small()), model(robot(), modes=20)
    damper = Damper(m, time_step=STEP)
    frequency, ratio = damper.damping(plant)
    assert (ratio > 0).all()
    near = np.abs(frequency / m.frequency[0] - 1.0) < 0.2
    assert ratio[near].min() > 10.0 * m.ratio[0]


def test_the_damper_damps_the_full_nonlinear_robot(within):
    """The damping ratio of a kick along the first vibration, tip measured, by the decay of its energy."""
    result, m = pl.static(robot(), TENSE), model(small())
    own = model(robot(), modes=1)
    phi, w = own.shapes[:, 0], own.frequency[0]
    M = mass_matrix(robot(), result.q, robot().body.free)
    ratios = []
    for damper in (None, Damper(m, time_step=STEP)):
        kick = 0.004 * w * phi / np.abs(phi).max()
        sim = pl.Simulation(
            robot(), time_step=STEP, scheme="midpoint", damping=WEAK, state=result.state.with_(v=kick)
        )
        reading, energy = result.displacement["tip"], []
        for _ in range(60):
            moment = sim.step(TENSE if damper is None else damper.step(reading))
            reading = moment.displacement["tip"]
            moved = (moment.q - result.q)[robot().body.coordinates.moving]
            energy.append((phi @ (M @ sim.state.v)) ** 2 + (w * (phi @ (M @ moved))) ** 2)
        ratios.append(-np.polyfit(STEP * np.arange(60), np.log(energy), 1)[0] / (2.0 * w))
    within(ratios[0] - own.ratio[0], 0.005, "damping ratio in open loop")
    assert ratios[1] > 0.08
    assert ratios[1] > 5.0 * ratios[0]


def test_the_damper_keeps_cables_taut():
    damper = Damper(model(small()), time_step=STEP)
    laws = damper.step(damper.model.reading + 0.05)
    assert all(float(law.effort) >= 0.0 for law in laws.values())
    with pytest.raises(InputError, match="price"):
        Damper(damper.model, time_step=STEP, price=-1.0)
    with pytest.raises(InputError, match="observer"):
        Damper(damper.model, time_step=0.01, observer=damper.observer)


# Robots on reduced bodies


@cache
def bendable() -> tuple[pl.Robot, pl.Robot]:
    """A bar with a ball beside it and its reduced twin, which bends as far as modal derivatives say."""
    ball = pl.Sphere((0.08, 0.01, 0.045), 0.02, name="ball")
    body = bar(cells=(10, 2, 2))
    plain = cables(body, gravity=DOWN)
    full = pl.Robot(
        body,
        plain.rows,
        gravity=DOWN,
        name="bar",
        surroundings=pl.contact.Surroundings(obstacles=[ball]),
    )
    return full, reduce(full, modal(full, modes=8, derivatives=True))


def test_contact_holds_on_a_reduced_body():
    """Pressed against a ball: no penetration, complementary forces, and the full robot's contact indices."""
    full, lean = bendable()
    results = [pl.static(r, {"top": pl.Known(effort=6.0)}, unstable="keep") for r in (full, lean)]
    for r in results:
        assert r.certificate.status in ("converged", "converged, unstable")
        assert r.contact_force.max() > 0.05
        assert r.contacts.gap.min() > -1e-6
        assert np.abs(r.contacts.gap * r.contact_force).max() < 1e-8
    assert results[0].contacts.size == results[1].contacts.size
    lean_tip, tip = results[1].displacement["tip"], results[0].displacement["tip"]
    pressed = [0, 2]  # along y nothing keeps the bar on top of a smooth ball
    np.testing.assert_allclose(lean_tip[pressed], tip[pressed], atol=0.03 * 0.1)


def test_inverse_on_a_reduced_body_reaches_and_the_full_robot_follows(within):
    """Tensions that the reduced model chose, given to the full robot, bring its tip there too."""
    full, lean = bendable()
    target = pl.static(lean, {"bottom": pl.Known(effort=2.0)}).displacement["tip"]
    controller = pl.Inverse(lean)
    for _ in range(30):
        out = controller.step({"tip": target})
    assert out.certificate.status == "reached"
    within(out.error["tip"] / 0.1, 1e-4, "error on the model")
    laws = {name: pl.Known(effort=float(out.effort[name][0])) for name in ("top", "bottom")}
    within((pl.static(full, laws).displacement["tip"] - target) / 0.1, 0.02, "error of the full robot")


@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint"])
def test_motion_of_a_reduced_body(scheme):
    """It swings as the full one: the tip after a quarter of a second of a step in tension."""
    full, lean = robot(), small()
    tips = []
    for r in (full, lean):
        sim = pl.Simulation(r, time_step=STEP, scheme=scheme, damping=WEAK, state=pl.static(r, TENSE).state)
        for _ in range(30):
            moment = sim.step({**TENSE, "top": pl.Known(effort=0.55)})
        tips.append(moment.displacement["tip"] - [0.1, 0.015, 0.0075])
    assert np.linalg.norm(tips[0] - tips[1]) < 0.02 * np.linalg.norm(tips[0])


def test_viscous_materials_on_a_reduced_body():
    """Kelvin–Voigt on sampled cells creeps to where statics ends."""
    full = robot()
    basis = modal(full, pl.static(full, TENSE).state, modes=8)
    lean = reduce(full, basis)
    sim = pl.Simulation(lean, time_step=0.02, damping=pl.dynamics.KelvinVoigt(0.05), state=lean.rest)
    for _ in range(100):
        moment = sim.step(TENSE)
    still = pl.static(lean, TENSE).displacement["tip"]
    np.testing.assert_allclose(moment.displacement["tip"], still, atol=1e-6)


def test_forces_are_sensed_through_a_reduced_body(within):
    """A push on the tip is estimated from where four points are."""
    full, _ = bendable()
    body = full.body
    marks = body.points([[0.05, 0.01, 0.01], [0.075, 0.01, 0.01], [0.1, 0.01, 0.01], [0.1, 0.018, 0.018]])
    rows = {
        "markers": pl.Row(pl.Position(marks), pl.Measured()),
        "push": pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]])), pl.Unknown()),
    }
    whole = pl.Robot(body, rows, gravity=DOWN, name="felt")
    lean = reduce(whole, modal(whole, modes=8, derivatives=True))
    force = np.array([0.0, 0.03, -0.05])
    seen = pl.static(lean, {"push": pl.Known(effort=force)}).displacement["markers"]
    found = pl.sensing.ForceEstimator(lean).converge({"markers": seen})
    within(found.effort["push"] - force, 1e-5, "force")


def test_a_session_runs_on_a_reduced_body():
    from pliant.session import Session

    _, lean = bendable()
    frame = Session(lean).step()
    assert frame.positions.shape == lean.body.mesh.nodes.shape and np.isfinite(frame.positions).all()


def test_a_reduced_robot_on_a_moving_base(within):
    """Only its row supports the base, a rigid region on a slider: statics and inverse model, reduced."""
    full = pl.robots.trunk(travel=0.02, discs=5, size=0.02)
    names = ("cable 1", "cable 2", "base")
    ends = np.random.default_rng(0).uniform((0.0, 0.0, -0.02), (0.01, 0.01, 0.02), (6, 3))
    plan = Plan(names, ("displacement",) * 3, tuple(np.outer([0.5, 1.0], end) for end in ends))
    lean = reduced_model(full, collect(full, plan), tolerance=1e-5, force_tolerance=None).on(full)
    laws = {n: pl.Known(displacement=v) for n, v in zip(names, (0.005, 0.006, 0.008))}
    tips = [pl.static(r, laws).displacement["tip"] for r in (full, lean)]
    within((tips[1] - tips[0]) / 0.2, 0.01, "tip")
    controller = pl.Inverse(lean)
    for _ in range(30):
        out = controller.step({"tip": tips[1]})
    assert out.certificate.status == "reached"
    within(out.error["tip"] / 0.2, 1e-3, "tip of the inverse model")
