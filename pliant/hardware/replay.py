"""Replay: the commands of a recorded run through the model again, to compare it with what sensors saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError
from pliant.io.recording import Recording
from pliant.laws import Known
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import static


@dataclass(frozen=True, eq=False)
class Replayed:
    """The model under what was sent at a time [s], and what sensors had read by then, by row."""

    time: float
    result: Result
    measured: Mapping[str, np.ndarray]

    @property
    def error(self) -> dict[str, float]:
        """|measured − model| of each row that was measured, in its unit."""
        return {
            row: float(np.linalg.norm(value - self.result.displacement[row]))
            for row, value in self.measured.items()
            if row in self.result.displacement
        }


def replay(recording: Recording, robot: Robot, *, every: int = 1) -> Iterator[Replayed]:
    """Impose what was sent, every n-th time, on a model of the robot: the one that ran, or a better one."""
    if every < 1:
        raise InputError("every", expected="at least 1", got=every)
    quantity = {}
    measured: dict[str, np.ndarray] = {}
    state: State | None = None
    count = 0
    for note in recording.notes:
        if note.kind == "channels":
            quantity = {row: said["quantity"] for row, said in note.data["rows"].items()}
        elif note.kind == "reading":
            measured |= {row: np.array(value, float) for row, value in note.data["values"].items()}
        elif note.kind == "sent":
            if count % every == 0:
                laws = {
                    row: Known(effort=max(value, robot.rows[row].interaction.effort_range[0]))
                    if quantity.get(row) == "effort"
                    else Known(displacement=value)
                    for row, value in note.data["values"].items()
                }
                result = static(robot, laws, state=state)
                state = result.state
                yield Replayed(note.time, result, dict(measured))
            count += 1
