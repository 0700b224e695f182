"""Overlap that no sample shows: an obstacle wholly inside a body, and a body wholly inside an obstacle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit

from pliant.arrays import frozen, frozen_view
from pliant.contact.contacts import Contacts
from pliant.contact.detect.samples import Samples, facet_mask, voids
from pliant.contact.obstacles import Obstacle
from pliant.errors import InputError

DEEP = 100  # contacts deeper than the alarm distance, above which only some of them are rows
INSIDE = 0.5  # of a full turn: a surface that is seen all round is seen from within


class Insides:
    """The solid bodies of a robot, to tell whether an obstacle lies in one: those with a closed surface.

    An inner void is a part of its body, which nothing gets into from outside, unless samples lie on its wall.
    """

    def __init__(self, robot: Any, bodies: Sequence[int], samples: Sequence[Samples]) -> None:
        self._robot, self._solid = robot, []
        for b, on in zip(bodies, samples, strict=True):
            surface = robot.bodies[b].mesh.surface
            if robot.bodies[b].two_sided or not len(surface) or not surface.closed:
                continue
            void = voids(surface)
            if void.any() and not (on.surface is not None and facet_mask(surface, on.surface)[void].any()):
                surface = surface.patch(~void)
            self._solid.append((b, frozen(surface.triangles, int)))

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


def shown(contacts: Contacts, alarm: float) -> np.ndarray:
    """All contacts that are no deeper than the alarm distance, and of the others every so manieth sample.

    A robot that was swallowed would have thousands of rows, which say the same as some.
    """
    deep = contacts.gap < -alarm
    every = 1 << int(np.ceil(np.log2(np.count_nonzero(deep) / DEEP)))  # a power of two: mostly the same ones
    return np.flatnonzero(~deep | (contacts.sample % every == 0))
