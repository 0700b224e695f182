"""What sensors said of a robot whose loads and commands are known: in one pose, or step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.inputs import positive
from pliant.laws import Known, Law
from pliant.robot import Robot


@dataclass(frozen=True)
class Record:
    """Readings (by row name, or those of the only sensor row; NaN where hidden) under `laws`."""

    readings: Any
    laws: Mapping[str, Law] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[Record, ...]:
        """Itself, as a loop of one step."""
        return (self,)

    def shifted(self, offsets: Mapping[str, float]) -> dict[str, Law]:
        """The laws with offsets added to what they impose."""
        return {
            name: shifted(law, offsets[name]) if name in offsets else law for name, law in self.laws.items()
        }

    def imposed(self, name: str) -> float:
        """The largest displacement that it imposes on a row; 0 if it imposes none."""
        law = self.laws.get(name)
        if not isinstance(law, Known) or law.displacement is None:
            return 0.0
        return float(np.abs(law.displacement).max())


class Loop:
    """Records that followed each other on a robot that remembers: friction, play, creep, gas in a chamber.

    `dt` [s] is the time in which each step came about, one number or one per step. Without a `time_step` the
    robot is at rest in all of them, and what is viscous relaxes for so long; with one [s] it is in motion, in
    steps so long, and lag and flow are in it. `before` are laws under which it had rested for long; without
    them it begins as it is drawn.
    """

    def __init__(
        self,
        steps: Sequence[Record],
        *,
        dt: Any = None,
        time_step: float | None = None,
        before: Mapping[str, Law] | None = None,
    ) -> None:
        self.steps, self.before = tuple(steps), before
        if not self.steps or not all(isinstance(step, Record) for step in self.steps):
            raise InputError("steps of a Loop", expected="at least one Record(readings, laws)", got="none")
        self.dt = None if dt is None else _times(dt, len(self.steps))
        self.time_step = None if time_step is None else positive("time_step of a Loop", time_step, "s")
        if self.time_step is not None:
            self.counts = self._counted(self.time_step)

    def imposed(self, name: str) -> float:
        """The largest displacement that any step imposes on a row; 0 if none does."""
        return max(step.imposed(name) for step in self.steps)

    def _counted(self, time_step: float) -> np.ndarray:
        """How many steps in time lead to each record."""
        if self.dt is None:
            raise InputError("dt of a Loop", expected="the times [s] between its steps", got="none")
        counts = np.round(self.dt / time_step).astype(int)
        if (counts < 1).any() or np.abs(counts * time_step - self.dt).max() > 1e-6 * self.dt.max():
            raise InputError("time_step of a Loop", expected="a fraction 1/n of each dt", got=time_step)
        return counts


def _times(dt: Any, count: int) -> np.ndarray:
    times = np.asarray(dt, float)
    if times.shape not in ((), (count,)) or not (np.isfinite(times).all() and (times >= 0.0).all()):
        expected = f"one time ≥ 0 [s], or {count} of them"
        raise InputError("dt of a Loop", expected=expected, got=repr(dt))
    return np.broadcast_to(times, (count,)).copy()


def shifted(law: Law, offset: float) -> Law:
    """An imposed displacement that truly is larger by an offset; other laws as they are."""
    if not isinstance(law, Known) or law.displacement is None:
        return law
    return Known(displacement=np.asarray(law.displacement, float) + offset)


def check_offset(robot: Robot, records: Sequence[Record | Loop], name: str) -> None:
    """Raise InputError unless some record imposes a displacement on this row."""
    robot.named(name)
    laws = [step.laws.get(name) for record in records for step in record.steps]
    if not any(isinstance(law, Known) and law.displacement is not None for law in laws):
        expected = "a row that some record imposes a displacement on, Known(displacement=…)"
        raise InputError(f"offset of {name!r}", expected=expected, got="none")
