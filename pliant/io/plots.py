"""Curves as SVG, of a load path and over time, in the colour of the page's text: light or dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.io.page import INK, Markup, svg
from pliant.units import display

if TYPE_CHECKING:
    from pliant.result import Result

LINES = ("#d9622b", "#2a8c82", "#a3195b", "#4a7fb5", "#b58a1e", "#6d5aa8", "#5e8c31", "#8c564b")
FLAT = 1e-3  # of the largest value, or of a unit that is shown: less than that is drawn as a level line
MOST_POINTS = 2000  # points of a curve: more than a page has pixels


def effort_plot(results: Sequence[Result], rows: Sequence[str]) -> Markup:
    """Effort against displacement of the named rows along the load path; rows of one kind share axes."""
    robot = results[-1].robot
    groups: dict[tuple[str, str], list[str]] = {}
    for name in rows:
        interaction = robot.rows[name].interaction
        groups.setdefault((interaction.unit, interaction.effort_unit), []).append(name)
    figure, axes = _figure(len(groups))
    for ax, ((unit, effort_unit), names) in zip(axes, groups.items()):
        (x_unit, x_factor), (y_unit, y_factor) = display(unit), display(effort_unit)
        for k, name in enumerate(names):
            x = [x_factor * float(r.displacement[name][0]) for r in results]
            y = [y_factor * float(r.effort[name][0]) for r in results]
            ax.plot(x, y, "o-", color=LINES[k % len(LINES)], markersize=3.2, linewidth=1.6, label=name)
        ax.set_xlabel(f"{_QUANTITY.get(unit, 'displacement')} [{x_unit}]")
        ax.set_ylabel(f"{_QUANTITY.get(effort_unit, 'effort')} [{y_unit}]")
        if len(names) > 1:
            ax.legend(frameon=False, labelcolor=INK, fontsize=8.5)
    return svg(figure)


def path_plot(results: Sequence[Result], row: str) -> Markup:
    """The path of an effector's first point in the plane of its largest motion."""
    path = np.array([r.displacement[row][:3] for r in results]) * 1e3
    i, j = sorted(np.argsort(-np.ptp(path, axis=0), kind="stable")[:2])
    figure, (ax,) = _figure(1)
    ax.plot(path[:, i], path[:, j], "o-", color=LINES[2], markersize=3.2, linewidth=1.6)
    ax.plot(*path[0, [i, j]], "o", markersize=8, markerfacecolor="none", color=INK)
    ax.annotate("start", path[0, [i, j]], xytext=(8, 6), textcoords="offset points", color=INK, fontsize=8.5)
    ax.annotate("end", path[-1, [i, j]], xytext=(8, 6), textcoords="offset points", color=INK, fontsize=8.5)
    ax.set_xlabel(f"{'xyz'[i]} of {row} [mm]")
    ax.set_ylabel(f"{'xyz'[j]} of {row} [mm]")
    ax.set_aspect("equal", adjustable="datalim")
    if results[-1].robot.gravity[j] > 0:  # what falls goes down in the plot too
        ax.invert_yaxis()
    ax.margins(0.12)
    return svg(figure)


def time_plot(
    curves: Mapping[str, tuple[Any, Any]],
    unit: str,
    what: str,
    *,
    dashed: Mapping[str, tuple[Any, Any]] | None = None,
    marks: Sequence[float] = (),
) -> Markup:
    """Curves (times [s], values in an SI unit) by name, on one pair of axes; `dashed` ones in the colour of
    their namesake. `marks`: times of events.
    """
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
    if len(t) <= MOST_POINTS:
        return t, y
    pieces = np.array_split(np.arange(len(t)), MOST_POINTS // 2)
    safe = np.where(np.isfinite(y), y, 0.0)
    kept = np.unique([k for p in pieces for k in (p[np.argmin(safe[p])], p[np.argmax(safe[p])])])
    return t[kept], y[kept]


_QUANTITY = {
    "m": "displacement",
    "m³": "volume change",
    "rad": "angle",
    "N": "force",
    "Pa": "pressure",
    "N·m": "torque",
}


def _figure(count: int) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * count, 3.5), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, count)).ravel())
    for ax in axes:
        ax.patch.set_alpha(0.0)
        ax.grid(color=INK, alpha=0.14, linewidth=0.7)
        ax.tick_params(colors=INK, labelsize=8.5, length=0)
        ax.xaxis.label.set_color(INK)
        ax.yaxis.label.set_color(INK)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(INK)
            spine.set_alpha(0.35)
    return figure, axes
