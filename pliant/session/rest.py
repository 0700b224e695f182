"""Where a session begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pliant.contact import Obstacle
from pliant.errors import ConvergenceError, SingularError
from pliant.laws import Law
from pliant.robot import Robot
from pliant.state import State
from pliant.static import static


def at_rest(robot: Robot, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]) -> State:
    """Equilibrium with all actuators at zero effort; undeformed where actuators must hold the robot."""
    try:
        return static(robot, laws, obstacles=obstacles).state
    except ConvergenceError as error:
        return error.result.state
    except SingularError:
        return robot.rest
