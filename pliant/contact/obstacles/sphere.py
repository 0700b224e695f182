"""Sphere and capsule: all points within a radius of a point or a segment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit

from pliant.contact.obstacles import surfaces
from pliant.contact.obstacles.checks import vector
from pliant.contact.obstacles.directions import unit_or_across
from pliant.contact.obstacles.obstacle import Length, Obstacle, Offer, Point
from pliant.errors import InputError
from pliant.inputs import positive


@dataclass(frozen=True, eq=False)
class Sphere(Obstacle):
    """A ball: gap = |p − centre| − radius."""

    kind: ClassVar[str] = "sphere"
    offer: ClassVar[Offer | None] = Offer("Ball")
    primitive: ClassVar[bool] = True

    centre: Point
    radius: Length

    def __post_init__(self) -> None:
        self._set(
            centre=vector(self.centre, "centre of a sphere"),
            radius=positive("radius of a sphere", self.radius, "m"),
        )

    @property
    def roundness(self) -> float:
        return self.radius

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        return capsule_distance(p, self.centre, self.centre, self.radius)

    def curvature(self, p: np.ndarray, sharpest: float) -> np.ndarray:
        """(I − nnᵀ)/|p − centre|."""
        gap, n = self.distance(p)
        far = np.maximum(gap + self.radius, sharpest)
        return (np.eye(3) - n[:, :, None] * n[:, None]) / far[:, None, None]

    def round_at(self, p: np.ndarray, radius: float) -> np.ndarray:
        return np.full(len(p), self.radius >= radius)

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"centre": R @ self.centre + t}

    @property
    def core(self) -> np.ndarray:
        return self.handle

    @property
    def handle(self) -> np.ndarray:
        return self.centre

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        return surfaces.rod(self.centre, self.centre, self.radius, round_ends=True)

    @classmethod
    def of_size(cls, place: np.ndarray, size: float, up: np.ndarray) -> Self:
        return cls(place, size / 2)


@dataclass(frozen=True, eq=False)
class Capsule(Obstacle):
    """A cylinder with round ends: all points within `radius` of the segment from `start` to `end` [m]."""

    kind: ClassVar[str] = "capsule"
    primitive: ClassVar[bool] = True

    start: Point
    end: Point
    radius: Length

    def __post_init__(self) -> None:
        self._set(
            start=vector(self.start, "start of a capsule"),
            end=vector(self.end, "end of a capsule"),
            radius=positive("radius of a capsule", self.radius, "m"),
        )
        if (self.start == self.end).all():
            raise InputError(
                "capsule", expected="two different ends", got=repr(self.end.tolist()), hint="Use a Sphere."
            )

    @property
    def roundness(self) -> float:
        return self.radius

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        return capsule_distance(p, self.start, self.end, self.radius)

    def round_at(self, p: np.ndarray, radius: float) -> np.ndarray:
        return np.full(len(p), self.radius >= radius)

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"start": R @ self.start + t, "end": R @ self.end + t}

    @property
    def core(self) -> np.ndarray:
        return self.handle

    @property
    def handle(self) -> np.ndarray:
        return (self.start + self.end) / 2

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        return surfaces.rod(self.start, self.end, self.radius, round_ends=True)


@njit(cache=True, error_model="numpy")
def capsule_distance(p, a, b, radius):
    """Distance to the segment from a to b, less the radius."""
    gap, normal = np.empty(len(p)), np.empty((len(p), 3))
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    square = u0 * u0 + u1 * u1 + u2 * u2
    for i in range(len(p)):
        x, y, z = p[i, 0] - a[0], p[i, 1] - a[1], p[i, 2] - a[2]
        if square > 0.0:
            s = min(max((x * u0 + y * u1 + z * u2) / square, 0.0), 1.0)
            x, y, z = x - s * u0, y - s * u1, z - s * u2
        d = np.sqrt(x * x + y * y + z * z)
        gap[i] = d - radius
        normal[i, 0], normal[i, 1], normal[i, 2] = unit_or_across(x, y, z, u0, u1, u2)
    return gap, normal
