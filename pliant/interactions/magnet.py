"""A magnet in a uniform field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.interactions import angles, checks
from pliant.interactions.vector import VectorInteraction, material_vector
from pliant.points import Points

PARALLEL = 1e-6  # sin of the angle between two directions at rest


class Magnet(VectorInteraction):
    """How a magnetisation, fixed in a region, stands to a field fixed in space.

    `moment` (3,) is its direction at rest, `field` a direction (3,) or several (k, 3), a row each.

    measure="angle": δ = α, the angle from the field to the moment [rad]; λ is the torque that opens it
    [N·m], for a moment m in a field B −|m||B| sin α. With an `axis`, α is signed about it (only what is seen
    along the axis counts) and smooth when aligned. Without, α lies in [0, π] and has no derivative at 0 and
    π: it is taken as zero there, and refused at rest.

    measure="alignment": δ = m̂·b̂, λ = |m||B| [N·m]. The energy −λδ is the magnet's own, −m·B, whichever way it
    turns, so λ follows from the field alone. With field=np.eye(3) the three efforts are |m| (Bx, By, Bz).
    """

    unit, effort_unit = "rad", "N·m"

    def __init__(
        self,
        points: Points | Sequence[Points],
        *,
        moment: ArrayLike,
        field: ArrayLike,
        axis: ArrayLike | None = None,
        measure: Literal["angle", "alignment"] = "angle",
    ) -> None:
        super().__init__(points)
        self.moment = checks.unit_vector("moment of a Magnet", moment)
        self.field = checks.unit_vectors("field of a Magnet", field)
        self.axis = None if axis is None else checks.unit_vector("axis of a Magnet", axis)
        self.measure = measure
        if measure not in ("angle", "alignment"):
            raise InputError("measure of a Magnet", expected="'angle' or 'alignment'", got=repr(measure))
        if measure == "alignment":
            self.unit = "1"
        self._check_axis()
        self._set_vector(material_vector("points of a Magnet", self.rest, self.moment))

    def _check_axis(self) -> None:
        if self.measure == "alignment":
            if self.axis is not None:
                raise InputError("axis of a Magnet", expected="none when measure='alignment'", got="an axis")
            return
        if self.axis is None:
            if (np.linalg.norm(np.cross(self.field, self.moment), axis=1) < PARALLEL).any():
                raise InputError(
                    "moment of a Magnet",
                    expected="a direction across the field",
                    got="one along it, where the angle has no derivative",
                    hint="Give axis= for a signed angle, or measure='alignment'.",
                )
        elif min(np.linalg.norm(np.cross(v, self.axis)) for v in (*self.field, self.moment)) < PARALLEL:
            raise InputError(
                "axis of a Magnet", expected="an axis across moment and field", got="one along them"
            )

    @property
    def size(self) -> int:
        return len(self.field)

    def of(self, w: np.ndarray) -> np.ndarray:
        if self.measure == "alignment":
            return self.field @ w / np.linalg.norm(w)
        if self.axis is None:
            return np.array([angles.between(w, b) for b in self.field])
        return np.array([angles.about_axis(b, w, self.axis) for b in self.field])

    def first(self, w: np.ndarray) -> np.ndarray:
        if self.measure == "alignment":
            n = np.linalg.norm(w)
            u = w / n
            return (self.field - np.outer(self.field @ u, u)) / n
        if self.axis is None:
            return np.array([angles.between_gradient(w, b) for b in self.field])
        return np.tile(angles.about_axis_gradient(w, self.axis), (self.size, 1))

    def second(self, w: np.ndarray, lam: np.ndarray) -> np.ndarray:
        if self.measure == "alignment":
            n = np.linalg.norm(w)
            u, b = w / n, lam @ self.field
            ub = np.outer(u, b)
            return ((b @ u) * (3 * np.outer(u, u) - np.eye(3)) - ub - ub.T) / n**2
        if self.axis is None:
            return sum((k * angles.between_hessian(w, b) for k, b in zip(lam, self.field)), np.zeros((3, 3)))
        return lam.sum() * angles.about_axis_hessian(w, self.axis)
