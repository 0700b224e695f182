"""An actuator that breaks, and which rows hold a robot that its supports do not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.errors import InputError, SingularError
from pliant.hold import Hold, hold, nothing
from pliant.inverse.roles import Roles, compile_roles
from pliant.laws import Known, Law
from pliant.robot import Robot
from pliant.step import linearise


def lost(robot: Robot, name: str, laws: Mapping[str, Law], here: np.ndarray) -> Law:
    """The law of an actuator from when it breaks on: no effort. One that alone holds the robot locks at its δ, `here` (m,): without it
    there would be no equilibrium to go to."""
    if robot.rows[name].law.role != "actuator":
        raise InputError(
            f"losing {name!r}", expected="an actuator", got=f"a row that is {robot.rows[name].law.role}"
        )
    broken = Known(effort=0.0)
    try:
        held_by(robot, compile_roles(robot, {**laws, name: broken}))
    except SingularError:
        return Known(displacement=here)
    return broken


def held_by(robot: Robot, roles: Roles) -> Hold:
    """Which rows hold the robot, if its supports do not: imposed displacements, and actuators that push and pull.

    Raises SingularError where they do not hold it either.
    """
    if not robot.rigid_modes():
        return nothing(robot)
    able = roles.conditions.holding.copy()
    able[roles.actuators[~roles.one_sided]] = True
    rest = robot.rest
    linear = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
    assert linear is not None and linear.K is not None
    return hold(robot, able, linear.K, linear.H)
