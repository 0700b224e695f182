"""What sensors said in one pose of a robot whose loads and commands are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.laws import Known, Law
from pliant.robot import Robot


@dataclass(frozen=True)
class Record:
    """Readings (by row name, or those of the only sensor row; NaN where hidden) under `laws`."""

    readings: Any
    laws: Mapping[str, Law] = field(default_factory=dict)

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


def shifted(law: Law, offset: float) -> Law:
    """An imposed displacement that truly is larger by an offset; other laws as they are."""
    if not isinstance(law, Known) or law.displacement is None:
        return law
    return Known(displacement=np.asarray(law.displacement, float) + offset)


def check_offset(robot: Robot, records: list[Record], name: str) -> None:
    """Raise InputError unless some record imposes a displacement on this row."""
    robot.named(name)
    laws = [record.laws.get(name) for record in records]
    if not any(isinstance(law, Known) and law.displacement is not None for law in laws):
        expected = "a row that some record imposes a displacement on, Known(displacement=…)"
        raise InputError(f"offset of {name!r}", expected=expected, got="none")
