"""Assembling a robot: from its parts, free of stress where they are drawn, to where its joints put them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.core.rows import levers
from pliant.errors import ConvergenceError, PliantError
from pliant.interactions.between_frames import Joint
from pliant.laws import Elastic, Law
from pliant.result import Result
from pliant.robot import Robot
from pliant.static import static
from pliant.units import quantity

CLOSED = 1e-6  # of the robot's length: what is open by less is closed
SPRING = 1e4  # times the load over the robot's length: stiffness of joints that are only drawn together
LEAST_SPRING = 10.0  # [N/m]


def assemble(robot: Robot, laws: Mapping[str, Law] | None = None, **options: Any) -> Result:
    """The robot at rest with its joints closed, under its laws; `options` are those of `static`.

    Any static solve does the same: this one says which joints stay open, and by how much, where it cannot.
    """
    try:
        return static(robot, laws, **options)
    except ConvergenceError as error:
        gaps = _gaps(robot, error.result)
        if not gaps:
            raise
        open_ = _drawn_together(robot, laws, options) or gaps
        words = "; ".join(f"{name!r} {gap}" for name, gap in open_.items())
        hint = "Check the places and axes of their frames, the lengths of the parts, and imposed angles."
        message = f"{robot.name!r} cannot be mounted. Joints that stay open: {words}. {hint} {error}"
        raise ConvergenceError(message, error.result) from error


def _gaps(robot: Robot, result: Result) -> dict[str, str]:
    """How far open the joints of a robot are, in words, the widest first; none that is closed."""
    found = {}
    for name, row in robot.rows.items():
        joint = row.interaction
        if isinstance(joint, Joint):
            delta = result.displacement[name]
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
        return _gaps(robot, static(robot, soft, **options))
    except PliantError:
        return {}
