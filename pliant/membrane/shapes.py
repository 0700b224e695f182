"""Shapes that a cable may lie against: convex, in the frame of the body that carries them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats, is_number

FLAT = 1e-9  # of the size: corners closer than this coincide, turns smaller than this are straight
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Shape:
    """A convex polygon rounded by a radius: all within `radius` [m] of the hull of `corners` (k, 2) [m].

    Corners run counter-clockwise. One corner is a disc, or a point if the radius is zero.
    """

    corners: np.ndarray
    radius: float
    perimeter: float = field(init=False)

    def __post_init__(self) -> None:
        edges = np.roll(self.corners, -1, axis=0) - self.corners
        around = float(np.linalg.norm(edges, axis=1).sum()) + 2.0 * np.pi * self.radius
        object.__setattr__(self, "perimeter", around)
        self.corners.setflags(write=False)

    def support(self, direction: Any) -> np.ndarray:
        """The point furthest along a direction, (2,) [m]; of the first corner where several are."""
        n = np.asarray(direction, float)
        n = n / np.linalg.norm(n)
        return self.corners[int(np.argmax(self.corners @ n))] + self.radius * n

    def contains(self, point: Any, pose: Any = (0.0, 0.0, 0.0)) -> bool:
        """Whether a point (2,) [m] lies inside, or on the edge of, the shape at a pose (x, y, θ)."""
        x, y, angle = np.asarray(pose, float)
        local = rotation(angle).T @ (np.asarray(point, float) - (x, y))
        return self.distance(local) <= 0.0

    def distance(self, point: np.ndarray) -> float:
        """Signed distance [m] of a point in the shape's own frame to its edge, negative inside."""
        a = self.corners
        edge = np.roll(a, -1, axis=0) - a
        length2 = np.maximum((edge**2).sum(1), TINY)
        along = np.clip(((point - a) * edge).sum(1) / length2, 0.0, 1.0)
        near = float(np.linalg.norm(point - a - along[:, None] * edge, axis=1).min())
        rel = point - a
        inside = len(a) > 2 and bool((edge[:, 0] * rel[:, 1] - edge[:, 1] * rel[:, 0] >= 0.0).all())
        return (-near if inside else near) - self.radius

    def outline(self, pose: Any = (0.0, 0.0, 0.0), *, arc: int = 48) -> np.ndarray:
        """A closed polyline round the shape at a pose (x, y, θ), (k, 2) [m], for pictures."""
        x, y, angle = np.asarray(pose, float)
        turns = np.linspace(0.0, 2.0 * np.pi, arc + 1)
        if self.radius == 0.0:
            local = np.vstack([self.corners, self.corners[:1]])
        else:
            local = np.array([self.support((np.cos(t), np.sin(t))) for t in turns])
        return local @ rotation(angle).T + (x, y)


class Disc(Shape):
    """A round pulley about the origin of its body, of radius [m] ≥ 0; Disc(0) is a point."""

    def __init__(self, radius: float, *, centre: Sequence[float] = (0.0, 0.0)) -> None:
        if not is_number(radius) or not np.isfinite(radius) or radius < 0.0:
            raise InputError("disc radius", expected="a length ≥ 0 [m]", got=radius)
        super().__init__(point_of("disc centre", centre)[None, :], float(radius))


class Polygon(Shape):
    """A convex polygon: vertices (k, 2) [m], counter-clockwise, corners rounded by `radius` [m].

    Clockwise vertices are refused: the order says which side is out.
    """

    def __init__(self, vertices: Any, *, radius: float = 0.0) -> None:
        v = as_floats("polygon vertices", vertices, "(k, 2) coordinates [m]")
        if v.ndim != 2 or v.shape[1] != 2 or len(v) < 3 or not np.isfinite(v).all():
            raise InputError(
                "polygon vertices", expected="three or more finite points (k, 2) [m]", got=f"shape {v.shape}"
            )
        if not is_number(radius) or not np.isfinite(radius) or radius < 0.0:
            raise InputError("polygon radius", expected="a length ≥ 0 [m]", got=radius)
        _check_convex(v)
        super().__init__(v, float(radius))


def regular(sides: int, radius: float, *, turned: float = 0.0) -> Polygon:
    """A regular polygon with corners on a circle of `radius` [m], the first at the angle `turned` [rad]."""
    if not isinstance(sides, int) or sides < 3:
        raise InputError("sides of a regular polygon", expected="an integer ≥ 3", got=sides)
    if not is_number(radius) or not radius > 0.0:
        raise InputError("radius of a regular polygon", expected="a length > 0 [m]", got=radius)
    angle = turned + 2.0 * np.pi * np.arange(sides) / sides
    return Polygon(radius * np.column_stack([np.cos(angle), np.sin(angle)]))


def box(width: float, height: float) -> Polygon:
    """A rectangle about the origin [m]."""
    if not (is_number(width) and is_number(height) and width > 0.0 and height > 0.0):
        raise InputError("box", expected="width and height > 0 [m]", got=(width, height))
    w, h = 0.5 * width, 0.5 * height
    return Polygon([(-w, -h), (w, -h), (w, h), (-w, h)])


def rotation(angle: float) -> np.ndarray:
    """R (2, 2) by an angle [rad], counter-clockwise."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def point_of(what: str, value: Any) -> np.ndarray:
    """A finite point (2,) [m], or an InputError."""
    p = as_floats(what, value, "a point (x, y) [m]")
    if p.shape != (2,) or not np.isfinite(p).all():
        raise InputError(what, expected="a finite point (x, y) [m]", got=f"{value!r}")
    return p


def _check_convex(v: np.ndarray) -> None:
    edge = np.roll(v, -1, axis=0) - v
    size = float(np.ptp(v, axis=0).max())
    if np.linalg.norm(edge, axis=1).min() <= FLAT * size:
        raise InputError("polygon vertices", expected="distinct vertices", got="two that coincide")
    after = np.roll(edge, -1, axis=0)
    turn = np.arctan2(edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0], (edge * after).sum(1))
    if np.isclose(turn.sum(), -2.0 * np.pi) and (turn < FLAT).all():
        raise InputError(
            "polygon vertices",
            expected="counter-clockwise order",
            got="clockwise",
            hint="Give them reversed: Polygon(vertices[::-1]).",
        )
    if not np.isclose(turn.sum(), 2.0 * np.pi) or (turn < -FLAT).any():
        raise InputError(
            "polygon vertices",
            expected="a convex polygon",
            got="corners that turn both ways, or more than once round",
            hint="Use its convex hull: a taut cable touches nothing else.",
        )
