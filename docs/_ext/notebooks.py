"""Tutorials as notebooks: a page's text becomes Markdown cells, its Python blocks code cells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FENCE = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(text: str) -> dict[str, Any]:
    """A page as a notebook, format 4.5."""
    cells = []
    for number, part in enumerate(FENCE.split(text)):
        if part.strip():
            cells.append(_cell("code" if number % 2 else "markdown", part.strip("\n"), number))
    return {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    cell["source"] = text.splitlines(keepends=True)
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def write(pages: Path, folder: Path) -> list[Path]:
    """Notebooks of all tutorials of a folder, where the site serves them for download."""
    folder = folder / "extra" / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in sorted(pages.glob("*.md")):
        if page.stem != "index":
            written.append(folder / f"{page.stem}.ipynb")
            written[-1].write_text(
                json.dumps(notebook(page.read_text(encoding="utf-8")), indent=1), encoding="utf-8"
            )
    return written
