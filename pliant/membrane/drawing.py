"""Pictures of mechanisms on matplotlib axes: shapes, links, cables and the forces of skins."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.membrane.mechanism import Mechanism
from pliant.membrane.moment import PlanarMoment
from pliant.membrane.shapes import Shape, rotation
from pliant.membrane.staging import plate
from pliant.membrane.wrapping import TautPath

BODY, OBJECT, SKIN, FORCE = "#9aa5b1", "#d9622b", "#2a8c82", "#a3195b"


def draw(ax: Any, moment: PlanarMoment, *, force: float = 0.0, links: bool = True) -> None:
    """Everything at one moment; `force` [m/N] is the scale of the arrows of the skins' forces, which end in
    the origin of the shape; 0 for none."""
    mech = moment.mechanism
    for body in mech.bodies:
        if body.shape is not None or links:
            ring = _placed(plate(mech, body), moment.pose[body.name])
            colour = OBJECT if body.shape is not None else BODY
            ax.fill(*ring.T, color=colour, alpha=0.45, linewidth=0)
            ax.plot(*np.vstack([ring, ring[:1]]).T, color=colour, linewidth=0.9)
    for cable in mech.cables:
        ax.plot(*moment.polyline(cable.name).T, color=SKIN, linewidth=1.8, solid_joinstyle="round")
        if force:
            for name in moment.contact(cable.name):
                by = force * moment.wrench(cable.name, name)[:2]
                arrow(ax, np.array(moment.pose[name][:2]) - by, by)
    ax.set_aspect("equal")


def draw_path(ax: Any, path: TautPath, shapes: list[tuple[Shape, Any]]) -> None:
    """A taut path, the shapes it passes (at poses), and where it touches them."""
    for shape, pose in shapes:
        ring = shape.outline(pose)
        ax.fill(*ring.T, color=OBJECT, alpha=0.35, linewidth=0)
    line = path.polyline()
    ax.plot(*line.T, color=SKIN, linewidth=1.8)
    ax.plot(*line[[0, -1]].T, "+", color="black", markersize=9)
    ax.plot(*path.contact_points().reshape(-1, 2).T, "o", color=FORCE, markersize=4)
    ax.set_aspect("equal")


def arrow(ax: Any, start: Any, by: np.ndarray, colour: str = FORCE) -> None:
    """An arrow from a point by a vector."""
    if np.hypot(*by) > 0.0:
        tip = (start[0] + by[0], start[1] + by[1])
        style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2}
        ax.annotate("", tip, xytext=(start[0], start[1]), arrowprops=style)


def outline(mechanism: Mechanism, moment: PlanarMoment, body: str) -> np.ndarray:
    """The outline of a body at a moment, (k, 2) [m]."""
    return _placed(plate(mechanism, mechanism.bodies[mechanism.number[body]]), moment.pose[body])


def _placed(ring: np.ndarray, pose: Any) -> np.ndarray:
    return ring @ rotation(pose[2]).T + np.asarray(pose[:2])
