"""Crossing: what a robot's skin has passed through on its way from one state to another.

Contacts are detected where the robot stands, so that a long step may end on the other side of something thin.
Between two states every sample is taken to go straight. It has crossed an obstacle where it is outside at
both ends, and on the way either deep inside or suddenly on the other side. Bodies are looked at in some
states on the way.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.detect.detector import Detector
from pliant.contact.obstacles import Obstacle

DEEP = 2e-3  # of the robot's length: a straight way along something round may cut so deep
STRIDE = 5e-4  # of the robot's length: the shortest part of a way that is looked at
MOST_STRIDES = 400  # on a way
INSIDE = 1e-5  # of the robot's length: samples that are so deep at the start come out, and cross nothing
ON_THE_WAY = (0.25, 0.5, 0.75)  # states between, for bodies


def crossed(detector: Detector, before: np.ndarray, after: np.ndarray) -> tuple[str, ...]:
    """Names of the opponents that samples pass through between coordinates `before` and `after` (nq,)."""
    length, cloud = detector.robot.length, detector.cloud
    start, end = (cloud.points_of_samples.positions(np.asarray(q)) for q in (before, after))
    names = [
        name
        for name, obstacle in detector.obstacles.items()
        if _passes(obstacle, start, end, cloud.radius, length)
    ]
    moved = float(np.linalg.norm(end - start, axis=1).max(initial=0.0))
    if detector.soft and moved > detector.alarm:
        names += _bodies_crossed(detector, before, after)
    return tuple(names)


def _passes(
    obstacle: Obstacle, start: np.ndarray, end: np.ndarray, radius: np.ndarray, length: float
) -> bool:
    """Whether a straight way from `start` to `end` (S, 3) [m] leads through an obstacle."""
    way = np.linalg.norm(end - start, axis=1)
    gaps = [obstacle.distance(p)[0] - radius for p in (start, end)]
    outside = gaps[0] > -INSIDE * length
    near = np.flatnonzero(outside & (way > np.maximum(gaps[0], 0.0) + np.maximum(gaps[1], 0.0)))
    if not len(near):
        return False
    start, way, radius = start[near], way[near], radius[near]
    along = (end[near] - start) / way[:, None]
    done, normal = np.zeros(len(near)), np.zeros((len(near), 3))
    for _ in range(MOST_STRIDES):
        gap, now = obstacle.distance(start + done[:, None] * along)
        gap -= radius
        turned = (np.einsum("ki,ki->k", normal, now) < 0.0) & (gap < STRIDE * length)
        if (turned | (gap < -DEEP * length)).any():
            return True
        done = done + np.maximum(gap, STRIDE * length)
        going = done < way
        if not going.any():
            return False
        start, way, radius, along, done, normal = (a[going] for a in (start, way, radius, along, done, now))
    return False


def _bodies_crossed(detector: Detector, before: np.ndarray, after: np.ndarray) -> list[str]:
    """Names of bodies in which samples are deep on the way."""
    soft, found = {opponent.name for opponent in detector.soft}, set()
    for share in ON_THE_WAY:
        contacts = detector.detect((1.0 - share) * before + share * after)
        deep = contacts.gap < -DEEP * detector.robot.length
        found |= {contacts.names[k] for k in np.unique(contacts.opponent[deep])}
    return sorted(found & soft)
