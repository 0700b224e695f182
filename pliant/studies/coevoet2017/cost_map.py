"""c(λ_a) of an inverse problem with two actuators, on a grid: its regions, its minima, and the solver's path.

For given actuator efforts the contact forces are unique, so the cost is a function of λ_a alone: a quadratic
on every region, the polygon on which the same contacts push (section III-E of the paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bench.instances import Instance
from pliant.solvers import landscape, qp, qpcc, qpcc_global
from pliant.studies.figures import INK

# Soft colours in which neighbouring regions differ.
COLOURS = (
    "#f4b6a6", "#a8d5cf", "#f6dc9c", "#b9c6ea", "#d3b8dd", "#bfdca4", "#f2c7dc", "#c9c2b4",
    "#9fc3e0", "#ecd0b0", "#b5e0c3", "#dcdcdc", "#e6a9b8", "#c7e3ee", "#dfe39f", "#c4b1e6",
)  # fmt: skip
GLOBAL, LOCAL, PATH = "#b3261e", "#1d7a55", "#1d242c"
SLIVER = 0.04  # of the map: smaller regions have no contours


@dataclass(frozen=True, eq=False)
class CostMap:
    """The cost over two efforts.

    `efforts` (n,) [N] are those along both axes; `cost` (n, n) [m²] and `region` (n, n) have the first
    actuator along columns. `regions` are the sets of contacts that push, by number of region. `minima` (k, 2)
    [N] have `costs` (k,), the global one first. `path` (s, 2) [N] are the optima of the programs that the
    paper's solver goes through from zero, one per region of `visited`; `steps` is the cost at each.
    """

    efforts: np.ndarray
    cost: np.ndarray
    region: np.ndarray
    regions: tuple[tuple[int, ...], ...]
    minima: np.ndarray
    costs: np.ndarray
    path: np.ndarray
    visited: tuple[tuple[int, ...], ...]
    steps: np.ndarray
    default: np.ndarray  # (2,) [N] what the default solver finds
    total: int  # regions that meet the box, those too small for the grid included


def cost_map(p: Instance, most: float, *, size: int = 400, eps: float | None = None) -> CostMap:
    """The map over [0, most]² [N], size × size points; ε as for `qpcc`, the paper's unless given."""
    limits: dict[str, Any] = {"effort": (0.0, most), "eps": eps}
    efforts = np.linspace(0.0, most, size)
    first, second = np.meshgrid(efforts, efforts)
    points = np.column_stack([first.ravel(), second.ravel()])
    drawn = landscape(points, *p.matrices, eps=eps)
    exact = qpcc_global(*p.matrices, **limits)
    paper = qpcc(*p.matrices, **limits, method="decomposition", starts=1)
    visited, weight = paper.certificate.path, paper.certificate.eps
    path = np.array([np.zeros(2), *(optimum(p, members, weight, most) for members in visited)])
    at = landscape(path, *p.matrices, eps=eps)
    return CostMap(
        efforts,
        drawn.cost.reshape(size, size),
        drawn.piece.reshape(size, size),
        drawn.pieces,
        np.array([m.effort for m in exact.minima]),
        np.array([m.cost for m in exact.minima]),
        path,
        visited,
        at.cost,
        np.array(qpcc(*p.matrices, **limits).effort),
        exact.pieces,
    )


def optimum(p: Instance, members: tuple[int, ...], eps: float, most: float) -> np.ndarray:
    """(2,) [N] the best efforts while these contacts push: QP_I of the paper in its reduced form (eq. 15).

    λ_c = A λ_a + b on the members, zero elsewhere; A λ_a + b ≥ 0 there, and gaps ≥ 0 elsewhere.
    """
    F, others = list(members), [c for c in range(len(p.dc)) if c not in members]
    back = -np.linalg.solve(p.Wcc[np.ix_(F, F)], np.column_stack([p.Wac.T[F], p.dc[F]]))
    A, b = back[:, :2], back[:, 2]
    E, e = p.Wea + p.Wec[:, F] @ A, p.de + p.Wec[:, F] @ b
    gap, open_ = p.Wac.T[others] + p.Wcc[np.ix_(others, F)] @ A, p.dc[others] + p.Wcc[np.ix_(others, F)] @ b
    Q, c = 2.0 * (E.T @ E + eps * p.Waa), 2.0 * E.T @ e
    least = np.concatenate([-b, -open_])
    bounds = np.zeros(2), np.full(2, most)
    return np.array(qp(Q, c, *bounds, np.vstack([A, gap]), least, np.full(len(least), np.inf)).effort)


def map_figure(m: CostMap, *, title: str, names: tuple[str, str]) -> Any:
    """A figure of c(λ_a): left the surface as in the paper, right from above, with the path and the minima.

    `names` are those of the actuators along x and y.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.4, 5.6), layout="constrained", facecolor="white")
    above, relief = figure.add_subplot(1, 2, 2), figure.add_subplot(1, 2, 1, projection="3d")
    colours, order = _colours(m)
    _from_above(above, m, colours, order, names)
    _surface(relief, m, colours, names)
    figure.suptitle(title, fontsize=12, color=INK, x=0.01, ha="left")
    return figure


def _colours(m: CostMap) -> tuple[np.ndarray, dict[tuple[int, ...], int]]:
    """(n, n, 3) colour of every point, and the order in which regions got theirs: those visited first."""
    from matplotlib.colors import to_rgb

    area = np.bincount(m.region.ravel(), minlength=len(m.regions))
    order: dict[tuple[int, ...], int] = {}
    for members in [*m.visited, *(m.regions[k] for k in np.argsort(-area))]:
        order.setdefault(members, len(order))
    palette = np.array([to_rgb(COLOURS[k % len(COLOURS)]) for k in range(len(order))])
    return palette[np.array([order[members] for members in m.regions])][m.region], order


def _from_above(
    ax: Any, m: CostMap, colours: np.ndarray, order: dict[tuple[int, ...], int], names: tuple[str, str]
) -> None:
    from matplotlib.ticker import MaxNLocator

    most = m.efforts[-1]
    ax.imshow(colours, origin="lower", extent=(0, most, 0, most), interpolation="nearest", aspect="equal")
    labels = np.array([order[members] for members in m.regions])[m.region]
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
    """(n, n) whether a point is in a region that takes up little of the map."""
    area = np.bincount(m.region.ravel(), minlength=len(m.regions)) / m.region.size
    return (area < SLIVER)[m.region]


def _mark(ax: Any, point: np.ndarray, cost: float, best: bool, most: float) -> None:
    """A cross and its coordinates, on the side with more space."""
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
