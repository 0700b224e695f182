"""Cloud: the samples of all bodies of a robot, numbered one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pliant.arrays import frozen, frozen_view
from pliant.contact.detect.facets import Facets
from pliant.contact.detect.nearest import facet_normals_at
from pliant.contact.detect.samples import Samples
from pliant.contact.stack import Stack
from pliant.mesh import Surface


class Cloud:
    """S samples, then the surface nodes of the bodies in `touched`, as one stack of points.

    body (S,) is the number of each sample's body; it hangs on nodes
    support[support_ptr[i]:support_ptr[i+1]] of it, with weights support_weight.
    """

    def __init__(self, robot: Any, of_bodies: Mapping[int, Samples], touched: Iterable[int] = ()) -> None:
        samples = self.samples = tuple(of_bodies.values())
        self.bodies = tuple(of_bodies)
        self.size = sum(len(s) for s in samples)
        self.body = np.repeat(self.bodies, [len(s) for s in samples])
        self.radius = frozen(np.concatenate([s.radius for s in samples]))
        self.rest = frozen(np.concatenate([s.points.rest for s in samples]))
        self.support = frozen(np.concatenate([s.points.node_index for s in samples]), int)
        self.support_weight = frozen(np.concatenate([s.points.node_weight for s in samples]))
        counts = [np.diff(s.points.node_ptr) for s in samples]
        self.support_ptr = frozen(np.cumsum(np.concatenate([[0], *counts])), int)
        self._triangles = {
            id(s): (frozen(s.surface.triangles, int), len(s.surface.triangles) // len(s.surface))
            for s in samples
            if s.surface is not None
        }
        self._spans = [robot.q_spans[b] for b in self.bodies]
        self._stack_points(robot, touched)

    def facing(self, q: np.ndarray) -> np.ndarray:
        """Outward normal of the body at each sample, (S, 3); zero where it has none."""
        parts = []
        for s, span in zip(self.samples, self._spans):
            if s.surface is None:
                parts.append(np.zeros((len(s), 3)))
                continue
            X = frozen_view(s.body.positions(q[span]))
            triangles, per_facet = self._triangles[id(s)]
            parts.append(facet_normals_at(X, triangles, per_facet, s.facet_ptr, s.facet))
        return np.concatenate(parts)

    def of_body(self, body: int, patch: Surface | None = None) -> np.ndarray:
        """Numbers of the samples of one body, or of those on a patch of its boundary."""
        mine = self.body == body
        if patch is not None:
            off = ~np.isin(self.support, patch.vertices)
            mine &= np.add.reduceat(off, self.support_ptr[:-1]) == 0
        return np.flatnonzero(mine)

    def _stack_points(self, robot: Any, touched: Iterable[int]) -> None:
        """The stack, and for each touched body the number in it of each of its nodes."""
        parts, self.point_of_node, first = [s.points for s in self.samples], {}, self.size
        facet_nodes = []
        for s, start in zip(self.samples, np.cumsum([0, *map(len, self.samples)]), strict=False):
            place = _sampled_nodes(s, int(start))
            missing = [] if s.surface is None else sorted(set(s.surface.facets.ravel().tolist()) - set(place))
            if missing:  # mid nodes that are no samples
                parts.append(s.body.node_points(np.array(missing)))
                place |= dict(zip(missing, range(first, first + len(missing)), strict=True))
                first += len(missing)
            facet_nodes.append(place)
        self.facets = Facets.of(self.samples, facet_nodes)
        self.all_nodes_sampled = first == self.size
        for b in touched:
            nodes = robot.bodies[b].mesh.surface.vertices
            parts.append(robot.bodies[b].node_points(nodes))
            place = np.full(len(robot.bodies[b].mesh.nodes), -1)
            place[nodes] = first + np.arange(len(nodes))
            self.point_of_node[b] = place
            first += len(nodes)
        self.parts = tuple(parts)
        self.points_of_samples = Stack(robot, [s.points for s in self.samples])
        more = len(parts) > len(self.samples)
        self.points = Stack(robot, parts) if more else self.points_of_samples


def _sampled_nodes(samples: Samples, first: int) -> dict[int, int]:
    """The number of the sample at each node of the surface that has one; `first`: of these samples."""
    single = np.flatnonzero(np.diff(samples.points.node_ptr) == 1)
    nodes = samples.points.node_index[samples.points.node_ptr[single]]
    return dict(zip(nodes.tolist(), (first + single).tolist(), strict=True))
