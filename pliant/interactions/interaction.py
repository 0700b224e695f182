"""What acts on a robot or reads it: δ as a function of material points.

An interaction implements `value(p)` and `gradient(p)` (and `hessian(p, λ)` if δ is not linear) of the
positions p of its points. The chain rule through the body, δ(q), H(q) = ∂δ/∂dq and the geometric stiffness
∂(Hᵀλ)/∂dq, is applied in `bundle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np

from pliant.drive import Drive
from pliant.errors import InputError
from pliant.points import Points

INF = float("inf")
SAME_PLACE = 1e-9  # [m]: points that rest nearer to each other are at the same place


class Interaction:
    """δ(p) (m,) of P material points, with dual effort λ (m,): its force on the body is Hᵀλ.

    λ·δ̇ is the power that it puts into the body.
    """

    effort_range: tuple[float, float] = (-INF, INF)
    displacement_range: tuple[float, float] = (-INF, INF)  # values that δ can have
    unit: str = "m"
    effort_unit: str = "N"
    swings: bool = False  # True: a joint that leaves what it supports free to turn
    integrable: bool = True  # False: H is not the gradient of `value` (a follower traction)
    internal: int = 0  # how many numbers it remembers: how it moved, see `acting`, or what fills it
    slides: bool = False  # whether friction remembers which way it last moved
    drive: Drive | None = None  # what moves it, if it is more than its command
    line: Any = None  # what a chamber is filled through, see `pliant.pneumatics.Line`
    compliance: float = 0.0  # of what stands between the drive and δ [m/N]
    slack: float = 0.0  # how far a drive goes before it acts

    points: tuple[Points, ...]

    def __init__(self, points: Points | Sequence[Points]) -> None:
        parts: Any = points
        several = isinstance(parts, Iterable) and not isinstance(parts, Points)
        everything: tuple[Any, ...] = tuple(parts) if several else (parts,)
        self.points = everything
        if not self.points or not all(isinstance(part, Points) for part in self.points):
            raise InputError(
                f"points of a {type(self).__name__}",
                expected="material points of a body",
                got=type(points).__name__,
                hint="Make them with body.points(coordinates).",
            )

    @property
    def backlash(self) -> float:
        """How far what its drive moves can go to and fro while the motor stands."""
        return 0.0 if self.drive is None else self.drive.backlash

    def _driven(self, drive: Drive | None) -> None:
        """Take a drive: its motor is one more number to be remembered, the last."""
        if drive is None:
            return
        if not isinstance(drive, Drive):
            raise InputError(f"drive of a {type(self).__name__}", expected="a Drive", got=repr(drive))
        low, high = self.effort_range
        self.effort_range = max(low, -drive.limit), min(high, drive.limit)
        self.drive, self.internal = drive, self.internal + 1

    def with_points(self, points: Sequence[Points]) -> Self:
        """The same interaction on other points with the same rest positions, such as a reduced body's."""
        other = copy(self)
        other.points = tuple(points)
        if len(other.points) != len(self.points) or not np.allclose(
            np.concatenate([p.rest for p in other.points]), self.rest, rtol=0.0, atol=SAME_PLACE
        ):
            raise InputError(
                f"points of a {type(self).__name__}", expected="points at the same places", got="others"
            )
        return other

    @property
    def size(self) -> int:
        """m, how many scalar rows."""
        return 1

    @property
    def remembered(self) -> np.ndarray:
        """What it remembers at rest, (internal,)."""
        return np.zeros(self.internal)

    @property
    def point_count(self) -> int:
        """P, over all bodies it touches."""
        return sum(len(p) for p in self.points)

    @cached_property
    def rest(self) -> np.ndarray:
        """Positions of the points at rest, (P, 3) [m]."""
        return np.concatenate([p.rest for p in self.points])

    def value(self, p: np.ndarray) -> np.ndarray:
        """δ(p), (m,); p (P, 3) [m]."""
        raise NotImplementedError(f"{type(self).__name__}.value")

    def stencil(self) -> tuple[np.ndarray, np.ndarray]:
        """Which points each row's gradient touches, as (ptr (m+1,), point (nnz,)). Default: all of them."""
        m, P = self.size, self.point_count
        return P * np.arange(m + 1), np.tile(np.arange(P), m)

    def gradient(self, p: np.ndarray) -> np.ndarray:
        """∂δ/∂p on the stencil, (nnz, 3)."""
        raise NotImplementedError(f"{type(self).__name__}.gradient")

    def pairs(self) -> np.ndarray:
        """Pairs of points (i, j), i ≥ j, that the Hessian couples, (npair, 2); none if δ is linear in p."""
        return np.zeros((0, 2), np.int64)

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Σₖ λₖ ∂²δₖ/∂pᵢ∂pⱼ on the pairs, (npair, 3, 3)."""
        return np.zeros((0, 3, 3))

    def acting(self, p: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What the efforts act by, (nnz, 3), by internal variables z: `gradient` if nothing is lost."""
        return self.gradient(p)

    def acting_hessian(self, p: np.ndarray, lam: np.ndarray, z: np.ndarray) -> np.ndarray:
        """As `hessian`, of what the efforts act by."""
        return self.hessian(p, lam)

    def load(self, p: np.ndarray, gravity: np.ndarray) -> np.ndarray | None:
        """Forces that act on the points whatever λ is (the weight of a liquid), (P, 3) [N], or None."""
        return None

    def load_hessian(self, p: np.ndarray, gravity: np.ndarray) -> np.ndarray:
        """∂load/∂p on the pairs, (npair, 3, 3); symmetric part."""
        return np.zeros((len(self.pairs()), 3, 3))
