"""Sessions in motion, and forward steps that keep to their budget."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.session import Session, forward
from tests.studio.robots import bar

TIP = np.array([0.1, 0.01, 0.02])


@pytest.fixture(scope="module")
def robot():
    return bar()


def run(session, count):
    return [session.step() for _ in range(count)]


def corner(session):
    """The skin vertex nearest to the top of the tip."""
    return int(np.argmin(np.linalg.norm(session.stage.rest - TIP, axis=1)))


def free(session):
    """Drives that let go: no effort."""
    for name in session.actuators:
        session.drive(name, effort=0.0)


def test_it_swings_at_the_frequency_of_a_cantilever(robot):
    """f = 1.875² √(EI/ρAL⁴) / 2π = 5.34 Hz, E I = 4e-3 N·m², ρA = 0.44 kg/m."""
    session = Session(robot, mode="dynamic", period=0.004)
    free(session)
    session.push([corner(session)] * 3, [1.0, 0.0, 0.0], [0.0, 0.0, 0.02])
    run(session, 30)
    session.release()
    height = np.array([frame.displacement["tip"][2] for frame in run(session, 240)])
    height -= pl.static(robot).displacement["tip"][2]
    ups = np.flatnonzero((height[:-1] < 0) & (height[1:] >= 0))  # crosses its rest on the way up
    assert len(ups) >= 4
    period = 0.004 * np.diff(ups).mean()
    assert 1 / period == pytest.approx(5.34, rel=0.03)
    peaks = [np.abs(height[a:b]).max() for a, b in pairwise(ups)]
    assert np.all(np.diff(peaks) < 0)  # and dies away


def test_it_comes_to_rest_where_statics_ends(robot):
    session = Session(robot, mode="dynamic")
    session.drive("upper", displacement=0.012)
    moving = run(session, 10)
    assert moving[-1].status == "moving" and moving[-1].speed > 0 and "Moves at up to" in moving[-1].words
    frames = run(session, 250)
    slack = pl.static(robot).displacement["lower"][0]
    alone = pl.static(robot, {"upper": pl.Known(displacement=0.012), "lower": pl.Known(displacement=slack)})
    np.testing.assert_allclose(frames[-1].positions, alone.positions, atol=1e-5)
    assert frames[-1].status == "holds" and "come to rest" in frames[-1].words
    assert frames[-1].command["upper"][0] == 0.012


def test_it_bounces_off_an_obstacle_and_never_enters_it(robot):
    """Let go from above a ball, its drives off: it falls onto it, and stays outside."""
    held = Session(robot, mode="forward", obstacles=[pl.Sphere((0.095, 0.01, -0.0115), 0.01)])
    held.drive("upper", effort=1.5)
    run(held, 40)
    held.switch("dynamic")
    free(held)
    frames = run(held, 120)
    ball = held.obstacles["sphere"]
    depth = [-ball.distance(f.positions[held.stage.vertices])[0].min() for f in frames]
    assert max(depth) < 2e-4
    assert any(len(f.touch) for f in frames) and frames[-1].touch.total > 0
    assert all(f.touch.force[:, 2].min(initial=0.0) > -1e-9 for f in frames)  # upwards
    assert "pushes back" in frames[-1].words


def test_modes_follow_each_other_without_a_jump(robot):
    session = Session(robot)
    session.aim("tip", [0.098, 0.01, 0.02])
    here = run(session, 20)[-1].positions
    for mode in ("dynamic", "forward", "inverse", "dynamic"):
        session.switch(mode)
        frame = session.step()
        assert frame.mode == mode
        np.testing.assert_allclose(frame.positions, here, atol=1e-5)  # a ten-thousandth of its length
        here = frame.positions


def test_a_step_in_time_that_fails_holds_the_robot_still(robot, monkeypatch):
    session = Session(robot, mode="dynamic")
    session.drive("upper", displacement=0.02)
    before = run(session, 5)[-1]

    def fail(simulation, laws):
        raise pl.ConvergenceError("No step.", None)

    monkeypatch.setattr(pl.Simulation, "step", fail)
    frame = session.step()
    np.testing.assert_array_equal(frame.positions, before.positions)
    assert frame.status == "stuck" and "no step in time" in frame.words
    monkeypatch.undo()
    assert run(session, 3)[-1].status == "moving"


# Forward steps and their budget


@pytest.fixture
def spent(monkeypatch):
    """Newton iterations of each forward step."""
    counts = []

    def spied(*args):
        result = pl_relaxed(*args)
        counts.append(result.certificate.iterations)
        return result

    pl_relaxed = forward.relaxed
    monkeypatch.setattr(forward, "relaxed", spied)
    return counts


def test_no_forward_step_takes_more_than_its_budget(robot, spent):
    session = Session(robot, mode="forward")
    session.drive("upper", displacement=0.03)
    session.push([corner(session)] * 3, [1.0, 0.0, 0.0], [0.0, 0.1, 0.0])
    frames = run(session, 120)
    assert max(spent) <= forward.STEP_TOLERANCE.iterations
    laws = {"upper": pl.Known(displacement=0.03), "lower": pl.Known(displacement=0.0)}
    assert frames[-1].status == "holds" and frames[-1].displacement["upper"][0] == pytest.approx(0.03)
    assert pl.static(robot, laws).certificate.converged


def test_a_hop_that_needs_more_goes_on_and_only_equilibria_are_shown(robot, spent, monkeypatch):
    """With one iteration a step, hops take several; the shapes shown are those of an ample budget."""
    shown = {}
    for iterations in (1, 30):
        monkeypatch.setattr(
            forward, "STEP_TOLERANCE", pl.Tolerance(residual=1e-5, length=1e-7, iterations=iterations)
        )
        session = Session(robot, mode="forward")
        session.drive("upper", displacement=0.01)
        shown[iterations] = run(session, 120)
    assert shown[1][-1].status == shown[30][-1].status == "holds"
    np.testing.assert_allclose(shown[1][-1].positions, shown[30][-1].positions, atol=1e-6)
    pulls = [frame.displacement["upper"][0] for frame in shown[1]]
    assert any(a == b for a, b in pairwise(pulls[:20]))  # it waits, then moves
    for frame in shown[1][::9]:
        assert frame.displacement["upper"][0] == pytest.approx(frame.command["upper"][0], abs=1e-6)


@pytest.fixture
def newton_fails(monkeypatch):
    """No hop converges, as when contacts come and go between iterations."""
    once, found = pl.Tolerance(residual=1e-300, length=1e-300, iterations=1), forward.relaxed
    monkeypatch.setattr(forward, "relaxed", lambda *given: found(*given[:-1], once))


def test_where_newton_fails_it_creeps_to_the_same_equilibrium(robot, newton_fails):
    session = Session(robot, mode="forward", obstacles=[pl.Sphere((0.07, 0.01, 0.031), 0.01)])
    resting = session.state
    session.drive("upper", displacement=0.01)
    frames = run(session, 120)
    assert frames[-1].status == "holds" and frames[-1].touch.total > 0.01
    laws = {"upper": pl.Known(displacement=0.01), "lower": pl.Known(displacement=frames[-1].command["lower"])}
    start = resting_of(robot, resting)  # a ball in the middle is balanced on: smooth, it would slip off
    alone = pl.static(robot, laws, obstacles=session.obstacles.values(), state=start, unstable="keep")
    np.testing.assert_allclose(frames[-1].positions, alone.positions, atol=2e-6)
    assert frames[-1].touch.total == pytest.approx(alone.contact_force.sum(), rel=1e-3)


def resting_of(robot, state):
    """A session's state without the efforts of its hand."""
    return pl.State(state.q, state.v, state.effort[: robot.bundle.rows], state.internal, state.gravity)


def test_a_command_without_equilibrium_is_given_up_and_another_one_is_not(robot, newton_fails, monkeypatch):
    session = Session(robot, mode="forward")
    before = session.frame

    def fail(creep, laws, obstacles):
        raise pl.ConvergenceError("No step.", None)

    monkeypatch.setattr(forward.Creep, "step", fail)
    session.drive("upper", displacement=0.02)
    frames = run(session, 2 * forward.MOST_STEPS_OF_A_HOP)
    assert frames[-1].status == "stuck" and "no equilibrium" in frames[-1].words
    np.testing.assert_array_equal(frames[-1].positions, before.positions)
    monkeypatch.undo()
    session.drive("upper", displacement=0.01)
    assert run(session, 30)[-1].displacement["upper"][0] == pytest.approx(0.01, abs=1e-6)
