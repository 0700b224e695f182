"""Numbers as people read and write them: millimetres, kilopascals, millilitres, degrees."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pliant.errors import InputError

DISPLAY = {  # SI unit: (shown unit, how many of them)
    "m": ("mm", 1e3),
    "m³": ("ml", 1e6),
    "rad": ("°", 180.0 / np.pi),
    "Pa": ("kPa", 1e-3),
    "N": ("N", 1.0),
    "N·m": ("mN·m", 1e3),
    "s": ("ms", 1e3),
    "m/s": ("mm/s", 1e3),
}


FINER = {  # shown unit: what is a thousandth of it, for values that would begin with 0.000
    "mm": "µm",
    "ml": "µl",
    "kPa": "Pa",
    "N": "mN",
    "mN": "µN",
    "mN·m": "µN·m",
    "ms": "µs",
    "mm/s": "µm/s",
}
LEAST = 1e-3  # of a unit: what is less is shown in a finer one, or as 0 where there is none


def display(unit: str) -> tuple[str, float]:
    """The unit to show instead of an SI unit, and the factor to it."""
    return DISPLAY.get(unit, (unit, 1.0))


def number(value: float, digits: int = 4) -> str:
    """A number with `digits` significant digits and a true minus sign; zero has no sign."""
    text = f"{value + 0.0:.{digits}g}"
    if "e" in text and 1e-3 <= abs(value) < 1e6:
        text = f"{float(text):f}".rstrip("0").rstrip(".")
    return text.replace("-", "−")


def quantity(values: Any, unit: str, *, digits: int = 4) -> str:
    """Values (m,) in an SI unit as text, such as "12.5 mm", "(0, 3.1, 195) mm" or "81 µN"."""
    shown, factor = display(unit)
    scaled = factor * np.atleast_1d(np.asarray(values, float))
    largest = np.abs(scaled).max(initial=0.0)
    finer = shown
    while 0.0 < largest < LEAST and finer in FINER:
        finer, scaled, largest = FINER[finer], 1e3 * scaled, 1e3 * largest
    if unit in DISPLAY and largest < LEAST:
        scaled = np.zeros_like(scaled)
    else:
        shown = finer
    parts = [number(0.0 if abs(x) < 1e-6 * largest else float(x), digits) for x in scaled]
    text = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    return f"{text}{'' if shown == '°' else ' '}{shown}"


LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "in": 0.0254}
WRITTEN: dict[str, dict[str, float]] = {  # SI unit: the units it may be written in, and their size in it
    "m": LENGTHS,
    "m³": {"m³": 1.0, "m3": 1.0, "l": 1e-3, "ml": 1e-6, "cm³": 1e-6, "cm3": 1e-6, "mm³": 1e-9, "mm3": 1e-9},
    "rad": {"rad": 1.0, "mrad": 1e-3, "deg": np.pi / 180.0, "°": np.pi / 180.0},
    "Pa": {
        "Pa": 1.0,
        "hPa": 1e2,
        "mbar": 1e2,
        "kPa": 1e3,
        "bar": 1e5,
        "MPa": 1e6,
        "GPa": 1e9,
        "psi": 6894.757,
    },
    "N": {"N": 1.0, "mN": 1e-3, "kN": 1e3},
    "N·m": {"N·m": 1.0, "Nm": 1.0, "mN·m": 1e-3, "mNm": 1e-3, "N·mm": 1e-3, "Nmm": 1e-3},
    "kg/m³": {"kg/m³": 1.0, "kg/m3": 1.0, "g/cm³": 1e3, "g/cm3": 1e3},
    "m/s²": {"m/s²": 1.0, "m/s2": 1.0},
    "s": {"s": 1.0, "ms": 1e-3},
}
WRITTEN |= {f"{u}/s": {f"{name}/s": size for name, size in WRITTEN[u].items()} for u in ("m", "m³", "rad")}
_QUANTITY = re.compile(r"\s*([-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+−]?inf|nan)\s*(\S.*)?", re.DOTALL)


def split(text: str) -> tuple[float, str] | None:
    """ "20 mm" → (20.0, "mm"); a number alone has the unit ""; None for what is no number with a unit."""
    found = _QUANTITY.fullmatch(text)
    return None if found is None else (float(found[1].replace("−", "-")), (found[2] or "").strip())


def si_units(written: str) -> list[str]:
    """The SI units that a written unit may stand for: "mm" is a length, ["m"]; none for an unknown one."""
    return [unit for unit, known in WRITTEN.items() if written in known]


def parse(text: str, unit: str, what: str) -> float:
    """A number in the SI unit `unit`, from text such as "20 mm"; without a unit it is in `unit` already."""
    parts, known = split(text), WRITTEN.get(unit, {unit: 1.0})
    if parts is not None and parts[1] in {"", *known}:
        return parts[0] * known.get(parts[1], 1.0)
    expected = f"a number in {unit}, or with a unit: {', '.join(known)}"
    raise InputError(what, expected=expected, got=repr(text))
