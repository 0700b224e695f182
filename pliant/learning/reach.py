"""Reach: the tip of a trunk goes to a target; and around a post that stands in its way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.contact import Cylinder, Obstacle, Surroundings
from pliant.learning.drives import Pair
from pliant.learning.robotic import Robotic
from pliant.robots.trunk import trunk

LENGTH = 0.195  # [m] of the trunk
LARGEST_PULL = 1.2  # [N] of a cable
LEAST_BEND = 0.8  # [rad]: least bend to a target behind the post
POST = (0.55, 1.4, 0.006)  # its ends along the trunk, in lengths, and its radius [m]
POST_PLACE = 0.45  # of the way from the axis to the target
ARRIVED = 0.05 * LENGTH  # [m]: distance from the target at which it is reached
BENDS = (0.3, 1.1)  # [rad] of the arc that leads to a target
DRIVES = tuple(Pair(f"cable {a}", f"cable {b}", LARGEST_PULL) for a, b in ((1, 3), (2, 4), (5, 7), (6, 8)))
COARSE = {"length": LENGTH, "discs": 5, "around": 4, "size": 0.02}


class TrunkReach(Robotic):
    """A trunk with four pairs of opposite cables.

    Its tip should reach a point where an arc of its length would end. Seen: commands (4); the tip about its
    place at rest, in half lengths of the trunk, its velocity, in half lengths per 0.2 s, the way to the
    target, in quarters of the length: (3) each. Reward: minus the distance to the target in lengths, each
    step. Done within 5 % of the length.
    """

    observations = 9

    def __init__(self, render_mode: str | None = None) -> None:
        robot = trunk(**COARSE, surroundings=self._surroundings())
        super().__init__(robot, DRIVES, self.observations, render_mode)

    def _surroundings(self) -> Surroundings:
        return Surroundings()

    def begin(self) -> dict[str, Any]:
        """A random direction and bend."""
        bend, angle = self.np_random.uniform(*BENDS), self.np_random.uniform(0.0, 2.0 * np.pi)
        return {"target": arc_end(bend, angle)}

    def observed(self) -> np.ndarray:
        """Tip, its velocity, way to the target."""
        tip, speed = self.deltas()["tip"], self.rates()["tip"]
        away = self.task["target"] - tip
        return np.concatenate([tip - self.rest["tip"], 0.2 * speed, 2.0 * away]) / (0.5 * LENGTH)

    def judged(self, before: Any) -> tuple[float, bool]:
        """Distance to the target."""
        distance = float(np.linalg.norm(self.task["target"] - self.deltas()["tip"]))
        return -distance / LENGTH, distance < ARRIVED

    def goals(self) -> Mapping[str, np.ndarray]:
        """The tip's."""
        return {"tip": self.task["target"]} if self.task else {}


class TrunkReachAround(TrunkReach):
    """As TrunkReach, with a post between the tip and the target, which the trunk must go around.

    Seen besides: the post's axis (x, y) in lengths of the trunk.
    """

    observations = 11

    def _surroundings(self) -> Surroundings:
        return Surroundings([_post((0.1, 0.0))])

    def begin(self) -> dict[str, Any]:
        """A target, and the post half way there."""
        bend, angle = self.np_random.uniform(LEAST_BEND, BENDS[1]), self.np_random.uniform(0.0, 2.0 * np.pi)
        target = arc_end(bend, angle)
        return {"target": target, "post": POST_PLACE * target[:2]}

    def arrange(self) -> None:
        """The post moves there."""
        self.simulation.detector.replace(_post(self.task["post"]))

    def observed(self) -> np.ndarray:
        """And the post."""
        return np.concatenate([super().observed(), self.task["post"] / LENGTH])


def arc_end(bend: float, angle: float) -> np.ndarray:
    """End (3,) [m] of an arc of the trunk's length that leaves its base along z and bends to a heading."""
    out, along = LENGTH * (1.0 - np.cos(bend)) / bend, LENGTH * np.sin(bend) / bend
    return np.array([out * np.cos(angle), out * np.sin(angle), along])


def _post(at: Any) -> Obstacle:
    """Upright beside the lower half of the trunk."""
    (x, y), (low, high, radius) = at, POST
    return Cylinder((x, y, low * LENGTH), (x, y, high * LENGTH), radius, name="post")
