"""Plane: everything behind it is solid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact.checks import direction, vector
from pliant.contact.obstacles.obstacle import Obstacle


@dataclass(frozen=True, eq=False)
class Plane(Obstacle):
    """The half-space behind a plane through `point` [m]: gap = (p − point)·normal."""

    point: Any
    normal: Any

    def __post_init__(self) -> None:
        self._set(
            point=vector(self.point, "point of a plane"), normal=direction(self.normal, "normal of a plane")
        )

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        normal = np.empty_like(p)
        normal[:] = self.normal
        return p @ self.normal - float(self.point @ self.normal), normal

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"point": R @ self.point + t, "normal": R @ self.normal}


HalfSpace = Plane
