"""The inverse model: targets are reached, limits hold, contacts push, and every state is an equilibrium."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Sphere
from pliant.inverse import Inverse, Settings

LENGTH, WIDTH = 0.1, 0.02


def arm(effort=(0.0, 10.0), *, gravity=(0.0, 0.0, 0.0), **bounds) -> pl.Robot:
    """A bar of linear tetrahedra with four cables along its edges."""
    mesh = pl.mesh.box((LENGTH, WIDTH, WIDTH), cells=(10, 2, 2))
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=clamp, order=1)
    rows = {}
    for k, (y, z) in enumerate([(0.003, 0.01), (0.017, 0.01), (0.01, 0.003), (0.01, 0.017)]):
        path = [[x, y, z] for x in np.linspace(0.0, 0.095, 8)]
        rows[f"cable {k}"] = pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=effort, **bounds))
    rows["tip"] = pl.Row(pl.Position(body.points([[LENGTH, WIDTH / 2, WIDTH / 2]])), pl.Target())
    return pl.Robot(body, rows, gravity=gravity, name="arm")


TIP = np.array([LENGTH, WIDTH / 2, WIDTH / 2])


def tip(*offset: float) -> np.ndarray:
    """A point this far from the tip at rest [m]."""
    return TIP + np.array(offset)


def reachable(robot: pl.Robot, *tensions: float) -> np.ndarray:
    """Where the tip goes under given tensions [N]: a target that can be met."""
    return pl.static(robot, {f"cable {k}": pl.Known(effort=t) for k, t in enumerate(tensions)}).displacement[
        "tip"
    ]


PULLS = [(0.0, 1.5, 0.0, 0.0), (0.5, 0.0, 0.2, 1.2), (0.0, 3.0, 1.0, 0.0), (0.0, 0.0, 5.0, 0.5)]


def settle(controller: Inverse, target, steps: int = 40):
    out = None
    for _ in range(steps):
        out = controller.step({"tip": target})
    assert out is not None
    return out


@pytest.mark.parametrize("pull", PULLS)
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, 0.0, -9.81)], ids=["weightless", "heavy"])
def test_reachable_targets_are_reached(pull, gravity):
    robot = arm(gravity=gravity)
    out = settle(Inverse(robot), reachable(robot, *pull))
    assert out.certificate.status == "reached"
    assert np.linalg.norm(out.error["tip"]) < 0.005 * LENGTH
    assert all(0.0 <= out.effort[name][0] <= 10.0 for name in out.command)


@pytest.mark.parametrize("pull", PULLS)
def test_the_state_is_the_equilibrium_of_its_commands(pull):
    """Imposing the commanded winch lengths in a forward solve leaves the tip where it is."""
    robot = arm(gravity=(0.0, 0.0, -9.81))
    out = settle(Inverse(robot), reachable(robot, *pull))
    again = pl.static(robot, {name: pl.Known(displacement=u) for name, u in out.command.items()})
    assert np.linalg.norm(again.displacement["tip"] - out.displacement["tip"]) < 1e-3 * LENGTH
    for name in out.command:
        assert again.effort[name] == pytest.approx(out.effort[name], abs=0.01)


def test_the_state_stays_an_equilibrium_while_the_target_moves():
    robot = arm()
    controller = Inverse(robot)
    for k in range(60):
        angle = 2 * np.pi * k / 60
        out = controller.step({"tip": tip(-0.006, 0.02 * np.sin(angle), 0.02 * (1 - np.cos(angle)))})
        assert out.certificate.decrement < 1e-3 * LENGTH
    again = pl.static(robot, {name: pl.Known(displacement=u) for name, u in out.command.items()})
    assert np.linalg.norm(again.displacement["tip"] - out.displacement["tip"]) < 1e-3 * LENGTH


def test_commands_do_not_shake_when_the_target_is_still():
    controller = Inverse(arm())
    settle(controller, tip(-0.006, 0.02, 0.01), 60)
    tensions = np.array([np.concatenate(list(controller.step().effort.values())) for _ in range(5)])
    assert np.abs(np.diff(tensions, axis=0)).max() < 1e-3 * tensions.max()


@pytest.mark.parametrize("target", [tip(0.5, 0, 0), tip(0, 0.5, 0), [0.05, 0.01, 0.01], [-0.2, 0.0, 0.0]])
def test_unreachable_targets_never_raise(target):
    """The best that limits allow; the state stays an equilibrium within bounds."""
    controller = Inverse(arm(effort=(0.0, 5.0)))
    out = settle(controller, target, 60)
    assert out.certificate.status != "reached"
    assert np.isfinite(out.q).all()
    assert all(-1e-9 <= out.effort[name][0] <= 5.0 + 1e-9 for name in out.command)
    home = reachable(controller.robot, 0.0, 1.0, 0.0, 0.0)
    assert settle(controller, home, 80).certificate.status == "reached"  # and it comes back


def test_limits_are_named():
    out = settle(Inverse(arm(effort=(0.0, 0.5))), tip(0.0, 0.05, 0.0), 40)
    assert out.certificate.limits and any("largest effort" in text for text in out.certificate.limits)
    assert str(out.certificate).startswith(out.certificate.status)


def test_displacement_and_speed_bounds_hold():
    controller = Inverse(arm(displacement=(-1.0, 0.004), speed=0.01))
    before, was_taut = np.zeros(4), np.zeros(4, bool)
    for _ in range(60):
        out = controller.step({"tip": tip(-0.01, 0.03, 0.0)})
        pulled = np.array([out.displacement[f"cable {k}"][0] for k in range(4)])
        taut = np.array([out.effort[f"cable {k}"][0] > 0 for k in range(4)])
        assert pulled.max() < 0.004 + 1e-5
        # speed limits count for cables that are taut; a slack one is free to be taken up
        assert (pulled - before)[taut & was_taut].max(initial=0.0) < 0.01 / controller.settings.rate + 2e-5
        before, was_taut = pulled, taut
    assert pulled.max() > 0.0039  # the limit is reached


def test_a_lost_cable_is_made_up_for():
    """With one of four cables gone the tip is kept by the others where they can."""
    robot = arm()
    target = reachable(robot, 0.0, 1.5, 0.0, 0.3)
    out = settle(Inverse(robot, laws={"cable 0": pl.Known(effort=0.0)}), target)
    assert out.certificate.status == "reached" and out.effort["cable 0"] == 0.0


def test_an_obstacle_is_not_entered_and_pushes_back():
    """A ball in the way: no sample ends up inside, forces push, complementarity holds."""
    ball = Sphere((0.07, 0.034, 0.01), 0.01, name="ball")
    controller = Inverse(arm(), obstacles=[ball])
    pushed = False
    for k in range(60):
        out = controller.step({"tip": tip(-0.01, 0.03 * min(1.0, k / 30), 0.0)})
        assert out.certificate.penetration <= 5e-4 * controller.robot.length + 1e-12
        assert (out.contact_force >= 0).all()
        pushed = pushed or bool(out.contact_force.max(initial=0.0) > 0.01)
        if out.contacts is not None and len(out.contacts):
            gap = controller.detector.detect(out.q, 1.0)  # every sample, wherever it is
            at = gap.matched(out.contacts) >= 0
            forces = gap.carried(out.contacts, out.contact_force)
            assert np.abs(forces * gap.gap)[at].max() < 2e-5  # N·m: force × gap left by one linearisation
    assert pushed
    assert np.linalg.norm(out.error["tip"]) > 1e-3  # it is in the way


def test_obstacles_come_and_go_while_running():
    controller = Inverse(arm(), obstacles=[Sphere((0.07, 0.034, 0.01), 0.01, name="ball")])
    target = reachable(controller.robot, 0.0, 3.0, 0.0, 0.0)
    blocked = settle(controller, target, 40)
    controller.detector.remove("ball")
    free = settle(controller, target, 40)
    assert np.linalg.norm(blocked.error["tip"]) > 5 * np.linalg.norm(free.error["tip"])
    assert free.certificate.status == "reached"


def test_bad_targets_are_refused_and_change_nothing():
    controller = Inverse(arm())
    before = controller.target.copy()
    for bad in ({"tip": [np.nan, 0, 0]}, {"tip": [0.0, 0.0]}, {"tap": [0, 0, 0]}, {"cable 0": 1.0}):
        with pytest.raises(pl.PliantError):
            controller.step(bad)
    assert (controller.target == before).all()
    with pytest.raises(pl.PliantError, match="no effector"):
        Inverse(arm(), laws={"tip": pl.Observed()})
    with pytest.raises(pl.PliantError, match="no actuator"):
        Inverse(arm(), laws={f"cable {k}": pl.Known(effort=0.0) for k in range(4)})


def test_other_rows_keep_their_laws():
    """A row with an imposed displacement stays imposed; a spring stays a spring."""
    robot = arm()
    body, rows = robot.body, dict(robot.rows)
    middle = pl.Position(body.points([[0.05, 0.01, 0.01]]), directions="z")
    rows["hold"] = pl.Row(middle, pl.Known(displacement=0.012))
    rows["sheath"] = pl.Row(
        pl.Stretch(body.points([[0.0, 0.01, 0.01], [0.09, 0.01, 0.01]])), pl.Elastic(stiffness=50.0)
    )
    out = settle(Inverse(pl.Robot(body, rows)), tip(-0.004, 0.012, 0.004))
    assert out.displacement["hold"] == pytest.approx(0.012, abs=1e-6)
    assert out.effort["sheath"] == pytest.approx(-50.0 * out.displacement["sheath"], abs=1e-3)


def test_settings_are_shares_of_the_length():
    near = Inverse(arm(), settings=Settings(task_step=0.005))
    far = Inverse(arm(), settings=Settings(task_step=0.02))
    moved = [
        np.linalg.norm(c.step({"tip": tip(-0.01, 0.03, 0)}).displacement["tip"] - TIP) for c in (near, far)
    ]
    assert moved[0] == pytest.approx(0.005 * near.robot.length, rel=0.2)
    assert moved[1] == pytest.approx(0.02 * near.robot.length, rel=0.2)
