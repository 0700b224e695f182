"""The inverse model in motion: targets are reached in time, within limits, whatever the step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.contact import Plane, Sphere, Surroundings
from pliant.dynamics import KelvinVoigt, Rayleigh, Simulation
from pliant.inverse import Inverse, Settings
from pliant.inverse.moving import MovingInverse
from pliant.inverse.moving.reference import Approach, Reference

LENGTH, WIDTH = 0.1, 0.02
DOWN = (0.0, 0.0, -9.81)
CABLES = [f"cable {k}" for k in range(4)]


def arm(*, gravity=DOWN, held: bool = True, around: Surroundings | None = None, **bounds) -> pl.Robot:
    """A bar of hexahedra with a cable along each side, two directions of its tip, and a poking finger."""
    mesh = pl.mesh.box((LENGTH, WIDTH, WIDTH), cells=(8, 2, 2), kind="hex")
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0)) if held else None
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=clamp)
    law = pl.Bounded(**{"effort": (0.0, 10.0), **bounds})
    rows = {}
    for name, (y, z) in zip(
        CABLES, [(0.003, 0.01), (0.017, 0.01), (0.01, 0.003), (0.01, 0.017)], strict=True
    ):
        path = [[x, y, z] for x in np.linspace(0.001, 0.095, 8)]
        rows[name] = pl.Row(pl.Cable(body.points(path)), law)
    end = body.points([[LENGTH, WIDTH / 2, WIDTH / 2]])
    rows["tip"] = pl.Row(pl.Position(end, directions="yz"), pl.Target())
    rows["poke"] = pl.Row(pl.PointForce(end, direction=(0, 1, 0)))
    rows["centre"] = pl.Row(pl.CentreOfMass.of(body))
    return pl.Robot(body, rows, gravity=gravity, name="arm", surroundings=around or Surroundings())


ARM = arm()
TARGET = np.array([0.014, 0.013])


def efforts(out) -> np.ndarray:
    return np.array([out.effort[name][0] for name in CABLES])


def run(control: MovingInverse, seconds: float, target=None, **laws) -> list:
    steps = round(seconds / control.simulation.time_step)
    return [control.step(target if target is None else {"tip": target}, laws) for _ in range(steps)]


def ramped(control: MovingInverse, seconds: float) -> list:
    """The tip goes slowly to the target and stays there."""
    h, start, log = control.simulation.time_step, control.target[4:6].copy(), []
    for k in range(round(1.3 * seconds / h)):
        share = min(1.0, (k + 1) * h / seconds)
        log.append(control.step({"tip": start + share * (TARGET - start)}))
    return log


# Where it goes


@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint"])
def test_targets_are_reached_without_shaking(scheme):
    """A target that jumps is approached by a robot without any damping of its own, and then it is at rest."""
    log = run(MovingInverse(ARM, scheme=scheme, time_step=0.005), 1.0, TARGET)
    out = log[-1]
    assert out.certificate.status == "reached"
    if scheme != "midpoint":  # which lets vibrations be
        assert np.abs(out.error["tip"]).max() < 3e-4 * LENGTH and np.abs(out.v).max() < 2e-3
    pulls = np.array([efforts(o) for o in log])
    assert pulls.max() < 1.2 * pulls[-1].max()  # no more than it takes to hold
    turns = np.abs(np.diff(pulls, axis=0)).sum(axis=0)
    assert turns.max() < 1.5 * pulls.max()  # up, and hardly down again
    assert log[-1].t == pytest.approx(1.0)


def test_slow_motion_is_statics(within):
    """Efforts and places are those of the static inverse model."""
    out, still = ramped(MovingInverse(ARM, time_step=0.02), 2.0)[-1], Inverse(ARM)
    for _ in range(40):
        static = still.step({"tip": TARGET})
    off, largest = efforts(out) - efforts(static), efforts(static).max()
    within(off / largest, 0.005, "efforts, relative to the largest")
    within(
        (out.displacement["tip"] - static.displacement["tip"]) / LENGTH, 2e-4, "tip, relative to the length"
    )
    for name in CABLES:
        assert out.command[name] == pytest.approx(static.command[name], abs=2e-3 * LENGTH)


def test_efforts_do_not_depend_on_the_step(within):
    """Newtons whatever the step: the same slow manoeuvre in steps of h and of h/2."""
    coarse, fine = (ramped(MovingInverse(ARM, time_step=h), 1.0) for h in (0.02, 0.01))
    pairs = np.array([(efforts(a), efforts(b)) for a, b in zip(coarse, fine[1::2], strict=True)])
    assert coarse[-1].t == pytest.approx(fine[-1].t)
    largest = pairs.max()
    assert largest > 0.5
    within((pairs[:, 0] - pairs[:, 1]) / largest, 0.02, "on the way, relative to the largest")
    within((pairs[-1, 0] - pairs[-1, 1]) / largest, 2e-3, "at the end, relative to the largest")


def test_with_the_step_as_horizon_the_step_ends_on_the_reference(within):
    """The inverse of one time step, apart from what its linearisation leaves."""
    exact = Settings(energy=1e-10, inertia=0.0)
    control = MovingInverse(
        arm(effort=(0.0, 100.0)), time_step=0.01, horizon=0.01, settings=exact, iterations=3
    )
    log = run(control, 0.3, TARGET)
    moved = np.linalg.norm(log[-1].displacement["tip"] - log[0].displacement["tip"])
    off = [np.linalg.norm(out.displacement["tip"] - out.reference["tip"]) for out in log]
    assert moved > 2e-3
    within(np.array(off[2:]) / moved, 2e-3, "distance from it, relative to the way")


def test_the_motion_is_that_of_the_simulation():
    """Its efforts, given to a Simulation, lead to the very same states."""
    control = MovingInverse(ARM, time_step=0.01, damping=KelvinVoigt(0.01))
    sim = Simulation(ARM, time_step=0.01, scheme="euler", damping=KelvinVoigt(0.01), state=control.state)
    for out in run(control, 0.2, TARGET):
        moment = sim.step({name: pl.Known(effort=out.effort[name]) for name in CABLES})
        assert np.array_equal(moment.q, out.q) and np.array_equal(moment.v, out.v)


def test_a_longer_horizon_answers_a_blow_more_gently():
    """An unforeseen blow sets the tip in motion; the shorter the horizon, the harder the cables answer."""
    peaks = []
    for horizon in (0.01, 0.1):
        control = MovingInverse(arm(effort=(0.0, 100.0)), time_step=0.01, horizon=horizon)
        before = run(control, 0.1)[-1]
        poked = Simulation(control.robot, state=before.state).step({"poke": pl.Known(effort=1.0)})
        control.simulation.state = before.state.with_(v=poked.v)
        peaks.append(max(np.abs(efforts(out) - efforts(before)).max() for out in run(control, 0.05)))
        assert run(control, 1.0)[-1].certificate.status == "reached"
    assert peaks[0] > 3.0 * peaks[1]


def test_what_is_known_of_the_world_is_made_up_for_at_once():
    """A load that the model knows of hardly moves the tip."""
    control = MovingInverse(ARM, time_step=0.01)
    start = run(control, 0.1)[-1].displacement["tip"]
    held = run(control, 0.5, poke=pl.Known(effort=0.1))
    free = Simulation(ARM, time_step=0.01, state=pl.static(ARM).state)
    loose = [free.step({"poke": pl.Known(effort=0.1)}) for _ in range(50)]
    swing = lambda log: max(np.abs(o.displacement["tip"] - start).max() for o in log)
    assert swing(held) < 0.15 * swing(loose)
    assert held[-1].displacement["tip"] == pytest.approx(start, abs=3e-4 * LENGTH)


# Limits


def test_an_effort_limit_is_kept_and_named():
    weak = arm(effort=(0.0, 0.5))
    log = run(MovingInverse(weak), 1.0, np.array([0.03, 0.01]))
    assert max(efforts(out).max() for out in log) <= 0.5
    assert log[-1].certificate.status == "at its limits"
    assert "cable 1: largest effort" in log[-1].certificate.limits
    assert log[-1].displacement["tip"][0] > 0.012  # as near as it comes


def test_a_displacement_limit_is_kept_and_named():
    log = run(MovingInverse(arm(displacement=(-1.0, 0.002)), time_step=0.005), 1.0, np.array([0.03, 0.01]))
    assert max(out.displacement["cable 1"][0] for out in log) < 1.001 * 0.002
    assert log[-1].displacement["cable 1"][0] == pytest.approx(0.002, rel=1e-3)
    assert "cable 1: largest displacement" in log[-1].certificate.limits


def test_a_speed_limit_is_kept_and_named():
    """A winch that is too slow for the reference goes at its top speed, and the tip gets there."""
    control = MovingInverse(arm(speed=0.004), time_step=0.01)
    start = control.step()
    log = run(control, 1.5, TARGET)
    pulled = np.array([[out.displacement[name][0] for name in CABLES] for out in [start, *log]])
    speed, taut = np.diff(pulled, axis=0) / 0.01, np.array([efforts(out) > 0.0 for out in log])
    assert speed[taut].max() < 1.001 * 0.004
    assert (speed[:, 3] > 0.99 * 0.004).sum() > 40
    assert all("cable 3: largest speed" in out.certificate.limits for out in log[2:40])
    assert log[-1].certificate.status == "reached"


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2))
def test_no_target_breaks_the_loop(far):
    """Wherever it is: finite states, efforts in their bounds, and words for it."""
    control = MovingInverse(ARM, time_step=0.02)
    for out in run(control, 0.1, np.array(far)):
        assert np.isfinite(out.q).all() and np.isfinite(out.v).all()
        assert efforts(out).min() >= 0.0 and efforts(out).max() <= 10.0
        assert out.certificate.moved
        assert out.certificate.status in ("reached", "moving", "at its limits", "out of reach")


def test_a_broken_cable_is_made_up_for():
    control = MovingInverse(ARM)
    run(control, 0.6, TARGET)
    control.lose("cable 3")
    log = run(control, 0.6)
    assert max(out.effort["cable 3"][0] for out in log) == 0.0
    assert log[-1].displacement["tip"][0] == pytest.approx(TARGET[0], abs=5e-3 * LENGTH)
    assert log[-1].error["tip"][1] > 0.0  # nothing else lifts it


def test_near_a_singular_pose_it_stays_calm():
    """The hub of a tripod cannot go sideways that far: the motors do not thrash about for it."""
    robot = pl.robots.tripod(along=6, layers=1, across=2)
    control = MovingInverse(robot, damping=Rayleigh(mass=1.0))
    far = control.step().displacement["tip"] + np.array([0.004, 0.003, 0.002])
    log = [control.step({"tip": far}) for _ in range(60)]
    torque = np.array([[out.effort[f"motor {n}"][0] for n in (1, 2, 3)] for out in log])
    assert np.abs(torque).max() < 0.2  # of 0.5
    assert max(np.abs(out.v).max() for out in log) < 15.0  # [rad/s]; thrashing is 60 to 100
    assert log[-1].certificate.status != "reached"


@pytest.mark.parametrize(
    "law", [pl.Known(displacement=0.001), pl.Elastic(1e3, 0.001)], ids=["held", "spring"]
)
def test_other_rows_keep_their_laws(law):
    """The tip is held sideways: its height still goes where it should, and what holds it is made up for."""
    log = run(MovingInverse(ARM), 0.8, np.array([0.011, 0.013]), poke=law)
    out = log[-1]
    if isinstance(law, pl.Known):
        assert all(o.displacement["poke"] == pytest.approx(0.001, abs=1e-6) for o in log[5:])
    else:
        assert out.effort["poke"] == pytest.approx(-1e3 * (out.displacement["poke"] - 0.001), abs=1e-9)
    assert out.displacement["tip"] == pytest.approx([0.011, 0.013], abs=1e-3 * LENGTH)


# Contact


def test_it_leans_on_what_is_in_its_way():
    ball = Sphere((0.09, 0.035, 0.01), 0.01, name="ball")
    log = run(MovingInverse(ARM, [ball], time_step=0.005), 0.6, np.array([0.024, 0.01]))
    assert log[-1].contact_force.sum() > 0.05
    for out in log:
        samples = out.contacts.key == out.contacts.index
        assert out.contacts.gap[samples].min(initial=0.0) > -2e-5
        assert out.certificate.penetration < 5e-4 * LENGTH  # nor is the skin between samples deep
        assert (out.contact_force >= 0.0).all()
    assert log[-1].certificate.foreseen > 0.0


def test_friction_on_the_way():
    """Pressed on the floor and dragged: Coulomb's law holds in every step, and the tip gets there."""
    around = Surroundings([Plane((0, 0, -0.0005), (0, 0, 1), name="floor")], friction=0.4)
    log = run(MovingInverse(arm(around=around), time_step=0.02), 1.0, np.array([0.015, 0.0085]))
    for out in log:
        assert (np.linalg.norm(out.friction_force, axis=1) <= 0.4 * out.contact_force + 1e-9).all()
    assert log[-1].contact_force.sum() > 0.02 and np.abs(log[-1].friction_force).sum() > 1e-3
    assert log[-1].displacement["tip"][0] == pytest.approx(0.015, abs=3e-3 * LENGTH)


# Robots that float


def floating(law: pl.Target | None = None, gravity=(0.0, 0.0, 0.0)) -> pl.Robot:
    """The arm without supports; its effector is the centre of mass, or its tip seen from its other end."""
    loose = arm(held=False, gravity=gravity)
    rows = {name: loose.rows[name] for name in CABLES}
    if law is not None:
        rows["centre"] = pl.Row(loose.rows["centre"].interaction, law)
        return pl.Robot(loose.body, rows, gravity=gravity)
    path = loose.body.points([[x, WIDTH / 2, WIDTH / 2] for x in np.linspace(0.0, LENGTH, 7)])
    rows["bend"] = pl.Row(pl.Curvature(path, normal=(0, 0, 1)), pl.Target())
    rows["centre"] = loose.rows["centre"]
    return pl.Robot(loose.body, rows, gravity=gravity)


def test_nobody_lifts_himself_by_his_own_cables(within):
    """No effort inside moves the centre of mass: it stays to round-off, and the certificate says so."""
    control = MovingInverse(floating(pl.Target()), time_step=0.02)
    start = control.target[-3:].copy()
    for _ in range(20):
        out = control.step({"centre": start + np.array([0.05, 0.0, 0.02])}, {"cable 0": pl.Known(effort=3.0)})
    within(out.displacement["centre"] - start, 1e-13, "centre of mass [m]")
    assert efforts(out)[1:].max() < 1e-6 and out.displacement["cable 0"] > 1e-3
    assert out.certificate.status == "out of reach"


def test_a_thrown_robot_bends_in_flight(within):
    """Its shape follows the target while its centre of mass falls as Newton (and Euler's scheme) has it."""
    robot = floating(gravity=DOWN)
    v = np.tile([0.5, 0.0, 1.0], robot.ndof // 3)
    control = MovingInverse(robot, time_step=0.01, state=robot.rest.with_(v=v), damping=KelvinVoigt(0.005))
    start, bend, places = control.step(), 1.0, []
    for _ in range(60):
        out = control.step({"bend": bend})
        places.append(out.displacement["centre"])
    fall = np.diff([start.displacement["centre"], *places], n=2, axis=0)
    within((fall - np.array([0.0, 0.0, -9.81e-4])) / 9.81e-4, 1e-8, "fall, relative to g")
    assert out.displacement["bend"].mean() == pytest.approx(bend, rel=0.03)


# The reference


@given(st.floats(0.1, 3.0), st.floats(0.01, 1.0), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_the_reference_solves_its_equation(ratio, response, x, v):
    approach = Approach(response, ratio, np.inf)
    start = Reference(np.array([x]), np.array([v]), np.ones(1), approach)
    target, time, omega = np.array([0.7]), 0.8 * response, 1.0 / response
    right = lambda _, y: [y[1], omega**2 * (0.7 - y[0]) - 2.0 * ratio * omega * y[1]]
    way = solve_ivp(right, (0.0, time), [x, v], rtol=1e-10, atol=1e-10).y[:, -1]
    end = start.after(time, target)
    assert [end.value[0], end.speed[0] / omega] == pytest.approx([way[0], way[1] / omega], abs=1e-6)
    twice = start.after(0.3 * time, target).after(0.7 * time, target)
    assert twice.value == pytest.approx(end.value, abs=1e-9)


def test_the_reference_has_a_top_speed():
    r, log = Reference(np.zeros(2), np.zeros(2), np.array([1.0, 10.0]), Approach(0.1, 1.0, 0.2)), []
    for _ in range(400):
        r = r.after(0.01, np.array([3.0, 0.0]))
        log.append(r.speed[0])
    assert 0.19 < max(log) <= 0.2
    turned = Reference(np.zeros(2), np.zeros(2), np.array([1.0, 10.0]), r.approach)
    for _ in range(100):
        turned = turned.after(0.01, np.array([0.0, 30.0]))
    assert 1.9 < turned.speed[1] <= 2.0  # in its own unit: ten per metre


# What it refuses


@pytest.mark.parametrize(
    "targets, message",
    [
        ({"tip": [np.nan, 0.0]}, "finite"),
        ({"tip": [np.inf, 0.0]}, "finite"),
        ({"tip": [0.1, 0.2, 0.3]}, "2 numbers"),
        ({"tpi": [0.1, 0.2]}, "Did you mean 'tip'"),
        ({"cable 1": 0.1}, "Target"),
        ([0.1, 0.2], "dictionary"),
    ],
)
def test_bad_targets_are_refused_and_nothing_moves(targets, message):
    control = MovingInverse(ARM)
    control.step({"tip": TARGET})
    before, aim = control.state, control.target.copy()
    with pytest.raises(pl.InputError, match=message):
        control.step(targets)
    assert control.state is before and np.array_equal(control.target, aim)
    control.step()


@pytest.mark.parametrize("name", ["horizon", "response", "damping_ratio", "top_speed", "time_step"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "fast"])
def test_bad_options_are_refused(name, value):
    with pytest.raises(pl.InputError, match=name):
        MovingInverse(ARM, **{name: value})


def test_a_robot_without_drives_or_effectors_is_refused():
    with pytest.raises(pl.InputError, match="actuator"):
        MovingInverse(ARM, laws={name: pl.Known(effort=0.0) for name in CABLES})
    with pytest.raises(pl.InputError, match="effector"):
        MovingInverse(ARM, laws={"tip": pl.Observed()})
    with pytest.raises(pl.InputError, match="a Robot"):
        MovingInverse(ARM.body)
