"""A hand: fingers with skins round one object.

Where the object rests for given joints, and how it follows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.membrane.equilibrium import FIXED, ROTATING, Equilibrium, Skins, crossing, settle
from pliant.membrane.finger import JOINTS, Finger, kinematics
from pliant.membrane.shapes import Shape, box
from pliant.membrane.wrapping import LEFT, RIGHT

CROSSED = "crossed"  # status: the skins cross, fingers are inside each other
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Held:
    """The object at rest in the hand at joints (3f,).

    ends_jacobian (4f, 3f): of the skins' ends by the joints.
    """

    joints: np.ndarray
    rest: Equilibrium
    ends_jacobian: np.ndarray
    status: str

    @property
    def pose(self) -> np.ndarray:
        """(x, y, φ) of the object."""
        return self.rest.pose

    @cached_property
    def jacobian(self) -> np.ndarray:
        """dp/dθ (3, 3f): the steady-state Jacobian; a row of zeros for φ if the object does not turn."""
        return self.rest.jacobian @ self.ends_jacobian

    @property
    def grip(self) -> np.ndarray:
        """(f,) force of each skin on the object [N]."""
        return np.hypot(self.rest.wrench[:, 0], self.rest.wrench[:, 1])

    @cached_property
    def grip_jacobian(self) -> np.ndarray:
        """d grip/dθ (f, 3f) [N/rad, N/m]."""
        force = self.rest.wrench[:, :2]
        direction = force / np.maximum(self.grip, TINY)[:, None]
        return np.einsum("ka,kab->kb", direction, self.rest.wrench_jacobian[:, :2]) @ self.ends_jacobian


@dataclass(frozen=True, eq=False)
class Hand:
    """Fingers and the object between them. An object that does not turn keeps `angle` [rad].

    `wrench` acts on it (its weight).
    """

    fingers: tuple[Finger, ...]
    shape: Shape
    rotates: bool = False
    angle: float = 0.0
    wrench: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not self.fingers:
            raise InputError("fingers", expected="one or more", got="none")

    @cached_property
    def table(self) -> np.ndarray:
        """(f, 6) numbers of the fingers, as kinematics takes them."""
        return np.array([finger.row for finger in self.fingers])

    @cached_property
    def lower(self) -> np.ndarray:
        """(3f,) lower joint limits."""
        return np.concatenate([np.asarray(finger.lower, float) for finger in self.fingers])

    @cached_property
    def upper(self) -> np.ndarray:
        """(3f,) upper joint limits."""
        return np.concatenate([np.asarray(finger.upper, float) for finger in self.fingers])

    @cached_property
    def _elastic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(stiffness, rest, side) of the skins."""
        column = lambda name: np.array([getattr(finger, name) for finger in self.fingers], float)
        return column("stiffness"), column("paddle") - column("preload"), column("side")

    @cached_property
    def _load(self) -> np.ndarray:
        return np.array(self.wrench, float)

    @cached_property
    def depth(self) -> np.ndarray:
        """(f,) how far the object may be pressed into each skin [m]."""
        return np.array([finger.depth for finger in self.fingers])

    @property
    def size(self) -> float:
        """From the hinges to the paddles [m]: the longest link."""
        return max(finger.link for finger in self.fingers)

    @property
    def middle(self) -> np.ndarray:
        """(3f,) joints in the middle of their limits."""
        return 0.5 * (self.lower + self.upper)

    def joints(self, values: Any) -> np.ndarray:
        """Joints (3f,) as an array, checked."""
        q = as_floats("joints", values, f"({JOINTS * len(self.fingers)},) [rad, m, rad] per finger")
        if q.shape != (JOINTS * len(self.fingers),) or not np.isfinite(q).all():
            raise InputError(
                "joints", expected=f"{JOINTS * len(self.fingers)} finite numbers", got=q.tolist()
            )
        return q

    def pose(self, value: Any) -> np.ndarray:
        """A pose (x, y, φ), checked; (x, y) gets the object's angle."""
        p = as_floats("pose", value, "(x, y) or (x, y, φ) [m, m, rad]")
        p = np.array([*p, self.angle]) if p.shape == (2,) else p
        if p.shape != (3,) or not np.isfinite(p).all():
            raise InputError("pose", expected="(x, y) or (x, y, φ), finite", got=p.tolist())
        return p

    def skins(self, joints: np.ndarray) -> tuple[Skins, np.ndarray]:
        """(skins at these joints, derivative of their ends (4f, 3f)); not checked for crossing."""
        ends, D = kinematics(self.table, joints)
        return Skins(ends, *self._elastic), D

    def crossed(self, ends: np.ndarray) -> bool:
        """Whether two straight skins cross: fingers inside each other."""
        return any(crossing(ends[i], ends[j]) for j in range(len(ends)) for i in range(j))

    def rest(self, joints: Any, start: Any = None) -> Held:
        """The object at rest at joints (3f,), downhill from `start` (x, y, φ) or the skins' middle."""
        q = self.joints(joints)
        skins, D = self.skins(q)
        middle = skins.ends.reshape(-1, 2).mean(axis=0)
        place = self.pose(middle if start is None else start)
        rest = settle(skins, self.shape, place, ROTATING if self.rotates else FIXED, self._load)
        return Held(q, rest, D, CROSSED if self.crossed(skins.ends) else rest.status)


def soft_hand(
    size: float = 0.12,
    *,
    shape: Shape | None = None,
    stiffness: float = 150.0,
    damping: float = 5.0,
    preload: float = 0.05,
    bases: float = 0.6,
    paddle: float = 0.6,
    depth: float = 0.1,
    offset: float = 0.15,
    limits: Sequence[float] = (0.25, 0.12, 0.8),
    rotates: bool = False,
) -> Hand:
    """The hand of Mirano's thesis: two fingers along x, their skins facing each other, a box between them.

    size: from hinge to hinge [m]. In units of it: bases (distance of the proximal hinges), paddle, depth and
    offset (see Finger), the limit of θ_l to both sides; preload is in paddles, the limits of θ_p and θ_d in
    radians. The box measures 0.2 × 0.2 sizes; the skins just touch it in the middle of the joints, near the
    origin. The thesis prints no dimensions.
    """
    p, l, d = limits
    rise = 0.5 * (bases - 0.2) - offset  # of a link, from the base to where its skin touches the box
    if not -1.0 < rise < 1.0:
        raise InputError("bases, offset", expected="fingers that reach the box", got=(bases, offset))
    half, tilt = 0.5 * bases * size, float(np.arcsin(rise))
    make = lambda sign, side: Finger(
        base=(-size, -sign * half),
        heading=sign * tilt,
        link=size,
        paddle=paddle * size,
        side=side,
        stiffness=stiffness,
        damping=damping,
        preload=preload * paddle * size,
        depth=depth * size,
        offset=offset * size,
        lower=(-p, -l * size, -sign * tilt - d),
        upper=(p, l * size, -sign * tilt + d),
    )
    fingers = (make(1.0, LEFT), make(-1.0, RIGHT))
    return Hand(fingers, box(0.2 * size, 0.2 * size) if shape is None else shape, rotates=rotates)
