"""The centre of mass of points that carry masses."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from pliant.interactions.barycentre import Barycentre
from pliant.points import Points


class CentreOfMass(Barycentre):
    """δ = Σ mᵢ pᵢ / Σ mᵢ (3,) [m] with masses mᵢ [kg]; λ is a force [N], shared like the masses."""

    def __init__(self, points: Points | Sequence[Points], masses: ArrayLike) -> None:
        super().__init__(points, weights=masses)
