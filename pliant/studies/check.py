"""A check: one number measured here, beside what the paper says and what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.io.table import Table

Measured = float | int | str
CLAIM, COMPARISON, NUMBER = "claim", "comparison", "number"  # the kinds of a row
COLUMNS = ("what", "paper", "measured", "asked", "unit", "kind", "check", "why")


@dataclass(frozen=True)
class Check:
    """One measured number, of one of three kinds.

    A *claim* is ours: `asked` states the limit in words, `passed` whether it holds, and one that fails fails
    the study. A *comparison* is the paper's figure beside ours: it may differ, and `why` says for what
    reason. Of a *number* nothing is asked and the paper has none. `passed` is None for the last two.
    """

    name: str
    measured: Measured
    passed: bool | None = None
    asked: str = ""
    paper: Measured | None = None
    unit: str = ""
    why: str = ""

    @property
    def kind(self) -> str:
        """Claim, comparison or number."""
        if self.passed is not None:
            return CLAIM
        return NUMBER if self.paper is None else COMPARISON

    @classmethod
    def compared(cls, name: str, measured: Measured, *, paper: Measured, why: str, unit: str = "") -> Check:
        """The paper's figure beside ours, with the reason where they differ."""
        return cls(name, measured, None, "", paper, unit, why)

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
    """Checks as a table: paper beside measured, without columns in which nothing would stand."""
    empty = {c for c in ("asked", "unit", "why") if not any(getattr(one, c) for one in checks)}
    columns = [c for c in COLUMNS if c not in empty]
    table = Table(title, columns)
    for one in checks:
        cells = {"what": one.name, "kind": one.kind, "check": one.passed, "why": one.why}
        cells |= {"paper": one.paper, "measured": one.measured, "asked": one.asked, "unit": one.unit}
        table.add(**{c: cells[c] for c in columns})
    return table


def with_kinds(table: Table) -> Table:
    """A table in which every row says its kind, if any of them is a claim."""
    if "check" not in table.columns or "kind" in table.columns:
        return table
    columns = [c for name in table.columns for c in (("kind", "check") if name == "check" else (name,))]
    rows = [{**row, "kind": kind_of(row)} for row in table.rows]
    return Table(table.title, columns, rows, table.notes)


def kind_of(row: dict) -> str:
    """What a row of a table is: a claim where something is asked of it."""
    return COMPARISON if row.get("check") is None else CLAIM
