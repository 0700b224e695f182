"""What the site needs of Sphinx: docstrings read as the house writes them, examples under every name."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import docstrings
import gallery
import names
import notebooks
import reference


def process(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """A docstring as reStructuredText, with an example of the name's use below."""
    lines[:] = docstrings.to_rst(list(lines), _parameters(value), names.short_names())
    if what in ("class", "function", "exception"):
        lines += ["", *reference.example(name)]


def _parameters(value: Any) -> list[str]:
    try:
        return list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return []


def generate(app: Any) -> None:
    """Pages, players and notebooks that are made while the site is built."""
    source = Path(app.srcdir)
    reference.write(source / "generated")
    gallery.write(source / "generated" / "gallery")
    notebooks.write(source / "tutorials", source / "generated")


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("builder-inited", generate)
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
