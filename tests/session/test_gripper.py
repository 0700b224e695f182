"""A gripper in a session: it closes, lifts and says how it holds the box; dragged, the box slips."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.session import Session, hand


@pytest.fixture(scope="module")
def session():
    session = Session(pl.robots.gripper())  # in motion: there is a loose thing
    for name in ("cable 1", "cable 2"):
        session.drive(name, displacement=0.012)
    for _ in range(30):
        session.step()
    session.drive("lift", displacement=0.02)
    for _ in range(40):
        session.step()
    return session


def test_it_lifts_the_box_and_says_how_it_holds_it(session):
    frame = session.frame
    assert frame.displacement["object"][2] > 0.035
    box = session.robot.bodies[1]
    how = frame.held["box"]
    assert how.squeeze == pytest.approx(frame.touch.total, rel=0.3) and 0.2 < how.margin < 0.8
    assert f"Box is held with 0.56 N, {100 * how.margin:.0f} % of its friction is left." in frame.words
    assert set(frame.touch.opponent) <= {"box", "fingers"} and box.name == "box"


def test_shaken_by_its_slider_it_keeps_the_box(session):
    """Commands that jump, as those of a slider: the palm speeds up by less than the friction can carry."""
    heights = []
    for lift in (0.05, 0.03, 0.05, 0.02):
        session.drive("lift", displacement=lift)
        for _ in range(20):
            heights.append(session.step().displacement["object"][2] - session.frame.displacement["lift"][0])
    for _ in range(20):
        session.step()
    assert np.ptp(heights) < 1e-3 and session.frame.held["box"].margin > 0.2


def test_dragged_down_the_box_slips_out(session):
    skin = session.stage.rest
    box = np.flatnonzero(np.abs(skin - (0, 0, 0.015)).max(axis=1) < 0.0151)
    said = []
    for k in range(60):
        session.push(box, np.full(len(box), 1 / len(box)), (0, 0, -0.005 * k))
        said.append(session.step().words)
        if "slips" in said[-1]:
            break
    held = 0.005 * k
    assert 0.1 < held < 0.18 and "Box slips: its friction is used up." in said[-1]
    assert "friction is left" in said[len(said) // 2]


def test_a_loose_thing_follows_the_hand_and_is_not_thrown():
    """Critically damped, ẍ = ω²(1 − x) − 2ωẋ: x = 1 − (1 + ωt) exp(−ωt), which never passes the hand."""
    dice = pl.things.box((0.02, 0.02, 0.02), mass=1e-3, name="dice")
    session = Session(pl.Robot(dice), period=0.005)
    every = np.arange(len(session.stage.vertices))
    goal, places = 0.01, [0.0]
    for _ in range(100):
        spring = session.stiffness * np.array([goal - places[-1], 0.0, 0.0])
        session.pull(every, np.full(len(every), 1 / len(every)), spring)
        session.step()
        places.append(session.frame.positions[:, 0].mean())
    wt = hand.HASTE * session.period * np.arange(101)
    exact = goal * (1.0 - (1.0 + wt) * np.exp(-wt))
    assert max(places) < 1.02 * goal and np.abs(places - exact).max() < 0.1 * goal


def test_commands_in_motion_start_and_stop_gently():
    session = Session(pl.robots.beam(above=None, below=None), mode="dynamic")
    session.drive("upper", displacement=0.01)
    imposed = [session.step().command["upper"][0] for _ in range(60)]
    faster = np.diff(imposed, n=2)
    hop = np.diff(imposed).max()
    assert imposed[-1] == 0.01 and np.abs(faster).max() < 0.2 * hop
