"""Checks of cables at rest: points that coincide, membranes that cross."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from pliant.errors import InputError
from pliant.membrane.cable import Cable, Membrane
from pliant.membrane.kernels import path as kernel
from pliant.membrane.wrapping import TautPath

NEAR = 1e-9  # of a length


def check_apart(name: str, path: TautPath) -> None:
    """Refuse neighbours on a cable that coincide, as it has no direction there, and ends inside a shape."""
    active = np.flatnonzero(path.table[:, kernel.ACTIVE])
    point = path.stations.radius + (path.stations.last - path.stations.first - 1) == 0.0
    for k, (before, after) in enumerate(pairwise(active)):
        if point[before] and point[after] and path.span[k] <= NEAR * max(path.length, 1e-300):
            raise InputError(
                f"path of {name!r}",
                expected="points and pulleys apart from their neighbours",
                got="two that coincide",
            )
    if path.inside.any():
        raise InputError(
            f"path of {name!r}",
            expected="points and shapes outside each other at rest",
            got="one within the hull of its neighbour",
        )


def check_crossing(cables: Sequence[Cable | Membrane], paths: Sequence[TautPath]) -> None:
    """Refuse membranes that cross another membrane or a cable at rest."""
    lines = [path.polyline() for path in paths]
    for (i, one), (k, two) in combinations(enumerate(cables), 2):
        if (isinstance(one, Membrane) or isinstance(two, Membrane)) and crossing(lines[i], lines[k]):
            raise InputError(
                "cables",
                expected="membranes that cross no other cable",
                got=f"{one.name!r} and {two.name!r} cross",
                hint="Check the order of their ends and the sides of the shapes between them.",
            )


def crossing(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two polylines (k, 2) cross properly, not only touch."""
    a, b, c, d = one[:-1, None], one[1:, None], two[None, :-1], two[None, 1:]
    size = max(float(np.ptp(one, axis=0).max()), float(np.ptp(two, axis=0).max()))
    edge = NEAR * size * size
    c_side, d_side = _cross(b - a, c - a), _cross(b - a, d - a)
    a_side, b_side = _cross(d - c, a - c), _cross(d - c, b - c)
    apart = np.minimum(np.minimum(abs(c_side), abs(d_side)), np.minimum(abs(a_side), abs(b_side))) > edge
    return bool((apart & (c_side * d_side < 0.0) & (a_side * b_side < 0.0)).any())


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
