"""The taut path of a cable from one point to another, past shapes on given sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.membrane import slope_kernel
from pliant.membrane import wrap_kernel as kernel
from pliant.membrane.shapes import Shape, point_of
from pliant.membrane.wrap_kernel import BEHIND, FRONT, THROUGH, TOUCHING

LEFT, RIGHT = 1, -1
COINCIDENT = 1e-12  # of the size of the path


class Pulley(NamedTuple):
    """A shape at a pose (x, y, θ) [m, m, rad], on one side of the cable as it runs from start to end: LEFT = +1 or RIGHT = −1.

    The cable touches it only where it must; `through` makes it a guide that the cable always passes round.
    """

    shape: Shape
    pose: Any
    side: int = LEFT
    through: bool = False


@dataclass(frozen=True, eq=False)
class Contact:
    """What a path remembers of its pulleys, (m,) each: BEHIND (passed by an end, ignored), FRONT, TOUCHING or THROUGH; turn [rad]."""

    state: np.ndarray
    turn: np.ndarray


@dataclass(frozen=True, eq=False)
class TautPath:
    """A taut path past m pulleys.

    length [m]; touching (m,): which pulleys it lies against; turn (m,) [rad]: by how much it turns about each;
    arc (m,) [m]: how much of it lies on each; span: lengths of its straight pieces [m], in order; inside (m,): where a neighbour
    lies within the pulley's hull, so that there is no tangent (the length then goes on with the same slope).
    """

    stations: Stations
    length: float
    table: np.ndarray  # of the kernel, one row per station
    contact: Contact

    @property
    def touching(self) -> np.ndarray:
        """(m,) bool."""
        return self.table[1:-1, kernel.ACTIVE] > 0.0

    @property
    def turn(self) -> np.ndarray:
        """(m,) [rad]."""
        return self.table[1:-1, kernel.TURN]

    @property
    def arc(self) -> np.ndarray:
        """(m,) [m]."""
        return self.table[1:-1, kernel.ARC]

    @property
    def inside(self) -> np.ndarray:
        """(m,) bool."""
        t = self.table
        near = t[:, kernel.INSIDE] > 0.0
        active = np.flatnonzero(t[:, kernel.ACTIVE])
        out = np.zeros(len(t), bool)
        for before, after in pairwise(active):
            if near[after]:
                out[before] = out[after] = True
        return out[1:-1]

    @property
    def span(self) -> np.ndarray:
        """(pieces,) [m]."""
        return self.table[np.flatnonzero(self.table[:, kernel.ACTIVE])[1:], kernel.SPAN]

    @cached_property
    def gradient(self) -> np.ndarray:
        """∂L/∂(x, y, θ) (m + 2, 3) of the start, the pulleys and the end: minus the wrench of a unit tension on each."""
        g = np.empty((len(self.table), 3))
        slope_kernel.path_gradient(self.stations.poses, self.table, g)
        return g

    @property
    def start_gradient(self) -> np.ndarray:
        """∂L/∂start (2,)."""
        return self.gradient[0, :2]

    @property
    def end_gradient(self) -> np.ndarray:
        """∂L/∂end (2,)."""
        return self.gradient[-1, :2]

    @property
    def pose_gradient(self) -> np.ndarray:
        """∂L/∂(x, y, θ) of each pulley, (m, 3)."""
        return self.gradient[1:-1]

    @cached_property
    def hessian(self) -> np.ndarray:
        """∂²L (3(m+2), 3(m+2)) with respect to the poses of start, pulleys and end; rows of θ at the ends are zero."""
        n = len(self.table)
        H = np.empty((3 * n, 3 * n))
        slope_kernel.path_hessian(self.stations.poses, self.table, H)
        return H

    def contact_points(self) -> np.ndarray:
        """Where the path arrives at and leaves each pulley, (m, 2, 2) [m]; NaN where it does not touch."""
        t, s, r = self.table[1:-1], self.stations.side[1:-1, None], self.stations.radius[1:-1, None]
        arrive = t[:, [kernel.CIN_X, kernel.CIN_Y]] + s * r * _right(t[:, [kernel.IN_X, kernel.IN_Y]])
        leave = t[:, [kernel.COUT_X, kernel.COUT_Y]] + s * r * _right(t[:, [kernel.OUT_X, kernel.OUT_Y]])
        both = np.stack([arrive, leave], axis=1)
        return np.where(self.touching[:, None, None], both, np.nan)

    def polyline(self, *, arc: float = 0.1) -> np.ndarray:
        """The path as points (k, 2) [m], arcs in steps of at most `arc` [rad]; for pictures."""
        points = [self.stations.corner(0)]
        for k in np.flatnonzero(self.touching) + 1:
            points += self._along(int(k), arc)
        return np.array([*points, self.stations.corner(-1)])

    def _along(self, k: int, arc: float) -> list[np.ndarray]:
        """Points of the path on station k."""
        row, places = self.table[k], self.stations
        s, turn = int(places.side[k]), row[kernel.TURN]
        if places.radius[k] == 0.0:
            return [places.corner(k, index) for index in self._corners(k)]
        heading = np.arctan2(row[kernel.IN_Y], row[kernel.IN_X])
        out = []
        for angle in heading + s * np.linspace(0.0, turn, max(2, int(np.ceil(abs(turn) / arc)) + 1)):
            out.append(places.support(k, s * _right(np.array([np.cos(angle), np.sin(angle)]))))
        return out

    def _corners(self, k: int) -> list[int]:
        """Corners of a polygon that the path turns at, in order."""
        places, row = self.stations, self.table[k]
        first, count = int(places.first[k]), int(places.last[k] - places.first[k])
        at, leave = int(row[kernel.ENTRY]) - first, int(row[kernel.EXIT]) - first
        out = [at]
        step = int(places.side[k]) if row[kernel.ARC] >= 0.0 else 0
        while step and at != leave:
            at = (at + step) % count
            out.append(at)
        return [first + index for index in out]


@dataclass(frozen=True, eq=False)
class Stations:
    """The places of a path as arrays: start, pulleys, end. poses (n, 5): x, y, θ, cos θ, sin θ; corners (c, 2) in rows first[k]:last[k], radius, side (n,)."""

    poses: np.ndarray
    corners: np.ndarray
    first: np.ndarray
    last: np.ndarray
    radius: np.ndarray
    side: np.ndarray

    def corner(self, k: int, index: int | None = None) -> np.ndarray:
        """A corner of a station in the world, its first by default, (2,)."""
        k = k % len(self.radius)
        return np.array(kernel.corner(self.poses, self.corners, k, self.first[k] if index is None else index))

    def support(self, k: int, normal: np.ndarray) -> np.ndarray:
        """The point of station k furthest along a normal, in the world, (2,)."""
        index = kernel.support(
            self.poses, self.corners, self.first, self.last, k, normal[0], normal[1], int(self.first[k])
        )
        return np.array(kernel.corner(self.poses, self.corners, k, index)) + self.radius[k] * normal


def wrap(start: Any, end: Any, pulleys: Sequence[Pulley] = (), *, contact: Contact | None = None) -> TautPath:
    """The shortest path from start to end (2,) [m] that leaves each pulley on its side, in the order given.

    It lies against a pulley only where it must: among those that reach through a straight piece of it (and lie abreast of that
    piece) the deepest joins first; one about which it would turn the wrong way leaves. On a polygon that is the rule of the
    greatest angle. `contact` is what an earlier path remembered: a pulley it touched is followed continuously, past the ends
    and round more than a turn, until its turn falls to zero; one that went past an end stays ignored until it is back in front.
    """
    stations, through = stations_of(start, end, pulleys)
    state = np.where(through, THROUGH, FRONT)
    turn = np.zeros(len(state))
    if contact is not None:
        if len(contact.state) != len(pulleys):
            raise InputError("contact", expected=f"that of {len(pulleys)} pulleys", got=len(contact.state))
        state[1:-1] = np.where(through[1:-1], THROUGH, contact.state)
        turn[1:-1] = contact.turn
    s, out = stations, np.zeros((len(state), kernel.COLUMNS))
    length = kernel.solve_path(s.poses, s.corners, s.first, s.last, s.radius, s.side, state, turn, out)
    kernel.remember(s.poses, s.corners, s.first, s.last, s.radius, s.side, state, turn, out)
    for array in (out, state, turn):
        array.setflags(write=False)
    return TautPath(stations, float(length), out, Contact(state[1:-1], turn[1:-1]))


def stations_of(start: Any, end: Any, pulleys: Sequence[Pulley]) -> tuple[Stations, np.ndarray]:
    """The arrays of a path, checked, and which stations it always passes round, (m + 2,) bool."""
    a, b = point_of("start of the cable", start), point_of("end of the cable", end)
    pulleys = [_checked(p, k) for k, p in enumerate(pulleys)]
    point = np.zeros((1, 2))
    corners = [point, *(p.shape.corners for p in pulleys), point]
    last = np.cumsum([len(c) for c in corners]).astype(np.int64)
    first = np.concatenate([[0], last[:-1]])
    poses = np.vstack([[*a, 0.0], *(np.asarray(p.pose, float)[None] for p in pulleys), [*b, 0.0]])
    radius = np.array([0.0, *(p.shape.radius for p in pulleys), 0.0])
    side = np.array([0.0, *(float(p.side) for p in pulleys), 0.0])
    _check_apart(poses, corners, radius)
    through = np.array([False, *(p.through for p in pulleys), False])
    poses = np.column_stack([poses, np.cos(poses[:, 2]), np.sin(poses[:, 2])])
    return Stations(poses, np.vstack(corners), first, last, radius, side), through


def along_span(start: Any, end: Any, pulleys: Sequence[Pulley]) -> np.ndarray:
    """Indices of pulleys in the order of their centres along the line from start to end."""
    a, b = point_of("start of the cable", start), point_of("end of the cable", end)
    centre = [p.shape.corners.mean(0) @ _turn(p.pose[2]).T + p.pose[:2] for p in pulleys]
    return np.argsort([(c - a) @ (b - a) for c in centre], kind="stable")


def _turn(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def _right(u: np.ndarray) -> np.ndarray:
    """The normal to the right of directions (…, 2)."""
    return np.stack([u[..., 1], -u[..., 0]], axis=-1)


def _checked(pulley: Pulley, k: int) -> Pulley:
    if not isinstance(pulley, Pulley):
        raise InputError(f"pulley {k}", expected="a Pulley(shape, pose, side)", got=type(pulley).__name__)
    pose = as_floats(f"pose of pulley {k}", pulley.pose, "(x, y, θ)")
    if pose.shape != (3,) or not np.isfinite(pose).all():
        raise InputError(f"pose of pulley {k}", expected="three finite numbers (x, y, θ)", got=pulley.pose)
    if pulley.side not in (LEFT, RIGHT):
        raise InputError(f"side of pulley {k}", expected="LEFT (+1) or RIGHT (−1)", got=pulley.side)
    return pulley


def _check_apart(poses: np.ndarray, corners: Sequence[np.ndarray], radius: np.ndarray) -> None:
    """Neighbours that are single points or circles may not share their centre: the path has no direction there."""
    centre = [c.mean(0) @ _turn(p[2]).T + p[:2] for c, p in zip(corners, poses, strict=True)]
    size = max(float(np.ptp(np.array(centre), axis=0).max()), float(radius.max()), 1e-300)
    for k in range(len(centre) - 1):
        if np.linalg.norm(centre[k + 1] - centre[k]) <= COINCIDENT * size and len(centre) > 2:
            raise InputError(
                "pulleys", expected="neighbours apart from each other", got=f"places {k} and {k + 1} coincide"
            )
    if len(centre) == 2 and np.linalg.norm(centre[1] - centre[0]) == 0.0:
        raise InputError("cable", expected="a start and an end apart from each other", got="one point")


__all__ = [
    "BEHIND",
    "FRONT",
    "LEFT",
    "RIGHT",
    "THROUGH",
    "TOUCHING",
    "Contact",
    "Pulley",
    "TautPath",
    "along_span",
    "wrap",
]
