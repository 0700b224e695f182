"""Where an estimator begins: at rest under the commands, held by supports or by rows."""

from __future__ import annotations

from collections.abc import Mapping

from pliant.conditions import Conditions
from pliant.contact import Detector
from pliant.errors import ConvergenceError
from pliant.hold import Hold, hold, nothing
from pliant.laws import Law
from pliant.robot import Robot
from pliant.state import State
from pliant.static import static
from pliant.step import linearise


def resting(robot: Robot, laws: Mapping[str, Law], detector: Detector | None) -> State:
    """Equilibrium under the commands, without unknown forces; the best state there is where none is found."""
    try:
        return static(robot, laws, detector=detector).state
    except ConvergenceError as error:
        return error.result.state


def held_by(robot: Robot, conditions: Conditions) -> Hold:
    """Which rows hold the robot, if its supports do not."""
    if not robot.rigid_modes():
        return nothing(robot)
    rest = robot.rest
    linear = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
    assert linear is not None and linear.K is not None
    return hold(robot, conditions.holding, linear.K, linear.H)
