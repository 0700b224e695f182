"""Deformable opponents: parts of the robot's own bodies that its samples may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import frozen
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.nearest import nearest_facing
from pliant.contact.detect.nearest_on_sheet import nearest_on_sheet
from pliant.contact.detect.rules import SHALLOW
from pliant.contact.detect.samples import Samples, require_own
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Facets
from pliant.errors import InputError
from pliant.mesh import Surface

SMALL_PATCH = 0.5  # share of a body's triangles below which a patch is searched alone


@dataclass(frozen=True, eq=False)
class SoftOpponent:
    """A patch of a body, and who may touch it: pairs (body, patch of its boundary or None for all of it)."""

    name: str
    body: int
    patch: Surface
    touched_by: tuple[tuple[int, Surface | None], ...]

    def samples(self, cloud: Cloud) -> tuple[np.ndarray, np.ndarray]:
        """Which samples may touch it, and whether each belongs to the same body."""
        which = np.concatenate([cloud.of_body(body, patch) for body, patch in self.touched_by])
        return frozen(which, int), frozen(cloud.body[which] == self.body, bool)

    @property
    def touches_itself(self) -> bool:
        """Whether samples of the same body are among those."""
        return any(body == self.body for body, _ in self.touched_by)


def body_opponents(samples: Mapping[int, Samples], self_contact: bool, between: Any) -> list[SoftOpponent]:
    """One for each body with samples on its boundary that itself or others may touch."""
    found = []
    for b, mine in samples.items():
        others = [o for o in samples if o != b and _together(between, o, b)]
        by = tuple((o, None) for o in sorted(others + ([b] if self_contact else [])))
        if mine.surface is not None and by:
            found.append(SoftOpponent(f"body {b}", b, mine.surface, by))
    return found


def pair_opponents(robot: Any, samples: Mapping[int, Samples], pairs: Any) -> list[SoftOpponent]:
    """Two for each pair of patches, or one if they are the same: each is touched by samples on the other."""
    found = []
    for k, pair in enumerate(pairs):
        if not (
            isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(s, Surface) for s in pair)
        ):
            raise InputError(f"self_contact[{k}]", expected="a pair of surfaces", got=repr(pair))
        first, second = pair
        a, b = _owner(robot, first), _owner(robot, second)
        if a not in samples or b not in samples:
            raise InputError(
                f"self_contact[{k}]", expected="surfaces of bodies that are sampled", got="another"
            )
        found.append(SoftOpponent(f"pair {k} second", b, second, ((a, first),)))
        if first is not second:
            found.append(SoftOpponent(f"pair {k} first", a, first, ((b, second),)))
    return found


def _together(between: Any, a: int, b: int) -> bool:
    if isinstance(between, (bool, np.bool_)):
        return bool(between)
    return any({a, b} == set(pair) for pair in between)


def _owner(robot: Any, surface: Surface) -> int:
    for n, body in enumerate(robot.bodies):
        if np.array_equal(surface.nodes, body.mesh.nodes):
            return n
    require_own(robot.bodies[0], surface)
    return 0


@dataclass(frozen=True, eq=False)
class _Task:
    """One opponent: its skin, who may touch it, and the numbers of its nodes in the stack of points."""

    body: int
    skin: Skin
    allowed: np.ndarray
    which: np.ndarray
    own: np.ndarray
    points: np.ndarray | None
    facets: Facets | None  # where they are curved
    part: tuple[Skin, np.ndarray, Facets | None] | None  # a skin of its patch alone, and the same of that


class SoftSearch:
    """Nearest touchable triangles of deformable opponents for one cloud of samples.

    Where a patch is a small part of a body's boundary only that part is looked at, unless something is deep
    in it.
    """

    def __init__(self, cloud: Cloud, skins: dict[int, Skin], opponents: Sequence[SoftOpponent]) -> None:
        self.cloud = cloud
        self._tasks = []
        for o in opponents:
            skin, part = skins[o.body], None
            if len(o.patch.triangles) < SMALL_PATCH * len(skin.triangles):
                alone = Skin(skin.body, 0.0, patch=o.patch)
                part = alone, alone.allowed(o.patch), Facets.of(alone)
            points = cloud.point_of_node.get(o.body)
            known = skin.allowed(o.patch), *o.samples(cloud), points, Facets.of(skin), part
            self._tasks.append(_Task(o.body, skin, *known))

    def __call__(
        self, robot: Any, q: np.ndarray, p: np.ndarray, reach: float, gaps: np.ndarray, normals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fill gaps (k, S) and normals (k, S, 3) of the k opponents; corner points and weights (k, S, 3)."""
        shape = (len(self._tasks), self.cloud.size)
        gaps[: shape[0]] = np.inf
        triangle, weights = np.full(shape, -1), np.zeros((*shape, 3))
        corners = np.zeros((*shape, 3), np.int64)
        if not self._tasks:
            return corners, weights
        facing, postures = self.cloud.facing(q), {}
        for k, task in enumerate(self._tasks):
            found = gaps[k], normals[k], triangle[k], weights[k]
            own_q = q[robot.q_spans[task.body]]
            skin = None if task.part is None else self._search_part(task, own_q, p, facing, reach, found)
            if skin is None:
                skin = task.skin
                if task.body not in postures:
                    postures[task.body] = skin.posture(own_q)
                at = postures[task.body]
                self._search(skin, at, task.allowed, task.facets, task, p, facing, reach, found)
            hit = task.which[triangle[k][task.which] >= 0]
            if task.points is not None and len(hit):
                corners[k, hit] = task.points[skin.triangles[triangle[k, hit]]]
        return corners, weights

    def _search_part(self, task: _Task, q, p, facing, reach: float, found) -> Skin | None:
        """The skin of the patch, searched; None where something is so deep that the whole skin must be."""
        assert task.part is not None
        skin, allowed, facets = task.part
        if len(task.which):
            self._search(skin, skin.posture(q), allowed, facets, task, p, facing, reach, found)
        gap, _, triangle, _ = found
        if skin.half_thickness is None and (gap[task.which] < -SHALLOW * reach).any():
            gap[task.which], triangle[task.which] = np.inf, -1
            return None
        return skin

    def _search(
        self,
        skin: Skin,
        at: Posture,
        allowed: np.ndarray,
        facets: Facets | None,
        task: _Task,
        p: np.ndarray,
        facing: np.ndarray,
        reach: float,
        found: tuple[np.ndarray, ...],
    ) -> None:
        cloud, near, along, which, own = self.cloud, skin.adjacency, task.skin.geodesics, task.which, task.own
        if skin.half_thickness is not None:
            self._search_sheet(skin, skin.half_thickness, at, allowed, which[~own], p, facing, reach, found)
            return
        nearest_facing(
            which, own, p, facing, cloud.radius, cloud.rest, cloud.support_ptr, cloud.support,
            at.X, skin.rest, skin.triangles, allowed, at.normals, skin.rest_normals,
            near.across, near.fan_ptr, near.fan, skin.links, at.bounds, skin.links, at.bounds,
            along.ptr, along.node, along.length, along.limit, skin is task.skin, reach, SHALLOW * reach,
            *found,
        )  # fmt: skip
        if facets is not None:
            facets.measure(which[found[2][which] >= 0], p, at.X, found)

    def _search_sheet(
        self,
        skin: Skin,
        half: np.ndarray,
        at: Posture,
        allowed: np.ndarray,
        which: np.ndarray,
        p: np.ndarray,
        facing: np.ndarray,
        reach: float,
        found: tuple[np.ndarray, ...],
    ) -> None:
        """Both sides of a sheet, half its thickness off its middle surface; it does not touch itself."""
        near, (gap, _, triangle, weights) = skin.adjacency, found
        nearest_on_sheet(
            frozen(which, int), p, facing, self.cloud.radius,
            at.X, skin.triangles, allowed, at.normals, near.across, near.fan_ptr, near.fan, skin.rim,
            skin.links, at.bounds, reach + float(half.max()), *found,
        )  # fmt: skip
        hit = which[triangle[which] >= 0]
        gap[hit] -= np.einsum("nk,nk->n", weights[hit], half[skin.triangles[triangle[hit]]])
