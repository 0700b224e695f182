"""A step of the inverse model takes no more work than it may; the next ones do what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Sphere
from pliant.inverse import Inverse, Settings
from tests.inverse.test_inverse import LENGTH, WIDTH, arm, reachable, tip
from tests.inverse.test_settling import FAR, run, still

HASTY = Settings(budget=5)
BALL = Sphere((0.07, 0.035, 0.5 * WIDTH), 0.02, name="ball")


class Counted(Inverse):
    """Counts linearisations: of the steps it tries, and of the equilibria it seeks."""

    def step(self, targets=None):
        model: Any = self.model
        moves, equilibrium, crept = model.move, model.equilibrium, model.crept
        self.work = 0

        def move(*given):
            self.work += 1
            return moves(*given)

        def sought(*given, **named):
            found = equilibrium(*given, **named)
            self.work += max(1, found.certificate.iterations)
            return found

        def creep(*given, **named):
            found = crept(*given, **named)
            self.work += max(1, found[2])
            return found

        model.move, model.equilibrium, model.crept = move, sought, creep
        try:
            out = super().step(targets)
            assert self.work <= out.certificate.linearisations <= self.work + 1  # a pose taken as it was: one
            return out
        finally:
            model.move, model.equilibrium, model.crept = moves, equilibrium, crept


def over_the_ball(robot: pl.Robot, steps: int) -> list[np.ndarray]:
    """To and fro past a ball that the arm leans on."""
    return [tip(-0.004, 0.018, 0.012 * np.sin(angle)) for angle in np.linspace(0.0, 12.0, steps)]


@pytest.mark.parametrize("budget", [1, 5, 15])
def test_no_step_takes_more_than_its_budget(budget):
    """But at least what one goal takes; all that a step does is counted, in its certificate too."""
    settings = Settings(budget=budget)
    controller = Counted(arm(), obstacles=[BALL], settings=settings)
    allowed = max(budget, settings.linearisations)
    targets = [*over_the_ball(controller.robot, 60), *(tip(*far) for far in FAR.values())]
    for target in targets:
        controller.step({"tip": target})
        assert controller.work <= allowed
    controller.detector.add(Sphere((0.09, 0.008, 0.01), 0.015, name="inside"))
    seen = set()
    for _ in range(60):
        seen.add(controller.step().certificate.status)
        assert controller.work <= allowed
    assert "backing out" in seen


def test_a_hasty_robot_comes_where_a_patient_one_does():
    for target in (reachable(arm(), 0.0, 3.0, 0.0, 0.0), reachable(arm(), 1.0, 0.0, 3.0, 0.0)):
        controller = Inverse(arm(), settings=HASTY)
        log = run(controller, [target] * 60)
        still(controller, log)
        assert np.linalg.norm(log[-1].error["tip"]) < 1e-5 * LENGTH


def test_a_hasty_robot_follows_past_a_ball():
    errors = {}
    for settings in (Settings(), HASTY):
        controller = Inverse(arm(), obstacles=[BALL], settings=settings)
        log = run(controller, over_the_ball(controller.robot, 120))
        assert any(out.contact_force.any() for out in log)
        assert max(controller.detector.penetration(out.q) for out in log[::5]) < 1e-4
        errors[settings.budget] = np.mean([np.linalg.norm(out.error["tip"]) for out in log])
    assert errors[5] < 1.1 * errors[15] + 1e-4 * LENGTH


def test_a_waiting_robot_keeps_its_command():
    controller = Inverse(arm(), settings=HASTY)
    before = controller.step({"tip": tip(-0.002, 0.01, 0.0)})
    controller.detector.add(Sphere((0.05, 0.01, 0.01), 0.2, name="whale"))
    waiting = controller.step()
    assert waiting.certificate.status == "backing out" and not waiting.certificate.moved
    for name, value in before.command.items():
        assert np.array_equal(value, waiting.command[name])
