"""The inverse model where it is hard: far targets, jumps, large bends, broken cables, limit points."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bench.validation import pressure
from pliant.contact import Cylinder, Sphere
from pliant.inverse import Inverse
from tests.inverse.test_inverse import LENGTH, TIP, WIDTH, arm, reachable, settle, tip


def run(controller: Inverse, targets) -> list:
    return [controller.step({"tip": target}) for target in targets]


def change(log: list, last: int = 10) -> float:
    """Largest change of a tension per step at the end, as a share of the largest tension."""
    tensions = np.array([[out.effort[name][0] for name in out.command] for out in log])
    return float(np.abs(np.diff(tensions[-last:], axis=0)).max() / max(tensions.max(), 1e-3))


def still(controller: Inverse, log: list) -> None:
    """The command does not move, and the state is an equilibrium."""
    assert change(log) < 1e-3
    assert log[-1].certificate.decrement < 1e-5 * controller.robot.length


FAR = {
    "ahead": (0.3, 0.0, 0.0),
    "aside": (0.0, 0.5, 0.1),
    "behind": (-0.3, 0.02, 0.0),
    "inside": (-0.06, 0.002, 0.0),
    "oblique": (0.1, 0.2, -0.2),
}


@pytest.mark.parametrize("offset", FAR.values(), ids=FAR)
def test_targets_out_of_reach_settle(offset):
    controller = Inverse(arm(effort=(0.0, 4.0)))
    log = run(controller, [tip(*offset)] * 150)
    still(controller, log)
    assert log[-1].certificate.status in ("out of reach", "at its limits")
    away = [np.linalg.norm(out.error["tip"]) for out in log]
    assert away[-1] <= min(away) + 0.01 * LENGTH  # and near the best that was seen


def test_a_robot_comes_back_from_out_of_reach():
    controller = Inverse(arm())
    run(controller, [tip(0.05, 0.3, 0.0)] * 60)
    log = run(controller, [tip(-0.004, 0.015, 0.0)] * 60)
    assert log[-1].certificate.status == "reached"
    still(controller, log)


def test_a_jump_of_a_quarter_of_the_length():
    robot = arm()
    controller = Inverse(robot)
    for pull in ((0.0, 3.0, 0.0, 0.0), (3.0, 0.0, 0.0, 0.0), (0.0, 0.0, 3.0, 0.0)):
        log = run(controller, [reachable(robot, *pull)] * 40)
        assert log[-1].certificate.status == "reached"
        still(controller, log)


def test_bending_past_half_a_turn_and_back():
    mesh = pl.mesh.box((0.2, 0.01, 0.01), cells=(24, 2, 2))
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), fixed=clamp)
    path = lambda y, z: pl.Cable(body.points([[x, y, z] for x in np.linspace(0.0, 0.199, 40)]))
    sides = {
        "left": (0.0005, 0.005),
        "right": (0.0095, 0.005),
        "low": (0.005, 0.0005),
        "high": (0.005, 0.0095),
    }
    rows = {name: pl.Row(path(*yz), pl.Bounded(effort=(0, 20))) for name, yz in sides.items()}
    rows["tip"] = pl.Row(pl.Position(body.points([[0.2, 0.005, 0.005]])), pl.Target())
    controller = Inverse(pl.Robot(body, rows))
    angles = np.linspace(0.02, np.radians(195), 130)
    arc = [np.array([0.19 / a * np.sin(a), 0.005 + 0.19 / a * (1 - np.cos(a)), 0.005]) for a in angles]
    there = run(controller, arc + [arc[-1]] * 30)
    assert there[-1].certificate.status == "reached" and change(there) < 1e-3
    back = run(controller, arc[::-1] + [arc[0]] * 30)
    assert back[-1].certificate.status == "reached" and change(back) < 1e-3


def test_opposed_cables_pulled_together():
    """Two cables shortened against each other keep the arm compressed; the other two still steer it."""
    robot = arm()
    pulled = pl.Known(displacement=0.006)
    controller = Inverse(robot, laws={"cable 0": pulled, "cable 1": pulled})
    bent = pl.static(robot, {"cable 0": pulled, "cable 1": pulled, "cable 3": pl.Known(effort=1.0)})
    out = settle(controller, bent.displacement["tip"], 60)
    assert np.linalg.norm(out.error["tip"]) < 0.005 * LENGTH and out.certificate.decrement < 1e-6
    assert min(out.effort["cable 0"][0], out.effort["cable 1"][0]) > 0.5


def test_a_lost_cable_is_made_up_for():
    robot = arm()
    target = reachable(robot, 0.4, 1.2, 0.0, 0.8)
    controller = Inverse(robot)
    before = settle(controller, target)
    strongest = max(before.command, key=lambda name: before.effort[name][0])
    controller.lose(strongest)
    after = settle(controller, target, 60)
    assert after.effort[strongest][0] == 0.0 and strongest not in after.command
    assert after.certificate.decrement < 1e-6 * LENGTH
    assert np.linalg.norm(after.error["tip"]) < LENGTH  # what three cables can do
    with pytest.raises(pl.InputError, match="row"):
        controller.lose("cabel 1")


def test_an_eighth_cable_is_not_missed():
    """With one cable more than needed the tip stays where it was."""
    mesh = pl.mesh.box((LENGTH, WIDTH, WIDTH), cells=(10, 2, 2))
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), fixed=clamp, order=1)
    rows = {}
    for k, angle in enumerate(np.arange(6) * np.pi / 3):
        at = 0.01 + 0.007 * np.array([np.cos(angle), np.sin(angle)])
        path = [[x, *at] for x in np.linspace(0.0, 0.095, 8)]
        rows[f"cable {k}"] = pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0.0, 10.0)))
    rows["tip"] = pl.Row(pl.Position(body.points([TIP])), pl.Target())
    controller = Inverse(pl.Robot(body, rows))
    target = reachable(controller.robot, 1.5, 2.0, 1.5, 0.8, 0.8, 0.8)
    before = settle(controller, target)
    controller.lose("cable 1")
    after = settle(controller, target, 60)
    assert before.certificate.status == after.certificate.status == "reached"
    assert before.effort["cable 1"][0] > 0.1 and after.effort["cable 1"][0] == 0.0


def test_a_balloon_is_driven_past_its_limit_point():
    """Its pressure peaks and falls again while it grows: K is indefinite, and the volume holds it."""
    inner, outer, shear = 0.01, 0.012, 1e5
    rubber = pl.NeoHookean(young=2 * shear * 1.49, poisson=0.49)
    plain = pressure.sphere(rubber, inner, outer, around=8, across=1)
    far = int(np.argmax(plain.body.mesh.nodes[:, 0]))
    start = plain.body.mesh.nodes[far]
    rows = {
        "air": pl.Row(plain.rows["air"].interaction, pl.Bounded()),
        "skin": pl.Row(pl.Position(plain.body.node_points([far]), directions="x"), pl.Target()),
    }
    controller = Inverse(pl.Robot(plain.body, rows))
    pressures = []
    for radius in np.linspace(start[0], 1.9 * start[0], 60):
        out = controller.step({"skin": [radius]})
        pressures.append(out.effort["air"][0])
        assert out.certificate.shift == 0.0 and out.certificate.moved
    top = int(np.argmax(pressures))
    assert 10 < top < 50 and pressures[-1] < 0.95 * pressures[top]
    assert abs(out.error["skin"][0]) < 1e-3 * start[0] and out.certificate.decrement < 1e-3 * start[0]
    locked = {"air": pl.Known(displacement=out.displacement["air"])}
    check = pl.static(controller.robot, locked, state=out.state)
    np.testing.assert_allclose(check.effort["air"], out.effort["air"], rtol=2e-3)


@pytest.mark.parametrize("v", [0.0005, 0.001])
def test_following_a_circle_between_two_cylinders(v):
    posts = [
        Cylinder((0.05, -0.005, -0.05), (0.05, -0.005, 0.05), 0.003, name="left"),
        Cylinder((0.07, 0.025, -0.05), (0.07, 0.025, 0.05), 0.003, name="right"),
    ]
    controller = Inverse(arm(effort=(0.0, 8.0)), obstacles=posts)
    turns = 2 * np.pi * np.arange(int(2 * np.pi * 0.008 / v)) / int(2 * np.pi * 0.008 / v)
    path = [tip(-0.004, 0.008 * np.sin(a), 0.008 * (1 - np.cos(a))) for a in turns]
    log = run(controller, path + [path[-1]] * 20)
    still(controller, log)
    assert max(controller.detector.penetration(out.q) for out in log[::5]) < 1e-4
    touched = [out for out in log if out.contact_force.any()]
    assert touched
    for out in touched[::5]:
        gap, force = out.contacts.gap, out.contact_force
        after = controller.detector.detect(out.q)
        again = after.carried(out.contacts, force)
        assert np.abs(again * after.gap).max() < 1e-3 * force.max() * LENGTH
        assert (force >= 0).all() and np.isfinite(gap).all()


def test_a_robot_that_an_obstacle_jumps_into_comes_out():
    controller = Inverse(arm())
    controller.detector.add(Sphere((0.09, -0.008, 0.01), 0.015, name="ball"))
    inside = controller.detector.penetration(controller.pose.q)
    log = [controller.step() for _ in range(60)]
    assert inside > 0.005
    assert log[-1].certificate.penetration < 1e-4
    assert controller.detector.penetration(controller.pose.q) < 1e-4


def test_a_robot_round_the_centre_of_an_obstacle_says_so():
    """Pushes along the ball's normals would blow the arm up round it: skin outside, and the ball inside."""
    controller = Inverse(arm())
    controller.detector.add(Sphere((0.09, 0.008, 0.01), 0.015, name="ball"))
    log = [controller.step().certificate for _ in range(20)]
    assert all(certificate.penetration > 5e-3 for certificate in log)
    assert not {"reached", "out of reach"} & {certificate.status for certificate in log}
    assert log[-1].status == "stuck"
    controller.detector.remove("ball")
    assert run(controller, [controller.target] * 10)[-1].certificate.penetration == 0.0


def test_a_robot_that_cannot_get_out_says_how_deep_it_is_and_goes_on():
    controller = Inverse(arm())
    controller.detector.add(Sphere((0.05, 0.01, 0.01), 0.2, name="whale"))
    log = [controller.step({"tip": tip(0.0, 0.01, 0.0)}).certificate for _ in range(40)]
    assert {c.status for c in log} == {"backing out", "stuck"} and log[-1].status == "stuck"
    assert all(certificate.penetration > 0.1 for certificate in log)
    controller.detector.remove("whale")
    log = run(controller, [reachable(controller.robot, 0.0, 1.0, 0.0, 0.0)] * 40)
    assert log[-1].certificate.status == "reached"


def test_an_actuator_without_influence_is_left_alone():
    robot = arm()
    ends = robot.body.points([[0, 0.005, 0.005], [0, 0.015, 0.015]])  # both in the clamp
    rows = {**robot.rows, "dead": pl.Row(pl.Cable(ends), pl.Bounded(effort=(0.0, 5.0)))}
    out = settle(Inverse(pl.Robot(robot.body, rows)), reachable(robot, 0.0, 1.5, 0.0, 0.0))
    assert out.certificate.status == "reached" and out.effort["dead"][0] == 0.0


@pytest.mark.parametrize(
    "targets",
    [
        {"tip": [np.nan, 0, 0]},
        {"tip": [np.inf, 0, 0]},
        {"tip": [0.1, 0]},
        {"tip": "here"},
        {"tap": [0, 0, 0]},
        [0, 0],
    ],
    ids=["nan", "inf", "short", "text", "unknown", "list"],
)
def test_bad_targets_are_refused_and_the_loop_goes_on(targets):
    controller = Inverse(arm())
    with pytest.raises(pl.InputError):
        controller.step(targets)
    assert np.isfinite(controller.target).all()
    assert settle(controller, tip(-0.0005, 0.01, 0.0), 5).certificate.moved


def test_wrong_things_are_named():
    robot = arm()
    for wrong in (
        lambda: Inverse(robot.body),
        lambda: Inverse(robot, settings=3),
        lambda: Inverse(robot, obstacles=["ball"]),
        lambda: Inverse(robot, state=pl.robots.finger().rest),
        lambda: Inverse(robot).lose("tip"),
    ):
        with pytest.raises(pl.InputError):
            wrong()
