"""A table that prints, checks and saves itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LEFT = ("case", "element", "robot", "what", "found")  # columns of words


@dataclass
class Table:
    """Rows of named cells; a cell `check` is None, True or False."""

    title: str
    columns: Sequence[str]
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, **cells: Any) -> None:
        """One more row."""
        self.rows.append(cells)

    @property
    def passed(self) -> bool:
        """Whether no stated check failed."""
        return all(row.get("check") is not False for row in self.rows)

    def show(self) -> None:
        """Print to the terminal."""
        from rich.table import Table as RichTable

        from pliant.io.console import PlainConsole

        console = PlainConsole()
        if not console.is_terminal:
            console = PlainConsole(width=160)  # a file or a pipe has no width to respect
        table = RichTable(title=self.title, title_justify="left")
        for column in self.columns:
            table.add_column(column, justify="left" if column in LEFT else "right")
        for row in self.rows:
            table.add_row(*(_cell(row.get(c)) for c in self.columns))
        console.print(table)
        for note in self.notes:
            console.print(note)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"title": self.title, "rows": self.rows, "notes": self.notes, "passed": self.passed}


def _cell(value: Any) -> Any:
    from rich.text import Text

    if value is None:
        return ""
    if isinstance(value, bool):
        return Text("ok", "green") if value else Text("FAILED", "red")
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def save(tables: Sequence[Table], path: Path) -> None:
    """Write tables to a JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([t.as_dict() for t in tables], indent=1))
