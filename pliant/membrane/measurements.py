"""Forces measured on a skin between two pulleys, and reading them from a CSV file."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats
from pliant.files import reading

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "N": 1.0, "mN": 1e-3, "rad": 1.0, "deg": np.pi / 180.0}
COLUMNS = {
    "x": ("m", "cm", "mm"),
    "y": ("m", "cm", "mm"),
    "force_x": ("N", "mN"),
    "force_y": ("N", "mN"),
    "angle": ("rad", "deg"),
}
ONE_PLACE = 1e-9  # of the largest coordinate: pulleys nearer than this to each other coincide
SMALLEST_SIZE = 1e-9  # [m], for the same
_HEADER = re.compile(r"^\s*(\w+)\s*(?:\[\s*(\w+)\s*\])?\s*$")


@dataclass(frozen=True, eq=False)
class Measurements:
    """n forces of a skin on a roller.

    ends (2, 2): the pulleys [m]; points (n, 2): where the roller stands [m]; force (n, 2): what the skin
    exerts on it [N], NaN where a component was not measured; angle (n,): its direction from the x axis [rad],
    NaN where not measured; radius of the roller [m].
    """

    ends: np.ndarray
    points: np.ndarray
    force: np.ndarray
    angle: np.ndarray
    radius: float = 0.0

    def __len__(self) -> int:
        return len(self.points)

    @classmethod
    def of(
        cls,
        ends: Any,
        points: ArrayLike,
        force: ArrayLike,
        angle: ArrayLike | None = None,
        radius: float = 0.0,
    ) -> Measurements:
        """Checked: shapes, finite places, pulleys apart, at least one measured component at every point."""
        a = as_floats("ends", ends, "two points (2, 2) [m]")
        p, f = as_floats("points", points, "(n, 2) [m]"), as_floats("force", force, "(n, 2) [N]")
        if a.shape != (2, 2) or not np.isfinite(a).all():
            raise InputError("ends", expected="two finite points (2, 2) [m]", got=a.shape)
        if np.linalg.norm(a[1] - a[0]) <= ONE_PLACE * max(np.abs(a).max(), SMALLEST_SIZE):
            raise InputError("ends", expected="two pulleys apart from each other", got=a.tolist())
        if p.ndim != 2 or p.shape[1] != 2 or f.shape != p.shape:
            raise InputError("points, force", expected="(n, 2) each", got=(p.shape, f.shape))
        turn = np.full(len(p), np.nan) if angle is None else as_floats("angle", angle, "(n,) [rad]")
        if turn.shape != (len(p),):
            raise InputError("angle", expected=f"({len(p)},)", got=turn.shape)
        if not np.isfinite(p).all() or np.isinf(f).any():
            raise InputError("points, force", expected="finite numbers", got="some that are not")
        if not np.isfinite(f).any(axis=1).all():
            lacking = int(np.argmin(np.isfinite(f).any(axis=1)))
            raise InputError(
                "force", expected="a measured component at every point", got=f"none at point {lacking}"
            )
        if not (np.isfinite(radius) and radius >= 0.0):
            raise InputError("radius", expected="a length ≥ 0 [m]", got=radius)
        for array in (a, p, f, turn):
            array.setflags(write=False)
        return cls(a, p, f, turn, float(radius))


def read_measurements(path: str | Path, *, ends: Any = None, radius: float = 0.0) -> Measurements:
    """A CSV file with the columns x, y and force_x, force_y or only force_y, and an angle if there is one.

    A unit may follow a name in brackets, as in `x [mm]`; without one it is SI. Lines that begin with # are
    remarks; two of them, `# pulley_a = x, y` and `# pulley_b = x, y` [m], place the pulleys unless `ends`
    does.
    """
    with reading(path, "measurements", "a readable CSV file, text in UTF-8") as file:
        return _measured(file, ends, radius)


def _measured(path: Path, ends: Any, radius: float) -> Measurements:
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    body = [(n, row) for n, row in enumerate(lines, 1) if row.strip() and not row.lstrip().startswith("#")]
    if len(body) < 2:
        raise InputError("text", expected="a line of names and lines of numbers", got=f"{len(body)} lines")
    columns = _columns(next(csv.reader([body[0][1]])), body[1:])
    if "x" not in columns or "y" not in columns or not {"force_x", "force_y"} & set(columns):
        expected = "x, y and force_x, force_y or one of them"
        raise InputError("columns", expected=expected, got=sorted(columns))
    none = np.full(len(body) - 1, np.nan)
    return Measurements.of(
        _pulleys(lines) if ends is None else ends,
        np.column_stack((columns["x"], columns["y"])),
        np.column_stack((columns.get("force_x", none), columns.get("force_y", none))),
        columns.get("angle"),
        radius,
    )


def _columns(names: list[str], body: list[tuple[int, str]]) -> dict[str, np.ndarray]:
    """Columns by name, in SI; columns that nobody knows are left out."""
    rows = []
    for number, text in body:
        cells = next(csv.reader([text]))
        if len(cells) != len(names):
            raise InputError(f"line {number}", expected=f"{len(names)} cells", got=len(cells))
        rows.append((number, cells))
    columns: dict[str, np.ndarray] = {}
    for k, title in enumerate(names):
        match = _HEADER.match(title)
        name = match.group(1).lower() if match else ""
        if match is None or name not in COLUMNS:
            continue
        unit = match.group(2) or COLUMNS[name][0]
        if unit not in COLUMNS[name]:
            raise InputError(f"unit of {name}", expected=f"one of {list(COLUMNS[name])}", got=unit)
        columns[name] = UNITS[unit] * np.array([_number(n, name, cells[k]) for n, cells in rows])
    return columns


def _number(line: int, name: str, cell: str) -> float:
    try:
        return float(cell) if cell.strip() else np.nan
    except ValueError:
        raise InputError(f"{name} in line {line}", expected="a number", got=repr(cell)) from None


def _pulleys(lines: list[str]) -> list[list[float]]:
    """The remarks that place the pulleys."""
    places = {}
    for text in lines:
        match = re.match(r"^\s*#\s*pulley_([ab])\s*=\s*(\S+)\s*,\s*(\S+)\s*$", text)
        if match:
            places[match.group(1)] = [_number(0, "pulley", match.group(k)) for k in (2, 3)]
    if set(places) != {"a", "b"}:
        hint = (
            "Give ends=[[x, y], [x, y]] or write them into the file as `# pulley_a = x, y` and "
            "`# pulley_b = x, y`."
        )
        raise InputError("pulleys", expected="two points", got=sorted(places) or "none", hint=hint)
    return [places["a"], places["b"]]
