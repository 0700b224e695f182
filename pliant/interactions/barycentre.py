"""The weighted mean of points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.interactions import checks
from pliant.interactions.affine import Affine
from pliant.points import Points


class Barycentre(Affine):
    """δ = Σ wᵢ pᵢ / Σ wᵢ (3,) [m]; λ is a force [N], shared by the points like the weights."""

    def __init__(self, points: Points | Sequence[Points], *, weights: ArrayLike | None = None) -> None:
        super().__init__(points)
        self._set_weights(np.ones(self.point_count) if weights is None else weights)

    def _set_weights(self, weights: ArrayLike, *, signed: bool = False) -> None:
        what = f"weights of a {type(self).__name__}"
        share = checks.weights(what, weights, self.point_count, signed=signed)
        used = np.flatnonzero(share)
        gradient = (np.eye(3)[:, None, :] * share[used][None, :, None]).reshape(-1, 3)
        self._set_rows(len(used) * np.arange(4), np.tile(used, 3), gradient, from_rest=False)
