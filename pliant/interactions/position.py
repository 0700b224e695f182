"""Positions of points: the usual effector, and what markers measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats
from pliant.interactions import checks
from pliant.interactions.affine import Affine
from pliant.points import Points


class Position(Affine):
    """δ = d·p, absolute positions of P points along k directions [m], flattened point by point: m = P k.

    `directions` names axes ("xyz", "xz", …) or gives vectors (k, 3), normalised. λ are forces along them [N].
    `weights` (m,) are kept for an objective and never scale δ: one number, k (one per direction) or P × k.
    """

    def __init__(
        self,
        points: Points | Sequence[Points],
        *,
        directions: str | ArrayLike = "xyz",
        weights: ArrayLike | None = None,
    ) -> None:
        super().__init__(points)
        self.directions = _directions(directions)
        self._read_points(self.directions, from_rest=False)
        self.weights = self._weights(1.0 if weights is None else weights)

    def _weights(self, value: ArrayLike) -> np.ndarray:
        P, k = self.point_count, len(self.directions)
        expected = f"one number, {k}, or {P} × {k}"
        w = as_floats("weights of a Position", value, expected)
        try:
            w = np.broadcast_to(w.reshape(P, k) if w.size == P * k else w, (P, k)).flatten()
        except ValueError:
            raise InputError("weights of a Position", expected=expected, got=f"shape {w.shape}") from None
        if not np.isfinite(w).all() or (w < 0).any():
            raise InputError(
                "weights of a Position", expected="non-negative numbers", got=f"smallest {w.min():g}"
            )
        w.setflags(write=False)
        return w


def _directions(directions: str | ArrayLike) -> np.ndarray:
    if not isinstance(directions, str):
        return checks.unit_vectors("directions of a Position", directions)
    if not directions or set(directions) - set("xyz") or len(set(directions)) < len(directions):
        raise InputError(
            "directions of a Position", expected="some of 'x', 'y', 'z' or vectors", got=repr(directions)
        )
    return np.eye(3)[["xyz".index(axis) for axis in directions]]
