"""An actuator that breaks, and which rows hold a robot that its supports do not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.core.support import Support
from pliant.errors import InputError, SingularError
from pliant.inverse.roles import Roles, compile_roles
from pliant.laws import Known, Law
from pliant.robot import Robot


def lost(robot: Robot, name: str, laws: Mapping[str, Law], here: np.ndarray) -> Law:
    """The law of an actuator from when it breaks on: no effort. One that alone holds the robot locks at its δ, `here` (m,): without it
    there would be no equilibrium to go to."""
    if robot.rows[name].law.role != "actuator":
        raise InputError(
            f"losing {name!r}", expected="an actuator", got=f"a row that is {robot.rows[name].law.role}"
        )
    broken = Known(effort=0.0)
    try:
        supported(robot, compile_roles(robot, {**laws, name: broken}))
    except SingularError:
        return Known(displacement=here)
    return broken


def supported(robot: Robot, roles: Roles, *, touching: bool = False) -> Support:
    """Which rows hold the robot, if its supports do not: imposed displacements, and actuators that push and pull.

    Raises SingularError where they do not hold it either, unless it may lie on what it touches.
    """
    able = roles.conditions.supporting.copy()
    able[roles.actuators[~roles.one_sided]] = True
    return Support.of(robot, able, touching=touching)
