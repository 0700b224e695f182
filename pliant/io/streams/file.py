"""Marker frames from files: our own tables, Motive's, and recordings.

    time [s], tip x [mm], tip y [mm], tip z [mm], …        one line per frame; empty or nan: not seen

Motive's table (CSV export of a take) has its labels in the line "Name", and metres or millimetres in its
first line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from pliant.errors import InputError
from pliant.files import reading
from pliant.io.streams.frame import Frame
from pliant.io.streams.json_udp import scale
from pliant.io.streams.source import Source

COLUMN = re.compile(r"^\s*(?P<label>.*?)[\s_.]*(?P<axis>[xyzXYZ])\s*(?:\[(?P<unit>\w+)\])?\s*$")
TIME = re.compile(r"^\s*time\b.*$", re.IGNORECASE)
LONG_UNITS = {"meters": "m", "metres": "m", "millimeters": "mm", "millimetres": "mm", "centimeters": "cm"}


class MarkerFile(Source):
    """Frames of a CSV table or of a recording (.mcap: the row `row`, positions of its points).

    speed: 1 gives frames at the pace at which they were taken, 2 twice as fast; None at once.
    """

    def __init__(self, path: str | Path, *, speed: float | None = None, row: str = "markers") -> None:
        self.path = Path(path)
        with reading(path, "marker file", "a table of markers, or a recording") as file:
            self.frames = _recorded(file, row) if file.suffix == ".mcap" else _table(file)
        self.speed, self._next, self._begin = speed, 0, None

    def __len__(self) -> int:
        return len(self.frames)

    def read(self, timeout: float = 1.0) -> Frame | None:
        """The next frame, when its time has come."""
        if self.ended or self._next >= len(self.frames):
            self.ended = True
            return None
        frame = self.frames[self._next]
        if self.speed is not None:
            begin = self._begin = monotonic() if self._begin is None else self._begin
            due = begin + (frame.time - self.frames[0].time) / self.speed - monotonic()
            sleep(min(max(due, 0.0), timeout))
            if due > timeout:
                return None
        self._next += 1
        return frame


def write_markers(path: str | Path, frames: Iterable[Frame], labels: Iterable[str] | None = None) -> Path:
    """Write frames as a table in metres to a new file.

    `labels` of the points are those of the first frame by default, or numbers.
    """
    path, taken = Path(path), list(frames)
    first = taken[0] if taken else None
    names = list(labels) if labels is not None else list(first.labels or ()) if first else []
    names = names or [str(k + 1) for k in range(len(first) if first else 0)]
    lines = [["time [s]", *(f"{name} {axis} [m]" for name in names for axis in "xyz")]]
    for frame in taken:
        points = frame.points if frame.labels is None else frame.arranged(names)
        if len(points) != len(names):
            got = f"{len(points)} at {frame.time:g} s"
            raise InputError("frames", expected=f"{len(names)} points each, or labels", got=got)
        cells = ["" if np.isnan(x) else repr(float(x)) for x in points.ravel()]
        lines.append([repr(frame.time), *cells])
    try:
        with path.open("x", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    except FileExistsError:
        from pliant.io.recording import taken as there

        raise there(path) from None
    return path


def _table(path: Path) -> list[Frame]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    motive = bool(lines) and lines[0][0].strip().lower() == "format version"
    head, labels, size, when, columns = _motive_head(lines) if motive else _head(lines)
    return [_line(k, line, labels, size, when, columns) for k, line in enumerate(lines[head:], head + 1)]


def _head(lines: list[list[str]]):
    """(lines of the head, labels, metres per unit of each marker, column of the time, columns (m, 3))."""
    names = lines[0] if lines else []
    when = next((k for k, name in enumerate(names) if TIME.match(name)), None)
    axes_of: dict[str, dict[str, int]] = {}
    unit: dict[str, str] = {}
    for k, name in enumerate(names):
        match = COLUMN.match(name) if k != when else None
        if match:
            axes_of.setdefault(match["label"], {})[match["axis"].lower()] = k
            unit[match["label"]] = match["unit"] or "m"
    whole = [label for label, axes in axes_of.items() if set(axes) == {"x", "y", "z"}]
    if when is None or not whole:
        expected = "a first line 'time [s], tip x [m], tip y [m], tip z [m], …'"
        raise InputError("names", expected=expected, got=",".join(names)[:60] or "an empty file")
    columns = np.array([[axes_of[label][axis] for axis in "xyz"] for label in whole])
    return 1, whole, np.array([scale(unit[label]) for label in whole]), when, columns


def _motive_head(lines: list[list[str]]):
    """As `_head`, of a table that Motive wrote: columns of type Marker with X, Y and Z."""
    facts = dict(zip(lines[0][::2], lines[0][1::2], strict=False))
    unit = LONG_UNITS.get(facts.get("Length Units", "Meters").strip().lower(), "m")
    last = next((k for k, line in enumerate(lines) if line[0].strip() == "Frame"), None)
    kinds = next(
        (line for line in lines if len(line) > 2 and "Marker" in line[2:] and "Type" in line[1] + line[0]),
        None,
    )
    names = next((line for line in lines if len(line) > 1 and line[1].strip() == "Name"), None)
    if last is None or names is None:
        raise InputError("head", expected="that of a table of Motive", got="none")
    axes_of: dict[str, dict[str, int]] = {}
    for k, axis in enumerate(lines[last]):
        kind = kinds[k].strip() if kinds and k < len(kinds) else "Marker"
        if k > 1 and axis.strip() in ("X", "Y", "Z") and kind == "Marker":
            axes_of.setdefault(names[k].strip(), {}).setdefault(axis.strip().lower(), k)
    whole = [label for label, axes in axes_of.items() if len(axes) == 3]
    columns = np.array([[axes_of[label][axis] for axis in "xyz"] for label in whole], int).reshape(-1, 3)
    return last + 1, whole, np.full(len(whole), scale(unit)), 1, columns


def _line(number: int, line: list[str], labels, size, when: int, columns) -> Frame:
    value = lambda k: float(line[k]) if k < len(line) and line[k].strip() else np.nan
    try:
        points = np.array([[value(k) for k in three] for three in columns]).reshape(-1, 3)
        return Frame(value(when), size[:, None] * points, tuple(labels))
    except ValueError as error:  # InputError is one too
        raise InputError(f"line {number}", expected="numbers", got=str(error)) from None


def _recorded(path: Path, row: str) -> list[Frame]:
    from pliant.io.recording import Recording

    frames = []
    for k, frame in enumerate(Recording.read(path)):
        if row not in frame.displacement:
            known = sorted(frame.displacement)
            raise InputError(f"row {row!r}", expected=f"one of {known}", got=f"none in frame {k}")
        values = np.asarray(frame.displacement[row], float)
        if values.size % 3:
            raise InputError(f"row {row!r}", expected="positions of points", got=f"{values.size} numbers")
        frames.append(Frame(frame.time, values.reshape(-1, 3)))
    return frames
