"""How deep the surfaces of bodies lie in each other, measured densely on the facets as they are.

A point of one body is as deep in another as it is far from that body's boundary, if it is inside. Of a body
in itself, the rules of detection tell what a point may touch and how deep it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from pliant.arrays import frozen
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import FineLattice
from pliant.contact.detect.opponents import SoftOpponent, SoftSearch
from pliant.contact.detect.quadrature import facet_is_near
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Target
from pliant.contact.geometry.triangle import box_square, closest, pseudo_normal
from pliant.errors import InputError
from pliant.mesh import Surface

DEEP = (
    0.5  # of the depth of the deepest triangle: those that are looked at again, on all places of the lattice
)


@njit(cache=True, error_model="numpy")
def deepest_in(X, triangles, nodes, part, N, counts, Y, T, normals, across, fan_ptr, fan, links, bounds):
    """Depth (t,) [m] of the deepest point of triangles with nodes at X in the closed surface T at Y, or 0.

    N (K, P, nn): shape functions at P points of each of the K triangles of a facet. counts (t,): which
    triangles do.
    """
    deepest, m, P, nn = np.zeros(len(triangles)), np.empty(3), N.shape[1], N.shape[2]
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not counts[t] or not facet_is_near(X, i, j, k, nodes[t], bounds, links, 0.0):
            continue
        for g in range(P):
            x, y, z = 0.0, 0.0, 0.0
            for a in range(nn):
                w, n = N[part[t], g, a], nodes[t, a]
                x, y, z = x + w * X[n, 0], y + w * X[n, 1], z + w * X[n, 2]
            if box_square(x, y, z, bounds, 0) > 0.0:
                continue
            depth = -_signed(x, y, z, Y, T, normals, across, fan_ptr, fan, links, bounds, m)
            deepest[t] = max(deepest[t], depth)
    return deepest


@njit(error_model="numpy")
def _signed(x, y, z, Y, T, normals, across, fan_ptr, fan, links, bounds, m):
    """Signed distance of a point to a closed surface, negative inside."""
    n, best, side = 0, np.inf, 1.0
    while n < len(links):
        if box_square(x, y, z, bounds, n) >= best:
            n = links[n, 0]
            continue
        for t in range(links[n, 1], links[n, 2]):
            i, j, k = T[t, 0], T[t, 1], T[t, 2]
            if normals[t, 0] == 0.0 and normals[t, 1] == 0.0 and normals[t, 2] == 0.0:
                continue
            a, b, c, feature = closest(x, y, z, Y, i, j, k)
            u = x - a * Y[i, 0] - b * Y[j, 0] - c * Y[k, 0]
            v = y - a * Y[i, 1] - b * Y[j, 1] - c * Y[k, 1]
            w = z - a * Y[i, 2] - b * Y[j, 2] - c * Y[k, 2]
            square = u * u + v * v + w * w
            if square < best:
                best = square
                pseudo_normal(Y, T, normals, across, fan_ptr, fan, t, feature, m)
                side = 1.0 if u * m[0] + v * m[1] + w * m[2] >= 0.0 else -1.0
        n += 1
    return side * np.sqrt(best)


@dataclass(frozen=True, eq=False)
class _Way:
    """Points of a patch of one body against another, or the same: the opponent's number, and what is met."""

    slot: int
    body: int
    lattice: FineLattice
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
        return _Way(slot, body, FineLattice(patch), other, Target.of(self.skins[other], onto), moves)

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
            measured = self._in_itself if way.body == way.other else self._in_another
            depth[way.slot] = max(depth[way.slot], measured(way, at, reach))
        return np.maximum(depth, self._of_balls(q, p, reach))

    def between(self, q: np.ndarray, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Depth [m] of bodies in each other, by pairs of them."""
        robot = self.robot
        at = {b: self.skins[b].posture(q[robot.q_spans[b]]) for b in {b for pair in pairs for b in pair}}
        depth = dict.fromkeys(pairs, 0.0)
        for way in self._ways:
            pair = min(way.body, way.other), max(way.body, way.other)
            if pair in depth and way.body != way.other:
                depth[pair] = max(depth[pair], self._in_another(way, at, np.inf))
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

    def _in_another(self, way: _Way, at: Mapping[int, Posture], reach: float) -> float:
        lattice, skin, there = way.lattice, self.skins[way.other], at[way.other]
        of = lattice.triangles, frozen(lattice.nodes, int), frozen(lattice.part, int)
        near = skin.adjacency
        onto = there.X, skin.triangles, there.normals, near.across, near.fan_ptr, near.fan, skin.links
        places = frozen(lattice.reference.shape[:, lattice.coarse])
        depth = deepest_in(at[way.body].X, *of, places, way.moves, *onto, there.bounds)
        if not depth.any():
            return 0.0
        deep = depth > DEEP * depth.max()
        places = frozen(lattice.reference.shape)
        return float(deepest_in(at[way.body].X, *of, places, deep, *onto, there.bounds).max())

    def _in_itself(self, way: _Way, at: Mapping[int, Posture], reach: float) -> float:
        lattice = way.lattice
        every = np.arange(len(lattice.triangles))[:, None] * lattice.per
        number = (every + lattice.coarse).ravel()
        depth = self._depths(way, at, number, reach)
        if not depth.any():
            return 0.0
        deep = np.unique(number[depth > DEEP * depth.max()] // lattice.per)
        number = (deep[:, None] * lattice.per + np.arange(lattice.per)).ravel()
        return float(self._depths(way, at, number, reach).max())

    def _depths(self, way: _Way, at: Mapping[int, Posture], number: np.ndarray, reach: float) -> np.ndarray:
        """Depth (n,) [m] of places of the lattice in the same body, or 0."""
        depth = np.zeros(len(number))
        spots = way.lattice.at(at[way.body].X, number)
        found = way.target.search(at[way.other], spots, True, (reach, reach))
        met = way.target.meet(at[way.other], spots, found)
        if met is not None:
            depth[met.which] = np.maximum(-met.gap[met.which], 0.0)
        return depth


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
