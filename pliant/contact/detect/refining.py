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
from pliant.contact.contacts import Contacts
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.fine_lattice import Places
from pliant.contact.detect.lattice import edge_length
from pliant.contact.detect.opponents import SoftOpponent
from pliant.contact.detect.sinking import NEAR, least_gaps, near_triangles, sunk
from pliant.contact.detect.skin import Posture, Skin
from pliant.contact.detect.way import Met, Target
from pliant.contact.surface_contacts import Rows
from pliant.mesh import Surface

if TYPE_CHECKING:
    from pliant.contact.detect.surfaces import SurfacePair

FIRST_KEY = -(2**60)  # of points of lattices: below the keys of rows of surfaces
EACH_SIDE = 2**40  # keys that one side of a pair has
NEAR_PLACE = (
    0.04  # of a facet's edge, and twice what points may sink in: nearest coarse places are looked round
)
ON_NODE = 1.0 - 1e-9  # weight of a point that is a node


@dataclass(frozen=True, eq=False)
class Side:
    """One of two surfaces: its lattice, its nodes in the stack, and what it meets.

    triangle (t,): the number on the lattice of each triangle that points of the pair know; sample (k,): that
    of each node, −1 for none; open (t, c): which coarse places are no samples; touches (m,): which
    opponents samples of this side touch on the other; samples: how many there may be. slave: whether it is
    the slave.
    """

    body: int
    lattice: Places
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
        lattices: Mapping[int, Places],
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
            triangle=frozen(there.order, int),
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
    ) -> tuple[list[Rows], float]:
        """Rows of points, and the least gap [m] of all points, zero if it is positive.

        met: what the pair's points met, `per` on a triangle; of_node: the mean gaps (k,) [m] at the slave's
        nodes; like: contacts of samples; pushed: keys of contacts that pushed before.
        """
        slave, master = self.sides
        least = min(0.0, float(met.gap[met.which].min(initial=0.0)))
        lattices = len(slave.lattice.triangles), len(master.lattice.triangles)
        numbers, limit = (slave.triangle, master.triangle), NEAR * self.depth
        of = len(slave.triangle), per, limit, lattices, numbers
        *known, any_ = near_triangles(met.which, met.gap, met.triangle, *of)
        pushed = pushed[(pushed >= slave.first_key) & (pushed < master.first_key + EACH_SIDE)]
        if not any_ and not len(pushed):
            return [], least
        means = np.where((self.home[:, 0] >= 0) & np.isnan(of_node), reach, of_node)
        gaps = [
            least_gaps(like.opponent, like.sample, like.gap, side.touches, side.samples, reach)
            for side in self.sides
        ]
        sets = []
        for side, near, own in zip(self.sides, known, gaps, strict=True):
            held = pushed[(pushed >= side.first_key) & (pushed < side.first_key + EACH_SIDE)] - side.first_key
            each, entries, deepest = sunk(
                near, held, side.open, side.lattice, at[side.body].X, side.node_point,
                side.body == side.target_body, side.target.wall, side.target.standing(at[side.target_body]),
                side.target_point, reach, self.depth, self.near,
                side.slave, means, slave.sample, gaps[0], side.sample, own, self.home,
            )  # fmt: skip
            least = min(least, float(deepest))
            if len(each[0]):
                sets.append(self._rows(side, each, entries, friction))
        return sets, least

    def _rows(self, side: Side, each: tuple, entries: tuple, friction: np.ndarray) -> Rows:
        """Points that `sunk` chose, as rows that report on samples."""
        number, sample, gap, normal, position, tangents = each
        point, weight, pull, slope = entries
        n, nn = weight.shape
        return Rows(
            key=side.first_key + number,
            index=self.slot * self.samples + sample,
            sample=sample,
            opponent=np.full(n, self.slot),
            gap=gap,
            normal=normal,
            position=position,
            tangents=tangents,
            friction=np.full(n, friction[self.slot]),
            margin=np.full(n, -self.depth),
            ptr=np.arange(n + 1) * nn,
            point=point.ravel(),
            weight=weight.ravel(),
            pull=pull,
            slope=slope,
        )


def _open(lattice: Places, sample: np.ndarray) -> np.ndarray:
    """Which coarse places (t, c) are no samples; sample (k,): that of each node, −1 for none."""
    b = lattice.weights[lattice.coarse]
    node = lattice.triangles[:, b.argmax(axis=1)]
    return frozen(~((b.max(axis=1) > ON_NODE) & (sample[node] >= 0)), bool)


def _touches(opponents: Sequence[SoftOpponent], body: int) -> np.ndarray:
    """Which opponents (k,) are parts of a body."""
    return frozen([o.body == body for o in opponents], bool)


def _sampled(cloud: Cloud, body: int, nodes: int) -> np.ndarray:
    """The sample (k,) of each node of a body, −1 for none."""
    points = cloud.samples[cloud.bodies.index(body)].points
    alone = np.flatnonzero(np.diff(points.node_ptr) == 1)
    sample = np.full(nodes, -1)
    sample[points.node_index[points.node_ptr[alone]]] = np.flatnonzero(cloud.body == body)[0] + alone
    return frozen(sample, int)


def _triangles(surface: Surface, patch: Surface) -> np.ndarray:
    """The numbers (t,) on a surface of the triangles of a patch of it."""
    number = {facet: k for k, facet in enumerate(map(tuple, surface.facets.tolist()))}
    of_patch = np.array([number[facet] for facet in map(tuple, patch.facets.tolist())])
    per = len(surface.triangles) // len(surface)
    return frozen((of_patch[:, None] * per + np.arange(per)).ravel(), int)
