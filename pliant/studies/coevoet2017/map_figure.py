"""A figure of c(λ_a): pieces in colour, cost as contours and relief, the solver's way, the minima."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.studies.coevoet2017.cost_map import CostMap
from pliant.studies.figures import INK

# Soft colours that neighbours can be told apart by; pieces take them in the order of their number of contacts.
COLOURS = (
    "#f4b6a6", "#a8d5cf", "#f6dc9c", "#b9c6ea", "#d3b8dd", "#bfdca4", "#f2c7dc", "#c9c2b4",
    "#9fc3e0", "#ecd0b0", "#b5e0c3", "#dcdcdc", "#e6a9b8", "#c7e3ee", "#dfe39f", "#c4b1e6",
)  # fmt: skip
GLOBAL, LOCAL, PATH = "#b3261e", "#1d7a55", "#1d242c"


def map_figure(m: CostMap, *, title: str, names: tuple[str, str]) -> Any:
    """Left the surface as in the paper, right the same from above; `names` are the actuators' along x and y."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.4, 5.6), layout="constrained", facecolor="white")
    above, relief = figure.add_subplot(1, 2, 2), figure.add_subplot(1, 2, 1, projection="3d")
    colours, order = _colours(m)
    _from_above(above, m, colours, order, names)
    _surface(relief, m, colours, names)
    figure.suptitle(title, fontsize=12, color=INK, x=0.01, ha="left")
    return figure


def _colours(m: CostMap) -> tuple[np.ndarray, dict[tuple[int, ...], int]]:
    """(n, n, 3) colour of every point, and the order in which pieces got theirs: those visited first."""
    from matplotlib.colors import to_rgb

    area = np.bincount(m.piece.ravel(), minlength=len(m.pieces))
    order: dict[tuple[int, ...], int] = {}
    for members in [*m.visited, *(m.pieces[k] for k in np.argsort(-area))]:
        order.setdefault(members, len(order))
    palette = np.array([to_rgb(COLOURS[k % len(COLOURS)]) for k in range(len(order))])
    return palette[np.array([order[members] for members in m.pieces])][m.piece], order


def _from_above(
    ax: Any, m: CostMap, colours: np.ndarray, order: dict[tuple[int, ...], int], names: tuple[str, str]
) -> None:
    from matplotlib.ticker import MaxNLocator

    most = m.efforts[-1]
    ax.imshow(colours, origin="lower", extent=(0, most, 0, most), interpolation="nearest", aspect="equal")
    labels = np.array([order[members] for members in m.pieces])[m.piece]
    edges = np.unique(labels)
    ax.contour(m.efforts, m.efforts, labels, levels=edges[:-1] + 0.5, colors="white", linewidths=0.8)
    error = 1e3 * np.sqrt(m.cost)
    levels = MaxNLocator(16).tick_values(*np.percentile(error, (0.5, 99)))
    error[_slivers(m)] = np.nan  # contours crowd there
    lines = ax.contour(m.efforts, m.efforts, error, levels=levels, colors=INK, linewidths=0.6, alpha=0.55)
    ax.clabel(lines, levels[::3], fontsize=7, fmt="%.3g mm")
    ax.plot(*m.path.T, "-", color=PATH, linewidth=1.8, zorder=4)
    ax.plot(*m.path.T, "o", color="white", markeredgecolor=PATH, markersize=5, zorder=5)
    for k, (point, cost) in enumerate(zip(m.minima, m.costs)):
        _mark(ax, point, cost, k == 0, most)
    ax.set(xlim=(0, most), ylim=(0, most))
    ax.set_xlabel(f"{names[0]} [N]")
    ax.set_ylabel(f"{names[1]} [N]")
    ax.tick_params(labelsize=8.5, length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _slivers(m: CostMap) -> np.ndarray:
    """(n, n) whether a point is in a piece that takes up less than a twenty-fifth of the map."""
    area = np.bincount(m.piece.ravel(), minlength=len(m.pieces)) / m.piece.size
    return (area < 0.04)[m.piece]


def _mark(ax: Any, point: np.ndarray, cost: float, best: bool, most: float) -> None:
    """A cross and its coordinates, on the side where there is room."""
    colour, word = (GLOBAL, "global minimum") if best else (LOCAL, "local minimum")
    ax.plot(*point, "X", color=colour, markeredgecolor="white", markersize=12, zorder=6, clip_on=False)
    right, up = point[0] < 0.62 * most, point[1] < 0.9 * most
    ax.annotate(
        f"{word}\n({point[0]:.0f}, {point[1]:.0f}) N, {1e3 * np.sqrt(cost):.2f} mm",
        point,
        xytext=(14 if right else -14, 12 if up else -12),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom" if up else "top",
        fontsize=8.5,
        color=colour,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        zorder=7,
    )


def _surface(ax: Any, m: CostMap, colours: np.ndarray, names: tuple[str, str]) -> None:
    most, stride = m.efforts[-1], max(1, len(m.efforts) // 160)
    pick = np.s_[::stride, ::stride]
    x, y = np.meshgrid(m.efforts, m.efforts)
    error = 1e3 * np.sqrt(m.cost)
    ax.plot_surface(
        x[pick],
        y[pick],
        error[pick],
        facecolors=colours[pick],
        rstride=1,
        cstride=1,
        linewidth=0,
        antialiased=False,
        shade=True,
    )
    lift = 0.02 * np.ptp(error)
    height = lambda costs: 1e3 * np.sqrt(costs) + lift
    ax.plot(*m.path.T, height(m.steps), "o-", color=PATH, markersize=3, linewidth=1.4, zorder=10)
    for k, (point, cost) in enumerate(zip(m.minima, m.costs)):
        ax.plot(
            *point, height(cost), "X", color=GLOBAL if k == 0 else LOCAL, markersize=10,
            markeredgecolor="white", zorder=11,
        )  # fmt: skip
    ax.set(xlim=(0, most), ylim=(0, most))
    ax.set_xlabel(f"{names[0]} [N]")
    ax.set_ylabel(f"{names[1]} [N]")
    ax.set_zlabel("√c [mm]")
    ax.tick_params(labelsize=8)
    ax.view_init(elev=34, azim=-128)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.pane.set_facecolor("white")
