"""Drive a robot to its commands in steps, so that its motion can be watched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.laws import Known
from pliant.result import Result
from pliant.robot import Robot
from pliant.static import static
from pliant.static.budget import Report


def drive(
    robot: Robot, laws: Mapping[str, Known], *, steps: int = 10, progress: Report | None = None
) -> Iterator[Result]:
    """Equilibria on the way to the commands: first under gravity alone, then `steps` more, equally far apart.

    Efforts grow from zero, displacements from where they are under gravity. Each starts at the one before.
    `progress` is told of every load step within them, see `static`.
    """
    if steps < 1:
        raise InputError("steps", expected="at least 1", got=steps)
    for name, law in laws.items():
        robot.named(name)
        if not isinstance(law, Known):
            raise InputError(
                f"command of {name!r}", expected="Known(effort=…) or Known(displacement=…)", got=repr(law)
            )
    start = static(robot, _supporting(robot, laws), progress=progress)
    yield start
    now = start
    for step in range(1, steps + 1):
        part = {name: _part(law, start.displacement[name], step / steps) for name, law in laws.items()}
        now = static(robot, part, state=now.state, progress=progress)
        yield now


def _supporting(robot: Robot, laws: Mapping[str, Known]) -> dict[str, Known]:
    """Laws that keep rows at their displacement at rest, for a robot that only its rows support."""
    if not robot.rigid_modes():
        return {}
    rest = robot.split(robot.bundle.delta(robot.bundle.positions(robot.rest.q)))
    return {
        name: Known(displacement=rest[name]) for name, law in laws.items() if law.displacement is not None
    }


def _part(law: Known, rest: np.ndarray, share: float) -> Known:
    """A share of a command."""
    if law.effort is not None:
        return Known(effort=share * _array(law.effort))
    return Known(displacement=rest + share * (_array(law.displacement) - rest))


def _array(value: Any) -> np.ndarray:
    return np.asarray(value, float)
