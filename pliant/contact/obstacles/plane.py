"""Plane: everything behind it is solid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from pliant.contact.obstacles import surfaces
from pliant.contact.obstacles.checks import direction, vector
from pliant.contact.obstacles.obstacle import Direction, Obstacle, Offer, Point


@dataclass(frozen=True, eq=False)
class Plane(Obstacle):
    """The half-space behind a plane through `point` [m]: gap = (p − point)·normal."""

    kind: ClassVar[str] = "plane"
    offer: ClassVar[Offer | None] = Offer("Floor", "below")
    primitive: ClassVar[bool] = True
    bounded: ClassVar[bool] = False

    point: Point
    normal: Direction

    def __post_init__(self) -> None:
        self._set(
            point=vector(self.point, "point of a plane"), normal=direction(self.normal, "normal of a plane")
        )

    @property
    def bulges(self) -> bool:
        return False

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        normal = np.empty_like(p)
        normal[:] = self.normal
        return p @ self.normal - float(self.point @ self.normal), normal

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"point": R @ self.point + t, "normal": R @ self.normal}

    @property
    def handle(self) -> np.ndarray:
        return self.point

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        return surfaces.square(self.point, self.normal, middle, size)

    @classmethod
    def of_size(cls, place: np.ndarray, size: float, up: np.ndarray) -> Self:
        return cls(place, up)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Obstacle:
        return super().of_data({"point": data["centre"], **data})  # version 0.1 recorded the centre only


HalfSpace = Plane
