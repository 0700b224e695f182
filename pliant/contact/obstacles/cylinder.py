"""Cylinder: of finite length, with flat ends."""

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
class Cylinder(Obstacle):
    """A round bar of `radius` [m] with its axis from `start` to `end` [m] and flat ends there."""

    kind: ClassVar[str] = "cylinder"
    offer: ClassVar[Offer | None] = Offer("Post")
    primitive: ClassVar[bool] = True

    start: Point
    end: Point
    radius: Length

    def __post_init__(self) -> None:
        self._set(
            start=vector(self.start, "start of a cylinder"),
            end=vector(self.end, "end of a cylinder"),
            radius=positive("radius of a cylinder", self.radius, "m"),
        )
        if (self.start == self.end).all():
            raise InputError("cylinder", expected="two different ends", got=repr(self.end.tolist()))

    @property
    def roundness(self) -> float:
        return self.radius

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        return cylinder_distance(p, self.start, self.end, self.radius)

    def round_at(self, p: np.ndarray, radius: float) -> np.ndarray:
        """On the mantle, away from the rims."""
        axis = self.end - self.start
        length = float(np.linalg.norm(axis))
        along = (p - self.start) @ axis / length
        return (self.radius >= radius) & (along > radius) & (along < length - radius)

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"start": R @ self.start + t, "end": R @ self.end + t}

    @property
    def core(self) -> np.ndarray:
        return self.handle

    @property
    def handle(self) -> np.ndarray:
        return (self.start + self.end) / 2

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        return surfaces.rod(self.start, self.end, self.radius, round_ends=False)

    @classmethod
    def of_size(cls, place: np.ndarray, size: float, up: np.ndarray) -> Self:
        """Twice as long as `size`, two thirds as thick."""
        return cls(place - up * size, place + up * size, size / 3)


@njit(cache=True, error_model="numpy")
def cylinder_distance(p, a, b, radius):
    """From the distances beside the mantle and beyond the ends; both positive: to the edge."""
    gap, normal = np.empty(len(p)), np.empty((len(p), 3))
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    length = np.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    for i in range(len(p)):
        x, y, z = p[i, 0] - a[0], p[i, 1] - a[1], p[i, 2] - a[2]
        s = x * ux + y * uy + z * uz
        x, y, z = x - s * ux, y - s * uy, z - s * uz
        beside = np.sqrt(x * x + y * y + z * z) - radius
        beyond = abs(s - 0.5 * length) - 0.5 * length
        if beside > 0.0 and beyond > 0.0:
            gap[i] = np.sqrt(beside * beside + beyond * beyond)
            across, along = beside / gap[i], beyond / gap[i]
        elif beside > beyond:
            gap[i], across, along = beside, 1.0, 0.0
        else:
            gap[i], across, along = beyond, 0.0, 1.0
        if s < 0.5 * length:
            along = -along
        x, y, z = unit_or_across(x, y, z, ux, uy, uz)
        normal[i, 0], normal[i, 1] = across * x + along * ux, across * y + along * uy
        normal[i, 2] = across * z + along * uz
    return gap, normal
