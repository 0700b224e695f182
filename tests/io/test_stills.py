"""Stills: frames as pictures from Python, from a recording and while a session runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import pliant as pl
from pliant.io.picture import View
from pliant.io.recording import Recorder, Recording
from pliant.io.stills import CAPTION, Stills, coloured
from pliant.session import Session
from tests.studio.robots import bar

SIZE = (320, 240)
BALL = (0.07, 0.01, 0.045)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    session = Session(bar(), obstacles=[pl.Sphere(BALL, 0.01)])
    session.aim("tip", (0.095, 0.01, 0.03))
    with Recorder(path, session.stage) as recorder:
        session.listeners.append(recorder.write)
        for _ in range(9):
            session.step()
    return Recording.read(path)


def read(path):
    return np.asarray(Image.open(path).convert("RGB")).astype(int)


def ink(image):
    """Pixels above the caption that are not paper."""
    return np.abs(image[:-CAPTION] - 255).sum(axis=2) > 25


def test_a_recording_becomes_numbered_pictures(run, tmp_path):
    paths = run.to_png(tmp_path / "film", every=4, size=SIZE)
    assert [p.name for p in paths] == ["00000.png", "00001.png", "00002.png"]
    first, _, last = map(read, paths)
    assert first.shape == (SIZE[1], SIZE[0], 3)
    assert ink(first).mean() > 0.05 and (np.abs(last - first).sum(axis=2) > 40).sum() > 100  # it moves
    edge = ink(first).copy()
    edge[4:-4, 4:-4] = False
    assert not edge.any()  # all of it is in the picture


def test_a_session_is_drawn_while_it_runs(tmp_path):
    session = Session(bar())
    stills = Stills(tmp_path, session.stage, size=SIZE, view=View(azimuth=-90.0, elevation=0.0))
    session.listeners.append(stills.write)
    session.step()
    session.step()
    assert stills.count == 2 and sorted(p.name for p in tmp_path.iterdir()) == ["00000.png", "00001.png"]


def test_a_point_is_where_the_camera_sees_it(run, tmp_path):
    """From the front, x goes to the right and z up, both at the same scale."""
    stills = Stills(tmp_path, run.stage, size=(600, 400), view=View(azimuth=-90.0, elevation=0.0))
    frame = replace(run.frames[0], obstacles={}, target={})
    rows, columns = np.nonzero(ink(read(stills.write(frame))))
    wide, _, high = np.ptp(np.concatenate([run.stage.rest, frame.positions]), axis=0)  # it, and its ghost
    assert np.ptp(columns) == pytest.approx(wide * stills.scale, abs=6)  # [px]
    assert np.ptp(rows) == pytest.approx(high * stills.scale, abs=6)


def test_obstacles_and_contacts_are_drawn(run, tmp_path):
    frame = run.frames[-1]
    alone = replace(frame, obstacles={})
    draw = lambda name, shown: read(Stills(tmp_path / name, run.stage, size=SIZE).write(shown))
    assert (np.abs(draw("with", frame) - draw("without", alone)).sum(axis=2) > 30).sum() > 200


def test_colours_run_from_cold_to_hot():
    cold, hot = coloured(np.array([0.0, 1.0]))
    assert cold.min() > 0.8 and hot[0] > 0.6 and hot[2] < 0.3
    np.testing.assert_array_equal(coloured(np.array([-1.0, 2.0])), [cold, hot])


def test_wrong_input_says_so(run, tmp_path):
    with pytest.raises(pl.InputError, match="pixels"):
        Stills(tmp_path, run.stage, size=(10, 10))
    with pytest.raises(pl.InputError, match="frame"):
        Recording(run.stage, ()).to_png(tmp_path)
