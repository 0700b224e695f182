"""What a tracker saw at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError, as_floats, is_number


@dataclass(frozen=True, eq=False)
class Frame:
    """Points (n, 3) [m] at `time` [s], in the tracker's coordinates and on its clock.

    `labels` (n,) name the points, "" where one has no name; None if none has. NaN: a point that is known and
    was not seen.
    """

    time: float
    points: np.ndarray
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not (is_number(self.time) and np.isfinite(self.time)):
            raise InputError("time of a frame", expected="a finite number [s]", got=repr(self.time))
        points = as_floats("points of a frame", self.points, "positions (n, 3) [m]")
        points = points.reshape(0, 3) if points.size == 0 else points
        if points.ndim != 2 or points.shape[1] != 3:
            raise InputError(
                "points of a frame", expected="positions (n, 3) [m]", got=f"shape {points.shape}"
            )
        points[~np.isfinite(points).all(axis=1)] = np.nan
        points.setflags(write=False)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "time", float(self.time))
        if self.labels is not None:
            labels = tuple(str(label) for label in self.labels)
            if len(labels) != len(points):
                got = f"{len(labels)} for {len(points)} points"
                raise InputError("labels of a frame", expected="one for every point", got=got)
            object.__setattr__(self, "labels", labels)

    def __len__(self) -> int:
        return len(self.points)

    def arranged(self, names: Sequence[str]) -> np.ndarray:
        """Points (m, 3) [m] in the order of these names, NaN where one is missing."""
        out = np.full((len(names), 3), np.nan)
        place = {label: k for k, label in enumerate(self.labels or ()) if label}
        for row, name in enumerate(names):
            if name in place:
                out[row] = self.points[place[name]]
        return out
