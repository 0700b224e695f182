"""Refining: points of two surfaces that sink in between the rows, and rows of their own for the deepest.

Rows of surfaces keep mean gaps from closing, and samples are few. Where a corner, an edge or a ridge sinks in
besides, the facets near it are looked at on a lattice, those of both surfaces; the deepest point of each
triangle becomes a row if it is nearer than other rows keep it, and stays one while it pushes. It may sink in
by a given depth: rows that come up at depth zero would push the bodies apart at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import frozen
from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import FineLattice
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.lattice import edge_length
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.detect.quadrature import Spots
from pliant.contact.detect.sinking import finer_places, kept_at, least_gaps, near_triangles
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import NOBODY, Met, Target
from pliant.contact.surface_contacts import SurfaceContacts
from pliant.mesh import Surface

if TYPE_CHECKING:
    from pliant.contact.detect.surfaces import SurfacePair

FIRST_KEY = -(2**60)  # of points of lattices: below the keys of rows of surfaces
EACH_SIDE = 2**40  # keys that one side of a pair has
NEAR = 0.25  # of what points may sink in: facets nearer than that are looked at
NEARER = 0.5  # of that: how much nearer a point must be than other rows keep it, to become one
NEAR_PLACE = (
    0.04  # of a facet's edge, and twice what points may sink in: nearest coarse places are looked round
)
ON_NODE = 1.0 - 1e-9  # weight of a point that is a node
SAME_PLACE = 1e-9  # [m]
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Side:
    """One of two surfaces: its lattice, its nodes in the stack, and what it meets.

    triangle (t,): the number on the lattice of each triangle that points of the pair know; sample (k,): that
    of each node, −1 for none; open (t, c): which coarse places are no samples; touches (m,): which
    opponents samples of this side touch on the other; samples: how many there may be. slave: whether it is
    the slave.
    """

    body: int
    lattice: FineLattice
    triangle: np.ndarray
    sample: np.ndarray
    open: np.ndarray
    touches: np.ndarray
    samples: int
    node_point: np.ndarray
    target: Target
    target_body: int
    target_point: np.ndarray
    slave: bool
    first_key: int


@dataclass(frozen=True, eq=False)
class Refining:
    """The lattices of a pair of surfaces; `depth` [m] is what points between samples may sink in."""

    slot: int
    samples: int
    home: np.ndarray
    sides: tuple[Side, ...]
    depth: float
    near: float

    @classmethod
    def of(
        cls,
        cloud: Cloud,
        skins: Mapping[int, Skin],
        lattices: Mapping[int, FineLattice],
        opponents: Sequence[SoftOpponent],
        pair: SurfacePair,
        number: int,
        depth: float,
    ) -> Refining:
        """Of the pair with this number."""
        here, there = skins[pair.slave], pair.target.skin
        of_slave = _triangles(here.surface, pair.patch)
        of_slave_nodes = _sampled(cloud, pair.slave, len(here.rest))
        of_master_nodes = _sampled(cloud, pair.master, len(there.rest))
        key = FIRST_KEY + 2 * number * EACH_SIDE
        slave = Side(
            body=pair.slave,
            lattice=lattices[pair.slave],
            triangle=of_slave,
            sample=of_slave_nodes,
            open=_open(lattices[pair.slave], of_slave_nodes),
            touches=_touches(opponents, pair.master),
            samples=int(of_slave_nodes.max(initial=-1)) + 1,
            node_point=pair.slave_point,
            target=pair.target,
            target_body=pair.master,
            target_point=pair.master_point,
            slave=True,
            first_key=key,
        )
        master = Side(
            body=pair.master,
            lattice=lattices[pair.master],
            triangle=there.order,
            sample=of_master_nodes,
            open=_open(lattices[pair.master], of_master_nodes),
            touches=_touches(opponents, pair.slave),
            samples=int(of_master_nodes.max(initial=-1)) + 1,
            node_point=pair.master_point,
            target=Target.of(here, pair.patch),
            target_body=pair.slave,
            target_point=pair.slave_point,
            slave=False,
            first_key=key + EACH_SIDE,
        )
        near = NEAR * depth + NEAR_PLACE * edge_length(pair.patch)
        return cls(pair.slot, cloud.size, pair.home, (slave, master), depth, near)

    def __call__(
        self,
        at: Mapping[int, Posture],
        met: Met,
        per: int,
        of_node: np.ndarray,
        like: Contacts,
        friction: np.ndarray,
        pushed: np.ndarray,
        reach: float,
    ) -> tuple[list[SurfaceContacts], float]:
        """Rows of points in sets like another, and the least gap [m] of all points, zero if it is positive.

        met: what the pair's points met, `per` on a triangle; of_node: the mean gaps (k,) [m] at the slave's
        nodes; pushed: keys of contacts that pushed before.
        """
        least = min(0.0, float(met.gap[met.which].min(initial=0.0)))
        close = near_triangles(met.which, met.gap, len(self.sides[0].triangle), per, NEAR * self.depth)
        first, last = self.sides[0].first_key, self.sides[-1].first_key + EACH_SIDE
        pushed = pushed[(pushed >= first) & (pushed < last)]
        if not close.any() and not len(pushed):
            return [], least
        touched = np.flatnonzero(close), np.unique(met.triangle[met.which[close[met.which // per]]])
        means = np.where((self.home[:, 0] >= 0) & np.isnan(of_node), reach, of_node)
        gaps = [_gaps(side, like, reach) for side in self.sides]
        sets = []
        for side, known, own in zip(self.sides, touched, gaps, strict=True):
            held = pushed[(pushed >= side.first_key) & (pushed < side.first_key + EACH_SIDE)] - side.first_key
            number = _candidates(side, side.triangle[known], held)
            found = self._met(side, at, number, reach, held) if len(number) else None
            if found is None:
                continue
            finer = _around(side, number, found[1], self.near, NEAR * self.depth, held)
            if len(finer):
                number, found = _both(number, found, finer, self._met(side, at, finer, reach))
            spots, near = found
            if not len(near.which):
                continue
            least = min(least, float(near.gap[near.which].min()))
            kept, base = self._kept(side, number, near, means, gaps[0], own)
            rows = self._chosen(side, number, spots, near, kept, base, np.isin(number, held))
            if len(rows):
                sets.append(self._rows(side, number, spots, near, rows, base[rows], like, friction))
        return sets, least

    def _met(
        self, side: Side, at: Mapping[int, Posture], number: np.ndarray, reach: float, held: np.ndarray = NONE
    ) -> tuple[Spots, Met] | None:
        """Where places of one side are, and what they meet; None where they meet nothing.

        Those that are held are measured in any case, others where they may sink in.
        """
        there, spots = at[side.target_body], side.lattice.at(at[side.body].X, number)
        found = side.target.search(there, spots, side.body == side.target_body, (reach, reach))
        stays = np.isin(number, held) if len(held) else NOBODY
        met = side.target.meet(there, spots, found, limit=NEAR * self.depth, stays=stays)
        return None if met is None else (spots, met)

    def _chosen(self, side: Side, number, spots: Spots, met: Met, kept, base, held) -> np.ndarray:
        """Places in `met.which` of points that become rows: those held, and the deepest of each triangle.

        kept (n,) [m]: the gaps there that other rows keep open, nan where none does.
        """
        which = met.which
        gap, held = met.gap[which], held[which]
        deep = (gap < NEAR * self.depth) & ~(gap > kept - NEARER * self.depth) & (base >= 0)
        some = np.flatnonzero(deep | held)
        triangle = number[which[some]] // side.lattice.per
        order = np.lexsort((gap[some], triangle, ~held[some]))
        place = np.round(spots.p[which[some]] / SAME_PLACE).tolist()
        taken, places, out = set(), set(), []
        for i, t, stays in zip(order.tolist(), triangle[order].tolist(), held[some][order].tolist()):
            here = tuple(place[i])
            if here in places or (t in taken and not stays):
                continue
            taken.add(t)
            places.add(here)
            out.append(i)
        rows = some[np.array(out, int)]
        return rows[np.argsort(number[which[rows]])]

    def _kept(self, side: Side, number, met: Met, means: np.ndarray, of_slave: np.ndarray, own: np.ndarray):
        """Gaps (n,) [m] that other rows keep open at points that met something, nan where none does; bases.

        These are the mean gaps at nodes of the slave, and gaps of samples at corners of either triangle,
        between these. Corners that are not within reach count as just so far. The base (n,) of a point is
        the sample that it reports on, that of the nearest node of the slave.
        """
        lattice, slave = side.lattice, self.sides[0]
        of = met.which, number, lattice.triangles, lattice.reference.weights, side.slave
        skin = side.target.skin.triangles, met.triangle, met.weights
        return kept_at(*of, *skin, means, slave.sample, of_slave, side.sample, own, self.home)

    def _rows(self, side: Side, number, spots: Spots, met: Met, rows, sample, like: Contacts, friction):
        """Points `rows`, by place in `met.which`, as contacts that report on samples (n,)."""
        lattice, which, n = side.lattice, met.which[rows], len(rows)
        t, g = number[which] // lattice.per, number[which] % lattice.per
        normal = met.normal[which]
        tangents = tangent_frames(normal)
        nodes = np.concatenate(
            [side.node_point[lattice.nodes[t]], side.target_point[side.target.facets[met.triangle[which]]]],
            axis=1,
        )
        weight = np.concatenate([lattice.reference.shape[lattice.part[t], g], -met.N[rows]], axis=1)
        slope = np.zeros((*weight.shape, 2))
        slope[:, lattice.nodes.shape[1] :] = np.einsum("nki,nai->nka", met.slope[rows], tangents)
        index = self.slot * self.samples + sample
        return SurfaceContacts(
            key=side.first_key + number[which],
            index=index,
            sample=sample,
            opponent=np.full(n, self.slot),
            gap=met.gap[which] + self.depth,
            normal=normal,
            position=spots.p[which],
            tangents=tangents,
            friction=np.full(n, friction[self.slot]),
            margin=np.full(n, -self.depth),
            stencil=Stencil(np.arange(n + 1) * weight.shape[1], nodes.ravel(), weight.ravel()),
            points=like.points,
            size=like.size,
            names=like.names,
            pull=(weight[..., None] * normal[:, None]).reshape(-1, 3),
            slope=slope.reshape(-1, 2),
        )


def _gaps(side: Side, samples: Contacts, reach: float) -> np.ndarray:
    """Gaps [m] of samples of a side with the other, by sample; `reach` for far ones, nan at the end."""
    return least_gaps(samples.opponent, samples.sample, samples.gap, side.touches, side.samples, reach)


def _around(
    side: Side, number: np.ndarray, met: Met, near: float, sinking: float, held: np.ndarray
) -> np.ndarray:
    """Places around the nearest one of each triangle, no coarse ones, where it is nearer than `near` [m]."""
    lattice = side.lattice
    finer = finer_places(met.looking, number, met.gap, near, sinking, lattice.around, lattice.is_coarse)
    return np.setdiff1d(finer, held) if len(held) else finer


def _both(number: np.ndarray, found: tuple[Spots, Met], more: np.ndarray, others: tuple[Spots, Met] | None):
    """Numbers of places, where they are and what they meet, of two sets of places."""
    if others is None:
        return number, found
    (a, b), (c, d), n = found, others, len(number)
    spots = a._replace(p=np.concatenate([a.p, c.p]))
    both = {name: np.concatenate([getattr(b, name), getattr(d, name)]) for name in Met._fields}
    both |= {name: np.append(getattr(b, name), n + getattr(d, name)) for name in ("which", "looking")}
    return np.append(number, more), (spots, Met(**both))


def _candidates(side: Side, triangles: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Coarse places on triangles that are no samples, and those held; ascending."""
    number = (triangles[:, None] * side.lattice.per + side.lattice.coarse)[side.open[triangles]]
    number.sort()
    return np.union1d(number, held) if len(held) else number


def _open(lattice: FineLattice, sample: np.ndarray) -> np.ndarray:
    """Which coarse places (t, c) are no samples; sample (k,): that of each node, −1 for none."""
    b = lattice.reference.weights[lattice.coarse]
    node = lattice.triangles[:, b.argmax(axis=1)]
    return ~((b.max(axis=1) > ON_NODE) & (sample[node] >= 0))


def _touches(opponents: Sequence[SoftOpponent], body: int) -> np.ndarray:
    """Which opponents (k,) are parts of a body."""
    return frozen([o.body == body for o in opponents], bool)


def _sampled(cloud: Cloud, body: int, nodes: int) -> np.ndarray:
    """The sample (k,) of each node of a body, −1 for none."""
    points = cloud.samples[cloud.bodies.index(body)].points
    alone = np.flatnonzero(np.diff(points.node_ptr) == 1)
    sample = np.full(nodes, -1)
    sample[points.node_index[points.node_ptr[alone]]] = np.flatnonzero(cloud.body == body)[0] + alone
    return sample


def _triangles(surface: Surface, patch: Surface) -> np.ndarray:
    """The numbers (t,) on a surface of the triangles of a patch of it."""
    number = {facet: k for k, facet in enumerate(map(tuple, surface.facets.tolist()))}
    of_patch = np.array([number[facet] for facet in map(tuple, patch.facets.tolist())])
    per = len(surface.triangles) // len(surface)
    return (of_patch[:, None] * per + np.arange(per)).ravel()
