"""Forces on robots in motion: Kalman's filter in dense matrices, Newton's law, intervals, bounds, damping."""

import numpy as np
import pytest

import pliant as pl
from pliant.core.view import linearise
from pliant.dynamics import KelvinVoigt, Rayleigh
from pliant.dynamics.inertia import Inertia
from pliant.errors import InputError
from pliant.laws import Known
from pliant.sensing import ForceEstimator, MovingForceEstimator, instrumented

STEP = 0.01  # [s]
TIP = np.array([[0.1, 0.0, 0.0]])
MARKERS = np.array([[x, y, z] for x in (0.04, 0.07, 0.1) for y, z in ((-0.01, 0.01), (0.01, -0.01))])
DAMPING = Rayleigh(mass=0.5, stiffness=5e-3)


@pytest.fixture(scope="module")
def bar():
    return pl.robots.cantilever(cells=(3, 1, 1), gravity=(0.0, 0.0, 0.0))


def moving(robot, **options):
    options = {"time_step": STEP, "change": 1.0, "noise": 1e-4, "damping": DAMPING, **options}
    return MovingForceEstimator(robot, MARKERS, TIP, **options)


def shown(robot, forces, steps=1, damping=DAMPING):
    """Readings (n, m) of a robot under forces (n, 3) that last a frame each."""
    plant = instrumented(robot, MARKERS, TIP)
    sim = pl.Simulation(
        plant, time_step=STEP / steps, scheme="euler", damping=damping, state=pl.static(plant).state
    )
    out = []
    for force in forces:
        for _ in range(steps):
            moment = sim.step({"forces": Known(effort=force)})
        out.append(moment.displacement["markers"])
    return np.array(out)


def test_it_is_kalmans_filter():
    """Dense matrices of a bar in small strain: the state (q, v, λ) and its covariance; hidden readings."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(2, 1, 1), origin=(0.0, -0.01, -0.01))
    material = pl.Hooke(young=3e5, poisson=0.3, small_strain=True)
    body = pl.Solid(mesh, material, density=1100.0, fixed=lambda x: x[:, 0] < 1e-6)
    robot, noise, change = pl.Robot(body, {}), 1e-4, 0.3
    feeler = moving(robot, change=change, noise=noise)
    inertia, n = Inertia(feeler.robot, [DAMPING]), feeler.robot.ndof
    view = linearise(feeler.robot, feeler.state.q, feeler.state.effort, feeler.state.internal, np.zeros(3))
    assert view is not None
    dense = lambda A: np.column_stack([inertia.product(A, e) for e in np.eye(n)])
    M, K = dense(inertia.mass(feeler.state.q)), dense(view.K)
    H = view.H.to_csr().toarray()
    s, f = feeler.roles.sensors, feeler.roles.unknown
    D, zero = DAMPING.mass * M + DAMPING.stiffness * K, np.zeros((3, n))
    inverse = np.linalg.inv(M / STEP + D + STEP * K)
    one = inverse @ np.hstack([-K, M / STEP, H[f].T])  # v⁺ of (q, v, λ)
    place = np.hstack([np.eye(n), np.zeros((n, n + 3))]) + STEP * one
    F = np.vstack([place, one, np.hstack([zero, zero, np.eye(3)])])
    C = np.hstack([H[s], np.zeros((len(s), n + 3))])
    x, P = np.zeros(2 * n + 3), np.zeros((2 * n + 3, 2 * n + 3))
    begin, rng = view.delta[s], np.random.default_rng(3)
    for k in range(12):
        reading = begin + 1e-3 * rng.normal(size=len(s))
        if k == 4:
            reading[:3] = np.nan
        if k == 7:
            reading[:] = np.nan
        P[-3:, -3:] += change**2 * STEP * np.eye(3)
        x, P = F @ x, F @ P @ F.T
        seen = np.isfinite(reading)
        R = noise**2 * np.eye(int(seen.sum()))
        gain = P @ C[seen].T @ np.linalg.inv(C[seen] @ P @ C[seen].T + R)
        x, P = x + gain @ ((reading - begin)[seen] - C[seen] @ x), P - gain @ C[seen] @ P
        found = feeler.step(reading)
        assert found.effort["forces"] == pytest.approx(x[-3:], rel=1e-4, abs=1e-6)
        assert found.covariance == pytest.approx(P[-3:, -3:], rel=1e-3, abs=1e-6 * P[-1, -1])
        assert found.certificate.status == ("tracking" if seen.any() else "blind")


def test_a_free_body_is_pushed_by_its_mass_times_its_acceleration():
    """F = m a, where statics has no answer at all."""
    mesh = pl.mesh.box((0.04, 0.04, 0.04), cells=(1, 1, 1), origin=(-0.02, -0.02, -0.02))
    body = pl.Solid(mesh, pl.Hooke(young=1e6, poisson=0.3), density=1000.0)
    robot, mass, acceleration = pl.Robot(body, {}), 0.064, np.array([0.5, -1.0, 2.0])
    plant = instrumented(robot, mesh.nodes[:4], np.zeros((1, 3)))
    feeler = MovingForceEstimator(plant, time_step=STEP, change=1.0, noise=1e-7, state=plant.rest)
    for k in range(1, 30):  # what backward Euler's steps of a constant acceleration reach
        way = acceleration * STEP**2 * k * (k + 1) / 2
        found = feeler.step(mesh.nodes[:4] + way)
    assert found.effort["forces"] == pytest.approx(mass * acceleration, rel=1e-3)
    assert feeler.state.v.reshape(-1, 3).mean(axis=0) == pytest.approx(29 * STEP * acceleration, rel=1e-3)


def test_inertia_is_not_taken_for_a_force(bar):
    """A force that comes and goes near the first resonance: felt in motion, and mistaken by statics."""
    t = STEP * np.arange(1, 61)
    truth = 0.04 * np.column_stack([0.0 * t, np.sin(25.0 * t), np.cos(18.0 * t) - 1.0])
    readings = shown(bar, truth)
    feeler, static = moving(bar, noise=1e-6, change=0.5), ForceEstimator(bar, MARKERS, TIP, noise=1e-6)
    errors = np.array(
        [
            [np.abs(one.step(frame).effort["forces"] - force).max() for one in (feeler, static)]
            for frame, force in zip(readings, truth, strict=True)
        ]
    )[20:]
    assert errors[:, 0].max() < 0.01 and errors[:, 1].max() > 0.03


def test_intervals_hold_for_forces_that_wander_as_stated(bar):
    rng, inside, misfit = np.random.default_rng(1), [], []
    for _ in range(4):
        truth = np.cumsum(0.02 * rng.normal(size=(40, 3)), axis=0)
        feeler = moving(bar, change=0.2)
        for frame, force in zip(shown(bar, truth), truth, strict=True):
            found = feeler.step(frame + 1e-4 * rng.normal(size=len(frame)))
            low, high = found.interval("forces")
            inside.append(((low <= force) & (force <= high))[1:])
            misfit.append(found.certificate.misfit)
    assert 0.9 < np.mean(inside) <= 0.99
    assert np.mean(misfit) == pytest.approx(1.0, abs=0.05)


def test_forces_that_only_push_stay_within_their_bounds(bar):
    rng, truth = np.random.default_rng(2), np.tile([0.0, 0.0, 0.02], (25, 1))
    feeler = MovingForceEstimator(
        bar, MARKERS, TIP, direction=(0.0, 0.0, 1.0), effort=(0.0, np.inf), time_step=STEP, change=1.0,
        noise=1e-3, damping=DAMPING,
    )  # fmt: skip
    found = [feeler.step(frame + 1e-3 * rng.normal(size=len(frame))) for frame in shown(bar, truth)]
    felt = np.array([one.effort["forces"][0] for one in found])
    assert (felt >= 0.0).all() and (felt == 0.0).any()
    assert [bool(one.certificate.at_bounds) for one in found] == list(felt == 0.0)


def test_viscous_materials_and_pulled_cables(bar):
    """Stress that lags behind is no force; a cable pulled by its length keeps it, its tension is found."""
    body, rows = bar.body, dict(bar.rows)
    rows["cable"] = pl.Row(
        pl.Cable(body.points([[0.1, 0.0, 0.008], [0.0, 0.0, 0.008]])), pl.Known(displacement=2e-3)
    )
    robot, damping = pl.Robot(body, rows), KelvinVoigt(0.02)
    truth = np.tile([0.0, 0.03, 0.0], (40, 1))
    feeler = moving(robot, noise=1e-6, change=0.3, damping=damping)
    for frame in shown(robot, truth, damping=damping):
        found = feeler.step(frame)
    assert found.effort["forces"] == pytest.approx(truth[-1], abs=2e-3)
    assert found.displacement["cable"] == pytest.approx(2e-3, abs=1e-6)
    plant = instrumented(robot, MARKERS, TIP)
    tension = pl.static(plant, {"forces": Known(effort=truth[-1])}).effort["cable"]
    assert found.effort["cable"] == pytest.approx(tension, rel=0.02)


def test_it_begins_under_a_force_that_is_not_known(bar):
    """At rest under 30 mN, of which only a deviation is stated: the first frame says how much it is."""
    truth = np.array([0.0, 0.0, 0.03])
    plant = instrumented(bar, MARKERS, TIP)
    frame = pl.static(plant, {"forces": Known(effort=truth)}).displacement["markers"]
    feeler = moving(bar, noise=1e-6, change=0.05, prior=0.1)
    assert [feeler.step(frame).effort["forces"][2] for _ in range(5)] == pytest.approx(5 * [0.03], abs=1e-3)
    low, high = feeler.step(frame).interval("forces")
    assert (low < truth).all() and (truth < high).all()


def test_a_tension_that_is_less_than_commanded_is_found(bar):
    """A cable that loses a fifth of its tension to friction, while a force comes and goes."""
    rows = dict(bar.rows)
    line = bar.body.points([[0.05, 0.0, 0.008], [0.0, 0.0, 0.008]])  # the tip is not on its way
    rows["cable"] = pl.Row(pl.Cable(line), pl.Known(effort=0.5))
    robot, steps = pl.Robot(bar.body, rows), np.arange(1, 61)
    truth = np.column_stack([0.0 * steps, 0.0 * steps, 0.02 * np.sin(0.1 * steps)])
    sim = pl.Simulation(instrumented(robot, MARKERS, TIP), time_step=STEP, scheme="euler", damping=DAMPING)
    trusting, doubting = (
        moving(robot, noise=1e-6, change=0.1, command_error=error) for error in (None, {"cable": 0.1})
    )
    sim.state = trusting.state
    for force in truth:
        shown = sim.step({"forces": Known(effort=force), "cable": Known(effort=0.4)}).displacement["markers"]
        found = [one.step(shown) for one in (trusting, doubting)]
    assert found[1].command_error["cable"] == pytest.approx(-0.1, abs=0.01)
    assert found[1].effort["cable"] == pytest.approx(0.4, abs=0.01)
    off = [np.abs(one.effort["forces"] - truth[-1]).max() for one in found]
    assert off[1] < 0.2 * off[0]


def test_what_is_wrong_is_named(bar):
    with pytest.raises(InputError, match="time_step"):
        moving(bar, time_step=0.0)
    with pytest.raises(InputError, match="change"):
        moving(bar, change=-1.0)
    with pytest.raises(InputError, match="Known law"):
        moving(bar, command_error={"load": 0.1})
    with pytest.raises(InputError, match="millimetres"):
        moving(bar).step(1e3 * MARKERS)
