"""Curves over time as SVG: what a recording holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.io.page import INK, Markup, svg
from pliant.io.plots import LINES, _figure
from pliant.io.units import display

FLAT = 1e-3  # of the largest value, or of a unit that is shown: less than that is drawn as a level line
MOST = 2000  # points of a curve: more than a page has pixels


def time_plot(
    curves: Mapping[str, tuple[Any, Any]],
    unit: str,
    what: str,
    *,
    dashed: Mapping[str, tuple[Any, Any]] | None = None,
    marks: Sequence[float] = (),
) -> Markup:
    """Curves (times [s], values in an SI unit) by name, on one pair of axes; `dashed` ones in the colour of their namesake. `marks`: times
    of events."""
    shown, factor = display(unit)
    figure, (ax,) = _figure(1)
    colour = {}
    for k, (name, (t, y)) in enumerate(curves.items()):
        colour[name] = LINES[k % len(LINES)]
        ax.plot(*_thin(t, factor * np.asarray(y, float)), color=colour[name], linewidth=1.4, label=name)
    for name, (t, y) in (dashed or {}).items():
        style = {"color": colour.get(name, INK), "linewidth": 1.1, "linestyle": (0, (4, 3))}
        ax.plot(*_thin(t, factor * np.asarray(y, float)), **style)
    for when in marks:
        ax.axvline(when, color=INK, alpha=0.5, linewidth=0.8, linestyle=":")
    ax.ticklabel_format(useOffset=False)
    low, high = ax.get_ylim()
    room = FLAT * max(1.0, abs(low), abs(high))
    if high - low < room:  # rounding errors are no curve
        ax.set_ylim(0.5 * (low + high - room), 0.5 * (low + high + room))
    ax.set_xlabel("time [s]")
    ax.set_ylabel(f"{what} [{shown}]" if shown else what)
    if len(curves) > 1:
        ax.legend(frameon=False, labelcolor=INK, fontsize=8.5, ncols=2 if len(curves) > 4 else 1)
    return svg(figure)


def _thin(t: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of many points, the lowest and highest of each stretch: peaks stay."""
    t = np.asarray(t, float)
    if len(t) <= MOST:
        return t, y
    pieces = np.array_split(np.arange(len(t)), MOST // 2)
    safe = np.where(np.isfinite(y), y, 0.0)
    kept = np.unique([k for p in pieces for k in (p[np.argmin(safe[p])], p[np.argmax(safe[p])])])
    return t[kept], y[kept]
