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
from pliant.contact.contacts import Contacts, depth_bound
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import fine_lattice
from pliant.contact.detect.lattice import edge_length
from pliant.contact.detect.mortar import mortar_rows
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.detect.quadrature import Quadrature
from pliant.contact.detect.refining import Refining
from pliant.contact.detect.samples import Samples, facet_mask
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Met, Target, met_by_points
from pliant.contact.surface_contacts import Rows, SurfaceContacts, joined, of_points
from pliant.mesh import Surface

AHEAD = np.array([0.5481, 0.7714, 0.3235])  # no direction that meshes favour
AS_FINE = 1.02  # ratio of edges within which two surfaces are equally fine
WIDEST = 0.5  # of a facet's edge: how much gaps differ on a row's piece before it is of no more interest
SINKING = 0.125  # of the bound, that samples may sink in without a row of their own …
SINKING_BETWEEN = 0.2  # … and points between samples, also with one
NOTHING = 1e-9  # of a weight: corners with less have no part in a point
NONE = np.zeros(0, np.int64)
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
    samples: tuple[int, int]  # the first of the slave's samples, and the one after the last
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
        samples = cloud.samples[cloud.bodies.index(slave)]
        first = int(np.flatnonzero(cloud.body == slave)[0])
        return cls(
            slot,
            slave,
            patch,
            Quadrature(patch),
            WIDEST * edge_length(patch),
            _homes(samples, patch, first),
            (first, first + len(samples)),
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

    def met(self, X: np.ndarray, at: Posture, before: np.ndarray, reach: float):
        """Positions (t·G, 3) [m] of the points, and what they meet; None where nothing is near.

        The slave's nodes are at X (k, 3), the master's skin in a posture; `before` are earlier partners, or
        none. Points are looked for as far as `reach` [m], and `widest` more beside those that are found.
        """
        target, grid = self.target, self.points.grid
        known = self.own, target.wall, target.standing(at), reach, self.widest, before
        met, p = met_by_points(grid, X, self.home, *known)
        met = Met(*met)
        if not len(met.which):
            return None
        return p, self._ahead(met) if self.same else met

    def _ahead(self, met: Met) -> Met:
        """Without the points whose partner on the same surface lay behind them at rest."""
        skin = self.target.skin
        corners = skin.rest[skin.triangles[met.triangle[met.which]]]
        partner = np.einsum("na,nai->ni", met.weights[met.which], corners)
        ahead = (partner - self.points.grid.rest[met.which]) @ AHEAD > 0.0
        return met._replace(which=met.which[ahead], N=met.N[ahead], slope=met.slope[ahead])


@njit(cache=True, error_model="numpy")
def kept_open(
    sample, gap, home,  # rows, and the samples (k, 2) of the slave's nodes
    slave_point, mine, support_ptr, support, support_weight,  # the slave's nodes and its samples
    points, stencil, body, slot, master, size, mean,
):  # fmt: skip
    """The mean gap (k,) [m] that rows keep open at each node of the slave; nan where there is no row.

    mean (n,) becomes the least mean gap that rows keep open where each of the points = opponent, sample,
    whether it is rigid (n,) touches; `mine` are the first of the slave's samples and the one after the last.
    """
    of_sample, of_node = np.full(len(body), np.nan), np.full(len(home), np.nan)
    for r in range(len(sample)):
        of_sample[sample[r]] = gap[r]
    for k in range(len(home)):
        if home[k, 0] >= 0:
            of_node[k] = 0.5 * (of_sample[home[k, 0]] + of_sample[home[k, 1]])
    at = np.full(size, np.nan)
    for k in range(len(slave_point)):
        if slave_point[k] >= 0:
            at[slave_point[k]] = of_node[k]
    for s in range(mine[0], mine[1]):
        at[s] = 0.0
        for e in range(support_ptr[s], support_ptr[s + 1]):
            at[s] += support_weight[e] * of_node[support[e]]
    (opponent, its_sample, rigid), (ptr, point, weight) = points, stencil
    for i in range(len(mean)):
        if rigid[i]:
            continue
        if opponent[i] == slot:
            mean[i] = np.fmin(mean[i], at[its_sample[i]])
        if body[its_sample[i]] == master:
            back = 0.0
            for e in range(ptr[i] + 1, ptr[i] + 4):
                if abs(weight[e]) > NOTHING:
                    back -= weight[e] * at[point[e]]
            mean[i] = np.fmin(mean[i], back)
    return of_node


@njit(cache=True, error_model="numpy")
def left_alone(key, opponent, sample, rigid, gap, mean, depth, body, paired, pushed):
    """Places of single points of other opponents, of those nearer than the mean, and of those that pushed.

    paired (opponents, bodies): between which rows of surfaces stand; keys of those that pushed ascend.
    """
    out, count = np.empty(len(key), np.int64), 0
    for i in range(len(key)):
        behind = not rigid[i] and paired[opponent[i], body[sample[i]]] and gap[i] > mean[i] - depth
        if behind:
            at = np.searchsorted(pushed, key[i])
            behind = at == len(pushed) or pushed[at] != key[i]
        if not behind:
            out[count] = i
            count += 1
    return out[:count]


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
        lattices = {b: fine_lattice(skins[b].surface) for b in bodies}
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
        pushed, rigid, mean = np.sort(pushed), points.rigid, np.full(len(points), np.inf)
        least = float(points.gap[~rigid].min(initial=0.0))
        touched = set(points.opponent[~rigid].tolist())
        means, between, partners = [], [], {}
        for k, pair in enumerate(self.pairs):
            if not touched & {pair.slot, pair.back}:  # no sample is near, nor is anything between them
                continue
            found = pair.met(at[pair.slave].X, at[pair.master], known.get(k, NONE), reach)
            if found is None:
                continue
            p, met = found
            rows = self._rows(pair, p, met, friction, reach)
            of_node = self._kept_open(pair, rows, points, mean)
            partners[k] = np.full(len(p), -1)
            partners[k][met.which] = met.triangle[met.which]
            per = pair.points.grid.shape.shape[1]
            fine, deepest = self._refining[k](at, met, per, of_node, points, friction, pushed, reach)
            means.append(rows)
            between += fine
            least = min(least, deepest)
        of = points.key, points.opponent, points.sample, rigid, points.gap
        alone = left_alone(*of, mean, self.depth, self.cloud.body, self._paired, pushed)
        return joined([*between, *means, of_points(points.take(alone))], points, partners, least)

    def _rows(self, pair: SurfacePair, p: np.ndarray, met: Met, friction: np.ndarray, reach: float) -> Rows:
        """Those of one pair."""
        cloud, points, target = self.cloud, pair.points, pair.target
        mine, grid = points.reference, points.grid
        (sample, gap, normal, centre, tangents), entries = mortar_rows(
            met.which, p, points.area, met.gap, met.normal,
            grid.triangles, grid.nodes, grid.part, mine.shape, mine.weights, mine.share, pair.home,
            pair.slave_point, met.triangle, target.facets, met.N, met.slope, pair.master_point,
            cloud.points.mobile, cloud.size, reach,
        )  # fmt: skip
        index, n = pair.slot * cloud.size + sample, len(sample)
        return Rows(
            ROWS + index,
            index,
            sample,
            np.full(n, pair.slot),
            gap,
            normal,
            centre,
            tangents,
            np.full(n, friction[pair.slot]),
            np.zeros(n),
            *entries,
        )

    def _kept_open(self, pair: SurfacePair, rows: Rows, points: Contacts, mean: np.ndarray) -> np.ndarray:
        """The mean gap (k,) [m] at the slave's nodes; mean (n,) becomes the least one at points."""
        cloud = self.cloud
        return kept_open(
            rows.sample, rows.gap, pair.home,
            pair.slave_point, pair.samples, cloud.support_ptr, cloud.support, cloud.support_weight,
            (points.opponent, points.sample, points.rigid), tuple(points.stencil),
            cloud.body, pair.slot, pair.master, cloud.points.size, mean,
        )  # fmt: skip


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
