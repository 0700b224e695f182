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

from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import FineLattice
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.lattice import edge_length
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.detect.quadrature import Spots
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Met, Target
from pliant.contact.surface_contacts import SurfaceContacts
from pliant.mesh import Surface

if TYPE_CHECKING:
    from pliant.contact.detect.surfaces import SurfacePair

FIRST_KEY = -(2**60)  # of points of lattices: below the keys of rows of surfaces
EACH_SIDE = 2**40  # keys that one side of a pair has
NEAR = 0.25  # of what points may sink in: facets nearer than that are looked at
NEARER = 0.5  # of that: how much nearer a point must be than other rows keep it, to become one
BEYOND = 0.25  # of the range of gaps on a facet: how much nearer its corners may be than its points
NEAR_PLACE = (
    0.04  # of a facet's edge, and twice what points may sink in: nearest coarse places are looked round
)
ON_NODE = 1.0 - 1e-9  # weight of a point that is a node
SAME_PLACE = 1e-9  # [m]


@dataclass(frozen=True, eq=False)
class Side:
    """One of two surfaces: its lattice, its nodes in the stack, and what it meets.

    triangle (t,): the number on the lattice of each triangle that points of the pair know; sample (k,): that
    of each node, −1 for none; slots: opponents that samples of this side touch on the other. slave: whether
    it is the slave.
    """

    body: int
    lattice: FineLattice
    triangle: np.ndarray
    sample: np.ndarray
    slots: np.ndarray
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
        key = FIRST_KEY + 2 * number * EACH_SIDE
        slave = Side(
            body=pair.slave,
            lattice=lattices[pair.slave],
            triangle=of_slave,
            sample=_sampled(cloud, pair.slave, len(here.rest)),
            slots=_slots(opponents, pair.master),
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
            sample=_sampled(cloud, pair.master, len(there.rest)),
            slots=_slots(opponents, pair.slave),
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
        triangle, gap = met.which // per, met.gap[met.which]
        low, high = (
            np.full(triangle.max(initial=-1) + 1, np.inf),
            np.full(triangle.max(initial=-1) + 1, -np.inf),
        )
        np.minimum.at(low, triangle, gap)
        np.maximum.at(high, triangle, gap)
        close = (low - BEYOND * (high - low))[triangle] < NEAR * self.depth
        touched = np.unique(triangle[close]), np.unique(met.triangle[met.which[close]])
        sets = []
        for side, known in zip(self.sides, touched, strict=True):
            held = pushed[(pushed >= side.first_key) & (pushed < side.first_key + EACH_SIDE)] - side.first_key
            number = _candidates(side, side.triangle[known], held)
            found = self._met(side, at, number, reach) if len(number) else None
            if found is None:
                continue
            finer = _around(side, number, found[1], self.near)
            if len(finer):
                number, found = _both(number, found, finer, self._met(side, at, finer, reach))
            spots, near = found
            least = min(least, float(near.gap[near.which].min()))
            kept = self._kept(side, number, near, of_node, like, reach)
            rows = self._chosen(side, number, spots, near, kept, np.isin(number, held))
            if len(rows):
                sets.append(self._rows(side, number, spots, near, rows, like, friction))
        return sets, least

    def _met(self, side: Side, at: Mapping[int, Posture], number: np.ndarray, reach: float):
        """Where places of one side are, and what they meet; None where they meet nothing."""
        spots = side.lattice.at(at[side.body].X, number)
        own = side.body == side.target_body
        met = side.target.meet(at[side.target_body], spots, own, (reach, reach))
        return None if met is None else (spots, met)

    def _chosen(self, side: Side, number, spots: Spots, met: Met, kept, held) -> np.ndarray:
        """Places in `met.which` of points that become rows: those held, and the deepest of each triangle.

        kept (n,) [m]: the gaps there that other rows keep open, nan where none does.
        """
        which = met.which
        gap, triangle = met.gap[which], number[which] // side.lattice.per
        deep = (
            (gap < NEAR * self.depth)
            & ~(gap > kept - NEARER * self.depth)
            & (self._base(side, number, met) >= 0)
        )
        order = np.lexsort((gap, triangle, ~held[which]))
        order = order[deep[order] | held[which][order]]
        taken, places, out = set(), set(), []
        for i in order.tolist():
            place = tuple(np.round(spots.p[which[i]] / SAME_PLACE).astype(int).tolist())
            if place in places or (triangle[i] in taken and not held[which[i]]):
                continue
            taken.add(triangle[i])
            places.add(place)
            out.append(i)
        return np.array(sorted(out, key=lambda i: number[which[i]]), int)

    def _kept(
        self, side: Side, number, met: Met, of_node: np.ndarray, samples: Contacts, reach: float
    ) -> np.ndarray:
        """The gap (n,) [m] that other rows keep open at points that met something; nan where none does.

        That is the mean gap at nodes of the slave, and gaps of samples at corners of either triangle, between
        these. Corners that are not within reach count as just so far.
        """
        corners, weights = self._on_slave(side, number, met)
        between = lambda values, w: np.where(w > 1e-9, w * values, 0.0).sum(axis=1)
        home, slave = self.home[corners, 0] >= 0, self.sides[0]
        means = np.where(home & np.isnan(of_node[corners]), reach, of_node[corners])
        kept = between(means, weights)
        kept = np.fmin(kept, between(_gaps(slave, samples, reach)[slave.sample[corners]], weights))
        if not side.slave:
            lattice, of = side.lattice, number[met.which]
            mine = side.sample[lattice.triangles[of // lattice.per]]
            own = lattice.reference.weights[of % lattice.per]
            kept = np.fmin(kept, between(_gaps(side, samples, reach)[mine], own))
        return kept

    def _base(self, side: Side, number: np.ndarray, met: Met) -> np.ndarray:
        """The sample (n,) that each point reports on: that of the nearest node of the slave."""
        corners, weights = self._on_slave(side, number, met)
        return self.home[corners[np.arange(len(corners)), weights.argmax(axis=1)], 0]

    def _on_slave(self, side: Side, number: np.ndarray, met: Met) -> tuple[np.ndarray, np.ndarray]:
        """Corners (n, 3) and weights (n, 3) of the triangles of the slave at points that met something."""
        if side.slave:
            lattice, of = side.lattice, number[met.which]
            return lattice.triangles[of // lattice.per], lattice.reference.weights[of % lattice.per]
        return side.target.skin.triangles[met.triangle[met.which]], met.weights[met.which]

    def _rows(self, side: Side, number, spots: Spots, met: Met, rows, like: Contacts, friction):
        """Points `rows`, by place in `met.which`, as contacts."""
        lattice, which, n = side.lattice, met.which[rows], len(rows)
        t, g = number[which] // lattice.per, number[which] % lattice.per
        normal = met.normal[which]
        tangents, sample = tangent_frames(normal), self._base(side, number, met)[rows]
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
    gap = np.full(int(side.sample.max(initial=-1)) + 2, reach)
    mine = np.flatnonzero(np.isin(samples.opponent, side.slots) & (samples.sample < len(gap) - 1))
    np.minimum.at(gap, samples.sample[mine], samples.gap[mine])
    gap[-1] = np.nan
    return gap


def _around(side: Side, number: np.ndarray, met: Met, near: float) -> np.ndarray:
    """Places around the nearest coarse one of each triangle, where that is nearer than `near` [m]."""
    per, triangle = side.lattice.per, number[met.which] // side.lattice.per
    order = np.lexsort((met.gap[met.which], triangle))
    triangle, first = np.unique(triangle[order], return_index=True)
    nearest = met.which[order[first]]
    close = met.gap[nearest] < near
    around = side.lattice.around[number[nearest[close]] % per]
    finer = (triangle[close, None] * per + around)[around >= 0]
    return np.setdiff1d(finer, number)


def _both(number: np.ndarray, found: tuple[Spots, Met], more: np.ndarray, others: tuple[Spots, Met] | None):
    """Numbers of places, where they are and what they meet, of two sets of places."""
    if others is None:
        return number, found
    (a, b), (c, d), n = found, others, len(number)
    spots = a._replace(p=np.concatenate([a.p, c.p]))
    joined = [np.concatenate([x, y]) for x, y in zip(b[1:], d[1:], strict=True)]
    return np.append(number, more), (spots, Met(np.append(b.which, n + d.which), *joined))


def _candidates(side: Side, triangles: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Coarse places on triangles that are no samples, and those held; ascending."""
    lattice = side.lattice
    number = (triangles[:, None] * lattice.per + lattice.coarse).ravel()
    b = lattice.reference.weights[number % lattice.per]
    node = lattice.triangles[number // lattice.per][np.arange(len(number)), b.argmax(axis=1)]
    return np.union1d(number[~((b.max(axis=1) > ON_NODE) & (side.sample[node] >= 0))], held)


def _slots(opponents: Sequence[SoftOpponent], body: int) -> np.ndarray:
    """Numbers of the opponents that are parts of a body."""
    return np.array([k for k, o in enumerate(opponents) if o.body == body], int)


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
