"""A robot whose target stays comes to rest: the same command, in an equilibrium, at least energy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Rectangle, Rigid
from pliant.contact import Sphere
from pliant.inverse import Inverse, Settings
from pliant.inverse.model import Model
from pliant.inverse.policy.modes import Resting, Searching, Settling
from pliant.mesh.lines import line
from pliant.session.session import LINEARISATIONS
from tests.inverse.test_inverse import LENGTH, arm, reachable, tip

HASTY = Settings(budget=LINEARISATIONS)
STEPS = 80  # after the effectors have come to rest
BALLS = {
    "free": None,
    "beside": Sphere((0.07, 0.035, 0.01), 0.02, name="ball"),
    "in its way": Sphere((0.1, 0.036, 0.012), 0.01, name="ball"),
}
OFFSETS = {"reachable": (-0.004, 0.015, 0.004), "far": (0.3, 0.1, 0.0), "too near": (-0.06, 0.002, 0.0)}


def efforts(out) -> np.ndarray:
    return np.concatenate([out.effort[name] for name in out.command])


def resolved(controller: Inverse, out) -> float:
    """How far [m] statics takes the tip when the commands are imposed."""
    command = {name: pl.Known(displacement=value) for name, value in out.command.items()}
    again = pl.static(controller.robot, command, detector=controller.detector, state=out.state)
    return float(np.linalg.norm(again.displacement["tip"] - out.displacement["tip"]))


@pytest.mark.parametrize("ball", BALLS.values(), ids=BALLS)
@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
def test_a_target_that_stays_lets_the_robot_rest(offset, ball):
    controller = Inverse(arm(effort=(0.0, 4.0)), [] if ball is None else [ball], settings=HASTY)
    log = [controller.step({"tip": tip(*offset)}) for _ in range(220)]
    tips, all_efforts = (
        np.array([f(out) for out in log]) for f in (lambda o: o.displacement["tip"], efforts)
    )
    moving = np.linalg.norm(np.diff(tips, axis=0), axis=1) > 1e-4 * LENGTH
    rests = int(np.flatnonzero(moving).max(initial=0)) + 1
    assert rests + STEPS < len(log)
    change = np.abs(np.diff(all_efforts[rests + STEPS :], axis=0)).max(initial=0.0)
    assert change <= 1e-3 * all_efforts.max()
    out = log[-1]
    assert isinstance(controller.memory.mode, Resting) and not out.certificate.moved
    assert out.certificate.linearisations == 0
    assert (out.certificate.status == "reached") == (np.linalg.norm(out.error["tip"]) < 1e-3 * LENGTH)
    assert resolved(controller, out) < 1e-3 * LENGTH


def test_a_robot_that_cannot_stay_where_it_has_come_goes_back_once_and_rests():
    """The rod is drawn out of its fork until commands hold it no longer; scouts know no better."""
    scene = pl.robots.scenes["rod"]()
    controller = scene.controller()
    goal = controller.targets["tip"] + scene.length * np.array([8.2, 19.5, 7.8])
    log = [controller.step({"tip": goal}) for _ in range(110)]
    assert isinstance(controller.memory.mode, Resting) and log[-1].certificate.status == "about to buckle"
    assert sum(out.certificate.status == "going back" for out in log) <= 3
    assert resolved(controller, log[-1]) < 1e-3 * scene.length


def test_a_robot_for_which_no_step_will_do_finds_its_equilibrium_and_goes_on():
    """Once in a place: there again, it does something else."""
    controller = Inverse(arm(effort=(0.0, 4.0)), settings=HASTY)
    goal = {"tip": tip(*OFFSETS["reachable"])}
    model, length = controller.model, controller.robot.length
    for _ in range(2):
        controller.step(goal)
    there = controller.memory

    def lost():
        """Beside its equilibrium, after all step lengths have failed."""
        dq = 3e-4 * length * np.random.default_rng(0).standard_normal(controller.robot.ndof)
        q = controller.robot.retract(there.pose.q, dq)
        controller.memory = controller.memory.with_(
            pose=model.pose(q, there.pose.lam), decrement=5e-4 * length, mode=Searching(9), disturbed=False
        )

    lost()
    assert controller.step().certificate.status == "searching"
    assert controller.memory.mode == Settling(onwards=True)
    while isinstance(controller.memory.mode, Settling):
        out = controller.step()
    assert out.certificate.status == "moving" and out.certificate.decrement < 1e-6 * length
    assert resolved(controller, out) < 1e-6 * length
    lost()
    controller.step()
    assert not isinstance(controller.memory.mode, Settling)


def rod(by_rows: bool) -> pl.Robot:
    """A rod with two forces for one target, clamped by its support or by six rows: the same physics."""
    hold: Any = {"rigid": Rigid([0], name="base", centre=(0, 0, 0))} if by_rows else {"fixed": 0}
    body = Beam(
        line((0, 0, 0), (0.2, 0, 0)), Rectangle(0.01, 0.005), pl.Hooke(35e6, 0.45), density=1220, **hold
    )
    force = lambda x: pl.Row(pl.PointForce(body.at([x]), direction=(0, 0, 1)), pl.Bounded(effort=(-5, 5)))
    aim = pl.Row(pl.Position(body.at([0.2]), directions="z"), pl.Target())
    rows = {"middle": force(0.1), "end": force(0.15), "tip": aim}
    if by_rows:
        for name, x, along in (
            ("pin", (0, 0, 0), "xyz"),
            ("axis", (0, 0.02, 0), "xz"),
            ("turn", (0.02, 0, 0), "z"),
        ):
            held = pl.Position(body.attached_points("base", [x]), directions=along)
            rows[name] = pl.Row(held, pl.Known(displacement=np.zeros(len(along))))
    return pl.Robot(body, rows, gravity=(0, 0, -9.81))


@pytest.mark.parametrize("inertia", [1e-3, 0.0])
@pytest.mark.parametrize("fight", [0.2, 1.0])
@pytest.mark.parametrize("by_rows", [False, True], ids=["supports", "rows"])
def test_redundant_forces_settle_at_least_energy(by_rows, fight, inertia):
    """Forces that fight at first relax to those that cost least, ½ λᵀWλ, of all that hold the tip there."""
    robot = rod(by_rows)
    laws = {"middle": pl.Known(effort=-fight), "end": pl.Known(effort=0.6 * fight)}
    start = pl.static(robot, laws)
    controller = Inverse(robot, state=start.state, settings=Settings(inertia=inertia))
    for _ in range(80):
        out = controller.step({"tip": start.displacement["tip"]})
    assert out.certificate.status == "reached"
    # On the line of efforts that keep the tip, none costs less: the gradient of λᵀW_aa λ along it vanishes.
    lam = efforts(out)
    clamped = rod(by_rows=False)
    same = pl.static(clamped, {name: pl.Known(effort=value) for name, value in zip(out.command, lam)})
    assert np.abs(same.displacement["tip"] - out.displacement["tip"]).max() < 1e-4 * robot.length
    C = pl.compliance(clamped, same.state)
    Waa = np.array([[C[a, b].item() for b in ("middle", "end")] for a in ("middle", "end")])
    Wea = np.array([C["tip", a].item() for a in ("middle", "end")])
    along = np.array([-Wea[1], Wea[0]]) / np.linalg.norm(Wea)
    assert abs(along @ Waa @ lam) < 0.05 * np.sqrt((along @ Waa @ along) * (lam @ Waa @ lam))


def test_both_ways_to_hold_a_rod_give_the_same_efforts():
    found = []
    for by_rows in (False, True):
        robot = rod(by_rows)
        controller = Inverse(robot)
        goal = controller.targets["tip"] + 0.01
        for _ in range(40):
            out = controller.step({"tip": goal})
        found.append(efforts(out))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3)


def test_rest_ends_when_something_changes():
    controller = Inverse(arm(), [BALLS["beside"]])
    target = tip(-0.004, 0.015, 0.004)

    def rest() -> None:
        for _ in range(200):  # scouts may find another way, and the robot goes back for it
            controller.step({"tip": target})
            if isinstance(controller.memory.mode, Resting):
                return
        raise AssertionError("it does not come to rest")

    rest()
    controller.step({"tip": target + 1e-5})
    assert not isinstance(controller.memory.mode, Resting)
    rest()
    controller.detector.replace(BALLS["in its way"])
    controller.step()
    assert not isinstance(controller.memory.mode, Resting)
    rest()
    controller.change({"cable 0": pl.Bounded(effort=(0.0, 1.0))})
    controller.step()
    assert not isinstance(controller.memory.mode, Resting)


@pytest.mark.parametrize("gap, alarm", [(0.0004, 0.00018), (0.002, 0.0005), (0.002, 0.0025)])
def test_the_alarm_distance_does_not_decide_what_is_reached(gap, alarm):
    """The effector moves through contact only, and that is farther away than contacts are searched for."""
    robot = pl.robots.two_bodies(gap=gap, alarm=alarm)
    controller = Inverse(robot)
    home = robot.positions(controller.state.q)
    goal = controller.targets["tip"] + [0.0, 0.0, -0.001]
    for k in range(60):
        out = controller.step({"tip": goal})
        moved = np.linalg.norm(robot.positions(out.q) - home, axis=1).max()
        assert k == 0 or moved < 0.1 * robot.length
        home = robot.positions(out.q)
        assert out.certificate.status in ("moving", "searching", "recovered", "reached")
        if out.certificate.status == "reached":
            break
    assert out.certificate.status == "reached" and out.contact_force.sum() > 0.01


def test_a_robot_at_its_target_stays_there_though_its_equilibrium_is_not_found_to_the_last_digit(monkeypatch):
    """As where contacts open and close by some micrometres in turn: that is no reason to go back."""
    found = Model.equilibrium

    def rattling(*arguments, **options):
        result = found(*arguments, **options)
        return replace(result, certificate=replace(result.certificate, status="not converged"))

    monkeypatch.setattr(Model, "equilibrium", rattling)
    goal = reachable(arm(), 2.0, 0.5, 1.0, 0.5)
    controller = Inverse(arm(), settings=HASTY)
    log = [controller.step({"tip": goal}) for _ in range(80)]
    said = [out.certificate.status for out in log]
    assert set(said[said.index("reached") :]) == {"reached"} and isinstance(controller.memory.mode, Resting)
    assert (
        np.linalg.norm(log[-1].error["tip"]) < 1e-3 * LENGTH and resolved(controller, log[-1]) < 1e-4 * LENGTH
    )
