"""Pictures of estimates: the shape, markers as measured, forces as arrows with their 95 % ellipses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.io.raster import Camera
from pliant.io.render import Renderer
from pliant.sensing import Estimate
from pliant.sensing.instruments import FORCES, MARKERS
from pliant.studies.figures import INK, heading, new_figure

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
    true: tuple[np.ndarray, np.ndarray] | None = None,
    candidates: np.ndarray | None = None,
) -> None:
    """Draws an estimate on axes; markers that were hidden are hollow.

    `per_newton` [m] is the length of an arrow of one newton, `applied` (n, 3) [N] are the true forces, if
    known; `true` are places (k, 3) [m] and forces (k, 3) [N] where these are not at the places estimated.
    `uncertain` shows the ellipses in which forces lie with 95 %; `candidates` (m, 3) are other places that
    were searched.
    """
    flat = looked_at(ax, estimate.robot, estimate.positions, BODY, view)
    _markers(ax, flat, estimate)
    where = estimate.robot.rows[FORCES].interaction.points[0].position(estimate.q)
    arrows, ellipsoids = estimate.forces(FORCES), estimate.ellipsoids(FORCES)
    ring: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": NONE}
    if candidates is not None:
        ax.plot(*flat(candidates).T, "o", markersize=3, zorder=3, **ring)
    ax.plot(*flat(where).T, "o", markersize=4, zorder=5, **ring)
    for place, force, axes in zip(where, arrows, ellipsoids, strict=True):
        tip = place + per_newton * force
        _arrow(ax, flat(place), flat(tip), FOUND, 7)
        if uncertain:
            _ellipse(ax, flat(tip), per_newton * flat(axes))
    if applied is not None or true is not None:
        places, forces = (where, np.asarray(applied)) if true is None else true
        for place, force in zip(places, forces, strict=True):
            if np.any(force):
                _arrow(ax, flat(place), flat(place + per_newton * force), TRUE, 6, width=3.2)
    tips, reach = where + per_newton * arrows, per_newton * ellipsoids * float(uncertain)
    around = (tips[:, None] + np.concatenate([reach, -reach], axis=1)).reshape(-1, 3)
    _limits(ax, flat(np.concatenate([estimate.positions, tips, around])))


def _markers(ax: Any, flat: Callable[[np.ndarray], np.ndarray], estimate: Estimate) -> None:
    """As measured; where hidden, hollow and as the model has them."""
    model = estimate.displacement[MARKERS].reshape(-1, 3)
    seen = model + estimate.residual[MARKERS].reshape(-1, 3)
    hollow: dict[str, Any] = {"markerfacecolor": "none", "markeredgecolor": MARKER, "markersize": 4.4}
    ax.plot(*flat(seen).T, "o", color=MARKER, markersize=3.6, zorder=4)
    ax.plot(*flat(model[np.isnan(seen).any(axis=1)]).T, "o", zorder=4, **hollow)


def _limits(ax: Any, ends: np.ndarray) -> None:
    """Sets limits that contain all ends (n, 2), and hides the axes."""
    low, high = ends.min(axis=0), ends.max(axis=0)
    border = 0.05 * float((high - low).max())
    ax.set_xlim(low[0] - border, high[0] + border)
    ax.set_ylim(low[1] - border, high[1] + border)
    ax.set_axis_off()


def looked_at(
    ax: Any, robot: Any, positions: np.ndarray, colour: str, view: tuple[float, float] = FROM
) -> Callable[[np.ndarray], np.ndarray]:
    """Draws a robot with its nodes at positions (k, 3) [m]; returns the projection (…, 3) → (…, 2)."""
    from matplotlib.colors import to_rgb

    camera = Camera.looking(*view)
    image = Renderer(robot, camera, SCALE).body(
        positions, np.tile(to_rgb(colour), (len(positions), 1)), mesh=True
    )
    ax.imshow(image.pixels, extent=image.extent, zorder=1, interpolation="bilinear", aspect="equal")
    return lambda x: camera.project(np.asarray(x))[..., :2]


def _arrow(ax: Any, start: np.ndarray, end: np.ndarray, colour: str, order: int, width: float = 1.6) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    if float(np.linalg.norm(end - start)) > 1e-4:
        ax.annotate("", xy=end, xytext=start, arrowprops=style, zorder=order)


def _ellipse(ax: Any, centre: np.ndarray, axes: np.ndarray) -> None:
    """The outline of an ellipsoid with projected semi-axes (3, 2)."""
    size, directions = np.linalg.eigh(axes.T @ axes)
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    radius = np.sqrt(np.maximum(size, 0.0))
    outline = (
        centre
        + (radius[0] * np.cos(turn))[:, None] * directions[:, 0]
        + (radius[1] * np.sin(turn))[:, None] * directions[:, 1]
    )
    ax.fill(*outline.T, facecolor=FOUND, alpha=0.16, zorder=6, linewidth=0)
    ax.plot(*outline.T, color=FOUND, linewidth=0.7, zorder=6)


def legend(figure: Any, *, uncertain: bool = True) -> None:
    """What the signs mean, in one line under all pictures of a figure."""
    from matplotlib.lines import Line2D

    signs = {
        "marker (hollow: hidden)": {"color": MARKER, "marker": "o", "linestyle": "", "markersize": 4},
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


def cases(
    columns: int,
    shown: Sequence[tuple[str, Estimate, dict[str, Any]]],
    *,
    size: tuple[float, float],
    **options: Any,
) -> Any:
    """A figure of several estimates, each with a heading and options of `draw`; `size` [inches] of one."""
    rows = -(-len(shown) // columns)
    figure, axes = new_figure(size[0] * columns, size[1] * rows + 0.4, rows, columns)
    for ax in axes.ravel():
        ax.set_axis_off()
    for ax, (words, estimate, own) in zip(axes.ravel(), shown, strict=False):
        draw(ax, estimate, **{**options, **own})
        heading(ax, words)
    legend(figure, uncertain=options.get("uncertain", True))
    return figure
