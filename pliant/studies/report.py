"""The report of a study: one folder with a page, the same in Markdown, the figures, and all numbers."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io import page
from pliant.io.table import Table
from pliant.studies.figures import save_png
from pliant.studies.study import Findings, Study

WORDS = ("what", "case", "element", "trial", "asked", "unit", "status", "statuses", "reference")


def write_report(
    study: Study, findings: Sequence[tuple[str, Findings]], folder: Path, *, quick: bool = False
) -> Path:
    """Write index.html (complete in itself), report.md, result.json and the figures; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for _, part in findings:
        for picture in part.pictures:
            save_png(picture.figure, folder / f"{picture.name}.png")
    data = as_data(study, findings, quick=quick)
    (folder / "result.json").write_text(json.dumps(data, indent=1, ensure_ascii=False), "utf-8")
    (folder / "report.md").write_text(_markdown(study, findings, quick), "utf-8")
    index = folder / "index.html"
    index.write_text(_html(study, findings, folder, quick), "utf-8")
    return index


def as_data(study: Study, findings: Sequence[tuple[str, Findings]], *, quick: bool = False) -> dict[str, Any]:
    """All findings as plain values, for JSON."""
    parts = [
        {
            "name": name,
            "title": f.title,
            "passed": f.passed,
            "seconds": f.seconds,
            "checks": [vars(c) for c in f.checks],
            "tables": [t.as_dict() for t in f.tables],
            "figures": {p.name: p.caption for p in f.pictures},
            "data": dict(f.data),
        }
        for name, f in findings
    ]
    return plain(
        {
            "study": study.name,
            "title": study.title,
            "source": study.source,
            "quick": quick,
            "python": platform.python_version(),
            "passed": all(f.passed for _, f in findings),
            "parts": parts,
        }
    )


def plain(value: Any) -> Any:
    """Arrays as lists, NumPy numbers as Python's, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def _verdict(findings: Sequence[tuple[str, Findings]]) -> str:
    failed = [
        f"{f.title}: {what}"
        for _, f in findings
        for what in [c.name for c in f.checks if c.passed is False]
        + [_name(row) for table in f.tables for row in table.rows if row.get("check") is False]
    ]
    return "Every check passed." if not failed else f"{len(failed)} checks failed: " + "; ".join(failed) + "."


def _name(row: dict[str, Any]) -> str:
    return ", ".join(str(row[c]) for c in ("case", "what", "trial") if c in row)


def _lead(study: Study, quick: bool) -> str:
    return study.source + (" Quick setting: small samples, for a first look only." if quick else "")


def _html(study: Study, findings: Sequence[tuple[str, Findings]], folder: Path, quick: bool) -> page.Markup:
    good = all(f.passed for _, f in findings)
    parts = [
        page.heading(study.title, 1),
        page.paragraph(_lead(study, quick), "lead"),
        page.paragraph(_verdict(findings), "status" if good else "status bad"),
    ]
    for _, f in findings:
        parts += [page.heading(f.title), page.paragraph(f.text) if f.text else ""]
        for picture in f.pictures:
            parts.append(page.photo((folder / f"{picture.name}.png").read_bytes(), picture.caption))
        for table in f.all_tables:
            if table.title != f.title:
                parts.append(page.heading(table.title, 3))
            parts += [_html_table(table), *(page.paragraph(note) for note in table.notes)]
    parts.append(
        page.footer(f"pliant reproduce {study.name}{' --quick' if quick else ''}. Numbers: result.json.")
    )
    return page.page(f"{study.title} · pliant", parts)


def _html_table(table: Table) -> page.Markup:
    numbers = [k for k, c in enumerate(table.columns) if c not in WORDS]
    bad = page.alarm("FAILED")
    rows = [[bad if row.get(c) is False else _cell(row.get(c)) for c in table.columns] for row in table.rows]
    return page.table(tuple(table.columns), rows, numbers=numbers)


def _markdown(study: Study, findings: Sequence[tuple[str, Findings]], quick: bool) -> str:
    lines = [f"# {study.title}", "", _lead(study, quick), "", _verdict(findings), ""]
    for _, f in findings:
        lines += [f"## {f.title}", "", *([f.text, ""] if f.text else [])]
        for picture in f.pictures:
            lines += [f"![{picture.caption}]({picture.name}.png)", "", picture.caption, ""]
        for table in f.all_tables:
            columns = list(table.columns)
            lines += [
                f"**{table.title}**",
                "",
                "| " + " | ".join(columns) + " |",
                "|---" * len(columns) + "|",
            ]
            for row in table.rows:
                lines.append("| " + " | ".join(_cell(row.get(c)).replace("|", "∣") for c in columns) + " |")
            lines += ["", *(line for note in table.notes for line in (note, ""))]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "ok" if value else "FAILED"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}".replace("-", "−")
    return str(value)
