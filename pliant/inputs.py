"""Checks of numbers that users give."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import InputError, is_number


def positive(what: str, value: Any, unit: str = "", *, infinite: bool = False) -> float:
    """A number > 0, finite unless `infinite`."""
    if not (is_number(value) and value > 0 and (infinite or value < np.inf)):
        raise InputError(what, expected=f"a positive number{_in(unit)}", got=repr(value))
    return float(value)


def not_negative(what: str, value: Any, unit: str = "") -> float:
    """A finite number ≥ 0."""
    if not (is_number(value) and 0 <= value < np.inf):
        raise InputError(what, expected=f"a number ≥ 0{_in(unit)}", got=repr(value))
    return float(value)


def count(what: str, value: Any) -> int:
    """A whole number ≥ 1."""
    if not (is_number(value) and value >= 1 and value == int(value)):
        raise InputError(what, expected="a whole number, at least 1", got=repr(value))
    return int(value)


def _in(unit: str) -> str:
    return f" [{unit}]" if unit else ""
