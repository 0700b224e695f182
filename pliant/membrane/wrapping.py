"""The taut path of a cable from one point to another, past shapes on given sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.membrane.kernels import path as kernel
from pliant.membrane.kernels.path import BEHIND, FRONT, THROUGH, TOUCHING
from pliant.membrane.kernels.shape import Stations
from pliant.membrane.shapes import Shape, point_of, rotation

LEFT, RIGHT = 1, -1
COINCIDENT = 1e-12  # of the size of the path: centres nearer than this to each other are one place
TINY = 1e-300


class Pulley(NamedTuple):
    """A shape at a pose (x, y, θ) [m, m, rad], on one side of the cable as it runs from start to end.

    side: LEFT = +1 or RIGHT = −1. The cable touches it only where it must; `through` makes it a guide that
    the cable always passes round.
    """

    shape: Shape
    pose: Any
    side: int = LEFT
    through: bool = False


@dataclass(frozen=True, eq=False)
class Contact:
    """What a path remembers of its m pulleys.

    state (m,): BEHIND (gone past an end of the cable, ignored), FRONT, TOUCHING or THROUGH; turn (m,) [rad].
    """

    state: np.ndarray
    turn: np.ndarray


@dataclass(frozen=True, eq=False)
class TautPath:
    """A taut path past m pulleys: its length [m], and what the properties below say of it."""

    stations: Stations
    length: float
    table: np.ndarray  # of the kernel, one row per station
    contact: Contact

    @property
    def touching(self) -> np.ndarray:
        """(m,) which pulleys the path lies against."""
        return self.table[1:-1, kernel.ACTIVE] > 0.0

    @property
    def turn(self) -> np.ndarray:
        """(m,) by how much the path turns about each pulley [rad]."""
        return self.table[1:-1, kernel.TURN]

    @property
    def arc(self) -> np.ndarray:
        """(m,) how much of the path lies on each pulley [m]."""
        return self.table[1:-1, kernel.ARC]

    @property
    def inside(self) -> np.ndarray:
        """(m,) where a neighbour lies within the pulley's hull.

        There is no tangent then: the length goes on with the same slope.
        """
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
        """(pieces,) lengths of the straight pieces [m], in order."""
        return self.table[np.flatnonzero(self.table[:, kernel.ACTIVE])[1:], kernel.SPAN]

    @cached_property
    def gradient(self) -> np.ndarray:
        """∂L/∂(x, y, θ) of start, pulleys and end, (m + 2, 3): minus the wrench of a unit tension on each."""
        g = np.empty((len(self.table), 3))
        kernel.path_gradient(self.stations.poses, self.table, g)
        return g

    @cached_property
    def hessian(self) -> np.ndarray:
        """∂²L by the poses of start, pulleys and end, (3(m+2), 3(m+2)); rows of θ at the ends are zero."""
        n = 3 * len(self.table)
        H = np.empty((n, n))
        kernel.path_hessian(self.stations.poses, self.table, H)
        return H

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

    def contact_points(self) -> np.ndarray:
        """Where the path arrives at and leaves each pulley, (m, 2, 2) [m]; NaN where it does not touch."""
        t, s, r = self.table[1:-1], self.stations.side[1:-1, None], self.stations.radius[1:-1, None]
        arrive = t[:, [kernel.CIN_X, kernel.CIN_Y]] + s * r * _right(t[:, [kernel.IN_X, kernel.IN_Y]])
        leave = t[:, [kernel.COUT_X, kernel.COUT_Y]] + s * r * _right(t[:, [kernel.OUT_X, kernel.OUT_Y]])
        both = np.stack([arrive, leave], axis=1)
        return np.where(self.touching[:, None, None], both, np.nan)

    def polyline(self, *, arc: float = 0.1) -> np.ndarray:
        """The path as points (k, 2) [m], arcs in steps of at most `arc` [rad]; for pictures."""
        last = len(self.table) - 1
        points = [self._corner(0, self.stations.first[0])]
        for k in np.flatnonzero(self.touching) + 1:
            points += self._along(int(k), arc)
        return np.array([*points, self._corner(last, self.stations.first[last])])

    def _corner(self, k: int, index: int) -> np.ndarray:
        """A corner of station k in the world, (2,)."""
        pose = self.stations.poses[k]
        return pose[:2] + rotation(pose[2]) @ self.stations.corners[index]

    def _support(self, k: int, normal: np.ndarray) -> np.ndarray:
        """The point of station k furthest along a normal, in the world, (2,)."""
        first, last = self.stations.first[k], self.stations.last[k]
        local = rotation(self.stations.poses[k, 2]).T @ normal
        index = first + int(np.argmax(self.stations.corners[first:last] @ local))
        return self._corner(k, index) + self.stations.radius[k] * normal

    def _along(self, k: int, arc: float) -> list[np.ndarray]:
        """Points of the path on station k."""
        row, s = self.table[k], int(self.stations.side[k])
        if self.stations.radius[k] == 0.0:
            return [self._corner(k, index) for index in self._corners(k)]
        heading, turn = np.arctan2(row[kernel.IN_Y], row[kernel.IN_X]), row[kernel.TURN]
        angles = heading + s * np.linspace(0.0, turn, max(2, int(np.ceil(abs(turn) / arc)) + 1))
        return [self._support(k, s * _right(np.array([np.cos(a), np.sin(a)]))) for a in angles]

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


def wrap(start: Any, end: Any, pulleys: Sequence[Pulley] = (), *, contact: Contact | None = None) -> TautPath:
    """The shortest path from start to end (2,) [m] that leaves each pulley on its side, in the order given.

    It lies against a pulley only where it must: among those that reach through a straight piece of it (and
    lie abreast of that piece) the deepest joins first; one about which it would turn the wrong way leaves. On
    a polygon that is the rule of the greatest angle. `contact` is what an earlier path remembered: a pulley
    it touched is followed continuously, past the ends and round more than a turn, until its turn falls to
    zero; one that went past an end stays ignored until it is back in front.
    """
    stations, through = stations_of(start, end, pulleys)
    state = np.where(through, THROUGH, FRONT)
    turn = np.zeros(len(state))
    if contact is not None:
        if len(contact.state) != len(pulleys):
            raise InputError("contact", expected=f"that of {len(pulleys)} pulleys", got=len(contact.state))
        state[1:-1] = np.where(through[1:-1], THROUGH, contact.state)
        turn[1:-1] = contact.turn
    table = np.zeros((len(state), kernel.COLUMNS))
    length = kernel.solve_path(stations, state, turn, table)
    kernel.remember(stations, state, turn, table)
    for array in (table, state, turn):
        array.setflags(write=False)
    return TautPath(stations, float(length), table, Contact(state[1:-1], turn[1:-1]))


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
    centre = [p.shape.corners.mean(0) @ rotation(p.pose[2]).T + p.pose[:2] for p in pulleys]
    return np.argsort([(c - a) @ (b - a) for c in centre], kind="stable")


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
    """Refuse neighbours that share their centre, points or circles: the path has no direction there."""
    centre = [c.mean(0) @ rotation(p[2]).T + p[:2] for c, p in zip(corners, poses, strict=True)]
    size = max(float(np.ptp(np.array(centre), axis=0).max()), float(radius.max()), TINY)
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
