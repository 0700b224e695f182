"""An object at rest between skins: pose, forces, stability, and how the pose follows the skins' ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.membrane.kernels.equilibrium import rest_pose, skin_forces
from pliant.membrane.kernels.skin import BEYOND, FREE, SWALLOWED
from pliant.membrane.shapes import Shape
from pliant.membrane.wrapping import LEFT, RIGHT

TOLERANCE = 1e-12  # of all forces: a residual at which the search ends
ROUNDED_RESIDUAL = 1e-9  # of all forces: a residual that is accepted where rounding leaves no better one
MOST_ITERATIONS = 200  # of Newton's method
ONE_PLACE = 1e-9  # of the largest coordinate: ends of a skin nearer than this to each other coincide
FIXED, ROTATING = np.array([0, 1]), np.array([0, 1, 2])  # coordinates that may change
# At rest and stable; at rest, but some motion meets no resistance; at rest beyond a skin; not at rest.
HELD, LOOSE, OUTSIDE, STALLED = "held", "loose", "outside", "stalled"


@dataclass(frozen=True, eq=False)
class Skins:
    """m elastic skins, each straight between two ends when nothing touches it.

    ends (m, 4): A and B [m]; stiffness (m,) [N/m]; rest (m,): unstretched length [m], less than |AB| where
    there is a preload, more where the skin hangs slack; side (m,): LEFT (+1) or RIGHT (−1), where the object
    is as one goes from A to B.
    """

    ends: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    side: np.ndarray

    @classmethod
    def of(cls, ends: Any, *, stiffness: Any, preload: Any = 0.0, side: Any = LEFT) -> Skins:
        """Skins, checked: `preload` [m] is how far a straight skin is stretched already, ℓ₀ = |AB| − preload.

        A single number counts for all skins.
        """
        e = as_floats("ends", ends, "(m, 4) or (m, 2, 2) [m]")
        e = e.reshape(len(e), -1) if e.ndim == 3 else e
        if e.ndim != 2 or e.shape[1] != 4 or not len(e) or not np.isfinite(e).all():
            raise InputError("ends", expected="finite (m, 4) or (m, 2, 2) [m]", got=f"shape {e.shape}")
        span = np.linalg.norm(e[:, 2:] - e[:, :2], axis=1)
        if span.min() <= ONE_PLACE * np.abs(e).max():
            raise InputError(
                f"ends of skin {int(span.argmin())}", expected="two pulleys apart", got="one place"
            )
        k, stretch = _each("stiffness", stiffness, len(e)), _each("preload", preload, len(e))
        if not (k > 0.0).all():
            raise InputError("stiffness", expected="positive numbers [N/m]", got=k.tolist())
        if not (stretch < span).all():
            raise InputError("preload", expected="less than the span of the skin [m]", got=stretch.tolist())
        where = _each("side", side, len(e))
        if not np.isin(where, (LEFT, RIGHT)).all():
            raise InputError("side", expected="LEFT (+1) or RIGHT (−1)", got=where.tolist())
        for other in range(len(e)):
            for one in range(other):
                if crossing(e[one], e[other]):
                    raise InputError(
                        "skins", expected="skins that do not cross", got=f"{one} and {other} crossing"
                    )
        return cls(e, k, span - stretch, where)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(ends, stiffness, rest, side), as the kernels take them."""
        return self.ends, self.stiffness, self.rest, self.side

    def __len__(self) -> int:
        return len(self.ends)


def _each(what: str, value: Any, m: int) -> np.ndarray:
    numbers = as_floats(what, value, f"a number or ({m},)")
    if numbers.shape not in ((), (m,)) or not np.isfinite(numbers).all():
        raise InputError(what, expected=f"a finite number or ({m},)", got=f"{value!r}")
    return np.array(np.broadcast_to(numbers, (m,)))


def crossing(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two straight skins (4,) cross between their ends."""
    a, b, c, d = one[:2], one[2:], other[:2], other[2:]
    return _turn(a, b, c) * _turn(a, b, d) < 0.0 and _turn(c, d, a) * _turn(c, d, b) < 0.0


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


class SkinForces(NamedTuple):
    """Forces of m skins on an object at a pose p, and on their own ends e.

    tension (m,) [N]; force (m, 3, 3): force [N] and moment [N·m] of each skin on its end A, on the object
    (about its origin) and on its end B; stiffness (m, 9, 9): minus the derivatives of force by the poses of
    A, object and B; jacobian (3, 4m): dp/de of an object that is at rest here.
    """

    tension: np.ndarray
    force: np.ndarray
    stiffness: np.ndarray
    jacobian: np.ndarray

    @property
    def wrench(self) -> np.ndarray:
        """(m, 3) force [N] and moment [N·m] of each skin on the object."""
        return self.force[:, 1]

    @property
    def pull(self) -> np.ndarray:
        """(m, 4) forces of each skin on its ends A and B [N]."""
        return self.force[:, ::2, :2].reshape(-1, 4)

    @property
    def own(self) -> np.ndarray:
        """−∂(wrench)/∂p (m, 3, 3)."""
        return self.stiffness[:, 3:6, 3:6]

    @property
    def cross(self) -> np.ndarray:
        """−∂(wrench)/∂e (m, 3, 4), by the skin's own ends A and B."""
        return self.stiffness[:, 3:6].reshape(-1, 3, 3, 3)[:, :, ::2, :2].reshape(-1, 3, 4)


def forces_on(skins: Skins, shape: Shape, pose: np.ndarray, free: np.ndarray) -> SkinForces:
    """The forces of skins on an object at a pose (3,), with their derivatives.

    `free`: indices of the coordinates that may change.
    """
    corners, size = shape.corners.copy(), size_of(shape)
    return SkinForces(*skin_forces(skins.arrays, corners, shape.radius, pose, free, size))


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where the object comes to rest.

    pose (3,): x, y [m], φ [rad]; energy [J]; kinds (m,): per skin whether it touches; residual: unbalanced
    force [N], moments over the size of the object; forces: the sum of all tensions and of the load, which the
    residual is to be compared with [N]; status: "held", "loose", "outside" or "stalled".
    """

    skins: Skins
    shape: Shape
    pose: np.ndarray
    free: np.ndarray
    energy: float
    kinds: np.ndarray
    residual: float
    forces: float
    iterations: int
    status: str

    @cached_property
    def skin_forces(self) -> SkinForces:
        """Forces of the skins here, with their derivatives."""
        return forces_on(self.skins, self.shape, self.pose, self.free)

    @property
    def touching(self) -> np.ndarray:
        """(m,) whether each skin lies against the object."""
        return self.kinds > FREE

    @property
    def tension(self) -> np.ndarray:
        """(m,) [N]."""
        return self.skin_forces.tension

    @property
    def wrench(self) -> np.ndarray:
        """(m, 3) force [N] and moment about the object's origin [N·m] of each skin on the object."""
        return self.skin_forces.wrench

    @property
    def stiffness(self) -> np.ndarray:
        """K = ∂²E/∂p² (3, 3): how the grip resists moving the object, [N/m] and [N·m]."""
        return self.skin_forces.own.sum(axis=0)

    @property
    def jacobian(self) -> np.ndarray:
        """dp/de = −K⁻¹ ∂²E/∂p∂e (3, 4m) by the ends, A and B skin by skin.

        Rows of coordinates that are fixed are zero, all others NaN where K is singular.
        """
        return self.skin_forces.jacobian

    @cached_property
    def wrench_jacobian(self) -> np.ndarray:
        """d(wrench)/de (m, 3, 4m), the object following."""
        change = -self.skin_forces.own @ self.jacobian
        for k, cross in enumerate(self.skin_forces.cross):
            change[k, :, 4 * k : 4 * k + 4] -= cross
        return change


def size_of(shape: Shape) -> float:
    """A length [m] of the object: its perimeter over 2π; one metre for a point, which turns by nothing."""
    return shape.perimeter / (2.0 * np.pi) or 1.0


def equilibrium(
    skins: Skins,
    shape: Shape,
    start: Any = None,
    *,
    rotates: bool = False,
    wrench: Any = (0.0, 0.0, 0.0),
    tolerance: float = TOLERANCE,
) -> Equilibrium:
    """The pose of least energy downhill from `start` (x, y, φ) or (x, y), by default the middle of the ends.

        E(p) = Σ ½ k max(0, ℓ(p) − ℓ₀)² − w·p

    The object does not turn unless `rotates`. `wrench` w: force and moment that act on it beside the skins,
    as its weight. For an object that does not turn, E is convex between the skins and this is the only
    minimum.
    """
    middle = skins.ends.reshape(-1, 2).mean(axis=0)
    place = middle if start is None else as_floats("start", start, "(x, y, φ)")
    place = np.append(place, 0.0) if place.shape == (2,) else place
    load = as_floats("wrench", wrench, "(force x, force y, moment)")
    for what, value in (("start", place), ("wrench", load)):
        if value.shape != (3,) or not np.isfinite(value).all():
            raise InputError(what, expected="three finite numbers", got=value.tolist())
    return settle(skins, shape, place, ROTATING if rotates else FIXED, load, tolerance)


def settle(
    skins: Skins,
    shape: Shape,
    start: np.ndarray,
    free: np.ndarray,
    load: np.ndarray,
    tolerance: float = TOLERANCE,
) -> Equilibrium:
    """`equilibrium` without its checks: start, load (3,); free: indices of coordinates that may change."""
    corners, size = shape.corners.copy(), size_of(shape)
    pose, energy, residual, forces, kinds, (first, last), iterations, shift = rest_pose(
        skins.arrays, corners, shape.radius, start, free, load, size, tolerance, MOST_ITERATIONS
    )
    if first != FREE:
        got = "a skin that ends inside it" if first == SWALLOWED else "one past the end of a skin it touches"
        raise InputError(
            f"start {start.tolist()}",
            expected="an object between the ends of the skins",
            got=got,
            hint="Start with the object inside the hand, or move the fingers.",
        )
    if not residual <= max(tolerance, ROUNDED_RESIDUAL) * forces:
        status = STALLED
    elif last == BEYOND:
        status = OUTSIDE
    else:
        status = HELD if shift == 0.0 else LOOSE
    return Equilibrium(skins, shape, pose, free, energy, kinds, residual, forces, iterations, status)
