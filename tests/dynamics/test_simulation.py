"""A robot in motion: orders, exact motions, limits, laws of rows, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.bodies import Prismatic, Rigid
from pliant.core.view import linearise
from pliant.dynamics import KelvinVoigt, Motion, Rayleigh, Simulation, StandardLinear, implicit
from pliant.dynamics.inertia import Inertia
from pliant.dynamics.schemes.registry import SCHEMES
from pliant.materials import Incompressible
from pliant.timing import Stopwatch

IMPLICIT = [name for name, scheme in SCHEMES.items() if scheme.explicit is None]
DOWN = (0.0, 0.0, -9.81)


def block(fixed: bool = True, **options) -> pl.Solid:
    mesh = pl.mesh.box((0.04, 0.02, 0.02), cells=(2, 1, 1))
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0)) if fixed else None
    law = options.pop("law", pl.Hooke(young=3e4, poisson=0.3))
    return pl.Solid(mesh, law, density=1100, fixed=clamp, **options)


def beam(law=None, **rows) -> pl.Robot:
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(5, 1, 1))
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = pl.Solid(mesh, law or pl.Hooke(young=3e5, poisson=0.4), density=1100, fixed=clamp)
    tip, line = body.points([[0.1, 0.01, 0.01]]), [[x, 0.01, 0.016] for x in np.linspace(0, 0.095, 6)]
    mine = {
        "tip": pl.Row(pl.Position(tip)),
        "load": pl.Row(pl.PointForce(tip, direction=(0, 0, 1))),
        "cable": pl.Row(pl.Cable(body.points(line)), pl.Bounded(effort=(0, 20))),
    }
    return pl.Robot(body, {**mine, **rows}, gravity=DOWN)


def run(sim: Simulation, steps: int, laws=None) -> pl.dynamics.Moment:
    moment = sim.step(laws)
    for _ in range(steps - 1):
        moment = sim.step(laws)
    return moment


# Inertia


@given(st.integers(0, 10**6))
def test_gyroscopic_forces_do_the_work_of_the_changing_mass(seed):
    """v·c = ½ vᵀṀv: then and only then is kinetic energy kept without forces."""
    rng = np.random.default_rng(seed)
    body = block(fixed=False, rigid=Rigid(lambda x: x[:, 0] > 0.015, centre=(0.05, 0.0, 0.02)))
    q = body.retract(body.q0, np.r_[1e-3 * rng.normal(size=body.ndof - 3), rng.normal(size=3)])
    v = rng.normal(size=body.ndof)
    v[-3:] *= 10.0
    M = lambda s: body.pattern.to_csr(body.mass(body.retract(q, s * v)))
    h = 1e-5
    rate = 0.5 * v @ ((M(h) - M(-h)) @ v) / (2 * h)
    c = body.gyroscopic(q, v)
    assert v @ c == pytest.approx(rate, rel=1e-6, abs=1e-9 * abs(v @ (M(0.0) @ v)))
    assert body.gyroscopic(q, np.r_[v[:-3], 0, 0, 0]) is None


def test_damping_and_the_tangent_of_a_step_are_those_of_their_bodies():
    """D = αM + βK with α and β of each body, and K̃ = (M/h + D + hK)/s, against matrices."""
    robot = pl.Robot([block(), block()])
    inertia = Inertia(robot, [Rayleigh(mass=3.0, stiffness=0.02), Rayleigh(mass=0.5)])
    rng, M = np.random.default_rng(0), inertia.mass(robot.rest.q)
    at = linearise(robot, robot.rest.q, np.zeros(0), robot.rest.internal, robot.gravity)
    v, h, s, half = rng.normal(size=robot.ndof), 0.01, 0.02, robot.ndof // 2
    dense = lambda A: robot.pattern.to_csr(A).toarray()
    alpha, beta = np.repeat([3.0, 0.5], half), np.repeat([0.02, 0.0], half)
    for K_rayleigh in (at.K, None):
        D = alpha[:, None] * dense(M) + (0.0 if K_rayleigh is None else beta[:, None] * dense(K_rayleigh))
        np.testing.assert_allclose(inertia.damping_force(M, K_rayleigh, v), D @ v, rtol=1e-12, atol=1e-12)
        expected = (dense(M) / h + D + h * dense(at.K)) / s
        np.testing.assert_allclose(dense(inertia.tangent(M, at.K, K_rayleigh, h, s)), expected, rtol=1e-12)


# Limits


@pytest.mark.parametrize("scheme", IMPLICIT)
def test_static_limit(scheme):
    """Damped until it rests, a robot is where statics says, and its cable pulls as hard."""
    robot = beam()
    laws = {"cable": pl.Known(displacement=0.004), "load": pl.Known(effort=-0.05)}
    expected = pl.static(robot, laws)
    sim = Simulation(robot, scheme=scheme, time_step=0.01, damping=[KelvinVoigt(0.05), Rayleigh(mass=20.0)])
    moment = run(sim, 150, laws)
    np.testing.assert_allclose(moment.positions, expected.positions, atol=1e-7)
    np.testing.assert_allclose(moment.effort["cable"], expected.effort["cable"], rtol=1e-5)
    np.testing.assert_allclose(moment.displacement["cable"], 0.004, atol=1e-9)


def test_static_limit_of_an_incompressible_body():
    robot = beam(Incompressible(pl.NeoHookean(3e5)))
    expected = pl.static(robot)
    moment = run(Simulation(robot, damping=[KelvinVoigt(0.03), Rayleigh(mass=20.0)]), 200)
    np.testing.assert_allclose(moment.positions, expected.positions, atol=2e-7)
    assert np.abs(robot.body.volume_error(moment.q)).max() < 1e-6


@pytest.mark.parametrize(
    "law", [pl.Hooke(3e5, 0.4), pl.NeoHookean(3e5, 0.45), Incompressible(pl.NeoHookean(3e5))], ids=str
)
@pytest.mark.parametrize("step, iterations", [(1e-4, 1), (1e-3, 1), (1e-2, 1), (0.1, 20), (1.0, 20)])
def test_euler_takes_any_step(law, step, iterations):
    """Gravity at once, with no damping of its own: no energy comes from nowhere, whatever the step.

    A step in which the beam swings through needs more than one linearisation.
    """
    sim = Simulation(beam(law), time_step=step, scheme="euler", iterations=iterations)
    for _ in range(20):
        moment = sim.step()
        assert sim.energy.total < 1e-9  # it began with none
    assert moment.certificate.shift == 0.0


def test_forces_do_not_depend_on_the_step():
    """A pull that comes smoothly, with a quarter of the step: the same tension at the same time."""
    robot, tension = beam(), []
    start = pl.static(robot)
    for h in (2e-3, 5e-4):
        sim = Simulation(robot, scheme="bdf2", time_step=h, damping=KelvinVoigt(0.02), state=start.state)
        for k in range(round(0.1 / h)):
            pulled = start.displacement["cable"] + 0.5 * ((k + 1) * h) ** 2
            moment = sim.step({"cable": pl.Known(displacement=pulled)})
        tension.append(moment.effort["cable"][0])
    assert tension[0] == pytest.approx(tension[1], rel=1e-3) and tension[0] > 1.0


# Laws


def test_a_cable_goes_slack_and_never_pushes():
    robot = beam()
    sim = Simulation(robot, time_step=0.005, damping=KelvinVoigt(0.02))
    taut = run(sim, 60, {"cable": pl.Known(displacement=0.006)})
    assert taut.effort["cable"][0] > 0 and taut.displacement["cable"][0] == pytest.approx(0.006, abs=1e-7)
    efforts = [sim.step({"cable": pl.Known(displacement=-0.02)}).effort["cable"][0] for _ in range(60)]
    assert efforts[-1] == 0.0 and min(efforts) >= 0.0
    assert sim.step({"cable": pl.Known(displacement=-0.02)}).displacement["cable"][0] > -0.02


def test_springs_and_stops():
    """A tip on a spring and a stop: in the end they carry as in statics."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(5, 1, 1))
    body = pl.Solid(
        mesh, pl.Hooke(3e5, 0.4), density=1100, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    )
    tip = body.points([[0.1, 0.01, 0.01]])
    for law in (pl.Elastic(5.0), pl.Unilateral()):
        robot = pl.Robot(body, {"tip": pl.Row(pl.PointForce(tip, direction=(0, 0, 1)), law)}, gravity=DOWN)
        moment = run(Simulation(robot, damping=[KelvinVoigt(0.03), Rayleigh(mass=20)]), 120)
        expected = pl.static(robot)
        np.testing.assert_allclose(moment.effort["tip"], expected.effort["tip"], rtol=1e-5)
        assert moment.effort["tip"][0] > 0.01


def test_a_mass_on_a_spring_swings_as_it_should(within):
    """A rigid slider of mass m on a spring k: x = x₀ cos √(k/m) t, energy of the spring included."""
    mesh = pl.mesh.box((0.02, 0.02, 0.02), cells=(1, 1, 1), kind="hex")
    region = Rigid(lambda x: x[:, 0] > -1, "all", joint=Prismatic((1, 0, 0)))
    body = pl.Solid(mesh, pl.Hooke(3e5, 0.3), density=1000, rigid=region)
    m, k = 0.008, 2.0
    row = pl.Row(pl.Slider(body.region_points("all"), direction=(1, 0, 0)), pl.Elastic(k))
    robot, h = pl.Robot(body, {"x": row}), 1e-3
    omega, start = np.sqrt(k / m), np.array([0, 0, 0.1, 0, 0, 0])
    for scheme, allowed in (("midpoint", 2e-4), ("bdf2", 2e-3)):
        sim = Simulation(robot, scheme=scheme, time_step=h, state=robot.rest.with_(v=start))
        x = np.array([sim.step().displacement["x"][0] for _ in range(400)])
        within(
            (x - 0.1 / omega * np.sin(omega * h * np.arange(1, 401))) / (0.1 / omega),
            400 * allowed * 0.05,
            scheme,
        )
        if scheme == "midpoint":
            total = sim.energy.kinetic + 0.5 * k * x[-1] ** 2
            assert total == pytest.approx(0.5 * m * 0.01, rel=1e-9)


# The state


def test_a_step_is_a_function_of_the_state():
    """The same state twice leads to the same end, and a run can be taken up again where it was left."""
    robot = beam()
    laws = {"cable": pl.Known(displacement=0.003)}
    for scheme in IMPLICIT:
        options = {"scheme": scheme, "time_step": 0.004, "damping": StandardLinear(0.05, 0.5)}
        one = Simulation(robot, **options)
        run(one, 5, laws)
        kept = one.state
        assert isinstance(kept, Motion)
        end = run(one, 5, laws)
        again = run(Simulation(robot, state=kept, **options), 5, laws)
        np.testing.assert_array_equal(again.q, end.q)
        np.testing.assert_array_equal(again.v, end.v)
        assert again.t == pytest.approx(0.04)


def test_motion_starts_from_a_static_state():
    """A robot at rest in its equilibrium stays there, viscous or not."""
    robot = beam()
    hanging = pl.static(robot)
    for scheme in IMPLICIT:
        sim = Simulation(
            robot, scheme=scheme, state=hanging.state, damping=[StandardLinear(0.1, 2.0), KelvinVoigt(0.1)]
        )
        np.testing.assert_allclose(run(sim, 10).positions, hanging.positions, atol=1e-9)


def test_a_changed_state_starts_afresh():
    robot = beam()
    sim = Simulation(robot, scheme="bdf2", time_step=1e-3)
    run(sim, 3)
    assert sim.state.past is not None
    sim.state = sim.state.with_(v=np.zeros(robot.ndof))
    assert sim.state.past is None and sim.t == pytest.approx(3e-3)


def test_the_linearised_step_is_what_the_step_does():
    """W and δ_free of the step, taken apart: δ⁺ = δ_free + Wλ with λ in newtons."""
    robot, h = beam(), 0.004
    sim = Simulation(robot, time_step=h, scheme="euler")
    run(sim, 3)
    model, now, work = sim._model, sim.state, Stopwatch()
    conditions = robot.forward({"cable": pl.Known(displacement=0.002)})
    task = implicit.begin(model, now, conditions, h)
    at = implicit.elastic(model, task, now.q, now.effort, now.internal)
    here = implicit.moving(model, task, at, None, np.zeros(robot.ndof), now.v, now.effort)
    system = implicit.condensed_step(model, task, here, now.v, here.conditions, work)
    M = robot.pattern.to_csr(model.inertia.mass(now.q)).toarray()
    A = M + h * h * robot.pattern.to_csr(at.K).toarray()
    H = at.H.to_csr().toarray()[conditions.solved]
    np.testing.assert_allclose(system.W, h * h * H @ np.linalg.solve(A, H.T), rtol=1e-8)
    v_free = np.linalg.solve(A, M @ now.v + h * at.r)
    np.testing.assert_allclose(system.free, at.delta[conditions.solved] + h * H @ v_free, rtol=1e-9)
    moment = sim.step({"cable": pl.Known(displacement=0.002)})
    tension = moment.effort["cable"]
    np.testing.assert_allclose(system.free + system.W @ tension, 0.002, atol=1e-10)


def test_cells_that_would_turn_inside_out_shorten_the_step():
    """Nodes that fly apart at 10 m/s, which a whole step cannot follow, are followed in parts."""
    body = block(law=pl.NeoHookean(3e4, 0.3))
    robot = pl.Robot(body)
    v = 10.0 * np.random.default_rng(0).normal(size=robot.ndof)
    sim = Simulation(robot, time_step=1e-3, state=robot.rest.with_(v=v))
    energy, moment = sim.energy.total, sim.step()
    assert moment.certificate.load_steps > 1 and moment.t == pytest.approx(1e-3)
    assert (np.linalg.det(body.deformation_gradient(moment.q)) > 0).all() and sim.energy.total < energy


def test_motion_without_bounds_is_an_error_that_keeps_the_state():
    body = block(law=pl.NeoHookean(3e4, 0.3))
    robot = pl.Robot(body)
    v = 300.0 * np.random.default_rng(0).normal(size=robot.ndof)
    sim = Simulation(robot, time_step=1e-3, state=robot.rest.with_(v=v))
    with pytest.raises(pl.ConvergenceError, match="time_step"):
        sim.step()
    np.testing.assert_array_equal(sim.state.v, v)


def test_a_jump_of_a_command_is_followed_in_parts():
    """A cable pulled in by a fifth of the beam's length at once: one step later it is as statics says."""
    robot, laws = beam(), {"cable": pl.Known(displacement=0.02)}
    sim = Simulation(robot, damping=[KelvinVoigt(0.03), Rayleigh(mass=20.0)])
    assert sim.step(laws).certificate.load_steps > 1
    np.testing.assert_allclose(run(sim, 150, laws).positions, pl.static(robot, laws).positions, atol=1e-6)


# What is refused


WRONG = {
    "no step": ({"time_step": 0.0}, "time_step"),
    "backwards": ({"time_step": -0.01}, "time_step"),
    "endless": ({"time_step": np.inf}, "time_step"),
    "not a number": ({"time_step": np.nan}, "time_step"),
    "a word": ({"time_step": "fast"}, "time_step"),
    "unknown scheme": ({"scheme": "bdf3"}, "scheme 'bdf3'.*bdf2"),
    "iterations": ({"iterations": 0}, "iterations"),
    "tolerance": ({"tolerance": -1e-3}, "tolerance"),
    "damping": ({"damping": 0.1}, "damping"),
    "damping of no body": ({"damping": {1: Rayleigh(mass=1.0)}}, "body numbers"),
    "consistent mass": ({"scheme": "central"}, "lumped"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_refused(case):
    options, message = WRONG[case]
    with pytest.raises(pl.InputError, match=message):
        Simulation(pl.Robot(block()), **options)


def test_bodies_without_mass_are_refused():
    mesh = pl.mesh.box((0.02,) * 3)
    for density, message in ((None, "density"), (0.0, "mass of the body")):
        with pytest.raises(pl.InputError, match=message):
            Simulation(pl.Robot(pl.Solid(mesh, pl.Hooke(1e5, 0.3), density=density)))


def test_states_of_another_robot_are_refused():
    robot = pl.Robot(block())
    with pytest.raises(pl.InputError, match="velocities"):
        Simulation(robot, state=robot.rest.with_(v=np.zeros(3)))
    with pytest.raises(pl.InputError, match="Robot"):
        Simulation(robot.body)


@pytest.mark.parametrize(
    "make", [lambda: KelvinVoigt(0.0), lambda: StandardLinear(0.1, -1.0), lambda: Rayleigh(mass=-1.0)]
)
def test_damping_is_not_negative(make):
    with pytest.raises(pl.InputError):
        make()
