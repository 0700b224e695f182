"""Way: points of one surface against the skin of a body, and what each of them meets there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen, frozen_view
from pliant.contact.detect.mortar import feet
from pliant.contact.detect.nearest import nearest_facing
from pliant.contact.detect.quadrature import Reference, Spots, reference
from pliant.contact.detect.rules import SHALLOW
from pliant.contact.detect.skin import Posture, Skin
from pliant.mesh import Surface

FRONTAL = 0.7  # cosine: a point and its partner look at each other within 45°
NOBODY = np.zeros(0, bool)


class Found(NamedTuple):
    """By point: gap (n,) [m], normal (n, 3), triangle (n,) of the skin or −1, weights (n, 3) on it."""

    gap: np.ndarray
    normal: np.ndarray
    triangle: np.ndarray
    weights: np.ndarray


class Met(NamedTuple):
    """Points `which` (n,) that have a partner; by point: gap, normal, triangle of the skin, weights on it.

    N (n, nn) and slope (n, nn, 3): shape functions of the facets that are touched, and their gradients.
    looking (m,): all points that have a partner, those among them that were too far to be measured exactly.
    """

    which: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    triangle: np.ndarray
    weights: np.ndarray
    N: np.ndarray
    slope: np.ndarray
    looking: np.ndarray


@dataclass(frozen=True, eq=False)
class Target:
    """A patch of a skin: which triangles (t,) are allowed, the nodes (t, nn) of their facets, their parts."""

    skin: Skin
    allowed: np.ndarray
    facets: np.ndarray
    part: np.ndarray
    reference: Reference
    nodes: np.ndarray  # (m,) numbers of the nodes of the skin's tree that hold allowed triangles …
    links: np.ndarray  # … and their links (m, 3), as in `geometry/tree.py`

    @classmethod
    def of(cls, skin: Skin, patch: Surface) -> Target:
        """A patch of the body's boundary."""
        surface, allowed = skin.surface, skin.allowed(patch)
        count = np.concatenate([[0], np.cumsum(allowed)])
        skip, start, stop = skin.links.T
        ends = np.append(start, len(surface.triangles))[np.minimum(skip, len(start))]
        used = count[ends] > count[start]
        before = np.concatenate([[0], np.cumsum(used)])
        return cls(
            skin,
            allowed,
            frozen(surface.facets[surface.facet_of_triangle[skin.order]], int),
            frozen(skin.order % (len(surface.triangles) // len(surface)), int),
            reference(surface.kind),
            np.flatnonzero(used),
            frozen(np.column_stack([before[skip], start, stop])[used], int),
        )

    def bounds(self, at: Posture) -> np.ndarray:
        """Bounds (m, 12) of the nodes of the tree that hold allowed triangles."""
        return at.bounds if len(self.nodes) == len(at.bounds) else at.bounds[self.nodes]

    def search(
        self, at: Posture, spots: Spots, own: bool, reach: tuple[float, float], found: Found | None = None
    ) -> Found:
        """The nearest triangle that looks at each of the points `spots.which`, within reach[0] [m].

        own: whether they belong to the same body. Points that are deeper than a tenth of reach[1] must be
        inside it. They are added to what was `found` before.
        """
        which, p, facing, rest, support_ptr, support = spots
        skin, near, along, n = self.skin, self.skin.adjacency, self.skin.geodesics, len(p)
        if found is None:
            found = Found(np.full(n, np.inf), np.zeros((n, 3)), np.full(n, -1), np.zeros((n, 3)))
        nearest_facing(
            frozen_view(which, int), frozen_view(np.full(len(which), own), bool), frozen_view(p), facing,
            frozen_view(np.zeros(n)), rest, support_ptr, support,
            at.X, skin.rest, skin.triangles, self.allowed, at.normals, skin.rest_normals,
            near.across, near.fan_ptr, near.fan, self.links, self.bounds(at), skin.links, at.bounds,
            along.ptr, along.node, along.length, along.limit, True, reach[0], SHALLOW * reach[1],
            *found,
        )  # fmt: skip
        return found

    def meet(
        self,
        at: Posture,
        spots: Spots,
        found: Found,
        before: np.ndarray | None = None,
        limit: float = np.inf,
        stays: np.ndarray = NOBODY,
    ) -> Met | None:
        """What points meet of it, as measured from its facets as they are; None where they meet nothing.

        found: what was found for `spots.which`. before: earlier triangles, by point. limit [m]: gaps above it
        need not be measured, unless the point `stays` (n,).
        """
        which, p, facing, n = spots.which, spots.p, spots.facing, len(spots.p)
        gap, normal, triangle, weights = found
        looking = frontal(which, triangle, facing, normal, at.normals)
        if not len(looking):
            return None
        which = looking
        if limit < np.inf:
            which = below(looking, gap, triangle, at.X, self.facets, limit, stays)
        nn, r = self.facets.shape[1], self.reference
        N, slope = np.empty((len(which), nn)), np.empty((len(which), nn, 3))
        feet(
            which, p, triangle, weights, np.full(n, -1) if before is None else before, at.X,
            self.facets, self.part, r.corner, r.exponents, r.coefficients, gap, normal, N, slope,
        )  # fmt: skip
        return Met(which, *found, N, slope, looking)


@njit(cache=True, error_model="numpy")
def frontal(which, triangle, facing, normal, normals):
    """Those of the points `which` that look at what they met; a facet met at its edge must look here too."""
    out, count = np.empty(len(which), np.int64), 0
    for s in which:
        t = triangle[s]
        if t < 0:
            continue
        across, facet = 0.0, 0.0
        for c in range(3):
            across += facing[s, c] * normal[s, c]
            facet += facing[s, c] * normals[t, c]
        if across < -FRONTAL and facet < -FRONTAL:
            out[count] = s
            count += 1
    return out[:count].copy()


@njit(cache=True, error_model="numpy")
def below(which, gap, triangle, X, facets, limit, stays):
    """Those of the points `which` that stay, or whose gaps to curved facets may be below `limit` [m]."""
    out, count, nn = np.empty(len(which), np.int64), 0, facets.shape[1]
    for s in which:
        square = 0.0
        if nn == 4:  # no point of a twisted facet is farther off its two triangles than the square root
            f = facets[triangle[s]]
            for c in range(3):
                twist = 0.25 * (X[f[0], c] - X[f[1], c] + X[f[2], c] - X[f[3], c])
                square += twist * twist
        if nn > 4 or gap[s] - np.sqrt(square) < limit or (len(stays) and stays[s]):
            out[count] = s
            count += 1
    return out[:count].copy()
