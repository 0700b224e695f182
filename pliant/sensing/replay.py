"""What a model's sensors show when what was recorded is done to it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.dynamics import Simulation
from pliant.robot import Robot
from pliant.sensing.record import Loop, Record
from pliant.state import State
from pliant.static import static


def replay(
    robot: Robot,
    damping: Any,
    record: Record | Loop,
    offsets: Mapping[str, float],
    sensors: Sequence[str],
    near: State | None,
) -> tuple[list[np.ndarray], State]:
    """(δ of the sensors, step by step, and the state at the end).

    `near` is a state to begin from, where it does not matter which way the robot came.
    """
    if isinstance(record, Record):
        begin = near if near is not None and len(near.q) == robot.nq and not remembers(robot) else None
        result = static(robot, record.shifted(offsets), state=begin)
        return [result.displacement[name] for name in sensors], result.state
    state = _before(robot, damping, record)
    return (_at_rest if record.time_step is None else _moving)(
        robot, damping, record, offsets, sensors, state
    )


def remembers(robot: Robot) -> bool:
    """Whether where it rests depends on the way there: cables with friction, play, gas."""
    return any(span.stop > span.start for span in robot.bundle.own_internal)


def _before(robot: Robot, damping: Any, loop: Loop) -> State | None:
    if loop.before is None:
        return None
    settled = {} if damping is None else {"damping": damping, "dt": np.inf}
    return static(robot, loop.before, **settled).state


def _at_rest(robot: Robot, damping: Any, loop: Loop, offsets, sensors, state) -> tuple[list, State]:
    """A model without viscosity does not see that time passes."""
    out = []
    for k, step in enumerate(loop.steps):
        passing = {} if damping is None or loop.dt is None else {"damping": damping, "dt": float(loop.dt[k])}
        result = static(robot, step.shifted(offsets), state=state, **passing)
        state = result.state
        out += [result.displacement[name] for name in sensors]
    assert state is not None
    return out, state


def _moving(robot: Robot, damping: Any, loop: Loop, offsets, sensors, state) -> tuple[list, State]:
    sim, out = Simulation(robot, time_step=loop.time_step, damping=damping, state=state), []
    for step, count in zip(loop.steps, loop.counts, strict=True):
        laws = step.shifted(offsets)
        for _ in range(count):
            moment = sim.step(laws)
        out += [moment.displacement[name] for name in sensors]
    return out, sim.state
