"""A robot that something pushes yields to it in view, and goes back the way it came where it cannot."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Sphere, depth_bound
from pliant.inverse import Inverse, Settings
from pliant.inverse.policy.acceptance import FARTHEST
from tests.inverse.test_inverse import LENGTH, arm, reachable, tip

STEP = FARTHEST * Settings().task_step  # of the length: how far a node may move in a step


class Watched:
    """A controller whose steps are checked: none jumps, and no depth is kept to itself."""

    def __init__(self, **settings: int) -> None:
        self.controller = Inverse(arm(), settings=Settings(**settings))
        self.positions = self.controller.robot.positions(self.controller.state.q)

    def step(self, targets=None):
        out = self.controller.step(targets)
        moved = np.linalg.norm(out.positions - self.positions, axis=1).max()
        assert moved <= 1.01 * STEP * self.controller.robot.length
        deep = self.controller.detector.penetration(out.q)
        assert out.certificate.penetration >= 0.9 * deep - 1e-5
        self.positions = out.positions
        return out


def bent(**settings: int) -> Watched:
    """An arm that was drawn aside."""
    watched = Watched(**settings)
    for _ in range(20):
        watched.step({"tip": reachable(watched.controller.robot, 0.0, 3.0, 0.0, 0.0)})
    return watched


@pytest.mark.parametrize("budget", [5, 15])
def test_a_ball_that_jumps_in_pushes_the_robot_aside(budget):
    """Step by step; then it is touched, no deeper than the bound, and pushes from where it touches."""
    watched = bent(budget=budget)
    end = watched.positions[np.argmax(watched.positions[:, 1])]
    watched.controller.detector.add(Sphere(end + np.array([0.0, 0.009, 0.0]), 0.012, name="ball"))
    bound = depth_bound(watched.controller.robot.length)
    assert watched.controller.detector.penetration(watched.controller.state.q) > 20 * bound
    seen = [watched.step().certificate for _ in range(25)]
    assert seen[-1].penetration <= bound and seen[-1].standoff <= bound
    assert "stuck" not in {certificate.status for certificate in seen}


def test_a_robot_goes_back_from_a_ball_that_it_would_close_round():
    """The ball appears inside a bent arm, where the straight one is not: that is where the arm goes."""
    watched = bent(budget=5)
    robot = watched.controller.robot
    end = robot.positions(robot.rest.q)[:, 0] > 0.999 * LENGTH
    centre = watched.positions[end].mean(axis=0) - [0.006, 0.001, 0.0]
    watched.controller.detector.add(Sphere(centre, 0.003, name="pearl"))
    assert watched.controller.detector.swallowed(watched.controller.state.q) == ("pearl",)
    assert watched.controller.detector.penetration(robot.rest.q) == 0.0
    goal = reachable(robot, 0.0, 0.0, 0.0, 0.0)
    words, out = [], watched.step({"tip": goal})
    while out.certificate.status != "reached" and len(words) < 150:
        words.append(out.certificate.status)
        out = watched.step()
    assert "backing out" in words and out.certificate.status == "reached"
    assert not watched.controller.detector.swallowed(out.q)


def test_a_ball_that_comes_on_is_yielded_to_all_the_way():
    """A step of the ball may be more than a step of the search: what was found of the way is kept."""
    watched, bound = Watched(budget=5), 0.0
    for _ in range(5):
        watched.step({"tip": tip(0.0, 0.005, 0.0)})
    detector = watched.controller.detector
    ball = Sphere((0.08, 0.034, 0.01), 0.012, name="ball")
    detector.add(ball)
    for _ in range(20):
        ball = ball.moved(translation=(0.0, -8e-4, 0.0))
        detector.replace(ball)
        bound = max(bound, watched.step().certificate.penetration)
    assert bound < 1.5e-3  # never left behind by more than a step or two of the ball
    for _ in range(10):
        out = watched.step()
    assert out.certificate.penetration <= depth_bound(LENGTH)


def test_drives_yield_where_contacts_contradict_them_locked():
    """A drive holds a point of the skin, and a lid comes down on it: locked, nothing could give."""
    body = arm().body
    middle, corner = ([[LENGTH / 2, 0.01, 0.01]], [[LENGTH, 0.01, 0.02]])
    tip_row = pl.Row(pl.Position(body.points(middle)), pl.Target())
    hand = pl.Row(pl.Position(body.points(corner)), pl.Bounded(displacement=(-1.0, 1.0)))
    controller = Inverse(pl.Robot(body, {"tip": tip_row, "hand": hand}), settings=Settings(budget=5))
    controller.step()
    controller.detector.add(Plane((0.0, 0.0, 0.016), (0.0, 0.0, -1.0), name="lid"))
    log = [controller.step() for _ in range(12)]
    assert "recovered" in [out.certificate.status for out in log]
    assert log[-1].certificate.penetration < 1e-6 and log[-1].displacement["hand"][2] <= 0.016 + 1e-6
    again = pl.static(
        controller.robot,
        {"hand": pl.Known(displacement=log[-1].command["hand"])},
        state=log[-1].state,
        obstacles=[controller.detector.obstacles["lid"]],
    )
    np.testing.assert_allclose(again.displacement["tip"], log[-1].displacement["tip"], atol=1e-5)


def test_forces_do_not_run_away_while_something_comes_on():
    """A ball is driven into a rod in its pipe: contact stiffness and forces, which grow with each other."""
    controller = Inverse(pl.robots.rod(), settings=Settings(budget=5))
    ball = Sphere((-0.0242, 0.0017, -0.0056), 0.0055, name="ball")
    controller.detector.add(ball)
    strongest, words = 0.0, []
    for _ in range(14):
        ball = ball.moved(translation=(1.75e-3, -3.4e-4, 7.0e-4))
        controller.detector.replace(ball)
        out = controller.step()
        words.append(out.certificate.status)
        strongest = max(strongest, np.abs(out.contact_force).max(initial=0.0))
    assert "recovering" in words
    assert strongest < 30.0  # [N]
    controller.detector.remove("ball")
    log = [controller.step() for _ in range(20)]
    assert log[-1].certificate.status == "reached"
