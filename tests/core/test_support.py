"""Rows that hold a body which nothing else holds: bases on sliders, arms on motors."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

MESH = pl.mesh.box((0.1, 0.02, 0.02), cells=(8, 2, 2))
BASE = pl.mesh.near_plane(MESH, (0, 0, 0), (1, 0, 0))
HOOKE = pl.Hooke(young=3e5, poisson=0.45)
GRAVITY = (3.0, 0.0, -9.81)
MASS = 1100 * 0.1 * 0.02 * 0.02


def robot(body, **more) -> pl.Robot:
    tip = body.points([[0.1, 0.01, 0.01]])
    rows = {
        "tip": pl.Row(pl.Position(tip), pl.Target()),
        "load": pl.Row(pl.PointForce(tip, direction=(0, 0, 1))),
        **more,
    }
    return pl.Robot(body, rows, gravity=GRAVITY)


def fixed() -> pl.Robot:
    return robot(pl.Solid(MESH, HOOKE, density=1100, fixed=BASE))


def sliding(**law) -> pl.Robot:
    base = pl.Rigid(BASE, name="base", joint=pl.Prismatic((1, 0, 0)))
    body = pl.Solid(MESH, HOOKE, density=1100, rigid=base)
    slide = pl.Row(pl.Slider(body.region_points("base"), (1, 0, 0)), pl.Bounded(**law))
    path = lambda z: body.points([[0.0, 0.01, z], [0.05, 0.01, z], [0.098, 0.01, z]])
    cables = {f"cable {z}": pl.Row(pl.Cable(path(z)), pl.Bounded(effort=(0, 10))) for z in (0.002, 0.018)}
    return robot(body, slide=slide, **cables)


def test_a_base_on_a_slider_carries_the_robot_along():
    load = {"load": pl.Known(effort=-0.2)}
    still = pl.static(fixed(), load)
    moved = pl.static(sliding(), {**load, "slide": pl.Known(displacement=0.01)})
    np.testing.assert_allclose(moved.displacement["tip"], still.displacement["tip"] + [0.01, 0, 0], atol=1e-9)
    np.testing.assert_allclose(moved.effort["slide"], -GRAVITY[0] * MASS, rtol=1e-8)


def test_a_hinged_arm_on_a_motor_turns_as_told_and_feels_its_weight():
    hinge = pl.Rigid(BASE, name="base", joint=pl.Hinge((0, 1, 0), (0.0, 0.01, 0.01)))
    body = pl.Solid(MESH, pl.Hooke(young=3e8, poisson=0.3), density=1100, rigid=hinge)
    motor = pl.Row(pl.Motor(body.region_points("base"), (0, 1, 0)))
    arm = robot(body, motor=motor)
    angle = 0.4
    result = pl.static(arm, {"motor": pl.Known(displacement=angle)})
    np.testing.assert_allclose(result.displacement["motor"], angle, atol=1e-9)
    # Stiff: the motor carries the moment of the weight about the hinge, at 50 mm along the turned arm.
    lever = 0.05 * np.array([np.cos(angle), -np.sin(angle)])
    moment = MASS * (lever[1] * GRAVITY[0] - lever[0] * GRAVITY[2])
    np.testing.assert_allclose(result.effort["motor"], -moment, rtol=5e-3)


def test_a_base_that_nothing_holds_is_named():
    with pytest.raises(pl.SingularError, match=r"1 rigid mode left.*rows that support it"):
        pl.static(sliding())  # the slider carries no effort
    with pytest.raises(pl.SingularError, match="6 rigid modes left"):
        free = robot(pl.Solid(MESH, HOOKE, density=1100))
        pl.static(free)


def test_rows_that_hold_too_little_are_not_enough():
    """A slider along x cannot hold a body that may also slide along y."""
    body = pl.Solid(MESH, HOOKE, density=1100, rigid=pl.Rigid(BASE, name="base"))
    along = pl.Row(pl.Slider(body.region_points("base"), (1, 0, 0)), pl.Known(displacement=0.0))
    with pytest.raises(pl.SingularError):
        pl.static(robot(body, along=along))
    twice = {f"along {k}": along for k in range(6)}
    with pytest.raises(pl.SingularError):
        pl.static(robot(body, **twice))


def test_the_inverse_model_drives_a_base():
    controller = pl.Inverse(sliding(displacement=(-0.03, 0.05)))
    for _ in range(30):
        out = controller.step(targets={"tip": [0.125, 0.01, 0.02]})
    assert out.certificate.status == "reached" and out.certificate.decrement < 1e-8
    np.testing.assert_allclose(out.effort["slide"], -GRAVITY[0] * MASS, rtol=1e-6)
    held = pl.static(controller.robot, {n: pl.Known(displacement=out.displacement[n]) for n in out.command})
    assert np.linalg.norm(held.displacement["tip"] - out.displacement["tip"]) < 1e-4 * controller.robot.length


def test_limits_of_a_base_are_kept_and_named():
    controller = pl.Inverse(sliding(displacement=(-0.01, 0.012)))
    for _ in range(30):
        out = controller.step(targets={"tip": [0.16, 0.01, 0.01]})
    assert out.displacement["slide"][0] <= 0.012 + 1e-6
    assert "slide: largest displacement" in out.certificate.limits
