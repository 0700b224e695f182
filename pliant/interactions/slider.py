"""A slider: pushes a region, or the base of a robot, along a line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.drive import Drive
from pliant.interactions import checks
from pliant.interactions.affine import Affine
from pliant.points import Points


class Slider(Affine):
    """δ = d · mean(p − p₀), how far its points moved along a direction d on average [m]; λ is the force [N].

    The force is shared equally by the points. A rigid region that may also turn is pushed at its centre by
    giving the centre alone, the first of its frame points. drive: what it does with its commands, see
    `Drive`.
    """

    def __init__(
        self, points: Points | Sequence[Points], direction: ArrayLike, *, drive: Drive | None = None
    ) -> None:
        super().__init__(points)
        self._driven(drive)
        self.direction = checks.unit_vector("direction of a Slider", direction)
        P = self.point_count
        self._set_rows(np.array([0, P]), np.arange(P), np.tile(self.direction / P, (P, 1)), from_rest=True)
