"""The side of a robot that meets obstacles: samples, and the skin between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.arrays import frozen_view
from pliant.contact.detect.between import Surfaced, least_gap
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.overlap import Insides, require_apart
from pliant.contact.obstacles import Obstacle


class Outside:
    """Samples that meet obstacles: how far apart [m] those of a skin or a rod are, the largest radius [m]."""

    def __init__(self, robot: Any, cloud: Cloud) -> None:
        self._robot, self._cloud = robot, cloud
        between = [s for s in cloud.samples if s.surface is not None or len(s.joined)]
        self.spacing = max((s.spacing for s in between), default=0.0)
        self.thickest = float(cloud.radius.max(initial=0.0))
        self._rest = frozen_view(cloud.points.positions(robot.rest.q))
        self._insides = Insides(robot, cloud.bodies, cloud.samples)

    def skin(self, q: np.ndarray, p: np.ndarray) -> Surfaced:
        """The robot's surface at q, its samples at p (S, 3) [m]."""
        cloud = self._cloud
        every = p if cloud.all_nodes_sampled else frozen_view(cloud.points.positions(q))
        return Surfaced(cloud.facets.arrays, every, cloud.radius, self._rest, cloud.points.mobile)

    def closed_round(self, obstacle: Obstacle, q: np.ndarray, p: np.ndarray) -> bool:
        """Whether the core of an obstacle lies in a body at q."""
        return self._insides.around(obstacle, q, p) is not None

    def depth(self, obstacle: Obstacle, q: np.ndarray, p: np.ndarray) -> float:
        """Depth [m] of the deepest point of the skin in an obstacle; p (S, 3) [m] are the samples.

        For an obstacle that a body has closed round, that of its core in the body, if that is more.
        """
        skin = self.skin(q, p)
        gap, normal = obstacle.distance(p, self.thickest)
        depth = abs(least_gap(skin, obstacle, (gap - skin.radius, normal), self._robot.length))
        if not self.closed_round(obstacle, q, p):
            return depth
        core = obstacle.core
        assert core is not None
        return max(depth, float((obstacle.distance(p)[0]).min() - obstacle.distance(core[None])[0][0]))

    def require_apart(self, obstacles: Sequence[Obstacle], q: np.ndarray, p: np.ndarray, deep: float) -> None:
        """Raise for an obstacle in a body, and for a body that lies deeper than `deep` [m] in one."""
        cloud, swallowed = self._cloud, {}
        around = {o.name: self._insides.around(o, q, p) for o in obstacles}
        for o in obstacles:
            gap = o.distance(p)[0] + cloud.radius
            for b in cloud.bodies:
                mine = cloud.body == b
                if cloud.points.mobile[: len(gap)][mine].any() and gap[mine].max() < -deep:
                    swallowed[b] = o.name
        require_apart(self._robot, {n: b for n, b in around.items() if b is not None}, swallowed)
