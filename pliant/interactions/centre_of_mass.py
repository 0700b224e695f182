"""The centre of mass of points with masses, or of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.interactions.affine import Affine
from pliant.interactions.barycentre import Barycentre
from pliant.points import Points


class Heavy(Protocol):
    """A body that knows what its nodes weigh."""

    @property
    def node_mass(self) -> np.ndarray | None: ...  # (k,) [kg]; None if its mass lies between them
    def node_points(self, nodes: np.ndarray) -> Points: ...


class CentreOfMass(Barycentre):
    """δ = Σ mᵢ pᵢ / Σ mᵢ (3,) [m] with masses mᵢ [kg]; λ is a force [N], shared like the masses.

    Single masses may be negative, as those that consistent mass gives to corners of quadratic cells; their
    sum may not.
    """

    def __init__(self, points: Points | Sequence[Points], masses: ArrayLike) -> None:
        Affine.__init__(self, points)
        self._set_weights(masses, signed=True)

    @classmethod
    def of(cls, *bodies: Heavy) -> CentreOfMass:
        """The centre of mass of bodies with masses at their nodes: solids, shells, membranes, nets."""
        masses: list[np.ndarray] = []
        for body in bodies:
            mass = body.node_mass
            if mass is None:
                hint = "For rods: CentreOfMass(rod.at(middles), masses), a point in each element."
                got = type(body).__name__
                raise InputError("body of a CentreOfMass", expected="one with node_mass", got=got, hint=hint)
            masses.append(mass)
        points = [body.node_points(np.arange(len(mass))) for body, mass in zip(bodies, masses)]
        return cls(points, np.concatenate(masses) if masses else [])
