"""Closed loop: a plant that is not the model ends where it was asked to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InputError
from pliant.hardware import Channel, DeviceError, Loop, Reading, SerialLine
from pliant.hardware.closed import ClosedLoop
from pliant.hardware.emulators import EmulatedWire, FakeClock, Microcontroller
from pliant.session import Session

COARSE = {"around": 8, "size": 0.03, "discs": 5}
OUT = 1e-3 * np.array(
    [1, -1, 1, -1, -1, 1, 1, -1]
)  # [m] that the plant's cables are shorter than the model's


@pytest.fixture(scope="module")
def trunk() -> pl.Robot:
    return pl.robots.trunk(**COARSE)


def plant_of(robot: pl.Robot, stiffer: float) -> pl.Robot:
    """The same robot of another stiffness."""
    body, rows = robot.bodies[0], {}
    law = pl.Hooke(stiffer * body.material.young, body.material.poisson)
    other = pl.Solid(body.input_mesh, law, density=1080.0, fixed=body.fixed, order=1)
    for name, row in robot.rows.items():
        rows[name] = pl.Row(type(row.interaction)(other.points(row.interaction.rest)), row.law)
    return pl.Robot(other, rows, gravity=robot.gravity)


class Plant:
    """A drive and a camera on a robot whose cables are `out` [m] short: strokes in, the tip out."""

    name = "camera"

    def __init__(self, robot: pl.Robot, out: np.ndarray, clock: FakeClock, noise: float = 0.0) -> None:
        self.robot, self.out, self.clock, self.noise = robot, out, clock, noise
        self.rng, self.state, self.tip = np.random.default_rng(0), None, np.zeros(3)
        self.device = Microcontroller(range(1, 9))
        channels = [Channel.spool(f"cable {k}", k, radius=0.005, counts_per_turn=65536) for k in range(1, 9)]
        self.drive = SerialLine(EmulatedWire(self.device, clock), channels, watchdog=9.0)

    def open(self): ...

    def read(self):
        strokes = {c.row: c.value(self.device.position[c.id]) for c in self.drive.channels}
        laws = {
            row: pl.Known(displacement=value + extra)
            for (row, value), extra in zip(strokes.items(), self.out, strict=True)
        }
        result = pl.static(self.robot, laws, state=self.state)
        self.state, self.tip = result.state, result.displacement["tip"]
        return Reading(self.clock.now(), {"tip": self.tip + self.noise * self.rng.standard_normal(3)})

    def close(self): ...


def missed(
    robot: pl.Robot, stiffer: float, target, *, steps: int, noise: float = 0.0, rate: float = np.inf
) -> list[float]:
    """How far the plant's tip is from the target [m] in the periods of a run through the whole loop."""
    clock, far = FakeClock(), []
    plant = Plant(plant_of(robot, stiffer), OUT, clock, noise)
    plant.drive.channels = tuple(replace(c, rate=rate) for c in plant.drive.channels)
    model = ClosedLoop(Session(robot), gain=0.2)
    model.aim("tip", target)

    class Watched:
        robot, observe, held_back = model.robot, staticmethod(model.observe), staticmethod(model.held_back)

        def step(self):
            far.append(float(np.linalg.norm(plant.tip - target)))
            return model.step()

    report = Loop(Watched(), plant.drive, plant, rate=50, clock=clock).run(steps=steps)
    assert report.status == "done", report.reason
    return far


def missed_open(robot: pl.Robot, stiffer: float, target) -> float:
    """How far the plant's tip is from the target [m] with the commands of the model alone."""
    session = Session(robot)
    session.aim("tip", target)
    for _ in range(30):
        frame = session.step()
    assert np.linalg.norm(frame.error["tip"]) < 2e-4  # the model is there
    cables = zip(session.actuators, OUT, strict=True)
    laws = {name: pl.Known(displacement=frame.command[name] + out) for name, out in cables}
    tip = pl.static(plant_of(robot, stiffer), laws).displacement["tip"]
    return float(np.linalg.norm(tip - target))


@pytest.mark.parametrize("stiffer", [0.7, 1.3])
def test_a_wrong_model_ends_within_half_a_millimetre(trunk, stiffer):
    """Young's modulus 30 % off, cables 1 mm out: open loop misses by several millimetres."""
    target = np.array([-0.03, -0.05, 0.17])
    assert missed_open(trunk, stiffer, target) > 4e-3
    assert max(missed(trunk, stiffer, target, steps=55)[-10:]) < 0.5e-3


def test_noise_is_averaged(trunk):
    """Readings that scatter by 1 mm move the robot by less."""
    far = missed(trunk, 1.3, np.array([0.04, 0.02, 0.18]), steps=45, noise=1e-3)[-10:]
    assert np.sqrt(np.mean(np.square(far))) < 1e-3


def test_rate_limits_do_not_wind_it_up(trunk):
    """Winches slower than the model: the robot comes to the target late, and does not swing past it."""
    far = np.array(missed(trunk, 1.3, np.array([-0.03, -0.05, 0.17]), steps=65, rate=0.02))
    assert far[20] > 0.02 and far[-10:].max() < 0.5e-3
    near = int(np.argmax(far < 2e-3))
    assert far[near:].max() < 3e-3


def test_idle_cables_help_where_taut_ones_cannot(trunk):
    """Few cables are taut in the model, too few for every direction; corrected efforts never push."""
    session = Session(trunk)
    loop = ClosedLoop(session, every=1)
    loop.aim("tip", (0.05, 0.025, 0.175))
    for _ in range(40):
        frame = loop.step()
    lam = np.concatenate([session.frame.effort[name] for name in loop.actuators])
    assert 2 <= np.sum(lam > 0.1 * lam.max()) <= 3
    assert loop._condensed is not None
    W_ea, W_aa = loop._condensed
    rng = np.random.default_rng(0)
    for _ in range(20):
        loop.correction[:] = 3e-3 * rng.standard_normal(3) * (1.0, 1.0, 0.3)
        more = loop._efforts(W_ea, W_aa, lam, loop._taut(lam, lam.max()))
        assert (lam + more >= -1e-12).all()
        reached, asked = (W_ea @ more)[:2], loop.correction[:2]
        assert np.linalg.norm(reached - asked) < 0.35 * np.linalg.norm(asked)
    assert frame.command.keys() == set(loop.actuators)


def test_a_model_twice_too_stiff_ends_there(trunk):
    """Where the model uses two cables only: with those alone, the tip stayed millimetres away."""
    far = missed(trunk, 0.5, np.array([0.052, 0.02, 0.174]), steps=90)
    assert max(far[-10:]) < 1e-3


def test_without_a_difference_nothing_is_corrected(trunk):
    """A plant that is the model: commands of taut cables are those of the model."""
    session, again = Session(trunk), Session(trunk)
    loop = ClosedLoop(session)
    for aimed in (loop, again):
        aimed.aim("tip", (0.03, 0.0, 0.18))
    for _ in range(5):
        frame, plain = loop.step(), again.step()
        loop.observe({"eye": Reading(0.0, {"tip": plain.displacement["tip"]})})
    assert np.abs(loop.correction).max() < 1e-9
    for name in session.actuators:
        if plain.effort[name][0] > 0.5 * max(plain.effort[n][0] for n in session.actuators):
            np.testing.assert_allclose(frame.command[name], plain.command[name], atol=1e-9)


def test_a_correction_moves_the_effector_by_as_much(trunk):
    """Δδ of the taut cables, imposed on the model itself, moves its tip by c, to first order."""
    session = Session(trunk)
    loop = ClosedLoop(session, every=1, slack=0.0)
    loop.aim("tip", (0.03, 0.01, 0.185))
    for _ in range(40):
        loop.step()
    before = loop.step()
    loop.correction[:] = [4e-4, -3e-4, 0.0]
    after = loop.step()
    moved = []
    for frame in (before, after):
        laws = {name: pl.Known(displacement=frame.command[name]) for name in session.actuators}
        moved.append(pl.static(trunk, laws).displacement["tip"])
    np.testing.assert_allclose(moved[1] - moved[0], [4e-4, -3e-4, 0.0], atol=1e-4)


def test_a_wrong_marker_stops_it(trunk):
    loop = ClosedLoop(Session(trunk))
    loop.observe(
        {"eye": Reading(0.0, {"tip": np.full(3, 9.0)})}
    )  # before the first step there is nothing to compare
    loop.step()
    for wrong, error, said in ((0.5, DeviceError, "another marker"), (np.nan, InputError, "finite")):
        with pytest.raises(error, match=said):
            loop.observe({"eye": Reading(0.0, {"tip": np.full(3, wrong)})})
        assert not loop.correction.any()
    loop.observe({"eye": Reading(0.0, {"elbow": np.zeros(3)})})  # another row is none of its business
    with pytest.raises(InputError, match="gain"):
        ClosedLoop(Session(trunk), gain=0.0)
    with pytest.raises(InputError, match="effector"):
        loop.aim("top", (0, 0, 0))


def test_it_corrects_an_inverse_model_too(trunk):
    loop = ClosedLoop(pl.Inverse(trunk))
    loop.aim("tip", (0.02, 0.0, 0.19))
    for _ in range(10):
        out = loop.step()
        loop.observe({"eye": Reading(0.0, {"tip": out.displacement["tip"] + (0.002, 0.0, 0.0)})})
    assert loop.correction[0] == pytest.approx(-10 * 0.2 * 0.002)


def test_it_corrects_pressures():
    """A pneumatic finger of another silicone: the loop finds the pressure that brings its tip there.

    As near as any pressure does.
    """
    model, real = pl.robots.pneunet(chambers=1), pl.robots.pneunet(chambers=1, material="dragon skin 20")
    inflated = lambda robot, pressure, state=None: pl.static(
        robot, {"chamber": pl.Known(effort=pressure)}, state=state
    )
    target = inflated(model, 3e4).displacement["tip"]
    apart = float(np.linalg.norm(inflated(real, 3e4).displacement["tip"] - target))
    loop, state = ClosedLoop(Session(model), gain=0.5), None
    loop.aim("tip", target)
    for _ in range(14):
        result = inflated(real, loop.step().effort["chamber"], state)
        state = result.state
        loop.observe({"camera": Reading(0.0, {"tip": result.displacement["tip"]})})
    assert np.linalg.norm(result.displacement["tip"] - target) < 0.1 * apart
