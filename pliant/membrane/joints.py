"""Joints: how a planar body hangs on another one, or on the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.errors import InputError, as_floats, is_number
from pliant.membrane.shapes import point_of

FIXED, REVOLUTE, PRISMATIC, TRANSLATING, FREE = range(5)
WORLD = "world"


@dataclass(frozen=True, kw_only=True)
class Joint:
    """A joint on `parent`, a body's name or "world", at a point (2,) [m] and an angle [rad] of its frame.

    start: its coordinates at rest. stiffness, damping: of a spring about those coordinates and a dashpot, one
    number for all of its coordinates or one each ([N/m] or [N·m/rad], and per second).
    """

    parent: str = WORLD
    at: Any = (0.0, 0.0)
    angle: float = 0.0
    start: Any = 0.0
    stiffness: Any = 0.0
    damping: Any = 0.0

    kind: ClassVar[int] = FIXED
    coordinates: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        point_of(f"place of a {self._name} joint", self.at)
        if not is_number(self.angle) or not np.isfinite(self.angle):
            raise InputError(
                f"angle of a {self._name} joint", expected="a finite angle [rad]", got=self.angle
            )
        self.values("start")
        for what in ("stiffness", "damping"):
            if (self.values(what) < 0.0).any():
                raise InputError(f"{what} of a {self._name} joint", expected="≥ 0", got=getattr(self, what))

    @property
    def _name(self) -> str:
        return type(self).__name__.lower()

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    def values(self, what: str) -> np.ndarray:
        """start, stiffness or damping per coordinate, (size,)."""
        given = as_floats(f"{what} of a {self._name} joint", getattr(self, what), "numbers")
        if given.ndim > 1 or (given.ndim == 1 and len(given) != self.size) or not np.isfinite(given).all():
            expected = f"one finite number or {self.size}"
            raise InputError(f"{what} of a {self._name} joint", expected=expected, got=getattr(self, what))
        return np.broadcast_to(given, (self.size,)).astype(float)


class Fixed(Joint):
    """Held fast."""


class Revolute(Joint):
    """Turns about its place; the coordinate is an angle [rad]."""

    kind = REVOLUTE
    coordinates = ("angle",)


class Prismatic(Joint):
    """Slides along the joint's x axis; the coordinate is a length [m]."""

    kind = PRISMATIC
    coordinates = ("slide",)


class Translating(Joint):
    """Moves in the plane without turning; coordinates x, y [m] along the joint's axes."""

    kind = TRANSLATING
    coordinates = ("x", "y")


class Free(Joint):
    """Moves and turns; coordinates x, y [m] along the joint's axes, and an angle [rad]."""

    kind = FREE
    coordinates = ("x", "y", "angle")
