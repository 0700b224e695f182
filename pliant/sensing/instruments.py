"""A robot with markers to be measured on it, and candidate places where external forces may act."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats
from pliant.interactions import PointForce, Position, checks
from pliant.interactions.affine import Affine
from pliant.laws import Measured, Unknown
from pliant.points import Points
from pliant.robot import Robot, Row

MARKERS, FORCES = "markers", "forces"
OFF_SKIN = 0.02  # of the robot's length: how far markers may stand off the skin, whose facets cut corners
COINCIDENT = 1e-6  # of the robot's length: markers nearer to each other than that are one
INF = float("inf")


class Pushes(Affine):
    """δ = dᵢ·(pᵢ − pᵢ₀), one row per point, along directions d (P, 3) fixed in space; λ are forces [N]."""

    def __init__(self, points: Points | Sequence[Points], directions: ArrayLike) -> None:
        super().__init__(points)
        along = checks.unit_vectors("directions of Pushes", directions)
        P = self.point_count
        if len(along) not in (1, P):
            raise InputError(
                "directions of Pushes", expected=f"one or {P} directions", got=f"{len(along)} of them"
            )
        self.directions = np.broadcast_to(along, (P, 3))
        self._set_rows(np.arange(P + 1), np.arange(P), self.directions, from_rest=True)


def instrumented(
    robot: Robot,
    markers: Any = None,
    candidates: Any = None,
    *,
    direction: ArrayLike | None = None,
    effort: tuple[float, float] = (-INF, INF),
) -> Robot:
    """The robot with rows "markers" (`Measured` positions) and "forces" (`Unknown`) added.

    `markers` and `candidates` are material points, or positions at rest (n, 3) [m]. A candidate force has
    three components unless a `direction` is given: one (3,) for all, or one each (n, 3). `effort` bounds
    every component [N]: (0, inf) pushes only.
    """
    if not isinstance(robot, Robot):
        hint = "pl.Robot(body, rows) makes one of a body."
        raise InputError("robot", expected="a Robot", got=type(robot).__name__, hint=hint)
    rows = dict(robot.rows)
    if markers is not None:
        _free_name(rows, MARKERS)
        points = material_points(robot, markers, MARKERS)
        _check_apart(points, robot.length)
        rows[MARKERS] = Row(Position(points), Measured())
    if candidates is not None:
        _free_name(rows, FORCES)
        points = material_points(robot, candidates, "candidates")
        force = PointForce(points) if direction is None else Pushes(points, direction)
        rows[FORCES] = Row(force, Unknown(effort=effort))
    if len(rows) == len(robot.rows):
        return robot
    return Robot(robot.bodies, rows, gravity=robot.gravity, name=robot.name, surroundings=robot.surroundings)


def material_points(robot: Robot, where: Any, what: str) -> Points:
    """Points as they are, or of positions at rest (n, 3) [m] on the robot's only body."""
    if isinstance(where, Points):
        return where
    place = as_floats(what, where, "material points, or positions at rest (n, 3) [m]")
    if place.ndim != 2 or place.shape[1] != 3 or not len(place):
        raise InputError(what, expected="positions at rest (n, 3) [m]", got=f"shape {place.shape}")
    if len(robot.bodies) > 1:
        hint = "body.points(positions) makes them of one of its bodies."
        raise InputError(what, expected="material points", got="positions on several bodies", hint=hint)
    if not np.isfinite(place).all():
        raise InputError(what, expected="positions at rest (n, 3) [m]", got="numbers that are not finite")
    body = robot.body
    tolerant = "tolerance" in signature(body.points).parameters
    return body.points(place, tolerance=OFF_SKIN * robot.length) if tolerant else body.points(place)


def _free_name(rows: dict[str, Row], name: str) -> None:
    if name in rows:
        hint = "Leave the argument out to use the robot's own rows."
        raise InputError(f"row {name!r}", expected="a free name", got="a row of that name", hint=hint)


def _check_apart(points: Points, length: float) -> None:
    """Raise InputError naming two markers in the same place."""
    apart = np.linalg.norm(points.rest[:, None] - points.rest[None], axis=2)
    apart[np.tril_indices(len(apart))] = INF
    if len(apart) > 1 and apart.min() < COINCIDENT * length:
        i, j = np.unravel_index(apart.argmin(), apart.shape)
        raise InputError("markers", expected="different places", got=f"markers {i} and {j} in the same one")
