"""Figures of the studies: one look, PNG, matplotlib imported when something is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

INK, SOFT = "#1d242c", "#7b8794"
LINES = ("#d9622b", "#2a8c82", "#a3195b", "#4a7fb5", "#b58a1e", "#6d5aa8", "#5e8c31", "#8c564b")
GOOD, BAD = "#1d7a55", "#b3261e"
DPI = 150


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Any, Any]:
    """A figure of this size [inches] and its axes, an array (rows, columns)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.ravel():
        tidy(ax)
    return figure, axes


def tidy(ax: Any, *, grid: bool = True) -> None:
    """Thin spines left and below, a faint grid, small labels."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(SOFT)
    ax.tick_params(colors=INK, labelsize=8.5, length=0)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    if grid:
        ax.grid(color=INK, alpha=0.12, linewidth=0.7)
        ax.set_axisbelow(True)


def line(number: int) -> dict[str, Any]:
    """Colour and style of a curve by its number; styles change when colours run out."""
    return {"color": LINES[number % len(LINES)], "linestyle": ("-", "--", ":")[number // len(LINES) % 3]}


def heading(ax: Any, text: str) -> None:
    """A title at the left, in the size of the text."""
    ax.set_title(text, loc="left", fontsize=10, color=INK)


def save_png(figure: Any, path: Path) -> Path:
    """Write a figure as PNG; the same figure gives the same file."""
    figure.savefig(path, dpi=DPI, format="png", metadata={"Software": None})
    return path
