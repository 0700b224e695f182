"""Forces on points, known or to be estimated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.interactions import checks
from pliant.interactions.affine import Affine
from pliant.points import Points


class PointForce(Affine):
    """δ = d·(p − p₀), displacement from rest [m]; λ are forces [N] that keep their direction in space.

    With a `direction` (3,), one row per point; without, three rows per point (x, y, z), point by point.
    """

    def __init__(self, points: Points | Sequence[Points], *, direction: ArrayLike | None = None) -> None:
        super().__init__(points)
        along = (
            np.eye(3)
            if direction is None
            else checks.unit_vector("direction of a PointForce", direction)[None]
        )
        self._read_points(along, from_rest=True)
