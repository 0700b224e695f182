"""Pictures of robots with the forces of contact modes as arrows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact import ContactBasis
from pliant.io.raster import Camera
from pliant.io.render import Renderer
from pliant.robot import Robot

BODY, PUSH, GOAL = "#cfdde2", "#c2401c", "#1f6f8b"


def show(ax: Any, robot: Robot, q: np.ndarray, view: tuple[float, float], *, scale: float = 2500.0) -> Camera:
    """The robot at q on axes without frame, `scale` pixels per metre."""
    from matplotlib.colors import to_rgb

    camera, x = Camera.looking(*view), robot.positions(q)
    image = Renderer(robot, camera, scale).body(x, np.tile(to_rgb(BODY), (len(x), 1)), mesh=True)
    ax.imshow(image.pixels, extent=image.extent, zorder=1, interpolation="bilinear", aspect="equal")
    flat = camera.project(x)[:, :2]
    room = 0.06 * np.ptp(flat, axis=0).max()
    ax.set_xlim(flat[:, 0].min() - room, flat[:, 0].max() + room)
    ax.set_ylim(flat[:, 1].min() - room, flat[:, 1].max() + room)
    ax.set_axis_off()
    return camera


def mode_arrows(robot: Robot, basis: ContactBasis, mode: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a mode pushes (n, 3) [m] at q, and its shares as vectors (n, 3) along the normals there, the largest of length one."""
    detector = robot.surroundings.detector(robot)
    contacts = detector.detect(q, 4.0 * detector.alarm)
    place = np.minimum(np.searchsorted(basis.index, contacts.index), len(basis.index) - 1)
    share = np.where(basis.index[place] == contacts.index, basis.modes[place, mode], 0.0)
    on = share > 0.02 * share.max(initial=1e-300)
    return contacts.position[on], contacts.normal[on] * (share[on] / share.max())[:, None]


def draw_arrows(ax: Any, camera: Camera, places: np.ndarray, ways: np.ndarray, length: float) -> None:
    """Arrows whose points are at the places; `length` [m] of the longest."""
    heads = camera.project(places)[:, :2]
    tails = camera.project(places - length * ways)[:, :2]
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
