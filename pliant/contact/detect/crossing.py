"""Crossing: what a robot's skin has passed through on its way from one state to another.

Contacts are detected where the robot stands, so that a long step may end on the other side of something thin.
Between two states every sample is taken to go straight. It has crossed an obstacle where it is outside at
both ends, and on the way either deep inside or suddenly on the other side. Bodies are looked at in some
states on the way.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.detect.detector import Detector
from pliant.contact.detect.samples import Samples
from pliant.contact.obstacles import Obstacle
from pliant.contact.stack import Stack

DEEP = 2e-3  # of the robot's length: a straight way along something round may cut so deep
STRIDE = 5e-4  # of the robot's length: the shortest part of a way that is looked at
SMALLEST_SPACING = 1 / 200  # of the robot's length: points between samples are no nearer to each other
MOST_STRIDES = 400  # on a way
INSIDE = 1e-5  # of the robot's length: samples that are so deep at the start come out, and cross nothing
MOST_STATES = 40  # on a way, in which bodies are looked at


class Crossing:
    """What the samples of a detector pass through, and points between them where obstacles are small."""

    def __init__(self, detector: Detector) -> None:
        self.detector, robot = detector, detector.robot
        roundest = min((o.roundness for o in detector.obstacles.values()), default=np.inf)
        apart = max(roundest, SMALLEST_SPACING * robot.length)
        samples = [_finer(s, apart) for s in detector.outer.samples]
        self._points = Stack(robot, [s.points for s in samples])
        self._radius = np.concatenate([s.radius for s in samples])

    def passed(self, before: np.ndarray, after: np.ndarray) -> tuple[str, ...]:
        """Names of the opponents that are passed between coordinates `before` and `after` (nq,)."""
        detector, length = self.detector, self.detector.robot.length
        start, end = (self._points.positions(np.asarray(q)) for q in (before, after))
        names = [
            name
            for name, obstacle in detector.obstacles.items()
            if _passes(obstacle, start, end, self._radius, length)
        ]
        moved = float(np.linalg.norm(end - start, axis=1).max(initial=0.0))
        if detector.soft and moved > detector.alarm:
            names += _bodies_passed(detector, before, after, moved)
        return tuple(names)


def _finer(samples: Samples, apart: float) -> Samples:
    """The samples, or if they are farther than `apart` [m], others on the same surface that are not."""
    if samples.surface is None or samples.spacing <= apart:
        return samples
    return Samples.on(samples.body, samples.surface, spacing=apart)


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


def _bodies_passed(detector: Detector, before: np.ndarray, after: np.ndarray, moved: float) -> list[str]:
    """Names of bodies in which samples are deep on the way; nobody moves farther than `moved` [m].

    The states are so near to each other that what is too deep in one for the detector is not so in another.
    """
    soft, found = {opponent.name for opponent in detector.soft}, set()
    states = min(MOST_STATES, 1 + int(moved / detector.alarm))
    for share in np.linspace(0.0, 1.0, states + 2)[1:-1]:
        contacts = detector.detect((1.0 - share) * before + share * after)
        deep = contacts.gap < -DEEP * detector.robot.length
        found |= {contacts.names[k] for k in np.unique(contacts.opponent[deep])}
    return sorted(found & soft)
