"""Emio: assembled from straight legs, at its public height; forward, inverse, in time and as a project."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.core.view import linearise

MOTORS = [f"motor {n}" for n in (1, 2, 3, 4)]


def turned(*angles: float) -> dict[str, pl.Known]:
    return {name: pl.Known(displacement=angle) for name, angle in zip(MOTORS, angles, strict=True)}


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    return pl.robots.emio()


@pytest.fixture(scope="module")
def mounted(robot) -> pl.Result:
    return pl.assemble(robot, turned(0, 0, 0, 0))


def test_straight_legs_are_bent_into_the_platform_which_hangs_where_the_real_one_does(robot, mounted):
    """154 mm below the motors, by public figures; the legs were drawn 100 mm and a right angle away."""
    begin = robot.split(robot.bundle.delta(robot.bundle.positions(robot.rest.q)))
    assert all(np.linalg.norm(begin[f"weld {n}"][:3]) > 0.1 for n in (1, 2, 3, 4))
    assert mounted.displacement["platform"] == pytest.approx([0, 0, -0.154], abs=2e-3)
    assert max(np.abs(mounted.displacement[f"weld {n}"]).max() for n in (1, 2, 3, 4)) < 1e-9
    fine = pl.assemble(pl.robots.emio(elements=40), turned(0, 0, 0, 0))
    assert mounted.displacement["platform"][2] == pytest.approx(fine.displacement["platform"][2], abs=1e-5)


def test_the_motors_carry_what_their_hinges_feel(mounted):
    """Work is stored: the torques are the derivative of the energy by the angles."""
    up, h = [], 1e-3
    for sign in (1, -1):
        up.append(pl.static(mounted.robot, turned(sign * h, 0, 0, 0), state=mounted.state))
    robot = mounted.robot
    looks: list[Any] = [
        linearise(robot, r.q, r.state.effort, r.state.internal, robot.gravity, tangent=False) for r in up
    ]
    rate = (looks[0].energy - looks[1].energy) / (2 * h)
    assert mounted.effort["motor 1"][0] == pytest.approx(rate, rel=1e-4)


def test_it_is_driven_to_targets_with_the_least_effort(robot, mounted):
    """Four motors for three coordinates: from motors that fight each other, they come to rest at least work.

    At the least λᵀWₐₐλ, λ is at right angles, in Wₐₐ, to the efforts that do not move the platform.
    """
    fighting = pl.static(robot, turned(0.4, -0.2, 0.4, -0.2), state=mounted.state)
    controller = pl.Inverse(robot, state=fighting.state)
    target = mounted.displacement["platform"] + [0.005, -0.008, 0.03]
    for _ in range(50):
        out = controller.step(targets={"platform": target})
    assert out.certificate.status == "reached"
    assert out.displacement["platform"] == pytest.approx(target, abs=1e-6)
    W = pl.compliance(robot, controller.state)
    a = np.concatenate([np.arange(*robot.spans[name].indices(10**6)) for name in MOTORS])
    Wea, Waa = W.matrix[robot.spans["platform"]][:, a], W.matrix[np.ix_(a, a)]
    lam = np.concatenate([out.effort[name] for name in MOTORS])
    null = np.linalg.svd(Wea)[2][-1]
    left = abs(null @ Waa @ lam) / np.sqrt((null @ Waa @ null) * (lam @ Waa @ lam))
    assert left < 0.01
    begin = np.concatenate([fighting.effort[name] for name in MOTORS])
    assert abs(null @ Waa @ begin) / np.sqrt((null @ Waa @ null) * (begin @ Waa @ begin)) > 0.1


def test_statics_agrees_with_the_inverse_model_and_with_time(robot, mounted):
    controller = pl.Inverse(robot, state=mounted.state)
    target = mounted.displacement["platform"] + [0.01, 0.0, 0.02]
    for _ in range(20):
        out = controller.step(targets={"platform": target})
    angles = [float(out.displacement[name][0]) for name in MOTORS]
    locked = pl.static(robot, turned(*angles))  # from the straight legs again
    assert locked.displacement["platform"] == pytest.approx(target, abs=1e-5)
    simulation = pl.Simulation(robot, time_step=0.02, state=locked.state)
    for _ in range(5):
        moment = simulation.step(turned(*angles))
    assert moment.certificate.status == "converged"
    assert moment.displacement["platform"] == pytest.approx(locked.displacement["platform"], abs=1e-9)
