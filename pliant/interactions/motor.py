"""A motor: turns a rigid region about an axis fixed in space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.drive import Drive
from pliant.errors import InputError
from pliant.interactions import angles, checks
from pliant.interactions.vector import VectorInteraction
from pliant.points import Points

ON_AXIS = 1e-9  # of the longest arm: points that are nearer are on the axis


class Motor(VectorInteraction):
    """δ = θ(q) [rad], the angle by which a region has turned about `axis`; λ is the torque [N·m].

    The angle is that of one arm of the region, p_k − p₀, seen along the axis: exact at any angle when the
    region turns about the axis. The torque is a couple, so the axis needs no centre; what supports the region
    (a hinge) decides where it turns. Angles lie in (middle − π, middle + π], zero at rest: a function of the
    positions cannot count turns, so put `middle` in the centre of the motor's range. drive: what the motor
    does with its commands, see `Drive`.
    """

    unit, effort_unit = "rad", "N·m"

    def __init__(
        self,
        points: Points | Sequence[Points],
        axis: ArrayLike,
        *,
        middle: float = 0.0,
        drive: Drive | None = None,
    ) -> None:
        super().__init__(points)
        self._driven(drive)
        self.axis = checks.unit_vector("axis of a Motor", axis)
        self.middle = float(middle)
        self.displacement_range = angles.turn_about(self.middle)
        checks.at_least("points of a Motor", self.point_count, 2, "Use body.region_points(name).")
        arms = self.rest - self.rest[0]
        reach = np.linalg.norm(np.cross(arms, self.axis), axis=1)
        k = int(reach.argmax())
        if reach[k] <= ON_AXIS * np.abs(arms).max():
            raise InputError("points of a Motor", expected="a point off the axis", got="all along the axis")
        coefficients = np.zeros(self.point_count)
        coefficients[[0, k]] = -1.0, 1.0
        self._set_vector(coefficients)
        radial = arms[k] - self.axis * (self.axis @ arms[k])
        tangent = np.cross(self.axis, radial)
        self._zero = np.cos(self.middle) * radial + np.sin(self.middle) * tangent

    def of(self, w: np.ndarray) -> np.ndarray:
        return np.array([self.middle + angles.about_axis(self._zero, w, self.axis)])

    def first(self, w: np.ndarray) -> np.ndarray:
        return angles.about_axis_gradient(w, self.axis)[None]

    def second(self, w: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return lam[0] * angles.about_axis_hessian(w, self.axis)
