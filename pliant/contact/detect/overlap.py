"""Overlap that no sample shows: an obstacle inside a body, a body inside an obstacle or another body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit

from pliant.arrays import frozen, frozen_view
from pliant.contact.detect.depth import SoftDepth
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.obstacles import Obstacle
from pliant.errors import InputError

INSIDE = 0.5  # of a full turn: a surface that is seen all round is seen from within


class Insides:
    """The solid bodies of a robot, to tell whether an obstacle lies in one: those with a closed surface."""

    def __init__(self, robot: Any, bodies: tuple[int, ...]) -> None:
        self._robot = robot
        self._solid = [
            (b, frozen(robot.bodies[b].mesh.surface.triangles, int))
            for b in bodies
            if not robot.bodies[b].two_sided
            and len(robot.bodies[b].mesh.surface)
            and robot.bodies[b].mesh.surface.closed
        ]

    def around(self, obstacle: Obstacle, q: np.ndarray, p: np.ndarray) -> int | None:
        """The number of the body in which the core of an obstacle lies at q; p (S, 3) [m]: all samples."""
        core = None if obstacle.core is None else frozen_view(obstacle.core)
        if core is None or not self._solid or not amid(p, core):
            return None
        for b, triangles in self._solid:
            X = frozen_view(self._robot.bodies[b].positions(q[self._robot.q_spans[b]]))
            if turns(X, triangles, core) > INSIDE:
                return b
        return None


@njit(cache=True, error_model="numpy")
def amid(p, core):
    """Whether a point lies in the box round points p (n, 3)."""
    for k in range(3):
        below, above = False, False
        for i in range(len(p)):
            below, above = below or p[i, k] < core[k], above or p[i, k] > core[k]
            if below and above:
                break
        if not (below and above):
            return False
    return True


@njit(cache=True, error_model="numpy")
def turns(X, triangles, p):
    """How often a closed surface goes round p: 1 inside, 0 outside (van Oosterom and Strackee, 1983)."""
    total = 0.0
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        a0, a1, a2 = X[i, 0] - p[0], X[i, 1] - p[1], X[i, 2] - p[2]
        b0, b1, b2 = X[j, 0] - p[0], X[j, 1] - p[1], X[j, 2] - p[2]
        c0, c1, c2 = X[k, 0] - p[0], X[k, 1] - p[1], X[k, 2] - p[2]
        a, b = np.sqrt(a0 * a0 + a1 * a1 + a2 * a2), np.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
        c = np.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
        volume = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
        ab, bc = a0 * b0 + a1 * b1 + a2 * b2, b0 * c0 + b1 * c1 + b2 * c2
        ca = c0 * a0 + c1 * a1 + c2 * a2
        total += np.arctan2(volume, a * b * c + ab * c + bc * a + ca * b)
    return total / (2.0 * np.pi)


def require_apart(robot: Any, inside: Mapping[str, int], swallowed: Mapping[int, str]) -> None:
    """Raise for obstacles `inside` a body, and bodies `swallowed` by an obstacle."""
    hint = "No push says which way out is meant: move the obstacle or the robot apart first."
    for body, name in swallowed.items():
        raise InputError(
            f"body {body} of {robot.name!r}",
            expected="a place outside of obstacles, or partly so",
            got=f"one wholly inside obstacle {name!r}",
            hint=hint,
        )
    for name, body in inside.items():
        raise InputError(
            f"obstacle {name!r}",
            expected="a place outside of the robot",
            got=f"one inside body {body} of {robot.name!r}",
            hint=hint,
        )


def overlaps(
    robot: Any,
    q: np.ndarray,
    opponents: Sequence[SoftOpponent],
    alarm: float,
    measure: Callable[[], SoftDepth],
) -> dict[tuple[int, int], float]:
    """Depth [m] of bodies in each other at q, by pairs whose boxes overlap by more than `alarm` [m]."""
    touching = {(body, o.body) for o in opponents for body, _ in o.touched_by if body != o.body}
    pairs = sorted({(min(pair), max(pair)) for pair in touching})
    boxes = {}
    for b in {b for pair in pairs for b in pair}:
        X = robot.bodies[b].positions(q[robot.q_spans[b]])
        boxes[b] = X.min(axis=0), X.max(axis=0)
    width = lambda a, b: np.minimum(boxes[a][1], boxes[b][1]) - np.maximum(boxes[a][0], boxes[b][0])
    near = [pair for pair in pairs if (width(*pair) > alarm).all()]
    return measure().between(q, near) if near else {}


def require_bodies_apart(robot: Any, depth: Mapping[tuple[int, int], float], seen: float) -> None:
    """Raise for bodies that lie deeper in each other, by `depth` [m] of pairs of them, than is `seen` [m]."""
    for (a, b), d in depth.items():
        if d > seen:
            raise InputError(
                f"bodies {a} and {b} of {robot.name!r}",
                expected=f"an overlap of {1e3 * seen:.3g} mm at most, as far as contact is looked for",
                got=f"{1e3 * d:.3g} mm",
                hint="Move them apart first, let them not touch (between_bodies), or look farther (alarm).",
            )
