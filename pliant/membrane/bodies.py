"""Planar rigid bodies, their motors, and springs between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import InputError, is_number
from pliant.membrane.joints import WORLD, Fixed, Joint
from pliant.membrane.shapes import Shape, point_of


@dataclass(frozen=True)
class PlanarBody:
    """A rigid body in the plane.

    mass [kg], inertia about its centre of mass [kg·m²], centre of mass (2,) [m] in the body's own frame.

    `shape` is what cables wrap round (and what pictures show); `joint` says what the body hangs on.
    """

    name: str
    joint: Joint = field(default_factory=Fixed)
    mass: float = 0.0
    inertia: float = 0.0
    centre: Any = (0.0, 0.0)
    shape: Shape | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name == WORLD:
            raise InputError("name of a body", expected=f'a word other than "{WORLD}"', got=self.name)
        if not isinstance(self.joint, Joint):
            raise InputError(f"joint of {self.name!r}", expected="a Joint", got=type(self.joint).__name__)
        for what in ("mass", "inertia"):
            value = getattr(self, what)
            if not is_number(value) or not np.isfinite(value) or value < 0.0:
                raise InputError(f"{what} of {self.name!r}", expected="a finite number ≥ 0", got=value)
        point_of(f"centre of {self.name!r}", self.centre)


@dataclass(frozen=True)
class At:
    """A point (2,) [m] of a body, in its frame; "world" is the frame that does not move."""

    body: str
    point: Any = (0.0, 0.0)

    def __post_init__(self) -> None:
        point_of(f"point of {self.body!r}", self.point)


@dataclass(frozen=True)
class Spring:
    """A straight spring and dashpot between two points.

    stiffness [N/m], rest length [m] (None: as at rest), damping [N·s/m].
    """

    start: At
    end: At
    stiffness: float = 0.0
    rest_length: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        for what in ("stiffness", "damping"):
            not_negative(f"{what} of a spring", getattr(self, what))
        if self.rest_length is not None:
            not_negative("rest length of a spring", self.rest_length)


@dataclass(frozen=True)
class Motor:
    """A motor on the joint of a body, with an effort of at most `limit` [N or N·m].

        effort = stiffness (target − q) + damping (rate − q̇)

    coordinate: which one of the joint's, its first by default.
    """

    body: str
    stiffness: float
    damping: float
    limit: float = np.inf
    coordinate: int = 0

    def __post_init__(self) -> None:
        for what in ("stiffness", "damping", "limit"):
            not_negative(f"{what} of the motor of {self.body!r}", getattr(self, what), finite=what != "limit")


@dataclass(frozen=True)
class Pin:
    """A hinge that closes a loop: a point of one body stays on a point of another."""

    start: At
    end: At


def not_negative(what: str, value: Any, *, finite: bool = True) -> None:
    """Refuse anything but a number ≥ 0."""
    if not is_number(value) or not value >= 0.0 or (finite and not np.isfinite(value)):
        raise InputError(what, expected="a number ≥ 0", got=value)
