"""Drives with lag, largest rate, play and largest effort, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Rigid
from pliant.interactions import Drive

YOUNG, LENGTH, SIDE = 1e5, 0.05, 0.01
STIFF = YOUNG * SIDE**2 / LENGTH


def bar(drive: Drive | None = None) -> pl.Robot:
    """A bar, one spring E A/L, pushed and pulled at its end by a slider; a load beside it."""
    mesh = pl.mesh.box((LENGTH, SIDE, SIDE), cells=(2, 1, 1), order=1)
    plate = Rigid(mesh.nodes[:, 0] > LENGTH - 1e-9, name="plate")
    law = pl.Hooke(young=YOUNG, poisson=0.0, small_strain=True)
    body = pl.Solid(mesh, law, density=1000.0, fixed=mesh.nodes[:, 0] < 1e-9, rigid=[plate])
    centre = body.region_points("plate")[:1]
    rows = {
        "drive": pl.Row(pl.Slider(centre, (1, 0, 0), drive=drive), pl.Bounded()),
        "load": pl.Row(pl.PointForce(centre, direction=(1, 0, 0)), pl.Known(effort=0.0)),
        "end": pl.Row(pl.Position(centre, directions="x"), pl.Target()),
    }
    return pl.Robot(body, rows)


def test_a_motor_follows_its_command():
    """First order; as fast as it may until the lag is slower than that; in one step as in many."""
    lag, rate = 0.1, 0.5
    assert Drive(lag=lag).after(0.0, 1.0, 0.2) == pytest.approx(1.0 - np.exp(-2.0))
    assert Drive(rate=rate).after(1.0, 0.0, 0.5) == pytest.approx(0.75)
    assert Drive(rate=rate).after(0.0, 0.1, 1.0) == 0.1
    both = Drive(lag=lag, rate=rate)
    hurried = (1.0 - rate * lag) / rate
    assert both.after(0.0, 1.0, hurried) == pytest.approx(0.95)
    assert both.after(0.0, -1.0, hurried + 0.2) == pytest.approx(-1.0 + 0.05 * np.exp(-2.0))
    place = 0.0
    for _ in range(50):
        place = both.after(place, 1.0, 0.05)
    assert place == pytest.approx(both.after(0.0, 1.0, 2.5))
    assert Drive().after(0.3, 1.0, 0.0) == 1.0


def test_play_in_statics():
    """Pushed, δ is half the backlash behind; unloaded it lies where it was; a load takes it across."""
    robot, b, u = bar(Drive(backlash=4e-4)), 4e-4, 1e-3
    ask = lambda drive, load, state=None: pl.static(
        robot, {"drive": pl.Known(displacement=drive), "load": pl.Known(effort=load)}, state=state
    )
    pushed = ask(u, 0.0)
    assert pushed.displacement["drive"][0] == pytest.approx(u - b / 2)
    assert pushed.effort["drive"][0] == pytest.approx(STIFF * (u - b / 2))
    free = ask(u, STIFF * u, pushed.state)  # the load holds it in the middle
    assert free.effort["drive"][0] == 0.0 and free.displacement["drive"][0] == pytest.approx(u)
    pulled = ask(u, 2.0 * STIFF * u, free.state)
    assert pulled.displacement["drive"][0] == pytest.approx(u + b / 2)
    assert pulled.effort["drive"][0] == pytest.approx(STIFF * (b / 2 - u))
    back = ask(u, 0.0, pulled.state)
    assert np.allclose(back.q, pushed.q, atol=1e-12)
    assert robot.remembered("drive", back.state.internal)[0] == u


def test_loop_of_a_drive_with_play():
    """Back and forth the end follows b late: the loop is closed after one round, b wide."""
    robot, b = bar(Drive(backlash=4e-4)), 4e-4
    state, seen = None, []
    for u in (0.0, 1e-3, 0.0, -1e-3, 0.0, 1e-3, 0.0):
        result = pl.static(robot, {"drive": pl.Known(displacement=u)}, state=state)
        state = result.state
        seen.append(result.displacement["drive"][0])
    assert np.allclose(seen[1::2], [1e-3 - b / 2, -1e-3 + b / 2, 1e-3 - b / 2])
    assert seen[5] == pytest.approx(seen[1], abs=1e-12)


def test_largest_effort():
    """A motor yields where it would have to push with more, and holds where not."""
    robot = bar(Drive(limit=0.1))
    for u in (0.3, 2.0):
        result = pl.static(robot, {"drive": pl.Known(displacement=u * 0.1 / STIFF)})
        assert result.effort["drive"][0] == pytest.approx(min(u, 1.0) * 0.1)
    with pytest.raises(pl.InputError, match="effort of 'drive'"):
        pl.static(robot, {"drive": pl.Known(effort=0.2)})


def test_lag_and_rate_in_time():
    """A step of the command: the end is where the motor is, step by step."""
    drive, h = Drive(lag=0.05, rate=0.04), 0.01
    robot = bar(drive)
    sim, place = pl.Simulation(robot, time_step=h), 0.0
    for _ in range(12):
        moment = sim.step({"drive": pl.Known(displacement=5e-3)})
        place = drive.after(place, 5e-3, h)
        assert moment.displacement["drive"][0] == pytest.approx(place, abs=1e-9)
        assert robot.remembered("drive", moment.state.internal)[0] == pytest.approx(place)
    rest = pl.static(robot, {"drive": pl.Known(displacement=5e-3)})
    assert robot.remembered("drive", rest.state.internal)[0] == 5e-3


def test_play_in_time():
    """A load that turns round takes the end across the play, and no farther."""
    b, load = 4e-4, 0.05
    robot = bar(Drive(backlash=b))
    sim = pl.Simulation(robot, time_step=1e-3, scheme="euler", damping=pl.dynamics.Rayleigh(mass=200.0))
    for sign in (-1.0, 1.0, -1.0):
        for _ in range(120):
            moment = sim.step({"drive": pl.Known(displacement=0.0), "load": pl.Known(effort=sign * load)})
        assert moment.displacement["drive"][0] == pytest.approx(sign * b / 2, abs=1e-8)
        assert moment.effort["drive"][0] == pytest.approx(-sign * (load - STIFF * b / 2), rel=1e-3)


def test_the_inverse_model_asks_for_the_play_as_well():
    """Its command is ahead by half the backlash on the side that pushes, and brings statics there."""
    robot, b = bar(Drive(backlash=4e-4, limit=1.0)), 4e-4
    control = pl.Inverse(robot)
    for target in (LENGTH + 1e-3, LENGTH - 1e-3):
        for _ in range(8):
            out = control.step({"end": target})
        way = target - LENGTH
        assert out.command["drive"][0] == pytest.approx(way + np.sign(way) * b / 2, abs=1e-7)
        there = pl.static(robot, {"drive": pl.Known(displacement=out.command["drive"])}, state=out.state)
        assert there.displacement["end"][0] == pytest.approx(target, abs=1e-7)


def test_a_drive_that_does_nothing_changes_nothing():
    """Bit for bit in statics and in time."""
    for law in ({"drive": pl.Known(displacement=1e-3)}, {"drive": pl.Known(effort=0.1)}):
        assert np.array_equal(pl.static(bar(), law).q, pl.static(bar(Drive()), law).q)
        one, other = (pl.Simulation(bar(drive), time_step=0.01) for drive in (None, Drive()))
        for _ in range(3):
            assert np.array_equal(one.step(law).q, other.step(law).q)


def test_drives_that_make_no_sense():
    with pytest.raises(pl.InputError, match="lag"):
        Drive(lag=-1.0)
    with pytest.raises(pl.InputError, match="a Drive"):
        bar(0.1)  # pyright: ignore
    body = bar().body
    with pytest.raises(pl.InputError, match="no backlash"):
        pl.Cable(body.points([[0.01, 0.005, 0.005], [0.04, 0.005, 0.005]]), drive=Drive(backlash=1e-3))
