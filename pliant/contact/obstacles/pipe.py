"""Pipes: the robot is inside a tube, or inside several tubes that meet.

Inside of a union of tubes the gap is the largest over its pieces,

    gap(p) = max over segments of  radius − dist(p, segment),

which is the distance to the wall in every tube and never too large where tubes meet. An open end flares: in
front of it lies a funnel of 45°, (radius − ρ + s)/√2 at s [m] before the end and ρ off its axis, so that
what enters or leaves meets no edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.arrays import frozen, frozen_view
from pliant.contact.obstacles import surfaces
from pliant.contact.obstacles.checks import polyline
from pliant.contact.obstacles.directions import unit_or_across
from pliant.contact.obstacles.obstacle import (
    Flags,
    FlagsOfEach,
    Length,
    Obstacle,
    Polyline,
    Polylines,
    RadiusOfEach,
)
from pliant.errors import InputError
from pliant.inputs import positive


@dataclass(frozen=True, eq=False)
class Pipe(Obstacle):
    """The inside of a tube of `radius` [m] along a polyline `path` (n, 3) [m]; gap > 0 inside.

    `open` says for the first and the last end whether it is open (it flares, see the module) or closed by a
    half-ball.
    """

    kind: ClassVar[str] = "pipe"
    primitive: ClassVar[bool] = True

    path: Polyline
    radius: Length
    open: Flags = (True, True)
    _tubes: np.ndarray = field(init=False, repr=False)
    _radii: np.ndarray = field(init=False, repr=False)
    _mouths: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        path, radius = polyline(self.path, "path of a pipe"), positive("radius of a pipe", self.radius, "m")
        self._set(path=path, radius=radius, open=_pair(self.open))
        self._set(_tubes=_tubes([path]), _radii=frozen(np.full(len(path) - 1, radius)))
        self._set(_mouths=_mouths([path], [radius], [self.open]))

    @property
    def convex(self) -> bool:
        """No: the wall bends towards the point."""
        return False

    @property
    def bulges(self) -> bool:
        """Only where it bends, and at the rims of open ends."""
        return len(self.path) > 2 or any(self.open)

    def concave_piece(self, p: np.ndarray) -> np.ndarray:
        """That of its tube or mouth: radius − distance, and the funnel's, are concave everywhere."""
        return widest_piece(frozen_view(p), self._tubes, self._radii, self._mouths)

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        return inside_distance(p, self._tubes, self._radii, self._mouths)

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"path": self.path @ R.T + t}

    @property
    def handle(self) -> np.ndarray:
        return self.path[0]

    @property
    def hollow(self) -> bool:
        return True

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        return surfaces.tubes([self.path], [self.radius])

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Obstacle:
        if "paths" in data:  # as version 0.1 recorded pipes, forked or not
            paths, radii = data["paths"], data["radii"]
            return cls(paths[0], radii[0]) if len(paths) == 1 else ForkedPipe(paths, radii)
        return super().of_data(data)


@dataclass(frozen=True, eq=False)
class ForkedPipe(Obstacle):
    """The inside of several tubes that meet; gap > 0 inside.

    `branches` are polylines (n, 3) [m], `radius` [m] is one or one for each. Branches meet where one begins
    or ends within another. Every other end is open unless `open` is False; it may also be a pair of flags
    for each branch.
    """

    kind: ClassVar[str] = "forked pipe"
    primitive: ClassVar[bool] = True

    branches: Polylines
    radius: RadiusOfEach
    open: FlagsOfEach = True
    _tubes: np.ndarray = field(init=False, repr=False)
    _radii: np.ndarray = field(init=False, repr=False)
    _mouths: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            given = list(self.branches)
        except TypeError:
            given = []
        if not given:
            raise InputError("branches of a pipe", expected="one or more polylines", got=repr(self.branches))
        branches = tuple(polyline(path, f"branch {k} of a pipe") for k, path in enumerate(given))
        radii = self._checked_radii(len(branches))
        flags = self._checked_flags(branches, radii)
        pieces = [len(path) - 1 for path in branches]
        self._set(branches=branches, radius=radii, open=flags)
        self._set(_tubes=_tubes(branches), _radii=frozen(np.repeat(radii, pieces)))
        self._set(_mouths=_mouths(branches, radii, flags))

    @property
    def convex(self) -> bool:
        """No: the wall bends towards the point."""
        return False

    def concave_piece(self, p: np.ndarray) -> np.ndarray:
        """That of its tube or mouth, as of a `Pipe`."""
        return widest_piece(frozen_view(p), self._tubes, self._radii, self._mouths)

    def _checked_radii(self, count: int) -> tuple[float, ...]:
        given = [self.radius] * count if np.ndim(self.radius) == 0 else list(self.radius)
        if len(given) != count:
            raise InputError("radius of a forked pipe", expected=f"one, or {count}", got=f"{len(given)}")
        return tuple(positive("radius of a forked pipe", r, "m") for r in given)

    def _checked_flags(
        self, branches: Sequence[np.ndarray], radii: Sequence[float]
    ) -> tuple[tuple[bool, bool], ...]:
        if not isinstance(self.open, (bool, np.bool_)):
            flags = tuple(_pair(pair) for pair in self.open)
            if len(flags) != len(branches):
                raise InputError(
                    "open ends of a forked pipe", expected=f"{len(branches)} pairs", got=f"{len(flags)}"
                )
            return flags
        if not self.open:
            return ((False, False),) * len(branches)
        return tuple(
            (not _joined(branches, radii, k, 0), not _joined(branches, radii, k, -1))
            for k in range(len(branches))
        )

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        return inside_distance(p, self._tubes, self._radii, self._mouths)

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        return {"branches": tuple(path @ R.T + t for path in self.branches)}

    @property
    def handle(self) -> np.ndarray:
        return self.branches[0][0]

    @property
    def hollow(self) -> bool:
        return True

    def surface(self, middle: np.ndarray, size: float) -> surfaces.Triangles:
        return surfaces.tubes(self.branches, self.radius)


def _pair(flags: Any) -> tuple[bool, bool]:
    try:
        first, last = flags
    except (TypeError, ValueError):
        raise InputError("open ends of a pipe", expected="two flags (first, last)", got=repr(flags)) from None
    return bool(first), bool(last)


def _tubes(branches: Sequence[np.ndarray]) -> np.ndarray:
    """Segments (k, 2, 3) of all branches."""
    return frozen(np.concatenate([np.stack([path[:-1], path[1:]], axis=1) for path in branches]))


def _mouths(
    branches: Sequence[np.ndarray], radii: Sequence[float], flags: Sequence[tuple[bool, bool]]
) -> np.ndarray:
    """Open ends (m, 7): place, outward direction, radius."""
    rows = []
    for path, radius, (first, last) in zip(branches, radii, flags):
        for is_open, end, inner in ((first, path[0], path[1]), (last, path[-1], path[-2])):
            if is_open:
                rows.append([*end, *((end - inner) / np.linalg.norm(end - inner)), radius])
    return frozen(np.reshape(rows, (-1, 7)))


def _joined(branches: Sequence[np.ndarray], radii: Sequence[float], k: int, end: int) -> bool:
    """Whether an end of branch k lies within another branch."""
    others = [j for j in range(len(branches)) if j != k]
    if not others:
        return False
    tubes = _tubes([branches[j] for j in others])
    inner = frozen(np.repeat([radii[j] for j in others], [len(branches[j]) - 1 for j in others]))
    gap, _ = inside_distance(frozen(branches[k][[end]]), tubes, inner, frozen(np.zeros((0, 7))))
    return bool(gap[0] > 0)


@in_place
def _widest_tube(x, y, z, tubes, radii):
    """Largest radius − dist(p, segment), the segment and the place along it (0 to 1)."""
    gap, best, along = -np.inf, 0, 0.0
    for k in range(len(tubes)):
        ux, uy, uz = (
            tubes[k, 1, 0] - tubes[k, 0, 0],
            tubes[k, 1, 1] - tubes[k, 0, 1],
            tubes[k, 1, 2] - tubes[k, 0, 2],
        )
        vx, vy, vz = x - tubes[k, 0, 0], y - tubes[k, 0, 1], z - tubes[k, 0, 2]
        s = (ux * vx + uy * vy + uz * vz) / (ux * ux + uy * uy + uz * uz)
        s = min(max(s, 0.0), 1.0)
        vx, vy, vz = vx - s * ux, vy - s * uy, vz - s * uz
        g = radii[k] - np.sqrt(vx * vx + vy * vy + vz * vz)
        if g > gap:
            gap, best, along = g, k, s
    return gap, best, along


@in_place
def _widest_mouth(x, y, z, mouths, gap):
    """Largest (radius − ρ + s)/√2 above `gap`, its mouth (−1 if there is none) and s."""
    best, along = -1, 0.0
    for k in range(len(mouths)):
        vx, vy, vz = x - mouths[k, 0], y - mouths[k, 1], z - mouths[k, 2]
        s = vx * mouths[k, 3] + vy * mouths[k, 4] + vz * mouths[k, 5]
        rho = np.sqrt(max(vx * vx + vy * vy + vz * vz - s * s, 0.0))
        g = (mouths[k, 6] - rho + s) * np.sqrt(0.5)
        if g > gap:
            gap, best, along = g, k, s
    return gap, best, along


@njit(cache=True, error_model="numpy")
def inside_distance(p, tubes, radii, mouths):
    """Largest gap (P,) over tubes (k, 2, 3) and mouths (m, 7), and its gradient (P, 3)."""
    gap, normal = np.empty(len(p)), np.empty((len(p), 3))
    for i in range(len(p)):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        g, k, s = _widest_tube(x, y, z, tubes, radii)
        g, m, t = _widest_mouth(x, y, z, mouths, g)
        if m < 0:
            ux, uy, uz = (
                tubes[k, 1, 0] - tubes[k, 0, 0],
                tubes[k, 1, 1] - tubes[k, 0, 1],
                tubes[k, 1, 2] - tubes[k, 0, 2],
            )
            vx, vy, vz = tubes[k, 0, 0] + s * ux - x, tubes[k, 0, 1] + s * uy - y, tubes[k, 0, 2] + s * uz - z
        else:
            ux, uy, uz = mouths[m, 3], mouths[m, 4], mouths[m, 5]
            vx, vy, vz = mouths[m, 0] + t * ux - x, mouths[m, 1] + t * uy - y, mouths[m, 2] + t * uz - z
        gap[i] = g
        normal[i, 0], normal[i, 1], normal[i, 2] = unit_or_across(vx, vy, vz, ux, uy, uz)
        if m >= 0:
            normal[i, 0], normal[i, 1], normal[i, 2] = (
                (normal[i, 0] + ux) * np.sqrt(0.5),
                (normal[i, 1] + uy) * np.sqrt(0.5),
                (normal[i, 2] + uz) * np.sqrt(0.5),
            )
    return gap, normal


@njit(cache=True, error_model="numpy")
def widest_piece(p, tubes, radii, mouths):
    """The tube (from 0) or mouth (from len(tubes)) that gives the gap at each point, (P,)."""
    piece = np.empty(len(p), np.int64)
    for i in range(len(p)):
        g, k, _ = _widest_tube(p[i, 0], p[i, 1], p[i, 2], tubes, radii)
        _, m, _ = _widest_mouth(p[i, 0], p[i, 1], p[i, 2], mouths, g)
        piece[i] = k if m < 0 else len(tubes) + m
    return piece
