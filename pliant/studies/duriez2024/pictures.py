"""Pictures of this study: the robot with two pistons, and the errors of every interaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.io.table import Table
from pliant.result import Result
from pliant.studies.figures import INK, LINES, SOFT, heading, new_figure

LARGER = 4.0  # displacements in the picture
LABEL = {"ha": "left", "va": "center", "fontsize": 8.5, "color": INK}


def pistons_figure(
    results: Sequence[Result], increments: Sequence[tuple[np.ndarray, np.ndarray]], half_width: float
) -> Any:
    """The column at rest and after each pair of increments [mm], upright; its motion drawn larger."""
    figure, axes = new_figure(7.4, 6.0, 1, len(results), sharey=True)
    for ax, result, (pushed, moved) in zip(axes[0], results, increments):
        body = result.robot.bodies[0]
        along = body.at(np.linspace(0, body.lines.length, 60))
        head = body.at([body.lines.length] * 2, offset=[(half_width, 0.0), (-half_width, 0.0)])
        tip = result.robot.rows["effector"].interaction.points[0]
        for q, colour, width in ((body.q0, SOFT, 5.0), (result.q, LINES[0], 6.0)):
            for points, stroke in ((along, width), (head, width + 1)):
                ax.plot(*_place(points, q), color=colour, linewidth=stroke, solid_capstyle="round", zorder=2)
            ax.plot(*_place(tip, q), "o", color=INK if q is result.q else SOFT, markersize=7, zorder=4)
        for number, (side, value) in enumerate(zip(_place(head, body.q0).T, pushed), 1):
            text = f"piston {number}\n{_number(value)} mm"
            ax.annotate(
                text,
                side,
                xytext=(0, 14),
                textcoords="offset points",
                **LABEL | {"ha": "center", "va": "bottom"},
            )
        label = f"effector {_number(moved[0])}, {_number(moved[1])} mm\n(first order)"
        ax.annotate(label, _place(tip, result.q)[:, 0], xytext=(22, -4), textcoords="offset points", **LABEL)
        ax.set_aspect("equal")
        ax.set_xlim(-130, 150)
        ax.set_ylim(-20, 425)
        ax.set_xlabel("across [mm]")
        heading(ax, f"Pistons by {_number(pushed[0])} and {_number(pushed[1])} mm")
    axes[0][0].set_ylabel("along [mm]")
    return figure


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _place(points: Any, q: np.ndarray) -> np.ndarray:
    """(2, n) [mm] across and along, displacement enlarged."""
    x, y, _ = (points.rest + LARGER * (points.position(q) - points.rest)).T
    return 1e3 * np.array([y, x])


def errors_figure(tables: Mapping[str, Table], allowed: float) -> Any:
    """Errors of all rows of tables with the same cases, by case."""
    names = list(dict.fromkeys(row["case"] for table in tables.values() for row in table.rows))
    figure, ((ax,),) = new_figure(8.6, 0.24 * len(names) + 1.2)
    for k, (kind, table) in enumerate(tables.items()):
        for row in table.rows:
            trip = row["what"].startswith("effort")
            ax.plot(
                max(row.get("error") or 0.0, 1e-17),
                names.index(row["case"]) + 0.12 * (k - 1),
                "o" if trip else "^",
                color=LINES[k],
                markersize=5,
                alpha=0.85,
            )
        ax.plot([], [], "s", color=LINES[k], label=kind)
    ax.plot([], [], "o", color=SOFT, label="effort ⇄ displacement")
    ax.plot([], [], "^", color=SOFT, label="J, by differences")
    ax.axvline(allowed, color=INK, linewidth=0.9, linestyle=":", label="asked")
    ax.set_xscale("log")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("relative error")
    ax.legend(fontsize=8.5, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)
    return figure
