"""Rigid regions: parts of a body that move as one, with six coordinates or fewer.

Node n of a region is at x_n = t + R a_n, with R = Q and t = c at rest, so a_n = Qᵀ(X_n − c). A change
dq = (dτ, dω) means

    t ← t + Q dτ,        R ← R exp([dω]ₓ)

in the axes Q of the region. A joint picks Q and c, and locks some of the six.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.errors import InputError, as_floats

SMALLEST_ARM = 1e-12  # [m]: the scale of arms that are all zero
ON_AXIS = 1e-10  # inertia over the longest arm squared, below which all nodes lie on an axis of rotation

Selection = np.ndarray | Sequence[int] | Sequence[bool] | Callable[[np.ndarray], Any]


class Joint:
    """How a rigid region is supported: `free` says which of dτ (3) and dω (3) may move."""

    free: ClassVar[tuple[bool, ...]] = (True,) * 6

    def axes(self) -> np.ndarray:
        """Q (3, 3): the region's axes as columns."""
        return np.eye(3)

    def origin(self) -> np.ndarray | None:
        """The centre c (3,) [m] that the joint asks for, if any."""
        return None


@dataclass(frozen=True)
class Hinge(Joint):
    """One free rotation, about `axis` through `centre` [m]; the region's z axis is the hinge axis."""

    axis: Sequence[float]
    centre: Sequence[float]
    free: ClassVar[tuple[bool, ...]] = (False,) * 5 + (True,)

    def __post_init__(self) -> None:
        _vector("hinge axis", self.axis, unit=True)
        _vector("hinge centre", self.centre)

    def axes(self) -> np.ndarray:
        return frame_about(_vector("hinge axis", self.axis, unit=True))

    def origin(self) -> np.ndarray:
        return _vector("hinge centre", self.centre)


@dataclass(frozen=True)
class Prismatic(Joint):
    """One free translation, along `direction`; the region's z axis is that direction."""

    direction: Sequence[float]
    free: ClassVar[tuple[bool, ...]] = (False, False, True, False, False, False)

    def __post_init__(self) -> None:
        _vector("slide direction", self.direction, unit=True)

    def axes(self) -> np.ndarray:
        return frame_about(_vector("slide direction", self.direction, unit=True))


@dataclass(frozen=True)
class Ball(Joint):
    """Three free rotations about `centre` [m]."""

    centre: Sequence[float]
    free: ClassVar[tuple[bool, ...]] = (False,) * 3 + (True,) * 3

    def __post_init__(self) -> None:
        _vector("ball centre", self.centre)

    def origin(self) -> np.ndarray:
        return _vector("ball centre", self.centre)


@dataclass(frozen=True, eq=False)
class Rigid:
    """Nodes that move as one rigid body.

    nodes: mask, indices or a function of the nodes, on the mesh given to Solid; mid nodes between two
    chosen nodes follow.
    centre: the point [m] about which the region turns, by default the joint's, or the mean of the nodes.
    joint: Hinge, Prismatic or Ball; None leaves six coordinates free.
    mass: [kg] that it has besides the material of its nodes, such as a motor or a load; mass_centre: where
    (3,) [m] at rest, by default `centre`; inertia: about there, (3, 3) or three moments [kg·m²], by default
    none, that of a point.
    """

    nodes: Selection
    name: str = "rigid"
    centre: Sequence[float] | None = None
    joint: Joint | None = None
    mass: float = 0.0
    mass_centre: Sequence[float] | None = None
    inertia: Any = None

    def __post_init__(self) -> None:
        what = f"mass of rigid region {self.name!r}"
        given = as_floats(what, self.mass, "a number ≥ 0 [kg]")
        if given.ndim or not 0 <= given < np.inf:
            raise InputError(what, expected="a number ≥ 0 [kg]", got=repr(self.mass))
        if not given and not (self.inertia is None and self.mass_centre is None):
            raise InputError(
                what, expected="a number > 0 [kg] for an inertia or a place", got=repr(self.mass)
            )

    def inertia_about(self, coordinates: Any, region: int) -> tuple[np.ndarray, np.ndarray]:
        """The arm of its mass (3,) [m] and the inertia (3, 3), about the region's centre, in its axes."""
        from pliant.bodies.mass_properties import MassProperties, checked_inertia

        what = f"inertia of rigid region {self.name!r}"
        tensor = np.zeros((3, 3)) if self.inertia is None else checked_inertia(what, self.inertia)
        centre, Q = coordinates.region_centre[region], coordinates.region_frame[region]
        there = self.mass_centre
        at = centre if there is None else _vector(f"mass_centre of region {self.name!r}", there)
        return MassProperties(self.mass, at, tensor).about(centre, Q)

    def place(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Axes Q (3, 3), centre c (3,) and the free coordinates (6,), given the region's nodes X (n, 3)."""
        joint = self.joint or Joint()
        given = None if self.centre is None else _vector(f"centre of region {self.name!r}", self.centre)
        origin = joint.origin()
        if given is not None and origin is not None and not np.allclose(given, origin):
            raise InputError(
                f"centre of region {self.name!r}", expected="that of its joint", got=given.tolist()
            )
        centre = X.mean(0) if given is None and origin is None else given if origin is None else origin
        assert centre is not None
        Q, free = joint.axes(), np.array(joint.free)
        self._check_spread((X - centre) @ Q, free[3:])
        return Q, centre, free

    def _check_spread(self, arms: np.ndarray, turns: np.ndarray) -> None:
        """Every free rotation must move some node, else nothing resists it."""
        inertia = (arms**2).sum() * np.eye(3) - arms.T @ arms
        scale = max(float(np.abs(arms).max(initial=0.0)), SMALLEST_ARM) ** 2
        if turns.any() and np.linalg.eigvalsh(inertia[np.ix_(turns, turns)])[0] <= ON_AXIS * scale:
            raise InputError(
                f"rigid region {self.name!r}",
                expected="nodes that fix its rotation: three or more, not on one line with its axis",
                got=f"{len(arms)} nodes",
            )


def frame_about(axis: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose third column is the unit vector `axis`."""
    across = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(across, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _vector(what: str, value: Sequence[float], *, unit: bool = False) -> np.ndarray:
    vector = np.asarray(value, float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(what, expected="three finite numbers", got=repr(value))
    if unit:
        length = np.linalg.norm(vector)
        if length == 0:
            raise InputError(what, expected="a vector with a direction", got=repr(value))
        vector = vector / length
    return vector
