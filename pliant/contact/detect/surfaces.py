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
from numba import njit

from pliant.arrays import frozen
from pliant.contact.contacts import Contacts, Stencil, depth_bound
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import FineLattice
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.lattice import edge_length
from pliant.contact.detect.mortar import mortar_rows
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.detect.quadrature import Quadrature
from pliant.contact.detect.refining import Refining
from pliant.contact.detect.samples import Samples, facet_mask
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Met, Target
from pliant.contact.surface_contacts import SurfaceContacts, joined, of_points
from pliant.mesh import Surface

AHEAD = np.array([0.5481, 0.7714, 0.3235])  # no direction that meshes favour
AS_FINE = 1.02  # ratio of edges within which two surfaces are equally fine
WIDEST = 0.5  # of a facet's edge: how much gaps differ on a row's piece before it is of no more interest
SINKING = 0.125  # of the bound, that samples may sink in without a row of their own …
SINKING_BETWEEN = 0.2  # … and points between samples, also with one
NOTHING = 1e-9  # of a weight: corners with less have no part in a point
ROWS = -(2**40)  # keys of rows of surfaces are their indices from here on, apart from those of single points


@dataclass(frozen=True, eq=False)
class SurfacePair:
    """Points of a slave against a patch of the skin of opponent number `slot`, the master.

    home (k, 2): the samples that the slave's nodes report on, half each; slave_point, master_point (k,): the
    numbers of nodes in the stack. widest [m]: how much farther than the reach points are looked at, so that
    the mean of a row does not depend on the reach.
    """

    slot: int
    slave: int
    patch: Surface
    points: Quadrature
    widest: float
    home: np.ndarray
    slave_point: np.ndarray
    master: int
    other: Surface
    target: Target
    master_point: np.ndarray
    same: bool  # whether slave and master are one surface
    back: int  # number of the opponent that samples of the master touch

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
        back: int,
    ) -> SurfacePair:
        """A patch of the boundary of body `slave` against an opponent."""
        samples, first = cloud.samples[cloud.bodies.index(slave)], np.flatnonzero(cloud.body == slave)[0]
        return cls(
            slot,
            slave,
            patch,
            Quadrature(patch),
            WIDEST * edge_length(patch),
            _homes(samples, patch, int(first)),
            frozen(cloud.point_of_node[slave], int),
            to.body,
            to.patch,
            Target.of(skins[to.body], to.patch),
            frozen(cloud.point_of_node[to.body], int),
            same,
            back,
        )

    @property
    def own(self) -> bool:
        """Whether slave and master are the same body."""
        return self.slave == self.master

    def met(self, X: np.ndarray, at: Posture, before: np.ndarray | None, reach: float):
        """Positions (t·G, 3) [m] of the points, and what they meet; None where nothing is near.

        The slave's nodes are at X (k, 3), the master's skin in a posture; `before` are earlier partners. The
        mean of a row is below reach only if one of its points is: others are looked for only beside these.
        """
        far, target, home = reach + self.widest, self.target, self.home
        spots = self.points.near(X, target.bounds(at), target.links, far)
        if not len(spots.which):
            return None
        found = target.search(at, spots, self.own, (reach, reach))
        more = beside(spots.which, found.triangle, self.points.per, self.points.triangles, home)
        if len(more):
            target.search(at, spots._replace(which=more), self.own, (far, reach), found)
        met = target.meet(at, spots, found, before)
        if met is not None and self.same:
            met = self._ahead(met)
        return None if met is None else (spots.p, met)

    def _ahead(self, met: Met) -> Met:
        """Without the points whose partner on the same surface lay behind them at rest."""
        skin = self.target.skin
        corners = skin.rest[skin.triangles[met.triangle[met.which]]]
        partner = np.einsum("na,nai->ni", met.weights[met.which], corners)
        ahead = (partner - self.points.rest[met.which]) @ AHEAD > 0.0
        return met._replace(which=met.which[ahead], N=met.N[ahead], slope=met.slope[ahead])


@njit(cache=True, error_model="numpy")
def beside(which, triangle, per, triangles, home):
    """Those of the points `which` that have found no triangle, but take part in a row with some that have.

    `per` points lie on each of the triangles (t, 3), whose nodes report on samples home (k, 2).
    """
    live = np.zeros(home.max() + 2, np.bool_)
    for s in which:
        if triangle[s] >= 0:
            for node in triangles[s // per]:
                live[home[node, 0]] = live[home[node, 1]] = True
    out, count = np.empty(len(which), np.int64), 0
    for s in which:
        if triangle[s] >= 0:
            continue
        for node in triangles[s // per]:
            if live[home[node, 0]] or live[home[node, 1]]:
                out[count] = s
                count += 1
                break
    return out[:count].copy()


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
        between = SINKING_BETWEEN * depth_bound(length)
        self.pairs = [SurfacePair.of(cloud, skins, *chosen) for chosen in _directed(cloud, skins, opponents)]
        bodies = {b for pair in self.pairs for b in (pair.slave, pair.master)}
        lattices = {b: FineLattice(skins[b].surface) for b in bodies}
        self._refining = [
            Refining.of(cloud, skins, lattices, opponents, pair, k, between)
            for k, pair in enumerate(self.pairs)
        ]
        self._paired = np.zeros((len(opponents), max(cloud.bodies, default=0) + 1), bool)
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
        pushed: np.ndarray,
        before: Contacts | None = None,
    ) -> Contacts:
        """Contacts of single points, with the rows of surfaces for those that these keep apart.

        pushed: keys of contacts that push; points among them stay. Points of surfaces keep the facets that
        they were over in the contacts `before`.
        """
        if not self.pairs:
            return points
        bodies = {b for pair in self.pairs for b in (pair.slave, pair.master)}
        at = {b: self.skins[b].posture(q[robot.q_spans[b]]) for b in bodies}
        known = before.partners if isinstance(before, SurfaceContacts) else {}
        mean, sets, partners = np.full(len(points), np.inf), [], {}
        least = float(points.gap[~points.rigid].min(initial=0.0))
        touched = set(points.opponent[~points.rigid].tolist())
        for k, pair in enumerate(self.pairs):
            if not touched & {pair.slot, pair.back}:  # no sample is near, nor is anything between them
                continue
            found = pair.met(at[pair.slave].X, at[pair.master], known.get(k), reach)
            if found is None:
                continue
            p, met = found
            rows = self._rows(pair, p, met, points, friction, reach)
            of_node = self._mean_of_nodes(pair, rows)
            mean = np.fmin(mean, self._mean_at(pair, of_node, points))
            partners[k] = np.full(len(p), -1)
            partners[k][met.which] = met.triangle[met.which]
            fine, deepest = self._refining[k](
                at, met, pair.points.per, of_node, points, friction, pushed, reach
            )
            sets += [rows, *fine]
            least = min(least, deepest)
        return joined([self._left(points, mean, pushed), *sets], partners, least)

    def _rows(
        self,
        pair: SurfacePair,
        p: np.ndarray,
        met: Met,
        like: Contacts,
        friction: np.ndarray,
        reach: float,
    ) -> SurfaceContacts:
        """Those of one pair, in a set like another."""
        cloud, points, target = self.cloud, pair.points, pair.target
        mine = points.reference
        (sample, gap, normal, centre), (ptr, point, weight, pull, turn) = mortar_rows(
            met.which, p, points.area, met.gap, met.normal,
            points.triangles, points.nodes, points.part, mine.shape, mine.weights, mine.share, pair.home,
            pair.slave_point, met.triangle, target.facets, met.N, met.slope, pair.master_point,
            cloud.points.mobile, cloud.size, reach,
        )  # fmt: skip
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
        )

    def _mean_of_nodes(self, pair: SurfacePair, rows: SurfaceContacts) -> np.ndarray:
        """The mean gap (k,) [m] that rows keep open at each node of the slave; nan where there is no row."""
        mean = np.full(self.cloud.size, np.nan)
        mean[rows.sample] = rows.gap
        return np.where(pair.home[:, 0] >= 0, mean[pair.home].mean(axis=1), np.nan)

    def _mean_at(self, pair: SurfacePair, of_node: np.ndarray, points: Contacts) -> np.ndarray:
        """The mean gap (n,) [m] that rows keep open where each of the points touches; nan where none does."""
        cloud, soft = self.cloud, np.flatnonzero(~points.rigid)
        mean, out = np.full(cloud.points.size, np.nan), np.full(len(points), np.nan)
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
        soft = np.flatnonzero(~points.rigid)
        paired = self._paired[points.opponent[soft], self.cloud.body[points.sample[soft]]]
        beside = soft[paired & (points.gap[soft] > mean[soft] - self.depth)]
        beside = beside[~np.isin(points.key[beside], pushed)]
        return of_points(points.take(np.delete(np.arange(len(points)), beside)))


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
    """(slot, slave, its patch, opponent, whether it is the same, slot of the way back) of each pair."""
    ways: dict[tuple, tuple] = {}
    for slot, to in enumerate(opponents):
        if skins[to.body].half_thickness is not None:
            continue
        for body, patch in to.touched_by:
            samples = cloud.samples[cloud.bodies.index(body)]
            if samples.surface is None or samples.body.two_sided or body not in skins:
                continue
            if samples.body.carriers is not None and skins[to.body].body.carriers is not None:
                continue  # stiff skins of rods, where samples say it all
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
            chosen.append((*way[:4], back is way, way[0] if back is None else back[0]))
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
