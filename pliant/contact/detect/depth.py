"""How deep the surfaces of bodies lie in each other, measured on the facets as they are.

A point of one body is as deep in another as it is far from that body's boundary, if it is inside. A point of
a body's own skin is as deep in that body as it is far from the nearest facet that it may touch (`rules`), if
the skin goes round the places right behind it twice.

The deepest point is searched by cells, triangles of facets that are quartered again and again. Depth changes
no faster than the place: a cell is no deeper than its middle is and its corners are away from that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from pliant.arrays import frozen, frozen_view
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.mortar import feet
from pliant.contact.detect.opponents import SoftOpponent, SoftSearch
from pliant.contact.detect.quadrature import reference
from pliant.contact.detect.rules import apart, crossings, next_leaf, through_wall
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Target
from pliant.contact.geometry.triangle import closest, offset, pseudo_normal
from pliant.errors import InputError
from pliant.mesh import Surface
from pliant.mesh.elements import shape

KNOWN = 1e-5  # of the robot's length: how well the depth is known
MOST_CELLS = 128  # that are cut further, those that may be deepest: faces on each other have many
EVERY = 2  # cuts after which only so many are
QUARTERS = 0.5 * np.array(  # corners of the four parts of a cell, as weights of its corners
    [
        [[2, 0, 0], [1, 1, 0], [1, 0, 1]],
        [[1, 1, 0], [0, 2, 0], [0, 1, 1]],
        [[1, 0, 1], [0, 1, 1], [0, 0, 2]],
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
    ]
)


@njit(cache=True, error_model="numpy")
def nearest_boundary(
    p, facing, rest, support_ptr, support, reach, own,  # points of a skin
    Y, Y0, T, allowed, normals, across, fan_ptr, fan, links, bounds,  # a closed surface
    ways_ptr, ways_node, ways_length, limit,
):  # fmt: skip
    """Signed distance (n,) [m] of points to a closed surface, no more than reach, triangle, weights, normal.

    Normals point to the outside; the triangle is −1 where nothing is within reach. A point of another body is
    inside where it lies behind the place that is nearest. For points of the `own` body only triangles count
    that are allowed and far along the skin, and one is inside where a place half as far behind it as the
    triangle is lies in the body twice.
    """
    n = len(p)
    gap, triangle = np.full(n, reach), np.full(n, -1)
    weights, normal = np.zeros((n, 3)), np.zeros((n, 3))
    for s in range(n):
        x, y, z, best, feature = p[s, 0], p[s, 1], p[s, 2], reach, 0
        node = next_leaf(0, x, y, z, best * best, 0.0, 0.0, 0.0, bounds, links)
        while node < len(links):
            for t in range(links[node, 1], links[node, 2]):
                if normals[t, 0] == 0.0 and normals[t, 1] == 0.0 and normals[t, 2] == 0.0:
                    continue
                if own and not allowed[t]:
                    continue
                i, j, k = T[t, 0], T[t, 1], T[t, 2]
                a, b, c, at = closest(x, y, z, Y, i, j, k)
                u, v, w = offset(x, y, z, Y, i, j, k, a, b, c)
                d = np.sqrt(u * u + v * v + w * w)
                if d >= best:
                    continue
                if own:
                    if not apart(
                        s, d, rest, support_ptr, support, Y0, T, t, ways_ptr, ways_node, ways_length, limit
                    ):
                        continue
                    behind = u * normals[t, 0] + v * normals[t, 1] + w * normals[t, 2] < 0.0
                    if behind and through_wall(s, -d, rest, Y0, T, t):
                        continue
                best, triangle[s], feature = d, t, at
                weights[s, 0], weights[s, 1], weights[s, 2] = a, b, c
            node = next_leaf(node + 1, x, y, z, best * best, 0.0, 0.0, 0.0, bounds, links)
        t = triangle[s]
        if t < 0:
            continue
        mx, my, mz = pseudo_normal(Y, T, normals, across, fan_ptr, fan, t, feature)
        normal[s, 0], normal[s, 1], normal[s, 2] = mx, my, mz
        if own:
            into = 0.5 * best
            u, v, w = x - into * facing[s, 0], y - into * facing[s, 1], z - into * facing[s, 2]
            inside = crossings(u, v, w, Y, T, links, bounds) >= 2
        else:
            a, b, c = weights[s, 0], weights[s, 1], weights[s, 2]
            u, v, w = offset(x, y, z, Y, T[t, 0], T[t, 1], T[t, 2], a, b, c)
            inside = u * mx + v * my + w * mz < 0.0
        gap[s] = -best if inside else best
    return gap, triangle, weights, normal


@dataclass(frozen=True, eq=False)
class _Places:
    """Any places on the triangles of a surface, by triangle and weights of its corners."""

    surface: Surface
    nodes: np.ndarray  # (t, nn) of the facet of each triangle
    part: np.ndarray  # (t,) which triangle of its facet each is

    @classmethod
    def of(cls, surface: Surface) -> _Places:
        """Of a surface."""
        per = len(surface.triangles) // len(surface)
        part = np.arange(len(surface.triangles)) % per
        return cls(surface, frozen(surface.facets[surface.facet_of_triangle], int), frozen(part, int))

    def at(self, X: np.ndarray, t: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Positions (n, 3) [m] at weights b (n, 3) of the corners of triangles t (n,), nodes at X (k, 3)."""
        corner = reference(self.surface.kind).corner[self.part[t]]
        N = shape(self.surface.kind, np.einsum("na,nai->ni", b, corner))
        return np.einsum("na,nai->ni", N, X[self.nodes[t]])

    def facing(self, X: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Unit normals (n, 3) of triangles."""
        a, b, c = np.moveaxis(X[self.surface.triangles[t]], 1, 0)
        across = np.cross(b - a, c - a)
        return across / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]


@dataclass(frozen=True, eq=False)
class _Way:
    """Points of a patch of one body against another, or the same: the opponent's number, and what is met."""

    slot: int
    body: int
    places: _Places
    other: int
    target: Target
    moves: np.ndarray  # (t,) triangles that something can move, or that touch something that moves


class SoftDepth:
    """The depth of bodies in each other and in themselves, by opponent; `search` finds what samples touch."""

    def __init__(
        self,
        robot: Any,
        cloud: Cloud,
        skins: Mapping[int, Skin],
        opponents: Sequence[SoftOpponent],
        search: SoftSearch,
    ) -> None:
        self.robot, self.cloud, self.search = robot, cloud, search
        self.skins, self.opponents = dict(skins), opponents
        self._ways = []
        for slot, to in enumerate(opponents):
            for body, patch in to.touched_by:
                mine = cloud.samples[cloud.bodies.index(body)].surface if patch is None else patch
                if mine is None or robot.bodies[body].two_sided or robot.bodies[to.body].two_sided:
                    continue
                for b in (body, to.body):
                    if b not in self.skins:
                        self.skins[b] = Skin(robot.bodies[b], 0.0)
                self._ways.append(self._way(robot, slot, body, mine, to.body, to.patch))
                self._ways.append(self._way(robot, slot, to.body, to.patch, body, mine))

    def _way(self, robot: Any, slot: int, body: int, patch: Surface, other: int, onto: Surface) -> _Way:
        free = lambda b: robot.bodies[b].free.any()
        moves = np.full(len(patch.triangles), bool(free(body) or free(other)))
        return _Way(slot, body, _Places.of(patch), other, Target.of(self.skins[other], onto), moves)

    def __call__(self, q: np.ndarray, p: np.ndarray, reach: float) -> np.ndarray:
        """Depth (k,) [m] in each of the k opponents, 0 if none; in itself not deeper than `reach` [m].

        The samples are at p (S, 3) [m].
        """
        robot, at = self.robot, {}
        for way in self._ways:
            for b in (way.body, way.other):
                if b not in at:
                    at[b] = self.skins[b].posture(q[robot.q_spans[b]])
        depth = np.zeros(len(self.opponents))
        for way in self._ways:
            depth[way.slot] = max(depth[way.slot], self._deepest(way, at, reach))
        return np.maximum(depth, self._of_balls(q, p, reach))

    def between(self, q: np.ndarray, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Depth [m] of bodies in each other, by pairs of them."""
        robot = self.robot
        at = {b: self.skins[b].posture(q[robot.q_spans[b]]) for b in {b for pair in pairs for b in pair}}
        depth = dict.fromkeys(pairs, 0.0)
        for way in self._ways:
            pair = min(way.body, way.other), max(way.body, way.other)
            if pair in depth and way.body != way.other:
                depth[pair] = max(depth[pair], self._deepest(way, at, np.inf))
        return depth

    def _of_balls(self, q: np.ndarray, p: np.ndarray, reach: float) -> np.ndarray:
        """Depth (k,) [m] of samples with a radius in bodies, and of all samples in sheets."""
        cloud, k = self.cloud, len(self.opponents)
        sheet = np.array([self.robot.bodies[o.body].two_sided for o in self.opponents])
        if not (sheet.any() or cloud.radius.any()):
            return np.zeros(k)
        gaps, normals = np.empty((k, cloud.size)), np.empty((k, cloud.size, 3))
        self.search(self.robot, q, p, reach, gaps, normals)
        counts = cloud.points.mobile[: cloud.size] & (sheet[:, None] | (cloud.radius > 0.0))
        return np.max(np.where(counts, cloud.radius - gaps, 0.0), axis=1, initial=0.0)

    def _deepest(self, way: _Way, at: Mapping[int, Posture], reach: float) -> float:
        """Depth [m] of the deepest point of a way, 0 if none is inside."""
        X, places, known, best, far = at[way.body].X, way.places, KNOWN * self.robot.length, 0.0, np.inf
        t = np.flatnonzero(way.moves)
        cells, cuts = np.broadcast_to(np.eye(3), (len(t), 3, 3)), 0
        while len(t):
            middle = cells.mean(axis=1)
            p = places.at(X, t, middle)
            corners = places.at(X, np.repeat(t, 3), cells.reshape(-1, 3)).reshape(-1, 3, 3)
            size = np.linalg.norm(corners - p[:, None], axis=2).max(axis=1)
            depth = -self._gaps(way, at, t, middle, p, far, reach)
            best = max(best, float(depth.max()))
            most = depth + size
            open_ = np.flatnonzero((most > best + known) & (size > known))
            cuts += 1
            if cuts > EVERY and len(open_) > MOST_CELLS:
                open_ = open_[np.argsort(-most[open_])[:MOST_CELLS]]
            far = 1.1 * float(most[open_].max(initial=0.0)) + known  # none of these is deeper
            cells = np.einsum("qab,nbc->nqac", QUARTERS, cells[open_]).reshape(-1, 3, 3)
            t = np.repeat(t[open_], 4)
        return best

    def _gaps(self, way: _Way, at: Mapping[int, Posture], t, b, p, far: float, reach: float) -> np.ndarray:
        """Gaps (n,) [m] of points p (n, 3), those above `far` not exactly; to the same skin `reach` at most.

        They lie at weights b (n, 3) of triangles t (n,).
        """
        skin, there, places, own = self.skins[way.other], at[way.other], way.places, way.body == way.other
        near, along, nodes = skin.adjacency, skin.geodesics, places.nodes[t]
        ptr = frozen(nodes.shape[1] * np.arange(len(t) + 1), int)
        gap, *found = nearest_boundary(
            frozen_view(p), frozen_view(places.facing(at[way.body].X, t)),
            frozen_view(places.at(self.skins[way.body].rest, t, b)),
            ptr, frozen(nodes.ravel(), int), min(far, reach) if own else far, own,
            there.X, skin.rest, skin.triangles, way.target.allowed, there.normals,
            near.across, near.fan_ptr, near.fan, skin.links, there.bounds,
            along.ptr, along.node, along.length, along.limit,
        )  # fmt: skip
        exact = self._on_facets(way, there, p, gap.copy(), *found)
        return np.where(gap > 0.0, gap, exact) if own else exact

    def _on_facets(self, way: _Way, there: Posture, p, gap, triangle, weights, normal) -> np.ndarray:
        """Gaps (n,) [m] to the facets as they are of points that are nearest to straight triangles."""
        target, r, which = way.target, way.target.reference, np.flatnonzero(triangle >= 0)
        nn = target.facets.shape[1]
        if nn == 3 or not len(which):
            return gap
        N, slope = np.empty((len(which), nn)), np.empty((len(which), nn, 3))
        feet(
            which, p, triangle, weights, np.full(len(p), -1), there.X, target.facets, target.part,
            r.corner, r.exponents, r.coefficients, gap, normal, N, slope,
        )  # fmt: skip
        return gap


def require_bodies_apart(
    robot: Any,
    q: np.ndarray,
    opponents: Sequence[SoftOpponent],
    seen: float,
    measure: Callable[[], SoftDepth],
) -> None:
    """Raise where bodies that may touch lie deeper in each other at q than contact looks, `seen` [m].

    They are measured only where the boxes round them overlap as much.
    """
    touching = {(body, o.body) for o in opponents for body, _ in o.touched_by if body != o.body}
    pairs, boxes = sorted({(min(pair), max(pair)) for pair in touching}), {}
    for b in {b for pair in pairs for b in pair}:
        X = robot.bodies[b].positions(q[robot.q_spans[b]])
        boxes[b] = X.min(axis=0), X.max(axis=0)
    width = lambda a, b: np.minimum(boxes[a][1], boxes[b][1]) - np.maximum(boxes[a][0], boxes[b][0])
    near = [pair for pair in pairs if (width(*pair) > seen).all()]
    for (a, b), d in (measure().between(q, near) if near else {}).items():
        if d > seen:
            raise InputError(
                f"bodies {a} and {b} of {robot.name!r}",
                expected=f"an overlap of {1e3 * seen:.3g} mm at most, as far as contact is looked for",
                got=f"{1e3 * d:.3g} mm",
                hint="Move them apart first, let them not touch (between_bodies), or look farther (alarm).",
            )
