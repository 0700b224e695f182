"""Numbers as people read them: millimetres, kilopascals, millilitres, degrees."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def display(unit: str) -> tuple[str, float]:
    """The unit to show instead of an SI unit, and the factor to it."""
    return DISPLAY.get(unit, (unit, 1.0))


def number(value: float, digits: int = 4) -> str:
    """A number with `digits` significant digits and a true minus sign; tiny ones are 0."""
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-3 <= abs(value) < 1e6:
        text = f"{float(text):f}".rstrip("0").rstrip(".")
    return text.replace("-", "−")


def quantity(values: Any, unit: str, *, digits: int = 4) -> str:
    """Values (m,) in an SI unit as text, such as "12.5 mm" or "(0, 3.1, 195) mm"."""
    shown, factor = display(unit)
    scaled = factor * np.atleast_1d(np.asarray(values, float))
    largest = np.abs(scaled).max(initial=0.0)
    parts = [number(0.0 if abs(x) < 1e-6 * largest else float(x), digits) for x in scaled]
    text = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    return f"{text}{'' if shown == '°' else ' '}{shown}"
