"""Marker frames as JSON datagrams: what any program can send.

    {"time": 12.34, "points": [[x, y, z], …], "labels": ["tip", …], "unit": "mm"}

Only "points" is needed; null marks one that was not seen. Without "time" it is when the frame came.
"""

from __future__ import annotations

import json
from time import monotonic
from typing import Any

import numpy as np

from pliant.errors import PliantError, unknown_name
from pliant.io.streams.frame import Frame
from pliant.io.streams.source import Datagrams

PORT = 9763
UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254}


def scale(unit: str) -> float:
    """Metres in one unit."""
    if unit not in UNITS:
        raise unknown_name("unit", unit, UNITS)
    return UNITS[unit]


class JsonUdp(Datagrams):
    """JSON datagrams to a port (0: a free one); `unit` of points where a message names none."""

    def __init__(self, port: int = PORT, *, host: str = "", unit: str = "m") -> None:
        scale(unit)
        self.unit = unit
        super().__init__((host, port))

    def decode(self, message: bytes, sender: tuple[str, int]) -> Frame | None:
        """The frame of a message; None, and counted, if it is none."""
        try:
            return frame_of(json.loads(message), self.unit)
        except (PliantError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            self.rejected += 1
            return None


def frame_of(data: dict[str, Any], unit: str = "m") -> Frame:
    """A frame of plain data."""
    rows = [
        [np.nan] * 3 if row is None else [np.nan if x is None else x for x in row] for row in data["points"]
    ]
    size = scale(data.get("unit", unit))
    points = size * np.array(rows, float).reshape(-1, 3) if rows else np.zeros((0, 3))
    labels = data.get("labels")
    time = data.get("time")
    return Frame(monotonic() if time is None else time, points, None if labels is None else tuple(labels))


def message_of(frame: Frame) -> bytes:
    """A frame as a datagram, in metres."""
    rows = [None if np.isnan(row).any() else row.tolist() for row in frame.points]
    data: dict[str, Any] = {"time": frame.time, "points": rows}
    if frame.labels is not None:
        data["labels"] = list(frame.labels)
    return json.dumps(data, allow_nan=False).encode()
