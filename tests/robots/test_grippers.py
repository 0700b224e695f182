"""Grippers are robots like any other: a thing of one's own fits in, and recordings have what touches it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import pliant as pl
from pliant.io.recording import Recorder, Recording
from pliant.session import Session


@pytest.mark.parametrize("name", list(pl.robots.grippers))
def test_builders_take_keywords_and_a_thing_of_ones_own(name):
    entry = pl.robots.grippers[name]
    parameters = inspect.signature(entry.build).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters)
    assert getattr(pl.robots, name) is entry.build and len(inspect.getdoc(entry.build) or "") > 200
    can = pl.things.cylinder(0.012, 0.04, at=(0, 0, 0.02), mass=0.03)
    robot = entry.build(thing=can)
    assert robot.bodies[1] is can and set(entry.laws) <= set(robot.by_role("actuator"))
    assert entry.effector in robot.by_role("effector")
    robot.surroundings.detector(robot).require_apart(robot.rest.q)


def test_a_recording_of_a_gripper_has_the_box_and_what_touches_it(tmp_path):
    session = Session(pl.robots.gripper())
    with Recorder(tmp_path / "run.mcap", session.stage) as recorder:
        session.listeners.append(recorder.write)
        session.drive("cable 1", displacement=0.005)
        frames = [session.step() for _ in range(2)]
    again = Recording.read(tmp_path / "run.mcap")
    last = again.frames[-1]
    assert np.allclose(last.displacement["object"], frames[-1].displacement["object"])
    assert last.touch.total == pytest.approx(0.02 * 9.81, rel=0.01)  # the table bears the box
