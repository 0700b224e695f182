"""Sensors: markers as rows of the robot, and what actuators say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.hardware.clock import Clock, SystemClock
from pliant.hardware.device import Reading


class Markers:
    """Positions of rows from a marker stream (`pliant.io.streams.Reader`), by the labels of their markers.

        Markers(Reader(NatNet(server=…)), {"tip": ["hub"]})

    A frame in which a marker of a row is missing says nothing of that row. `pose` (rotation (3, 3),
    translation (3,) [m]) takes the tracker's coordinates to the robot's. The reading's time is when it came
    in: the tracker's clock is another.
    """

    def __init__(
        self,
        reader: Any,
        rows: Mapping[str, Sequence[str]],
        *,
        pose: tuple[Any, Any] | None = None,
        clock: Clock | None = None,
        name: str = "markers",
    ) -> None:
        if not rows:
            raise InputError("rows of the markers", expected="labels for at least one row", got="none")
        self.name, self.reader, self.rows = name, reader, {row: tuple(labels) for row, labels in rows.items()}
        self._clock, self._last = clock or SystemClock(), None
        rotation, translation = (np.eye(3), np.zeros(3)) if pose is None else pose
        self._rotation, self._translation = np.asarray(rotation, float), np.asarray(translation, float)

    def open(self) -> None:
        """Start the stream."""
        enter = getattr(self.reader, "__enter__", None)
        if enter is not None:
            enter()

    def read(self) -> Reading | None:
        """The newest frame, if it is another than the last one and has all markers of some row."""
        frame = self.reader.latest()
        if frame is None or frame.time == self._last:
            return None
        self._last = frame.time
        values = {}
        for row, labels in self.rows.items():
            points = frame.arranged(labels) @ self._rotation.T + self._translation
            if np.isfinite(points).all():
                values[row] = points.ravel()
        age = float(getattr(self.reader, "age", 0.0))
        return Reading(self._clock.now() - age, values) if values else None

    def close(self) -> None:
        """End the stream."""
        self.reader.close()


class Counts:
    """What a device with feedback says of its own channels, in SI units, as a sensor."""

    def __init__(self, device: Any, *, clock: Clock | None = None, name: str = "") -> None:
        if not hasattr(device, "counts"):
            raise InputError("device", expected="one that tells its counts", got=type(device).__name__)
        self.device, self.name = device, name or f"{device.name} counts"
        self._clock = clock or SystemClock()

    def open(self) -> None:
        """The device is opened by the loop."""

    def read(self) -> Reading | None:
        """Where the channels are."""
        counts = self.device.counts()
        values = {c.row: np.array([c.value(counts[c.id])]) for c in self.device.channels if c.id in counts}
        return Reading(self._clock.now(), values)

    def close(self) -> None:
        """The device is closed by the loop."""
