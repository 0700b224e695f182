"""The trail: poses that the robot has passed, from the first one on, so that it finds its way back.

Each was an equilibrium with its drives where they stood. Among obstacles that have moved since, or under
other laws, it is a guide only: the way back imposes its commands and solves for the equilibrium.

The trail never crosses itself. A robot that comes back to where it was forgets the loop, so that the way back
is short; and a trail that has become long keeps every other pose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pliant.contact import Contacts
from pliant.inverse.model import Model, farthest_node
from pliant.inverse.pose import Pose

SPACING = 1e-2  # of the length: motion between two poses of a trail, until it is thinned
MOST = 96  # poses of a trail; then it is thinned
OTHER_LAWS = -1  # version of the obstacles around a pose that was passed under other laws: none


@dataclass(frozen=True)
class Guide:
    """A pose that the robot has passed."""

    q: np.ndarray  # coordinates (nq,)
    lam: np.ndarray  # efforts of all rows (m,)
    delta: np.ndarray  # of all rows (m,)
    nodes: np.ndarray  # positions (k, 3)
    contacts: Contacts  # there
    force: np.ndarray  # of the contacts [N], as `Pose` has them
    decrement: float  # [m] how far it was from equilibrium
    version: int  # of the obstacles among which that was so
    internal: np.ndarray  # internal variables, as `Pose` has them

    @classmethod
    def at(cls, model: Model, pose: Pose, decrement: float) -> Guide:
        """A pose, to find the way by."""
        nodes, contacts = model.robot.positions(pose.q), pose.contacts
        known = pose.q, pose.lam, pose.delta, nodes, contacts, pose.force
        return cls(*known, decrement, pose.version, pose.internal)

    @classmethod
    def undeformed(cls, model: Model) -> Guide:
        """The undeformed shape with no effort, in equilibrium or not."""
        pose = model.pose(model.robot.rest.q, np.zeros_like(model.start.lam))
        return replace(cls.at(model, pose, np.inf), version=OTHER_LAWS)

    def pose(self, model: Model) -> Pose:
        """The pose itself, among the obstacles of today."""
        return model.pose(self.q, self.lam, (self.contacts, self.force), internal=self.internal)

    def far(self, nodes: np.ndarray) -> float:
        """How far [m] a node at most is from where it was."""
        return farthest_node(self.nodes, nodes)


@dataclass(frozen=True)
class Trail:
    """Guides from the first pose to the last; `spacing` [m] is how far apart they are at least.

    `stable`: whether there is one that was stable: all are, but perhaps the first.
    """

    guides: tuple[Guide, ...]
    spacing: float
    stable: bool = True

    @classmethod
    def begun(cls, model: Model, pose: Pose) -> Trail:
        """With the first pose alone."""
        return cls((Guide.at(model, pose, 0.0),), SPACING * model.robot.length)

    def passed(self, model: Model, pose: Pose, decrement: float) -> Trail:
        """The trail after a pose: unchanged near its end, cut where it was before, or one pose longer."""
        nodes = model.robot.positions(pose.q)
        if self.guides[-1].far(nodes) < self.spacing:
            return self
        probe = int(np.argmax(((nodes - self.guides[-1].nodes) ** 2).sum(axis=1)))  # one node says most
        for k, guide in enumerate(self.guides[:-1]):
            if math.dist(guide.nodes[probe], nodes[probe]) < self.spacing and guide.far(nodes) < self.spacing:
                return replace(self, guides=self.guides[: k + 1])
        guides = (*self.guides, Guide.at(model, pose, decrement))
        if len(guides) <= MOST:
            return replace(self, guides=guides)
        return replace(self, guides=(*guides[:-1:2], guides[-1]), spacing=2.0 * self.spacing)

    def left(self, model: Model, pose: Pose, decrement: float, *, stable: bool) -> Trail:
        """The trail of a robot that moves on from a pose; one that is not stable is nothing to go back to."""
        if stable:
            return replace(self.passed(model, pose, decrement), stable=True)
        alone = len(self.guides) == 1 and self.guides[0].far(model.robot.positions(pose.q)) < self.spacing
        return replace(self, stable=False) if alone else self

    def under_other_laws(self) -> Trail:
        """The same trail when laws have changed: none of its poses need be an equilibrium."""
        return replace(self, guides=tuple(replace(guide, version=OTHER_LAWS) for guide in self.guides))

    def softened(self, model: Model, z: np.ndarray) -> Trail:
        """The same trail when materials have become softer, with internal variables z: all has changed."""
        guides = self.under_other_laws().guides
        arrived = [model.robot.arrived(None, guide.internal, z) for guide in guides]
        now = zip(guides, arrived, strict=True)
        return replace(self, guides=tuple(replace(guide, internal=own) for guide, own in now))

    def back(self, most: int | None = None) -> tuple[Guide, ...]:
        """The way back to the first pose, or past so many poses at most."""
        return self.guides[::-1][:most]

    def by_way_of(self, other: Trail) -> tuple[Guide, ...]:
        """The way from the end of this trail to the end of another that began at the same pose.

        It turns where the two come near each other last.
        """
        near = max(self.spacing, other.spacing)
        for k in range(len(self.guides) - 1, 0, -1):
            for j in range(len(other.guides) - 1, -1, -1):
                if self.guides[k].far(other.guides[j].nodes) < near:
                    return (*self.guides[:k:-1], *other.guides[j:])
        return (*self.guides[:0:-1], *other.guides)
