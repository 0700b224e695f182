"""Where an estimator begins: at rest under the commands."""

from __future__ import annotations

from collections.abc import Mapping

from pliant.contact import Detector
from pliant.errors import ConvergenceError
from pliant.laws import Law
from pliant.robot import Robot
from pliant.state import State
from pliant.static import static


def resting(robot: Robot, laws: Mapping[str, Law], detector: Detector | None) -> State:
    """Equilibrium under the commands, without unknown forces; the best state there is where none is found."""
    try:
        return static(robot, laws, detector=detector).state
    except ConvergenceError as error:
        return error.result.state
