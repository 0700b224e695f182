"""Pictures of estimates: the shape, markers as measured, forces as arrows with the ellipses in which they lie with 95 %."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.camera import Camera
from pliant.io.render import Renderer
from pliant.sensing import Estimate
from pliant.sensing.instruments import FORCES, MARKERS
from pliant.studies.figures import INK

BODY, MARKER, FOUND, TRUE, NONE = "#cfdde2", "#14181d", "#c2401c", "#1f6f8b", "#7b8794"
FROM = (-58.0, 34.0)  # degrees, azimuth and elevation
SCALE = 3200.0  # pixels per metre


def draw(
    ax: Any,
    estimate: Estimate,
    *,
    applied: np.ndarray | None = None,
    per_newton: float = 0.06,
    view: tuple[float, float] = FROM,
    uncertain: bool = True,
) -> None:
    """An estimate on axes: `per_newton` [m] is the length of an arrow of one newton, `applied` (n, 3) [N] the true forces, if known.

    `uncertain` shows the ellipses in which forces lie with 95 %.
    """
    camera = Camera.looking(*view)
    from matplotlib.colors import to_rgb

    image = Renderer(estimate.robot, camera, SCALE).body(
        estimate.positions, np.tile(to_rgb(BODY), (len(estimate.positions), 1)), mesh=True
    )
    ax.imshow(image.pixels, extent=image.extent, zorder=1, interpolation="bilinear", aspect="equal")
    flat = lambda x: camera.project(np.asarray(x))[..., :2]
    model = estimate.displacement[MARKERS].reshape(-1, 3)
    seen = model + estimate.residual[MARKERS].reshape(-1, 3)
    ax.plot(*flat(seen).T, "o", color=MARKER, markersize=3.6, zorder=4)
    interaction = estimate.robot.rows[FORCES].interaction
    where = interaction.points[0].position(estimate.q)
    arrows = estimate.forces(FORCES)
    ax.plot(*flat(where).T, "o", markerfacecolor="white", markeredgecolor=NONE, markersize=4, zorder=5)
    for place, force, axes in zip(where, arrows, estimate.ellipsoids(FORCES), strict=True):
        tip = place + per_newton * force
        _arrow(ax, flat(place), flat(tip), FOUND, 7)
        if uncertain:
            _ellipse(ax, flat(tip), per_newton * flat(axes))
    if applied is not None:
        for place, force in zip(where, applied, strict=True):
            if np.any(force):
                _arrow(ax, flat(place), flat(place + per_newton * force), TRUE, 6, width=3.2)
    tips = where + per_newton * arrows
    reach = per_newton * estimate.ellipsoids(FORCES) * float(uncertain)
    around = (tips[:, None] + np.concatenate([reach, -reach], axis=1)).reshape(-1, 3)
    ends = flat(np.concatenate([estimate.positions, tips, around]))
    low, high = ends.min(axis=0), ends.max(axis=0)
    room = 0.05 * float((high - low).max())
    ax.set_xlim(low[0] - room, high[0] + room)
    ax.set_ylim(low[1] - room, high[1] + room)
    ax.set_axis_off()


def _arrow(ax: Any, start: np.ndarray, end: np.ndarray, colour: str, order: int, width: float = 1.6) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    if float(np.linalg.norm(end - start)) > 1e-4:
        ax.annotate("", xy=end, xytext=start, arrowprops=style, zorder=order)


def _ellipse(ax: Any, centre: np.ndarray, axes: np.ndarray) -> None:
    """The outline of an ellipsoid with projected semi-axes (3, 2)."""
    size, ways = np.linalg.eigh(axes.T @ axes)
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    radius = np.sqrt(np.maximum(size, 0.0))
    outline = (
        centre
        + (radius[0] * np.cos(turn))[:, None] * ways[:, 0]
        + (radius[1] * np.sin(turn))[:, None] * ways[:, 1]
    )
    ax.fill(*outline.T, facecolor=FOUND, alpha=0.16, zorder=6, linewidth=0)
    ax.plot(*outline.T, color=FOUND, linewidth=0.7, zorder=6)


def legend(figure: Any, *, uncertain: bool = True) -> None:
    """What the signs mean, in one line under all pictures of a figure."""
    from matplotlib.lines import Line2D

    signs = {
        "marker": {"color": MARKER, "marker": "o", "linestyle": "", "markersize": 4},
        "candidate": {
            "markerfacecolor": "white",
            "markeredgecolor": NONE,
            "marker": "o",
            "linestyle": "",
            "markersize": 4,
        },
        "force found": {"color": FOUND, "linewidth": 1.6},
        "force applied": {"color": TRUE, "linewidth": 3.2},
    } | ({"95 %": {"color": FOUND, "alpha": 0.25, "linewidth": 7}} if uncertain else {})
    lines: list[Any] = [Line2D([], [], **style) for style in signs.values()]
    figure.legend(
        lines,
        list(signs),
        loc="outside lower center",
        ncol=len(signs),
        frameon=False,
        fontsize=8,
        labelcolor=INK,
    )
