"""A robot of several parts is sensed, recorded and driven on hardware like one of a single body."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.hardware import Channel, Loop, SerialLine
from pliant.hardware.emulators import Microcontroller, Terminal
from pliant.io.recording import Recorder, Recording
from pliant.sensing import ForceEstimator
from pliant.session import Session

MOTORS = [f"motor {n}" for n in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    return pl.robots.emio()


def test_a_push_on_the_platform_is_felt_by_what_markers_on_it_show(robot):
    """Motors are locked; the force is the one that was applied, and joints carry the weight besides."""
    plate = robot.bodies[4]
    at = plate.properties.centre
    markers = at + 0.01 * np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0.2]])
    locked = {name: pl.Known(displacement=0.1) for name in MOTORS}
    estimator = ForceEstimator(robot, plate.points(markers), plate.points([at]), noise=1e-5, laws=locked)
    applied = np.array([0.05, -0.03, 0.08])
    real = pl.static(estimator.robot, {**locked, "forces": pl.Known(effort=applied)})
    found = estimator.converge(real.displacement["markers"])
    assert found.forces()[0] == pytest.approx(applied, abs=1e-5)


def test_a_run_on_motors_is_recorded_and_ends_where_statics_puts_the_platform(robot, tmp_path):
    """Angles go out in counts of the servos; the recording has the platform and the angles of every step."""
    session = Session(robot)
    target = session.frame.displacement["platform"] + np.array([0.004, -0.003, 0.01])
    session.aim("platform", target)
    known = {"limits": (-1.5, 1.5), "rate": 20.0, "safe": 0.0}
    servos = [Channel.angle(name, k + 1, **known) for k, name in enumerate(MOTORS)]
    device = Microcontroller([1, 2, 3, 4])
    with Recorder(tmp_path / "run.mcap", session.stage) as recorder, Terminal(device) as terminal:
        session.listeners.append(recorder.write)
        drive = SerialLine(terminal.port, servos, watchdog=5.0, timeout=1.0)
        report = Loop(session, [drive], rate=50, watchdog=5.0).run(steps=15)
    assert report.status == "done" and device.state == "safe"
    angles = {c.row: pl.Known(displacement=c.value(device.accepted[-1][1][c.id])) for c in servos}
    frames = Recording.read(tmp_path / "run.mcap").frames
    assert len(frames) >= 15
    reached = pl.static(robot, angles).displacement["platform"]
    assert reached == pytest.approx(frames[-1].displacement["platform"], abs=2e-4)  # counts are 1.5 mrad
    assert reached == pytest.approx(target, abs=2e-4)
