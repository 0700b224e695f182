"""Detours: where the straight way gets no further, a tree of places reached each through its own contacts.

The tree grows from the start. First towards places beside the straight way, in growing distance; then at
random within reach. From every new place the goal is tried again. Places that a walk only touched on the way
are kept: a robot that slides along an obstacle has come somewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pliant.planning.walk import Leg, Pose, Walker

DETOUR_DISTANCES = (0.12, 0.25, 0.4)  # of the robot's length: of the first places from the straight way
DETOUR_DIRECTIONS = 8  # of these places about the straight way
TREE_STEP = 0.4  # of the robot's length: how far the tree grows at once
NEW_PLACE = 0.03  # of the robot's length: least distance of a new place from all known ones
RANDOM_REACH = 0.3  # of the robot's length: how far random places lie beyond the two ends
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Place:
    """A node of the tree: where, and the leg that leads there from the start."""

    pose: Pose
    leg: Leg


def around(walker: Walker, start: Pose, goal: np.ndarray, *, attempts: int, rng: np.random.Generator) -> Leg:
    """The first leg that arrives, after at most `attempts` walks; else the one that comes nearest."""
    direct = walker.walk(start, goal)
    if direct.arrived:
        return direct
    best, length = direct, walker.robot.length
    tree = [Place(start, Leg((start,), np.inf, True))]
    _add(tree, direct, length)
    used = 1
    for via in _places(walker, start, goal, rng):
        if used >= attempts:
            break
        parent = min(tree, key=lambda place: float(np.linalg.norm(place.pose.effector - via)))
        way = via - parent.pose.effector
        far = float(np.linalg.norm(way))
        if far < NEW_PLACE * length:
            continue
        leg = walker.walk(parent.pose, parent.pose.effector + way * min(1.0, TREE_STEP * length / far))
        used += 1
        place = _add(tree, parent.leg.then(leg) if len(parent.leg.poses) > 1 else leg, length)
        if place is None or used >= attempts:
            continue
        last = walker.walk(place.pose, goal)
        used += 1
        joined = place.leg.then(last)
        if last.arrived:
            return joined
        best = min(best, joined, key=lambda leg: leg.error)
        _add(tree, joined, length)
    return best


def _add(tree: list[Place], leg: Leg, length: float) -> Place | None:
    """The end of a leg as a new place, unless one is near already."""
    end = leg.poses[-1]
    if any(np.linalg.norm(end.effector - place.pose.effector) < NEW_PLACE * length for place in tree):
        return None
    place = Place(end, leg)
    tree.append(place)
    return place


def _places(walker: Walker, start: Pose, goal: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Places to go by: beside the middle of the way, the rest position, then at random about both ends."""
    length, way = walker.robot.length, goal - start.effector
    middle, size = start.effector + 0.5 * way, len(goal)
    across = _across(way)
    rest = walker.robot.split(walker.robot.bundle.delta(walker.robot.bundle.positions(walker.robot.rest.q)))
    yield walker.joined(rest)
    for beside in DETOUR_DISTANCES:
        for k in range(DETOUR_DIRECTIONS):
            angle = 2.0 * np.pi * k / DETOUR_DIRECTIONS
            direction = np.cos(angle) * across[0] + np.sin(angle) * across[-1]
            yield middle + beside * length * direction
    reach = 0.5 * float(np.linalg.norm(way)) + RANDOM_REACH * length
    while True:
        yield middle + reach * rng.uniform(-1.0, 1.0, size)


def _across(way: np.ndarray) -> np.ndarray:
    """Two unit vectors (2, e) across the way, in the effectors' space; one twice where there is no other."""
    size = len(way)
    if size == 1:
        return np.ones((2, 1))
    unit = way / max(float(np.linalg.norm(way)), TINY)
    basis = np.linalg.svd(np.eye(size) - np.outer(unit, unit))[0]
    return np.array([basis[:, 0], basis[:, 1] if size > 2 else basis[:, 0]])
