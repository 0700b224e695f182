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
from pliant.studies.check import COMPARISON, with_kinds
from pliant.studies.figures import save_png
from pliant.studies.provenance import choice_table, share_table
from pliant.studies.setup import Setup
from pliant.studies.study import Findings, Study

WORDS = (
    *("what", "case", "element", "trial", "asked", "unit", "status", "statuses", "reference"),
    *("kind", "why", "the paper's", "here", "value", "on what"),
)
Found = Sequence[tuple[str, Findings]]


def write_report(study: Study, findings: Found, folder: Path, setup: Setup | None = None) -> Path:
    """Write index.html (complete in itself), report.md, result.json and the figures; returns the page."""
    setup = setup or study.setup()
    folder.mkdir(parents=True, exist_ok=True)
    for _, part in findings:
        for picture in part.pictures:
            save_png(picture.figure, folder / f"{picture.name}.png")
    data = as_data(study, findings, setup)
    (folder / "result.json").write_text(json.dumps(data, indent=1, ensure_ascii=False), "utf-8")
    (folder / "report.md").write_text(_markdown(study, findings, setup), "utf-8")
    index = folder / "index.html"
    index.write_text(_html(study, findings, folder, setup), "utf-8")
    return index


def as_data(study: Study, findings: Found, setup: Setup) -> dict[str, Any]:
    """All findings as plain values, for JSON."""
    parts = [
        {
            "name": name,
            "title": f.title,
            "passed": f.passed,
            "seconds": f.seconds,
            "checks": [{**vars(c), "kind": c.kind} for c in f.checks],
            "tables": [with_kinds(t).as_dict() for t in f.tables],
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
            "robots": study.robots(setup),
            "seed": setup.seed,
            "data": None if setup.data is None else str(setup.data),
            "quick": setup.quick,
            "python": platform.python_version(),
            "passed": all(f.passed for _, f in findings),
            "shares": [one._asdict() for one in study.shares],
            "choices": [one._asdict() for one in study.choices],
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


def _verdict(findings: Found) -> str:
    failed = [
        f"{f.title}: {what}"
        for _, f in findings
        for what in [c.name for c in f.checks if c.passed is False]
        + [_name(row) for table in f.tables for row in table.rows if row.get("check") is False]
    ]
    claims = sum(f.claims for _, f in findings)
    compared = sum(f.kinds.count(COMPARISON) for _, f in findings)
    beside = f" {compared} rows are comparisons with the paper and decide nothing."
    if failed:
        return f"{len(failed)} of {claims} claims failed: " + "; ".join(failed) + "." + beside
    return f"All {claims} claims hold.{beside}"


def _name(row: dict[str, Any]) -> str:
    return ", ".join(str(row[c]) for c in ("case", "what", "trial") if c in row)


def _leads(study: Study, setup: Setup) -> list[str]:
    """The first lines: whose robots, under which seed, after which paper."""
    named = setup.seed == study.setup().seed
    seed = f"Seed {setup.seed}{', that of the name of the study' if named else ''}."
    quick = " Quick setting: small samples, for a first look only." if setup.quick else ""
    return [*filter(None, [study.robots(setup)]), seed + quick, study.source]


def _origins(study: Study) -> list[Table]:
    """What is the paper's and what was chosen, where the study says so."""
    tables = [share_table(study.shares)] if study.shares else []
    return [*tables, *([choice_table(study.choices)] if study.choices else [])]


def _html(study: Study, findings: Found, folder: Path, setup: Setup) -> page.Markup:
    good = all(f.passed for _, f in findings)
    parts = [
        page.heading(study.title, 1),
        *(page.paragraph(line, "lead") for line in _leads(study, setup)),
        page.paragraph(_verdict(findings), "status" if good else "status bad"),
    ]
    for table in _origins(study):
        parts += [page.heading(table.title), _html_table(table)]
    for _, f in findings:
        parts += [page.heading(f.title), page.paragraph(f.text) if f.text else ""]
        for picture in f.pictures:
            parts.append(page.photo((folder / f"{picture.name}.png").read_bytes(), picture.caption))
        for table in f.all_tables:
            if table.title != f.title:
                parts.append(page.heading(table.title, 3))
            parts += [_html_table(table), *(page.paragraph(note) for note in table.notes)]
    parts.append(
        page.footer(
            f"pliant reproduce {study.name}{' --quick' if setup.quick else ''} "
            f"--seed {setup.seed}. Numbers: result.json."
        )
    )
    return page.page(f"{study.title} · pliant", parts)


def _html_table(table: Table) -> page.Markup:
    numbers = [k for k, c in enumerate(table.columns) if c not in WORDS]
    bad = page.alarm("FAILED")
    rows = [[bad if row.get(c) is False else _cell(row.get(c)) for c in table.columns] for row in table.rows]
    return page.table(tuple(table.columns), rows, numbers=numbers)


def _markdown(study: Study, findings: Found, setup: Setup) -> str:
    lines = [f"# {study.title}", ""]
    lines += [x for line in (*_leads(study, setup), _verdict(findings)) for x in (line, "")]
    for table in _origins(study):
        lines += [f"## {table.title}", "", *_markdown_table(table)]
    for _, f in findings:
        lines += [f"## {f.title}", "", *([f.text, ""] if f.text else [])]
        for picture in f.pictures:
            lines += [f"![{picture.caption}]({picture.name}.png)", "", picture.caption, ""]
        for table in f.all_tables:
            lines += [f"**{table.title}**", "", *_markdown_table(table)]
    return "\n".join(lines)


def _markdown_table(table: Table) -> list[str]:
    columns = list(table.columns)
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for row in table.rows:
        lines.append("| " + " | ".join(_cell(row.get(c)).replace("|", "∣") for c in columns) + " |")
    return [*lines, "", *(line for note in table.notes for line in (note, ""))]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "ok" if value else "FAILED"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}".replace("-", "−")
    return str(value)
