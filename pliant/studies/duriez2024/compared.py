"""A table with one row for each model: what was expected, what was measured, and how far apart they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.table import Table

COLUMNS = ("case", "what", "expected", "measured", "unit", "error", "asked", "check")


class Compared:
    """Rows (model | check | expected | measured | error | ok) under one title."""

    def __init__(self, title: str, *notes: str) -> None:
        self.table = Table(title, COLUMNS, notes=list(notes))

    def add(
        self,
        model: str,
        what: str,
        expected: Any,
        measured: Any,
        *,
        allowed: float,
        unit: str = "",
        scale: float | None = None,
        factor: float = 1.0,
    ) -> bool:
        """One row, and whether its check passed.

        The error is the largest |measured − expected| over `scale`, by default over the largest |expected|.
        `factor` turns SI values into `unit` for show. What is not a number fails.
        """
        want, got = np.atleast_1d(np.asarray(expected, float)), np.atleast_1d(np.asarray(measured, float))
        size = float(np.abs(want).max(initial=0.0)) if scale is None else scale
        same = got.shape == want.shape
        error = float(np.abs(got - want).max(initial=0.0)) / (size or 1.0) if same else np.inf
        good = bool(error <= allowed)
        self.table.add(
            case=model,
            what=what,
            expected=shown(factor * want),
            measured=shown(factor * got),
            unit=unit,
            error=error,
            asked=f"≤\u00a0{allowed:g}".replace("-", "−"),  # in one piece
            check=good,
        )
        return good

    def holds(self, model: str, what: str, truth: bool, *, measured: str = "") -> bool:
        """A row for something that is either so or not."""
        self.table.add(
            case=model,
            what=what,
            expected="yes",
            measured=measured or ("yes" if truth else "no"),
            asked="yes",
            check=bool(truth),
        )
        return bool(truth)


def shown(values: np.ndarray) -> str:
    """Up to six numbers, or how many there are and the largest."""
    flat = values.ravel()
    flat = np.where(np.abs(flat) < 1e-11 * np.abs(flat).max(initial=0.0), 0.0, flat)  # rounding
    if len(flat) > 6:
        return f"{len(flat)} numbers up to {np.abs(flat).max():.5g}"
    return ", ".join(f"{value:.5g}" for value in flat).replace("-", "−")
