"""A finger: proximal hinge θ_p, slider θ_l, distal hinge θ_d, and a paddle with a skin across it.

tip = base + (link + θ_l) (cos a, sin a),    a = heading + θ_p
A, B = tip ∓ ½ paddle (cos b, sin b),        b = a + θ_d
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra.jit import kernel
from pliant.errors import InputError, is_number
from pliant.membrane.shapes import point_of
from pliant.membrane.wrapping import LEFT, RIGHT

JOINTS = 3
COLUMNS = ("base x", "base y", "heading", "link", "paddle", "side × offset")


@dataclass(frozen=True)
class Finger:
    """Lengths in metres, angles in radians.

    base (2,): the proximal hinge; heading: direction of the link at θ_p = 0; link: from hinge to hinge, at
    θ_l = 0; lower, upper (3,): limits of θ_p, θ_l, θ_d.

    paddle: span of the skin; side: where the object is, LEFT or RIGHT of the paddle seen from the base;
    stiffness [N/m], damping [N·s/m] and preload [m] of the skin; offset: of the skin in front of the distal
    hinge; depth: how far an object can be pressed in before it meets the paddle behind the skin.
    """

    base: Any
    heading: float
    link: float
    paddle: float
    side: int
    stiffness: float
    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    preload: float = 0.0
    damping: float = 0.0
    depth: float = np.inf
    offset: float = 0.0

    def __post_init__(self) -> None:
        point_of("base of a finger", self.base)
        for what in ("link", "paddle", "stiffness", "depth"):
            value = getattr(self, what)
            if not is_number(value) or not value > 0.0:
                raise InputError(f"{what} of a finger", expected="a number > 0", got=value)
        for what in ("damping", "offset"):
            if not is_number(getattr(self, what)) or not getattr(self, what) >= 0.0:
                raise InputError(f"{what} of a finger", expected="a number ≥ 0", got=getattr(self, what))
        if not is_number(self.preload) or not self.preload < self.paddle:
            raise InputError(
                "preload of a finger", expected=f"less than the paddle, {self.paddle:g} m", got=self.preload
            )
        if self.side not in (LEFT, RIGHT):
            raise InputError("side of a finger", expected="LEFT (+1) or RIGHT (−1)", got=self.side)
        low, high = np.asarray(self.lower, float), np.asarray(self.upper, float)
        if low.shape != (JOINTS,) or high.shape != (JOINTS,) or not (low <= high).all():
            raise InputError(
                "limits of a finger", expected="lower ≤ upper, three each", got=(self.lower, self.upper)
            )
        if self.link + low[1] <= 0.0:
            raise InputError(
                "limits of a finger", expected="a link longer than nothing", got=f"{self.link + low[1]:g} m"
            )

    @property
    def row(self) -> tuple[float, ...]:
        """The numbers that kinematics needs, in the order of COLUMNS."""
        return (*point_of("base", self.base), self.heading, self.link, self.paddle, self.side * self.offset)


@kernel
def kinematics(fingers, q):
    """(ends (f, 4), D (4f, 3f)): both ends of every skin and their derivatives by the joints q (3f,).

    `fingers` (f, 6): a row of COLUMNS each.
    """
    f = len(fingers)
    ends, D = np.empty((f, 4)), np.zeros((4 * f, 3 * f))
    for k in range(f):
        bx, by, heading, link, paddle, front = fingers[k]
        a = heading + q[3 * k]
        b = a + q[3 * k + 2]
        reach, ca, sa, cb, sb = link + q[3 * k + 1], np.cos(a), np.sin(a), np.cos(b), np.sin(b)
        for e in range(2):
            h = -0.5 * paddle if e == 0 else 0.5 * paddle
            x, y = reach * ca + h * cb - front * sb, reach * sa + h * sb + front * cb
            ends[k, 2 * e], ends[k, 2 * e + 1] = bx + x, by + y
            row = 4 * k + 2 * e
            D[row, 3 * k], D[row + 1, 3 * k] = -y, x
            D[row, 3 * k + 1], D[row + 1, 3 * k + 1] = ca, sa
            D[row, 3 * k + 2], D[row + 1, 3 * k + 2] = -h * sb - front * cb, h * cb - front * sb
    return ends, D


@kernel
def clearances(ends, side, corners, r):
    """How clear fingers are of the object and of each other [m], with the derivatives by the skins' ends.

    (depth (f,), slope (f, 4), clear (f, 2), slope (f, 2, 2), gap (f, f, 2), slope (f, f, 2, 8)).

    corners (n, 2), r: of the object, in space. depth: how far it reaches through each straight skin; clear:
    how far each end lies outside of it; gap[i, j, e]: how far end e of skin j lies in front of the straight
    skin i. Slopes are by the ends.
    """
    f = len(ends)
    depth, slope = np.empty(f), np.zeros((f, 4))
    clear, normal = np.empty((f, 2)), np.empty((f, 2, 2))
    gap, bend = np.zeros((f, f, 2)), np.zeros((f, f, 2, 8))
    work = np.empty(6)
    for i in range(f):
        depth[i] = -np.inf
        for k in range(len(corners)):
            value = r - side[i] * _height(ends[i], corners[k, 0], corners[k, 1], work)
            if value > depth[i]:
                depth[i] = value
                slope[i] = -side[i] * work[:4]
        for e in range(2):
            clear[i, e] = _outside(ends[i, 2 * e], ends[i, 2 * e + 1], corners, normal[i, e]) - r
        for j in range(f):
            for e in range(2):
                gap[i, j, e] = side[i] * _height(ends[i], ends[j, 2 * e], ends[j, 2 * e + 1], work)
                bend[i, j, e, :4] = side[i] * work[:4]
                bend[i, j, e, 4 + 2 * e : 6 + 2 * e] = side[i] * work[4:]
    return depth, slope, clear, normal, gap, bend


@kernel
def _height(end, x, y, g):
    """Height of a point over the line A → B, to its left [m].

    `g` (6,) takes its derivatives by A, B and the point.
    """
    ux, uy, wx, wy = end[2] - end[0], end[3] - end[1], x - end[0], y - end[1]
    d = np.sqrt(ux * ux + uy * uy)
    h, along = (ux * wy - uy * wx) / d, (ux * wx + uy * wy) / (d * d)
    nx, ny = -uy / d, ux / d
    g[0], g[1] = -nx * (1.0 - along), -ny * (1.0 - along)
    g[2], g[3] = -nx * along, -ny * along
    g[4], g[5] = nx, ny
    return h


@kernel
def _outside(x, y, corners, normal):
    """How far a point lies outside a convex polygon, over its nearest edge line [m], negative inside.

    `normal` (2,) takes that edge's.
    """
    n, most = len(corners), -np.inf
    if n == 1:
        wx, wy = x - corners[0, 0], y - corners[0, 1]
        most = np.sqrt(wx * wx + wy * wy)
        normal[0], normal[1] = wx / most, wy / most
        return most
    for k in range(n):
        ex, ey = corners[(k + 1) % n, 0] - corners[k, 0], corners[(k + 1) % n, 1] - corners[k, 1]
        d = np.sqrt(ex * ex + ey * ey)
        height = (ey * (x - corners[k, 0]) - ex * (y - corners[k, 1])) / d
        if height > most:
            most = height
            normal[0], normal[1] = ey / d, -ex / d
    return most
