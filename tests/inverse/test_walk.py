"""A robot that was pushed walks to its equilibrium in parts: it never jumps, and says what it does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Sphere
from pliant.inverse import Inverse, Settings
from pliant.inverse.policy.acceptance import FARTHEST
from pliant.inverse.policy.modes import Following
from tests.inverse.test_inverse import LENGTH, WIDTH, arm, reachable, tip

BALL = Sphere((0.07, -0.008, 0.5 * WIDTH), 0.012, name="ball")  # from the side, into the middle of the arm


def walked(controller: Inverse, most: int) -> list:
    """Outcomes until the robot follows its target again; no step goes farther than it may."""
    outcomes, before = [], controller.robot.positions(controller.state.q)
    for _ in range(most):
        out = controller.step()
        motion = np.linalg.norm(out.positions - before, axis=1).max()
        assert motion <= FARTHEST * controller.settings.task_step * LENGTH * (1 + 1e-9)
        outcomes, before = [*outcomes, out], out.positions
        if not controller.memory.disturbed and isinstance(controller.memory.mode, Following):
            return outcomes
    raise AssertionError(f"still {outcomes[-1].certificate} after {most} steps")


@pytest.mark.parametrize("budget", [5, 15])
def test_a_ball_that_appears_inside_is_let_out_part_by_part(budget):
    controller = Inverse(arm(), settings=Settings(budget=budget))
    controller.step({"tip": tip(0.0, 0.0, 0.0)})
    controller.detector.add(BALL)
    before = controller.model.refreshed(controller.pose).depth
    assert before > 0.1 * WIDTH
    outcomes = walked(controller, 40)
    depths = [before, *(out.certificate.penetration for out in outcomes)]
    assert all(b <= a + 1e-9 for a, b in pairwise(depths))
    assert depths[-1] < 1e-4 and outcomes[-1].contact_force.max() > 0.0
    commands = {name: pl.Known(displacement=value) for name, value in outcomes[-1].command.items()}
    again = pl.static(controller.robot, commands, obstacles=[BALL], state=controller.state)
    assert np.abs(again.displacement["tip"] - outcomes[-1].displacement["tip"]).max() < 1e-3 * LENGTH


@pytest.mark.parametrize("budget", [5, 15])
def test_a_cable_that_breaks_under_load_lets_the_arm_swing_back_in_steps(budget):
    robot = arm()
    controller = Inverse(robot, settings=Settings(budget=budget))
    target = reachable(robot, 0.0, 9.0, 0.0, 0.0)
    for _ in range(40):
        out = controller.step({"tip": target})
    assert out.certificate.status == "reached"
    name = max(out.effort, key=lambda n: float(out.effort[n].max()) if n.startswith("cable") else 0.0)
    pull = out.effort[name][0]
    controller.lose(name)
    outcomes = walked(controller, 40)
    efforts = [pull, *(o.effort[name][0] for o in outcomes)]
    assert all(b <= a + 1e-9 for a, b in pairwise(efforts)) and efforts[-1] == 0.0
    swing = np.linalg.norm(outcomes[-1].positions - out.positions, axis=1).max()
    assert swing > FARTHEST * controller.settings.task_step * LENGTH and len(outcomes) > 1
    assert {o.certificate.status for o in outcomes[:-1]} == {"recovering"}


def test_the_pivots_of_a_step_are_bounded():
    settings = Settings(budget=5, pivots=6)
    controller = Inverse(arm(), obstacles=[Sphere((0.07, 0.035, 0.5 * WIDTH), 0.02)], settings=settings)
    most, touched = 0, False
    for angle in np.linspace(0.0, 6.0, 30):
        out = controller.step({"tip": tip(-0.004, 0.018, 0.012 * np.sin(angle))})
        most, touched = max(most, out.certificate.pivots), touched or bool(out.contact_force.any())
        assert out.certificate.pivots <= 2 * settings.pivots * max(1, out.certificate.linearisations)
        assert controller.detector.penetration(out.q) < 1e-4
    assert touched and most >= settings.pivots
