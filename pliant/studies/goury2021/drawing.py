"""Robots in pictures, and modes as arrows on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact import ContactBasis
from pliant.io.raster import Camera
from pliant.io.render import Renderer
from pliant.robot import Robot

BODY, PUSH, GOAL = "#cfdde2", "#c2401c", "#1f6f8b"
DRAWN_SHARE = 0.02  # of a mode's largest share: smaller forces have no arrow
SEARCH_DISTANCE = 4.0  # alarm distances around the finger within which a mode's contacts are drawn


def show(ax: Any, robot: Robot, q: np.ndarray, view: tuple[float, float], *, scale: float = 2500.0) -> Camera:
    """The robot at q on axes without frame, `scale` pixels per metre."""
    from matplotlib.colors import to_rgb

    camera, x = Camera.looking(*view), robot.positions(q)
    image = Renderer(robot, camera, scale).body(x, np.tile(to_rgb(BODY), (len(x), 1)), mesh=True)
    ax.imshow(image.pixels, extent=image.extent, zorder=1, interpolation="bilinear", aspect="equal")
    flat = camera.project(x)[:, :2]
    border = 0.06 * np.ptp(flat, axis=0).max()
    ax.set_xlim(flat[:, 0].min() - border, flat[:, 0].max() + border)
    ax.set_ylim(flat[:, 1].min() - border, flat[:, 1].max() + border)
    ax.set_axis_off()
    return camera


def mode_arrows(robot: Robot, basis: ContactBasis, mode: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a mode pushes (n, 3) [m] at q, and its shares as vectors (n, 3) along the normals there.

    The largest has the length one.
    """
    detector = robot.surroundings.detector(robot)
    contacts = detector.detect(q, SEARCH_DISTANCE * detector.alarm)
    place = np.minimum(np.searchsorted(basis.index, contacts.index), len(basis.index) - 1)
    share = np.where(basis.index[place] == contacts.index, basis.modes[place, mode], 0.0)
    drawn = share > DRAWN_SHARE * share.max(initial=1e-300)
    return contacts.position[drawn], contacts.normal[drawn] * (share[drawn] / share.max())[:, None]


def draw_arrows(ax: Any, camera: Camera, places: np.ndarray, vectors: np.ndarray, length: float) -> None:
    """Arrows whose points are at the places; `length` [m] of the longest."""
    heads = camera.project(places)[:, :2]
    tails = camera.project(places - length * vectors)[:, :2]
    for head, tail in zip(heads, tails, strict=True):
        style = {
            "arrowstyle": "-|>",
            "color": PUSH,
            "linewidth": 1.0,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 6,
        }
        ax.annotate("", xy=head, xytext=tail, arrowprops=style, zorder=5)
