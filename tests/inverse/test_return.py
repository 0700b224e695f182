"""A robot comes back: from targets out of reach, from dead ends, along its own path, and never by a jump."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Cylinder, Sphere
from pliant.inverse import Inverse, Settings
from pliant.inverse.policy.going_back import go_back
from pliant.inverse.policy.memory import Memory, Tried
from pliant.inverse.policy.modes import Following, GoingBack, Scouting
from pliant.inverse.policy.scouting import TENSED, returned, tension
from pliant.inverse.policy.trail import MOST, Trail
from pliant.session import Session
from pliant.session.session import LINEARISATIONS
from tests.inverse.test_inverse import LENGTH, arm, reachable, tip

HASTY = Settings(budget=LINEARISATIONS)
FARTHEST = 4 * Settings().task_step  # of the length: how far a node may move in a step
BALL = Sphere((0.07, 0.035, 0.01), 0.02, name="ball")


class Watched:
    """A controller whose steps are kept: outcomes, and how far a node moved in each, of the length."""

    def __init__(self, robot: pl.Robot, **options: Any) -> None:
        self.controller = Inverse(robot, **options)
        self.robot, self.outcomes, self.motion = robot, [], []

    def go(self, target: Any, steps: int, *, until: str = "") -> Any:
        (name,) = self.robot.by_role("effector")
        for _ in range(steps):
            before = self.robot.positions(self.controller.state.q)
            out = self.controller.step({name: target})
            self.outcomes.append(out)
            moved = np.linalg.norm(self.robot.positions(out.q) - before, axis=1).max()
            self.motion.append(moved / self.robot.length)
            if until and out.certificate.status == until:
                break
        return self.outcomes[-1]

    @property
    def statuses(self) -> list[str]:
        return list(dict.fromkeys(out.certificate.status for out in self.outcomes))


@pytest.mark.parametrize("far", [(0.3, 0.0, -0.045), (0.0, -0.2, 0.1)])
def test_a_trunk_comes_back_from_targets_out_of_reach(far):
    """To where it began, and to another target that it can reach from there."""
    watched = Watched(pl.robots.trunk(), settings=HASTY)
    home = watched.controller.targets["tip"].copy()
    aside = pl.static(watched.robot, {"cable 1": pl.Known(effort=1.0)}).displacement["tip"]
    watched.go(home + far, 60)
    for target in (home, aside):
        out = watched.go(target, 120, until="reached")
        assert out.certificate.status == "reached"
    assert max(watched.motion) < FARTHEST


@pytest.mark.parametrize("name", ["beam", "cantilever", "rod", "tower"])
def test_robots_of_the_gallery_come_back_home(name):
    watched = Watched(pl.robots.gallery[name].build(), settings=HASTY)
    (tip_row,) = watched.robot.by_role("effector")
    home = watched.controller.targets[tip_row].copy()
    direction = np.linspace(1.0, -0.5, len(home)) * watched.robot.length
    for far in (direction, -3.0 * direction):
        watched.go(home + far, 25)
        assert watched.go(home, 120, until="reached").certificate.status == "reached"
    assert max(watched.motion) < FARTHEST


def test_the_trail_has_no_loops_and_leads_back_to_the_start():
    controller = Inverse(arm())
    for target in (tip(-0.004, 0.018, 0.0), tip(-0.004, 0.0, 0.018), tip(-0.004, -0.018, 0.0)):
        for _ in range(12):
            controller.step({"tip": target})
    guides = controller.memory.trail.guides
    spacing = controller.memory.trail.spacing
    apart = [a.far(b.nodes) for k, a in enumerate(guides) for b in guides[:k]]
    assert 3 < len(guides) <= MOST and min(apart) >= 0.99 * spacing
    for _ in range(40):
        controller.step({"tip": tip(0.0, 0.0, 0.0)})
    assert len(controller.memory.trail.guides) < 3  # home again: the loop is forgotten


def test_a_long_trail_is_thinned(monkeypatch):
    monkeypatch.setattr("pliant.inverse.policy.trail.MOST", 6)
    controller = Inverse(arm(effort=(0.0, 8.0)))
    first: Any = controller.memory.trail
    for _ in range(40):
        controller.step({"tip": tip(-0.02, 0.05, 0.0)})
    trail: Any = controller.memory.trail
    assert len(trail.guides) <= 6 and trail.spacing > first.spacing and trail.guides[0] is first.guides[0]


def gone(controller: Inverse, target: np.ndarray, steps: int = 15) -> tuple:
    """Drive there, then set out on the way back along the whole trail."""
    for _ in range(steps):
        controller.step({"tip": target})
    memory = controller.memory
    controller.memory = memory.with_(mode=GoingBack(memory.trail.back()))
    return memory.trail.guides


@pytest.mark.parametrize("budget", [5, 15])
def test_going_back_passes_the_same_equilibria(budget):
    watched = Watched(arm(), settings=Settings(budget=budget))
    guides = gone(watched.controller, tip(-0.004, 0.018, 0.01))
    while isinstance(watched.controller.memory.mode, GoingBack):
        out = watched.go(watched.controller.target, 1)
        assert out.certificate.status == "going back" and out.certificate.moved
        assert out.certificate.decrement < 1e-4 * LENGTH and out.certificate.linearisations <= budget
        assert len(watched.outcomes) < 20
    assert np.abs(out.q - guides[0].q).max() < 1e-5 * LENGTH
    assert 0.0 < max(watched.motion) < FARTHEST


def test_going_back_keeps_to_the_speed_limits():
    speed, rate = 0.01, 100.0
    robot = arm()
    laws = {name: pl.Bounded(effort=(0.0, 10.0), speed=speed) for name in robot.by_role("actuator")}
    controller = Inverse(robot, laws=laws, settings=Settings(rate=rate))
    gone(controller, tip(-0.004, 0.018, 0.0), 60)
    log = [controller.step()]
    while isinstance(controller.memory.mode, GoingBack):
        log.append(controller.step())
        assert len(log) < 400
    taut = np.array([[out.effort[name][0] > 0.0 for name in out.command] for out in log])
    moved = np.diff([[out.displacement[name][0] for name in out.command] for out in log], axis=0)
    assert len(log) > 20 and np.abs(moved[taut[1:] & taut[:-1]]).max() < (1.0 + 1e-3) * speed / rate


def test_poses_of_the_trail_are_only_guides_where_obstacles_have_moved():
    """A post now stands where the trail went: what is passed instead are equilibria that touch it."""
    watched = Watched(arm())
    controller = watched.controller
    guides = gone(controller, tip(-0.006, 0.025, 0.0), 25)
    controller.detector.add(Cylinder((0.075, 0.006, -0.05), (0.075, 0.006, 0.07), 0.008, name="post"))
    depth = controller.detector.penetration(guides[0].q)
    touched = []
    while isinstance(controller.memory.mode, GoingBack) and len(touched) < 80:
        out = watched.go(controller.target, 1)
        touched.append(out.contact_force.max(initial=0.0))
        assert out.certificate.status == "going back" and out.certificate.penetration < 1e-4
    assert depth > 1e-3 and max(touched) > 0.01 and np.abs(out.q - guides[0].q).max() > 1e-3
    command = {name: pl.Known(displacement=value) for name, value in out.command.items()}
    again = pl.static(controller.robot, command, detector=controller.detector, state=out.state)
    assert np.linalg.norm(again.displacement["tip"] - out.displacement["tip"]) < 1e-3 * LENGTH


def test_where_nothing_works_a_scout_finds_the_way_and_the_robot_follows_it(monkeypatch):
    """The robot's own steps fail, those of a scout from the start of the trail do not."""
    watched = Watched(arm(), settings=HASTY)
    controller = watched.controller
    watched.go(tip(-0.004, 0.018, 0.0), 15)
    model, move, dead = controller.model, controller.model.move, controller.pose

    def fails_here(pose, before, aim):
        model.spent.linearisations += before is dead
        return None if before is dead else move(pose, before, aim)

    monkeypatch.setattr(model, "move", fails_here)
    out = watched.go(reachable(controller.robot, 0.0, 0.0, 2.0, 0.0), 120, until="reached")
    assert out.certificate.status == "reached" and max(watched.motion) < FARTHEST
    assert {"looking for another way", "going back"} <= set(watched.statuses)


def test_a_way_without_equilibria_is_gone_all_the_same(monkeypatch):
    """The scout finds one, but no pose of it is found again: they are taken as they were, none jumps."""
    watched = Watched(arm(), settings=HASTY)
    controller = watched.controller
    watched.go(tip(-0.004, 0.018, 0.0), 15)
    model, move, dead = controller.model, controller.model.move, controller.pose
    elsewhere = lambda pose, before, aim: None if before is dead else move(pose, before, aim)
    monkeypatch.setattr(model, "move", elsewhere)
    monkeypatch.setattr("pliant.inverse.policy.going_back.near_equilibrium", lambda *_: False)
    out = watched.go(reachable(controller.robot, 0.0, 0.0, 2.0, 0.0), 120)
    assert out.certificate.status == "reached" and max(watched.motion) < FARTHEST
    assert "going back" in watched.statuses


def test_out_of_reach_is_said_after_scouts_have_confirmed_it():
    controller, sent = Inverse(arm(effort=(0.0, 4.0))), set()
    for _ in range(150):
        out = controller.step({"tip": tip(0.3, 0.0, 0.0)})
        if isinstance(controller.memory.mode, Scouting):
            sent.add(controller.memory.tried.scouts)
        if out.certificate.status == "out of reach":
            assert controller.memory.tried.all_ways
    assert out.certificate.status == "out of reach" and len(sent) >= 2
    assert out.why.endswith("no effort of the actuators brings it closer.")


def test_reset_is_the_only_jump():
    controller = Inverse(arm(), obstacles=[BALL])
    start = controller.state.q
    for _ in range(20):
        controller.step({"tip": tip(-0.004, 0.018, 0.0)})
    controller.lose("cable 0")
    controller.step()
    controller.reset()
    assert np.abs(controller.state.q - start).max() < 1e-9 and controller.memory.tried == Tried(fresh=True)
    assert "cable 0" not in controller.step().command  # what is lost stays lost


def test_a_lost_cable_does_not_pull_on_the_way_back():
    controller = Inverse(arm())
    gone(controller, reachable(controller.robot, 0.0, 3.0, 0.0, 1.0), 20)
    controller.lose("cable 1")
    while controller.step().certificate.status in ("recovering", "recovered"):  # slack, it straightens
        pass
    controller.memory = controller.memory.with_(mode=GoingBack(controller.memory.trail.back()))
    out = controller.step()
    while isinstance(controller.memory.mode, GoingBack):
        out = controller.step()
        assert out.effort["cable 1"][0] == 0.0
    assert isinstance(controller.memory.mode, Following)
    assert np.linalg.norm(out.displacement["tip"] - tip(0.0, 0.0, 0.0)) < 0.05 * LENGTH


def test_a_step_back_from_one_memory_is_repeated():
    controller = Inverse(arm(), obstacles=[BALL])
    gone(controller, tip(-0.004, 0.018, 0.0))
    model, memory = controller.model, controller.memory
    results = [go_back(model, memory)[0] for _ in range(2)]
    assert np.array_equal(results[0].pose.q, results[1].pose.q) and isinstance(memory.mode, GoingBack)
    assert isinstance(results[0].trail, Trail) and results[0].trail.guides[0] is memory.trail.guides[0]


@pytest.mark.parametrize("offset", [(-0.004, 0.015, 0.0), (0.3, 0.0, 0.0), (-0.004, 0.05, 0.0)])
def test_python_says_what_the_page_says(offset):
    session = Session(arm(effort=(0.0, 4.0)), obstacles=[BALL], settings=HASTY)
    controller = Inverse(arm(effort=(0.0, 4.0)), obstacles=[BALL], settings=HASTY)
    session.aim("tip", tip(*offset))
    said = set()
    for _ in range(100):
        out, frame = controller.step({"tip": tip(*offset)}), session.step()
        if out.certificate.status == frame.status:  # "searching" is shown as moving
            assert frame.words.startswith(out.why)
            said.add(out.certificate.status)
    assert len(said) > 1


def test_scouts_for_a_near_target_begin_with_actuators_against_each_other():
    """All of them, then those that are used least, one by one; none where the target is far."""
    controller = Inverse(arm(effort=(0.0, 4.0)))
    for _ in range(6):
        controller.step({"tip": tip(-0.004, 0.015, 0.004)})
    model, memory = controller.model, controller.memory
    used, count = memory.pose.lam[model.roles.actuators], len(model.roles.actuators)
    together, least = (tension(model, memory, number) for number in TENSED[:2])
    assert together is not None and least is not None
    np.testing.assert_allclose(together, 1.0)
    assert np.count_nonzero(least) == 1 and least.max() == 2.0 and used[np.argmax(least)] == used.min()
    assert tension(model, memory, TENSED.start + count + 1) is None
    far = memory.with_(target=tip(0.0, 0.5, 0.0))
    assert tension(model, far, TENSED.start) is None


def test_scouts_begin_where_statics_leads_if_something_stands_where_the_robot_began():
    """A ball takes the place of the straight arm while it is bent: that is no equilibrium any more."""
    controller = Inverse(arm(), settings=HASTY)
    home = controller.state.q
    for _ in range(15):
        controller.step({"tip": tip(-0.004, 0.018, 0.0)})
    controller.detector.add(Sphere((0.08, -0.004, 0.01), 0.007, name="ball"))
    assert controller.detector.penetration(home) > 1e-3
    begun: dict[int, Any] = {}
    for _ in range(150):
        controller.step({"tip": tip(0.004, 0.019, 0.005)})
        memory = controller.memory
        if isinstance(memory.mode, Scouting):
            begun.setdefault(memory.tried.scouts, memory.mode.scout.trail.guides[0])
    start = controller.memory.tried.start
    assert start is not None and start.decrement < 1e-3 * LENGTH
    assert all(begun[number] is start for number in TENSED)
    assert controller.detector.penetration(start.q) < 1e-4


def test_a_scout_that_only_comes_nearer_is_followed_by_those_with_actuators_against_each_other():
    """Then the robot goes the way that leads to the target; if there is none, that of the first."""
    controller = Inverse(arm(effort=(0.0, 4.0)))
    model, goal = controller.model, tip(-0.004, 0.012, 0.0)

    def scout(offset: float) -> Memory:
        for _ in range(12):
            controller.step({"tip": goal - [0.0, offset, 0.0]})
        return controller.memory.with_(target=goal, idle=20)

    robot, nearer, there = scout(5e-3), scout(2e-3), scout(0.0)
    waiting, certificate = returned(model, robot.having_tried(fresh=False, scouts=0), nearer)
    assert certificate.status == "looking for another way" and waiting.tried.scouts == TENSED.start
    going, certificate = returned(model, waiting, there)
    assert certificate.status == "going back" and going.tried.found is None
    assert isinstance(going.mode, GoingBack) and going.mode.path[-1].q is there.pose.q
    for _ in TENSED:
        assert isinstance(waiting.mode, Scouting)
        waiting, certificate = returned(model, waiting, robot)
    assert certificate.status == "going back"
    assert isinstance(waiting.mode, GoingBack) and waiting.mode.path[-1].q is nearer.pose.q


@pytest.mark.parametrize("decrement", [0.5 * LENGTH, np.inf])
def test_a_robot_that_is_far_from_equilibrium_goes_a_scouts_way_pose_by_pose(decrement):
    """From there statics would find no equilibrium on the way, and it would be stuck with the way at hand."""
    controller = Inverse(arm(effort=(0.0, 4.0)))
    for _ in range(12):
        controller.step({"tip": tip(-0.004, 0.012, 0.0)})
    model, scout = controller.model, controller.memory
    stuck = scout.with_(decrement=decrement, disturbed=True)
    going, certificate = returned(model, stuck, scout)
    assert certificate.status == "going back"
    assert isinstance(going.mode, GoingBack) and going.mode.blindly
    going, _ = returned(model, scout.having_tried(led=0.5), scout)
    assert isinstance(going.mode, GoingBack) and not going.mode.blindly
