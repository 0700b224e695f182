"""Assembling a robot: from its parts, free of stress where they are drawn, to where its joints put them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import null_space

from pliant.bodies import RigidBody
from pliant.core.rows import levers
from pliant.errors import ConvergenceError, InputError, PliantError
from pliant.interactions.between_frames import Joint
from pliant.laws import Elastic, Law
from pliant.result import Result
from pliant.robot import Robot
from pliant.static import static
from pliant.units import quantity

CLOSED = 1e-6  # of the robot's length: what is open by less is closed
IMMOVABLE = 1e-12  # ∂δ/∂q of a joint between frames that cannot move
NO_MOTION = 1e-9  # of the largest: singular values of joints that are rounding
SPRING = 1e4  # times the load over the robot's length: stiffness of joints that are only drawn together
LEAST_SPRING = 10.0  # [N/m]


def assemble(robot: Robot, laws: Mapping[str, Law] | None = None, **options: Any) -> Result:
    """The robot at rest with its joints closed, under its laws; `options` are those of `static`.

    Any static solve does the same: this one says which joints stay open, and by how much, where it cannot.
    Joints that are open between frames that cannot move are an InputError.
    """
    _require_movable(robot)
    try:
        return static(robot, laws, **options)
    except ConvergenceError as error:
        stuck = _stuck(robot, laws)
        if stuck:
            raise ConvergenceError(
                f"{robot.name!r} cannot be moved as asked: {stuck} {error}", error.result
            ) from error
        gaps = _gaps(robot, error.result.displacement)
        if not gaps:
            raise
        inside = _in_each_other(robot, laws, options)
        if inside:
            raise ConvergenceError(
                f"{robot.name!r} cannot be mounted. {inside} {error}", error.result
            ) from error
        open_ = _drawn_together(robot, laws, options) or gaps
        words = "; ".join(f"{name!r} {gap}" for name, gap in open_.items())
        hint = "Check the places and axes of their frames, the lengths of the parts, and imposed angles."
        message = f"{robot.name!r} cannot be mounted. Joints that stay open: {words}. {hint} {error}"
        raise ConvergenceError(message, error.result) from error


def _require_movable(robot: Robot) -> None:
    """Raise for a joint that is drawn open and that no coordinate of the robot moves."""
    p = robot.bundle.positions(robot.rest.q)
    able = dict(robot.split(levers(robot)))
    for name, gap in _gaps(robot, robot.split(robot.bundle.delta(p))).items():
        if able[name].max() < IMMOVABLE:
            hint = "Joints close what can move: leave out fixed=, or draw the frames where they belong."
            expected = "a frame that can move"
            raise InputError(
                f"joint {name!r}", expected=expected, got=f"two that cannot, open {gap}", hint=hint
            )


def _stuck(robot: Robot, laws: Mapping[str, Law] | None) -> str:
    """Which commands ask for a motion that joints of rigid parts do not leave; "" if none or not known."""
    if not all(isinstance(body, RigidBody) for body in robot.bodies):
        return ""
    p = robot.bundle.positions(robot.rest.q)
    H = robot.bundle.jacobian(robot.rest.q, robot.bundle.gradient(p)).to_csr().toarray()
    delta, asked, joined = robot.bundle.delta(p), robot.forward(laws), np.zeros(len(H), bool)
    joints = [name for name, row in robot.rows.items() if isinstance(row.interaction, Joint)]
    for name in joints:
        joined[robot.spans[name]] = True
    free = np.concatenate([np.asarray(body.free, bool) for body in robot.bodies])
    left = null_space(H[joined][:, free], rcond=NO_MOTION) if joined.any() else np.eye(int(free.sum()))
    able = np.linalg.norm(H[:, free] @ left, axis=1) > NO_MOTION * np.linalg.norm(H, axis=1)
    moving = asked.supporting & ~joined & (np.abs(asked.imposed - delta) > 0.0)
    names = [name for name, span in robot.spans.items() if (moving & ~able)[span].any()]
    if not names:
        return ""
    return f"{names} would have to move, and the joints {joints} of rigid parts leave no motion for it."


def _in_each_other(robot: Robot, laws: Mapping[str, Law] | None, options: Mapping[str, Any]) -> str:
    """Which parts are in each other where the joints would be closed, in words; "" if none are."""
    if robot.surroundings.between_bodies is False or len(robot.bodies) < 2:
        return ""
    around = replace(robot.surroundings, between_bodies=False, samples=None)
    apart = Robot(robot.bodies, robot.rows, gravity=robot.gravity, name=robot.name, surroundings=around)
    try:
        mounted = static(apart, laws, **options)
        robot.surroundings.detector(robot).require_apart(mounted.q)
    except InputError as error:
        return f"Where its joints are closed, its parts are in each other: {error}"
    except PliantError:
        return ""
    return ""


def _gaps(robot: Robot, displacement: Mapping[str, np.ndarray]) -> dict[str, str]:
    """How far open the joints of a robot are, in words, the widest first; none that is closed."""
    found = {}
    for name, row in robot.rows.items():
        joint = row.interaction
        if isinstance(joint, Joint):
            delta = displacement[name]
            if np.abs(delta).max() > CLOSED * robot.length:
                place, turn = (float(np.linalg.norm(part)) for part in joint.reaction(delta))
                words = f"by {quantity(place, 'm', digits=3)}"
                angle = np.degrees(turn / joint.arm**2)
                words += f" and {angle:.3g}°" if angle > np.degrees(CLOSED) else ""
                found[name] = (float(np.linalg.norm(delta)), words)
    return {name: words for name, (_, words) in sorted(found.items(), key=lambda item: -item[1][0])}


def _drawn_together(
    robot: Robot, laws: Mapping[str, Law] | None, options: Mapping[str, Any]
) -> dict[str, str]:
    """What springs in place of the joints leave open, as `_gaps`; none where that cannot be told either."""
    joints = [name for name, row in robot.rows.items() if isinstance(row.interaction, Joint)]
    load = np.linalg.norm(robot.gravity) * sum(body.total_mass for body in robot.bodies)
    stiffness = max(SPRING * float(load) / robot.length, LEAST_SPRING) / float(levers(robot).max()) ** 2
    soft = {**(laws or {}), **dict.fromkeys(joints, Elastic(stiffness))}
    try:
        return _gaps(robot, static(robot, soft, **options).displacement)
    except PliantError:
        return {}
