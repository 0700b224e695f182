"""Box: a block with sharp or rounded edges, in any orientation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numba import njit

from pliant.arrays import frozen
from pliant.contact.obstacles import surfaces
from pliant.contact.obstacles.checks import rotation_matrix, vector
from pliant.contact.obstacles.obstacle import LengthOrZero, Lengths, Obstacle, Offer, Point, Rotation
from pliant.errors import InputError
from pliant.inputs import not_negative


@dataclass(frozen=True, eq=False)
class Box(Obstacle):
    """A block of edge lengths `size` (3,) [m] about `centre`, its axes the columns of `rotation` (3, 3).

    `rounding` [m] is the radius of its edges and corners; the size stays.
    """

    kind: ClassVar[str] = "box"
    offer: ClassVar[Offer | None] = Offer("Block")
    primitive: ClassVar[bool] = True

    centre: Point
    size: Lengths
    rotation: Rotation = None
    rounding: LengthOrZero = 0.0

    def __post_init__(self) -> None:
        size = vector(self.size, "size of a box")
        rounding = not_negative("rounding of a box", self.rounding, "m")
        if not (size > 0).all():
            raise InputError("size of a box", expected="three positive lengths [m]", got=repr(self.size))
        if 2 * rounding > size.min():
            raise InputError(
                "rounding of a box",
                expected=f"at most half the shortest edge ({size.min() / 2:g} m)",
                got=rounding,
            )
        self._set(
            centre=vector(self.centre, "centre of a box"),
            size=size,
            rotation=rotation_matrix(self.rotation),
            rounding=rounding,
        )

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        return box_distance(p, self.centre, self.rotation, self.size, self.rounding)

    def round_at(self, p: np.ndarray, radius: float) -> np.ndarray:
        return np.full(len(p), self.rounding >= radius)

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"centre": R @ self.centre + t, "rotation": frozen(R @ self.rotation)}

    @property
    def core(self) -> np.ndarray:
        return self.handle

    @property
    def handle(self) -> np.ndarray:
        return self.centre

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        """With sharp edges, whatever its rounding."""
        return surfaces.box(self.centre, self.rotation, self.size)

    @classmethod
    def of_size(cls, place: np.ndarray, size: float, up: np.ndarray) -> Self:
        """A cube with rounded edges."""
        return cls(place, np.full(3, size), rounding=0.1 * size)


@njit(cache=True, error_model="numpy")
def box_distance(p, centre, R, size, rounding):
    """Distance to the core (the box less its rounding), less the rounding; inside, to the nearest face."""
    gap, normal = np.empty(len(p)), np.empty((len(p), 3))
    outside, side = np.empty(3), np.empty(3)
    for i in range(len(p)):
        square, deepest = 0.0, 0
        for c in range(3):
            local = 0.0
            for k in range(3):
                local += R[k, c] * (p[i, k] - centre[k])
            side[c] = 1.0 if local >= 0.0 else -1.0
            outside[c] = abs(local) - (0.5 * size[c] - rounding)
            square += max(outside[c], 0.0) ** 2
            if outside[c] > outside[deepest]:
                deepest = c
        if square > 0.0:
            d = np.sqrt(square)
            for c in range(3):
                side[c] *= max(outside[c], 0.0) / d
        else:
            d = outside[deepest]
            for c in range(3):
                if c != deepest:
                    side[c] = 0.0
        gap[i] = d - rounding
        for k in range(3):
            normal[i, k] = R[k, 0] * side[0] + R[k, 1] * side[1] + R[k, 2] * side[2]
    return gap, normal
