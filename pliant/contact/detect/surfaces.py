"""Pairs of surfaces that touch over an area: which of the two carries the points, and their rows.

Of two surfaces the one with finer facets is the slave, so that each bit of area counts once; of equally fine
ones the one that lies farther back along a fixed direction. A surface that touches itself is slave and master
at once: points there have partners that lay farther along that direction at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import frozen, frozen_view
from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.lattice import edge_length
from pliant.contact.detect.mortar import feet, mortar_rows
from pliant.contact.detect.nearest import nearest_facing
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.detect.quadrature import Quadrature, Reference, placed, reference
from pliant.contact.detect.rules import SHALLOW
from pliant.contact.detect.samples import Samples, facet_mask
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.surface_contacts import SurfaceContacts, joined, of_points
from pliant.mesh import Surface

AHEAD = np.array([0.5481, 0.7714, 0.3235])  # no direction that meshes favour
AS_FINE = 1.02  # ratio of edges within which two surfaces are equally fine
FRONTAL = 0.7  # cosine: a point and its partner look at each other within 45°
SINKING = (
    0.125  # of the bound, that single points may sink in: rows of surfaces keep the mean, not each point
)
NOTHING = 1e-9  # of a weight: corners with less have no part in a point
ROWS = -(2**40)  # keys of rows of surfaces are their indices from here on, apart from those of single points


DEEPEST, DEEPEST_SHARE = (
    1e-4,
    5e-4,
)  # [m], and of the robot's length: how deep anything may be, whichever is more


def depth_bound(length: float) -> float:
    """How deep [m] surfaces may lie in each other; `length` is the robot's [m]."""
    return max(DEEPEST, DEEPEST_SHARE * length)


@dataclass(frozen=True, eq=False)
class SurfacePair:
    """Points of a slave against the skin of opponent number `slot`, the master.

    home (k, 2): the samples that the slave's nodes report on, half each; slave_point, master_point (k,): the
    numbers of nodes in the stack; facets (t, nn) and part (t,): of the triangles of the skin. widest [m]: how
    much farther than the reach points are looked at, so that the mean of a row does not depend on the reach.
    """

    slot: int
    slave: int
    points: Quadrature
    widest: float
    home: np.ndarray
    slave_point: np.ndarray
    master: int
    skin: Skin
    allowed: np.ndarray
    facets: np.ndarray
    part: np.ndarray
    reference: Reference
    master_point: np.ndarray
    same: bool  # whether slave and master are one surface

    @classmethod
    def of(
        cls,
        cloud: Cloud,
        skins: Mapping[int, Skin],
        slot: int,
        slave: int,
        patch: Surface,
        to: SoftOpponent,
        same: bool,
    ) -> SurfacePair:
        """A patch of the boundary of body `slave` against an opponent."""
        skin, samples = skins[to.body], cloud.samples[cloud.bodies.index(slave)]
        first = int(np.flatnonzero(cloud.body == slave)[0])
        surface = skin.surface
        return cls(
            slot,
            slave,
            Quadrature(patch),
            edge_length(patch),
            _homes(samples, patch, first),
            frozen(cloud.point_of_node[slave], int),
            to.body,
            skin,
            skin.allowed(to.patch),
            frozen(surface.facets[surface.facet_of_triangle[skin.order]], int),
            frozen(skin.order % (len(surface.triangles) // len(surface)), int),
            reference(surface.kind),
            frozen(cloud.point_of_node[to.body], int),
            same,
        )

    def found(
        self,
        X: np.ndarray,
        at: Posture,
        before: np.ndarray | None,
        mobile: np.ndarray,
        samples: int,
        reach: float,
    ) -> tuple | None:
        """What `mortar_rows` says, and the partners (t·G,) of the points: triangles of the skin, or −1.

        The slave's nodes are at X (k, 3), the master's skin in a posture; `before` are earlier partners.
        """
        points, skin, near = self.points, self.skin, self.skin.adjacency
        mine = points.reference
        which, p, facing = placed(
            X,
            points.triangles,
            points.nodes,
            points.part,
            mine.shape,
            at.bounds,
            skin.links,
            reach + self.widest,
        )
        if not len(which):
            return None
        n, own, along = len(p), frozen(np.full(len(which), self.own), bool), skin.geodesics
        gap, triangle = np.full(n, np.inf), np.full(n, -1)
        normal, weights = np.zeros((n, 3)), np.zeros((n, 3))
        before = np.full(n, -1) if before is None else before
        nearest_facing(
            frozen_view(which, int), own, frozen_view(p), facing, frozen(np.zeros(n)), points.rest,
            points.support_ptr, points.support,
            at.X, skin.rest, skin.triangles, self.allowed, at.normals, skin.rest_normals,
            near.across, near.fan_ptr, near.fan, skin.links, at.bounds,
            along.ptr, along.node, along.length, along.limit, True, reach + self.widest, SHALLOW * reach,
            gap, normal, triangle, weights,
        )  # fmt: skip
        which = self._partners(which, facing, normal, triangle, weights, at.normals)
        if not len(which):
            return None
        nn, r = self.facets.shape[1], self.reference
        N, slope = np.empty((len(which), nn)), np.empty((len(which), nn, 3))
        feet(
            which, p, triangle, weights, before, at.X, self.facets, self.part,
            r.corner, r.exponents, r.coefficients, gap, normal, N, slope,
        )  # fmt: skip
        rows = mortar_rows(
            which, p, points.area, gap, normal,
            points.triangles, points.nodes, points.part, mine.shape, mine.weights, mine.share, self.home,
            self.slave_point, triangle, self.facets, N, slope, self.master_point, mobile, samples, reach,
        )  # fmt: skip
        partner = np.full(n, -1)
        partner[which] = triangle[which]
        return *rows, partner

    @property
    def own(self) -> bool:
        """Whether slave and master are the same body."""
        return self.slave == self.master

    def _partners(self, which, facing, normal, triangle, weights, normals) -> np.ndarray:
        """Those of the points `which` that have one: face to face, and on one surface, ahead of them at rest.

        A facet that is touched at its edge must look at the point as well, along its `normals` (t, 3).
        """
        which = which[triangle[which] >= 0]
        look, facet = facing[which], normals[triangle[which]]
        across = np.einsum("ni,ni->n", look, normal[which]), np.einsum("ni,ni->n", look, facet)
        which = which[np.maximum(*across) < -FRONTAL]
        if self.same:
            corners = self.skin.rest[self.skin.triangles[triangle[which]]]
            partner = np.einsum("na,nai->ni", weights[which], corners)
            which = which[(partner - self.points.rest[which]) @ AHEAD > 0.0]
        return which


class SurfaceSearch:
    """The rows of all pairs of surfaces of a detector, and the single points that they do not keep apart.

    A row keeps the mean gap of its piece from closing. A point where the gap is smaller than the mean by
    `depth` [m], at an edge or a corner say, has a row of its own, and keeps it while it pushes: it would come
    and go by turns otherwise. `length` [m] is the robot's.
    """

    def __init__(
        self, cloud: Cloud, skins: Mapping[int, Skin], opponents: Sequence[SoftOpponent], length: float
    ) -> None:
        self.cloud, self.skins, self.depth = cloud, skins, SINKING * depth_bound(length)
        self.pairs = [SurfacePair.of(cloud, skins, *chosen) for chosen in _directed(cloud, skins, opponents)]
        self._paired = np.zeros((len(opponents) + 1, max(cloud.bodies, default=0) + 1), bool)
        for slot, to in enumerate(opponents):
            for pair in self.pairs:
                self._paired[slot, pair.slave] |= slot == pair.slot
                self._paired[slot, pair.master] |= to.body == pair.slave

    def __call__(
        self,
        robot: Any,
        q: np.ndarray,
        points: Contacts,
        friction: np.ndarray,
        reach: float,
        before: tuple[Contacts, np.ndarray] | None = None,
    ) -> Contacts:
        """Contacts of single points, with the rows of surfaces for those that these keep apart.

        `before`: earlier contacts and their normal forces (m,) [N]. Points keep the facets that they were over.
        """
        if not self.pairs:
            return points
        bodies = {b for pair in self.pairs for b in (pair.slave, pair.master)}
        at = {b: self.skins[b].posture(q[robot.q_spans[b]]) for b in bodies}
        known, pushed = {}, np.zeros(0, np.int64)
        if before is not None and isinstance(before[0], SurfaceContacts):
            known, pushed = before[0].partners, before[0].key[before[1] > 0.0]
        mean, sets, partners = np.full(len(points), np.inf), [], {}
        for k, pair in enumerate(self.pairs):
            rows = self._rows(pair, at, known.get(k), points, friction, reach)
            if rows is not None:
                sets.append(rows)
                partners |= {k: rows.partners[0]}
                mean = np.fmin(mean, self._mean_at(pair, rows, points))
        return joined([self._left(points, mean, pushed), *sets], partners)

    def _rows(
        self,
        pair: SurfacePair,
        at: dict[int, Posture],
        before: np.ndarray | None,
        like: Contacts,
        friction: np.ndarray,
        reach: float,
    ) -> SurfaceContacts | None:
        """Those of one pair, in a set like another."""
        cloud, ends = self.cloud, (at[pair.slave].X, at[pair.master])
        found = pair.found(*ends, before, cloud.points.mobile, cloud.size, reach)
        if found is None:
            return None
        (sample, gap, normal, centre), (ptr, point, weight, pull, turn), partner = found
        tangents, n = tangent_frames(normal), len(sample)
        index = pair.slot * cloud.size + sample
        of_each = np.repeat(np.arange(n), np.diff(ptr))
        return SurfaceContacts(
            key=ROWS + index,
            index=index,
            sample=sample,
            opponent=np.full(n, pair.slot),
            gap=gap,
            normal=normal,
            position=centre,
            tangents=tangents,
            friction=np.full(n, friction[pair.slot]),
            margin=np.zeros(n),
            stencil=Stencil(ptr, point, weight),
            points=like.points,
            size=like.size,
            names=like.names,
            pull=pull,
            slope=np.einsum("ei,eai->ea", turn, tangents[of_each]),
            partners={0: partner},
        )

    def _mean_at(self, pair: SurfacePair, rows: SurfaceContacts, points: Contacts) -> np.ndarray:
        """The mean gap (n,) [m] that rows keep open where each of the points touches; nan where none does."""
        cloud, soft = self.cloud, np.flatnonzero(~points.rigid)
        mean, out = np.full(cloud.points.size, np.nan), np.full(len(points), np.nan)
        mean[rows.sample] = rows.gap
        of_node = np.where(pair.home[:, 0] >= 0, mean[pair.home].mean(axis=1), np.nan)
        on_slave = pair.slave_point >= 0
        mean[pair.slave_point[on_slave]] = of_node[on_slave]
        mine = np.flatnonzero(cloud.body == pair.slave)
        support = slice(cloud.support_ptr[mine[0]], cloud.support_ptr[mine[-1] + 1])
        ends = cloud.support_ptr[mine] - support.start
        mean[mine] = np.add.reduceat(cloud.support_weight[support] * of_node[cloud.support[support]], ends)
        sample = points.sample[soft]
        forth = np.where(points.opponent[soft] == pair.slot, mean[sample], np.nan)
        ptr, point, weight = points.stencil
        at = ptr[:-1][soft, None] + np.arange(1, 4)
        back = -np.where(np.abs(weight[at]) > NOTHING, weight[at] * mean[point[at]], 0.0).sum(axis=1)
        back[cloud.body[sample] != pair.master] = np.nan
        out[soft] = np.fmin(forth, back)
        return out

    def _left(self, points: Contacts, mean: np.ndarray, pushed: np.ndarray) -> SurfaceContacts:
        """Single points of other opponents, those that come nearer than the mean, and those that pushed."""
        opponent = np.minimum(points.opponent, len(self._paired) - 1)
        paired = ~points.rigid & self._paired[opponent, self.cloud.body[points.sample]]
        beside = paired & (points.gap > mean - self.depth)
        beside[beside] = ~np.isin(points.key[beside], pushed)
        return of_points(points.take(np.flatnonzero(~beside)))


def _homes(samples: Samples, patch: Surface, first: int) -> np.ndarray:
    """The samples (k, 2) of each node of a patch: its own, or where a mid node has none those of its ends."""
    alone = np.flatnonzero(np.diff(samples.points.node_ptr) == 1)
    sample = np.full(len(patch.nodes), -1)
    sample[samples.points.node_index[samples.points.node_ptr[alone]]] = first + alone
    home = np.column_stack([sample, sample])
    corners = patch.element.corners
    for k, ends in enumerate(patch.element.edges if patch.facets.shape[1] > corners else ()):
        mid = patch.facets[:, corners + k]
        bare = sample[mid] < 0
        home[mid[bare]] = sample[patch.facets[bare][:, ends]]
    return frozen(home, int)


def _directed(cloud: Cloud, skins: Mapping[int, Skin], opponents: Sequence[SoftOpponent]) -> list[tuple]:
    """(slot, slave, patch of the slave, opponent, whether it is the same) of each pair, in one direction."""
    ways: dict[tuple, tuple] = {}
    for slot, to in enumerate(opponents):
        if skins[to.body].half_thickness is not None:
            continue
        for body, patch in to.touched_by:
            samples = cloud.samples[cloud.bodies.index(body)]
            if samples.surface is None or samples.body.two_sided or body not in skins:
                continue
            mine = samples.surface
            if patch is not None:
                mine = patch.patch(facet_mask(patch, mine))
            if not len(mine):
                continue
            names = _name(patch), _name(to.patch if patch is not None else None)
            whole = patch is None or len(mine) == len(patch)
            ways[(body, names[0], to.body, names[1])] = (slot, body, mine, to, whole)
    chosen = []
    for (a, first, b, second), way in ways.items():
        back = ways.get((b, second, a, first))
        if back is None or back is way or _finer(way) < _finer(back):
            chosen.append((*way[:4], back is way))
    return chosen


def _name(patch: Surface | None) -> bytes:
    return b"" if patch is None else patch.facets.tobytes()


def _finer(way: tuple) -> tuple:
    """What the slave of two surfaces has the lesser of: distance of nodes, then place, then number.

    One that is sampled in part only is never the slave of one that is sampled all over.
    """
    slot, _, surface, _, whole = way
    apart = edge_length(surface) / surface.element.order
    place = AHEAD @ surface.nodes[surface.vertices].mean(axis=0)
    return not whole, round(np.log(apart) / np.log(AS_FINE)), place, slot
