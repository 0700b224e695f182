"""A check: one number measured here, beside what the paper says and what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.io.table import Table

Measured = float | int | str
COLUMNS = ("what", "paper", "measured", "asked", "unit", "check")


@dataclass(frozen=True)
class Check:
    """One measured number.

    `passed` is None where a number is shown and nothing is asked of it; `asked` states the limit in words.
    """

    name: str
    measured: Measured
    passed: bool | None = None
    asked: str = ""
    paper: Measured | None = None
    unit: str = ""

    @classmethod
    def at_most(
        cls, name: str, measured: float, limit: float, *, paper: Measured | None = None, unit: str = ""
    ) -> Check:
        """measured ≤ limit; not a number fails."""
        return cls(name, float(measured), bool(measured <= limit), f"≤ {limit:g}", paper, unit)

    @classmethod
    def at_least(
        cls, name: str, measured: float, limit: float, *, paper: Measured | None = None, unit: str = ""
    ) -> Check:
        """measured ≥ limit; not a number fails."""
        return cls(name, float(measured), bool(measured >= limit), f"≥ {limit:g}", paper, unit)

    @classmethod
    def within(
        cls,
        name: str,
        measured: float,
        low: float,
        high: float,
        *,
        paper: Measured | None = None,
        unit: str = "",
    ) -> Check:
        """low ≤ measured ≤ high."""
        asked = f"{low:g} … {high:g}"
        return cls(name, float(measured), bool(low <= measured <= high), asked, paper, unit)

    @classmethod
    def holds(
        cls, name: str, truth: bool, *, measured: Measured = "", paper: Measured | None = None
    ) -> Check:
        """Something that is either so or not; `measured` says more about it."""
        return cls(name, measured or ("yes" if truth else "no"), bool(truth), "yes", paper)


def check_table(title: str, checks: Sequence[Check]) -> Table:
    """Checks as a table: paper beside measured."""
    table = Table(title, COLUMNS)
    for one in checks:
        table.add(
            what=one.name,
            paper=one.paper,
            measured=one.measured,
            asked=one.asked,
            unit=one.unit,
            check=one.passed,
        )
    return table
