"""What an obstacle is to contact: a signed distance with its gradient."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from pliant.arrays import frozen_view
from pliant.contact.checks import rotation_matrix, vector
from pliant.errors import InputError

INF = float("inf")


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Something rigid that a robot may touch. It is known by its `name` when it moves: the moved one
    replaces it.

    A kind of obstacle implements `_distance` and `_moved`, and says whether the gap is a convex function of
    the point: then a linearised gap is never too large. Concave ones need a margin or a second iteration.
    """

    name: str = field(default="", kw_only=True)

    @property
    def convex(self) -> bool:
        """Whether the linearised gap is on the safe side."""
        return True

    @property
    def roundness(self) -> float:
        """Smallest radius [m] of what bulges towards the robot; inf where it is flat or hollow."""
        return INF

    def distance(self, p: Any, reach: float = INF) -> tuple[np.ndarray, np.ndarray]:
        """Gap (P,) [m] of points (P, 3) [m], negative where they penetrate, and its gradient (P, 3), unit.

        Beyond `reach` the gap may be a lower bound that still exceeds reach, if that saves time.
        """
        p = np.asarray(p, float)
        if p.ndim != 2 or p.shape[1] != 3:
            raise InputError("points", expected="shape (P, 3)", got=f"shape {p.shape}")
        return self._distance(frozen_view(p), float(reach))

    def curvature(self, p: np.ndarray, sharpest: float) -> np.ndarray:
        """∂²gap/∂p² (P, 3, 3) [1/m] at points (P, 3) [m], by differences; edges count as rounded by
        `sharpest` [m].
        """
        step = 0.05 * sharpest
        ends = np.concatenate([p + step * e for e in (*np.eye(3), *-np.eye(3))])
        normals = self.distance(ends)[1].reshape(2, 3, len(p), 3)
        C = np.transpose((normals[0] - normals[1]) / (2.0 * step), (1, 0, 2))
        C = 0.5 * (C + np.swapaxes(C, 1, 2))
        size = np.linalg.norm(C, axis=(1, 2))
        return C * np.minimum(1.0, 1.0 / np.maximum(sharpest * size, 1e-300))[:, None, None]

    def moved(self, *, rotation: Any = None, translation: Any = None) -> Self:
        """Moved rigidly, x → R x + t; the name stays. `rotation` is a (3, 3) matrix or a scipy Rotation."""
        t = np.zeros(3) if translation is None else vector(translation, "translation")
        return replace(self, **self._moved(rotation_matrix(rotation), t))

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError(f"{type(self).__name__}._distance")

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        """The fields that a motion changes, with their new values."""
        raise NotImplementedError(f"{type(self).__name__}._moved")

    def _set(self, **values: Any) -> None:
        """Put checked values into the frozen fields."""
        for key, value in values.items():
            object.__setattr__(self, key, value)
