"""The orientation of a rigid region or of a soft patch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.errors import InputError
from pliant.interactions import checks
from pliant.interactions.interaction import Interaction
from pliant.interactions.rotations import fit_gradient, fit_hessian, rotation_vector
from pliant.points import Points

ON_A_LINE = 1e-9  # second over first singular value of the points' offsets from their mean


class Orientation(Interaction):
    """δ = φ (3,) [rad], the rotation vector of its points relative to rest; λ is its dual torque [N·m].

    R = exp([φ]ₓ) is the best-fitting rotation, the polar factor of F = Σ pᵢ yᵢᵀ with yᵢ the rest offsets from
    their mean: exact for rigid motion, least squares for a soft patch. Three points or more, not on one line.
    |φ| ≤ π: beyond half a turn φ jumps to the other side. Near φ = 0, λ is the torque in space.
    """

    unit, effort_unit = "rad", "N·m"

    def __init__(self, points: Points | Sequence[Points]) -> None:
        super().__init__(points)
        checks.at_least("points of an Orientation", self.point_count, 3)
        offset = self.rest - self.rest.mean(axis=0)
        spread = np.linalg.svd(offset, compute_uv=False)
        if spread[1] <= ON_A_LINE * spread[0] or not spread[0]:
            raise InputError(
                "points of an Orientation", expected="not all on one line", got="a line of points"
            )
        self._y = np.ascontiguousarray(offset / spread[0])  # any scale gives the same rotation
        i, j = np.tril_indices(self.point_count)
        self._pairs = np.ascontiguousarray(np.column_stack([i, j]))

    @property
    def size(self) -> int:
        return 3

    def rotation(self, p: np.ndarray) -> np.ndarray:
        """R, (3, 3)."""
        return self._fit(p)[0]

    def value(self, p: np.ndarray) -> np.ndarray:
        return rotation_vector(self._fit(p)[0])

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return fit_gradient(*self._fit(p), self._y)

    def pairs(self) -> np.ndarray:
        return self._pairs

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return fit_hessian(*self._fit(p), self._y, self._pairs, lam)

    def _fit(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Polar decomposition F = R S with det R = +1 (S may then have one negative eigenvalue)."""
        U, s, Vt = np.linalg.svd(p.T @ self._y)
        if np.linalg.det(U) * np.linalg.det(Vt) < 0:
            U[:, 2] *= -1
            s[2] *= -1
        return U @ Vt, Vt.T @ (s[:, None] * Vt)
