"""Way: points of one surface against the skin of a body, and what each of them meets there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.arrays import frozen, frozen_view
from pliant.contact.detect.mortar import feet
from pliant.contact.detect.nearest import nearest_facing
from pliant.contact.detect.quadrature import Reference, Spots, reference
from pliant.contact.detect.rules import SHALLOW
from pliant.contact.detect.skin import Posture, Skin
from pliant.mesh import Surface

FRONTAL = 0.7  # cosine: a point and its partner look at each other within 45°


class Met(NamedTuple):
    """Points `which` (n,) that have a partner; by point: gap, normal, triangle of the skin, weights on it.

    N (n, nn) and slope (n, nn, 3): shape functions of the facets that are touched, and their gradients.
    """

    which: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    triangle: np.ndarray
    weights: np.ndarray
    N: np.ndarray
    slope: np.ndarray


@dataclass(frozen=True, eq=False)
class Target:
    """A patch of a skin: which triangles (t,) are allowed, the nodes (t, nn) of their facets, their parts."""

    skin: Skin
    allowed: np.ndarray
    facets: np.ndarray
    part: np.ndarray
    reference: Reference
    idle: np.ndarray  # (m,) nodes of the skin's tree without allowed triangles

    @classmethod
    def of(cls, skin: Skin, patch: Surface) -> Target:
        """A patch of the body's boundary."""
        surface, allowed = skin.surface, skin.allowed(patch)
        count = np.concatenate([[0], np.cumsum(allowed)])
        skip, start, _ = skin.links.T
        ends = np.append(start, len(surface.triangles))[np.minimum(skip, len(start))]
        return cls(
            skin,
            allowed,
            frozen(surface.facets[surface.facet_of_triangle[skin.order]], int),
            frozen(skin.order % (len(surface.triangles) // len(surface)), int),
            reference(surface.kind),
            count[ends] == count[start],
        )

    def bounds(self, at: Posture) -> np.ndarray:
        """Bounds (m, 12) of the nodes of the tree, out of the way where nothing is allowed."""
        return frozen_view(np.where(self.idle[:, None], np.inf, at.bounds)) if self.idle.any() else at.bounds

    def meet(
        self,
        at: Posture,
        spots: Spots,
        own: bool,
        reach: tuple[float, float],
        before: np.ndarray | None = None,
    ) -> Met | None:
        """What points meet of it in a posture: the nearest facet that looks at them within reach[0] [m].

        own: whether they belong to the same body. Points that are deeper than a tenth of reach[1] must be
        inside it. `before`: earlier triangles, by point.
        """
        which, p, facing, rest, support_ptr, support = spots
        skin, near, along, n = self.skin, self.skin.adjacency, self.skin.geodesics, len(p)
        gap, triangle = np.full(n, np.inf), np.full(n, -1)
        normal, weights = np.zeros((n, 3)), np.zeros((n, 3))
        nearest_facing(
            frozen_view(which, int), frozen(np.full(len(which), own), bool), frozen_view(p), facing,
            frozen(np.zeros(n)), rest, support_ptr, support,
            at.X, skin.rest, skin.triangles, self.allowed, at.normals, skin.rest_normals,
            near.across, near.fan_ptr, near.fan, skin.links, self.bounds(at), at.bounds,
            along.ptr, along.node, along.length, along.limit, True, reach[0], SHALLOW * reach[1],
            gap, normal, triangle, weights,
        )  # fmt: skip
        which = which[triangle[which] >= 0]
        look, facet = facing[which], at.normals[triangle[which]]  # a facet met at its edge must look here too
        across = np.einsum("ni,ni->n", look, normal[which]), np.einsum("ni,ni->n", look, facet)
        which = which[np.maximum(*across) < -FRONTAL]
        if not len(which):
            return None
        nn, r = self.facets.shape[1], self.reference
        N, slope = np.empty((len(which), nn)), np.empty((len(which), nn, 3))
        feet(
            which, p, triangle, weights, np.full(n, -1) if before is None else before, at.X,
            self.facets, self.part, r.corner, r.exponents, r.coefficients, gap, normal, N, slope,
        )  # fmt: skip
        return Met(which, gap, normal, triangle, weights, N, slope)
