"""Refining: points of two surfaces that sink in between the rows, and rows of their own for the deepest.

Rows of surfaces keep mean gaps from closing, and samples are few. Where a corner, an edge or a ridge sinks in
besides, the facets near it are looked at on a lattice, those of both surfaces; the deepest point of each
triangle becomes a row if it is deeper than the mean there by what points may sink in, and stays one while it
pushes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import FineLattice
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.quadrature import Spots
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Met, Target
from pliant.contact.surface_contacts import SurfaceContacts
from pliant.mesh import Surface

if TYPE_CHECKING:
    from pliant.contact.detect.surfaces import SurfacePair

FIRST_KEY = -(2**60)  # of points of lattices: below the keys of rows of surfaces
EACH_SIDE = 2**40  # keys that one side of a pair has
NEAR = 2.0  # times what points may sink in, …
NEAR_FACET = 0.1  # … and of a facet's edge: facets nearer than both together are looked at
NEAR_PLACE = 0.04  # of a facet's edge, likewise, for the nearest coarse place: it is looked round
ON_NODE = 1.0 - 1e-9  # weight of a point that is a node
SAME_PLACE = 1e-9  # [m]


@dataclass(frozen=True, eq=False)
class Side:
    """One of two surfaces: its lattice, its nodes in the stack, and what it meets.

    triangle (t,): the number on the lattice of each triangle that points of the pair know; sampled (k,):
    nodes that are samples. slave: whether it is.
    """

    body: int
    lattice: FineLattice
    triangle: np.ndarray
    sampled: np.ndarray
    node_point: np.ndarray
    target: Target
    target_body: int
    target_point: np.ndarray
    slave: bool
    first_key: int


@dataclass(frozen=True, eq=False)
class Refining:
    """The lattices of a pair of surfaces; `depth` [m] is what points may sink in without a row."""

    slot: int
    samples: int
    home: np.ndarray
    sides: tuple[Side, ...]
    depth: float
    near: float
    near_coarse: float

    @classmethod
    def of(
        cls,
        cloud: Cloud,
        skins: Mapping[int, Skin],
        lattices: Mapping[int, FineLattice],
        pair: SurfacePair,
        number: int,
        depth: float,
    ) -> Refining:
        """Of the pair with this number."""
        here, there = skins[pair.slave], pair.target.skin
        back = Target.of(here, pair.patch)
        of_slave = _triangles(here.surface, pair.patch)
        slave = Side(
            pair.slave, lattices[pair.slave], of_slave, _sampled(cloud, pair.slave, len(here.rest)),
            pair.slave_point, pair.target, pair.master, pair.master_point, True,
            FIRST_KEY + 2 * number * EACH_SIDE,
        )  # fmt: skip
        master = Side(
            pair.master, lattices[pair.master], there.order, _sampled(cloud, pair.master, len(there.rest)),
            pair.master_point, back, pair.slave, pair.slave_point, False, slave.first_key + EACH_SIDE,
        )  # fmt: skip
        near = [NEAR * depth + share * pair.widest for share in (NEAR_FACET, NEAR_PLACE)]
        return cls(pair.slot, cloud.size, pair.home, (slave, master), depth, *near)

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
        close = met.which[met.gap[met.which] < self.near]
        touched = np.unique(close // per), np.unique(met.triangle[close])
        sets = []
        for side, known in zip(self.sides, touched, strict=True):
            held = pushed[(pushed >= side.first_key) & (pushed < side.first_key + EACH_SIDE)] - side.first_key
            number = _candidates(side, side.triangle[known], held)
            found = self._met(side, at, number, reach) if len(number) else None
            if found is None:
                continue
            number = _candidates_around(side, number, found[1], self.near_coarse)
            found = self._met(side, at, np.union1d(number, held), reach)
            if found is None:
                continue
            number, met_now, spots = np.union1d(number, held), found[1], found[0]
            least = min(least, float(met_now.gap[met_now.which].min()))
            rows = self._chosen(side, number, spots, met_now, of_node, np.isin(number, held))
            if len(rows):
                sets.append(self._rows(side, number, spots, met_now, rows, like, friction))
        return sets, least

    def _met(self, side: Side, at: Mapping[int, Posture], number: np.ndarray, reach: float):
        """Where places of one side are, and what they meet; None where they meet nothing."""
        spots = side.lattice.at(at[side.body].X, number)
        own = side.body == side.target_body
        met = side.target.meet(at[side.target_body], spots, own, (reach, reach))
        return None if met is None else (spots, met)

    def _chosen(self, side: Side, number, spots: Spots, met: Met, of_node, held) -> np.ndarray:
        """Places in `met.which` of points that become rows: those held, and the deepest of each triangle."""
        which = met.which
        gap, triangle = met.gap[which], number[which] // side.lattice.per
        mean = self._mean(side, number, met, of_node)
        deep = (gap < NEAR * self.depth) & ~(gap > mean - self.depth) & (self._base(side, number, met) >= 0)
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

    def _mean(self, side: Side, number: np.ndarray, met: Met, of_node: np.ndarray) -> np.ndarray:
        """The mean gap (n,) [m] that rows keep open at points that met something; nan where none does."""
        corners, weights = self._on_slave(side, number, met)
        return np.where(weights > 1e-9, weights * of_node[corners], 0.0).sum(axis=1)

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
            gap=met.gap[which],
            normal=normal,
            position=spots.p[which],
            tangents=tangents,
            friction=np.full(n, friction[self.slot]),
            margin=np.zeros(n),
            stencil=Stencil(np.arange(n + 1) * weight.shape[1], nodes.ravel(), weight.ravel()),
            points=like.points,
            size=like.size,
            names=like.names,
            pull=(weight[..., None] * normal[:, None]).reshape(-1, 3),
            slope=slope.reshape(-1, 2),
        )


def _candidates_around(side: Side, number: np.ndarray, met: Met, near: float) -> np.ndarray:
    """Coarse places that met something, and those around the nearest of each triangle; ascending."""
    per, which = (
        side.lattice.per,
        met.which[np.lexsort((met.gap[met.which], number[met.which] // side.lattice.per))],
    )
    triangle, first = np.unique(number[which] // per, return_index=True)
    nearest = which[first]
    close = met.gap[nearest] < near
    around = side.lattice.around[number[nearest[close]] % per]
    finer = (triangle[close, None] * per + around)[around >= 0]
    return np.union1d(number[met.which], finer)


def _candidates(side: Side, triangles: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Coarse places on triangles that are no samples, and those held; ascending."""
    lattice = side.lattice
    number = (triangles[:, None] * lattice.per + lattice.coarse).ravel()
    b = lattice.reference.weights[number % lattice.per]
    node = lattice.triangles[number // lattice.per][np.arange(len(number)), b.argmax(axis=1)]
    return np.union1d(number[~((b.max(axis=1) > ON_NODE) & side.sampled[node])], held)


def _sampled(cloud: Cloud, body: int, nodes: int) -> np.ndarray:
    """Which nodes (k,) of a body are samples."""
    samples = cloud.samples[cloud.bodies.index(body)].points
    mask = np.zeros(nodes, bool)
    mask[samples.node_index[samples.node_ptr[:-1][np.diff(samples.node_ptr) == 1]]] = True
    return mask


def _triangles(surface: Surface, patch: Surface) -> np.ndarray:
    """The numbers (t,) on a surface of the triangles of a patch of it."""
    number = {facet: k for k, facet in enumerate(map(tuple, surface.facets.tolist()))}
    of_patch = np.array([number[facet] for facet in map(tuple, patch.facets.tolist())])
    per = len(surface.triangles) // len(surface)
    return (of_patch[:, None] * per + np.arange(per)).ravel()
