"""A few cells of a body with weights, each with nodes of its own.

The nodes of cell e are nn·e … nn·e + nn − 1: forces on them are the forces of this cell alone, and K is one
dense block per cell. The kernels are those of the full body; a weight multiplies the energy of its cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from pliant.arrays import read_only
from pliant.bodies.assembly import Assembly
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.groups import Generic, Group, Incompatible, Stabilised
from pliant.bodies.scatter import lower_pairs, pattern_of


@dataclass(frozen=True, eq=False)
class Sampled:
    """m cells with nodes of their own: their `assembly` on m·nn nodes.

    `nodes` (m, nn) are the nodes of the body that these stand for, `cells` (m,) the cells' numbers in the
    mesh.
    """

    assembly: Assembly
    nodes: np.ndarray
    cells: np.ndarray

    def stiffness(self, K: np.ndarray) -> np.ndarray:
        """Values K (m·nn(nn+1)/2, 3, 3) on the assembly's pattern as one matrix per cell, (m, 3nn, 3nn)."""
        return _spread(np.ascontiguousarray(K), *self.nodes.shape)


def cell_numbers(groups: Sequence[Group]) -> np.ndarray:
    """Numbers in the mesh of all cells that deform, in the order of their groups."""
    return np.concatenate([group.chosen for group in groups]).astype(np.int64)


def sample(
    assembly: Assembly, rest: np.ndarray, chosen: np.ndarray | None = None, weights: np.ndarray | None = None
) -> Sampled:
    """Cells `chosen` (m,) of an assembly, all of them by default, with weights (m,).

    rest (n, 3) [m] are the nodes. The order of the result is that of the groups; see `Sampled.cells`.
    """
    order = cell_numbers(assembly.groups)
    of_cell = np.zeros(int(order.max(initial=-1)) + 1)
    of_cell[order if chosen is None else chosen] = 1.0 if weights is None else weights
    groups, nodes, cells, first = [], [], [], 0
    for group in assembly.groups:
        which = np.flatnonzero(of_cell[group.chosen] > 0.0)
        if not len(which):
            continue
        part, own = _apart(group, which, of_cell[group.chosen[which]], rest, first)
        groups.append(part)
        nodes.append(own)
        cells.append(part.chosen)
        first += own.size
    nodes = np.concatenate(nodes)
    coordinates = _free_nodes(rest[nodes].reshape(-1, 3))
    pattern = pattern_of(np.arange(nodes.size).reshape(nodes.shape), coordinates)
    return Sampled(Assembly(groups, coordinates, pattern), nodes, np.concatenate(cells))


def _apart(
    group: Any, which: np.ndarray, weight: np.ndarray, rest: np.ndarray, first: int
) -> tuple[Any, np.ndarray]:
    """Some cells of a group on nodes of their own, numbered from `first`, and those (m, nn) of the body."""
    part, nodes = copy(group), group.cells[which]
    cells = first + np.arange(nodes.size).reshape(nodes.shape)
    part.pairs = lower_pairs(cells)
    part.chosen, part.cells, part.first = read_only(
        group.chosen[which], cells, np.zeros(len(which), np.int64)
    )
    part.G, part.w = read_only(group.G[which], group.w[which] * weight[:, None])
    part.memory = group.memory // len(group.cells) * len(which)
    if isinstance(group, Incompatible):
        X = np.zeros(3 * first + 3 * nodes.size)
        X[3 * first :] = rest[nodes].ravel()
        each = weight[:, None, None, None]
        part.K0, part.centre, part.X = read_only(group.K0[which] * each, group.centre[which], X)
    elif isinstance(group, Generic):
        part.pressures = len(which) if group.pressures else 0
        part.internal = part.pressures + (part.w.size if group.softens else 0)
        (part._no_pressure,) = read_only(np.zeros(len(which)))
    if isinstance(group, Stabilised):
        part.gamma, part.slopes, part.C = read_only(
            group.gamma[which], group.slopes[which], group.C[which] * weight[:, None, None, None, None]
        )
    return part, nodes


def _free_nodes(rest: np.ndarray) -> Coordinates:
    """Coordinates of nodes that all move by themselves."""
    n = len(rest)
    return Coordinates(
        rest=rest,
        node_block=np.arange(n),
        node_region=np.full(n, -1, np.int64),
        node_arm=np.zeros((n, 3)),
        region_names=(),
        region_block=np.zeros(0, np.int64),
        region_frame=np.zeros((0, 3, 3)),
        region_centre=np.zeros((0, 3)),
        free=np.ones(3 * n, bool),
    )


@njit(cache=True, error_model="numpy")
def _spread(K, m, nn):
    """Lower blocks (m·nn(nn+1)/2, 3, 3) of m symmetric matrices, row by row, as (m, 3nn, 3nn)."""
    out = np.empty((m, 3 * nn, 3 * nn))
    k = 0
    for e in range(m):
        for a in range(nn):
            for b in range(a + 1):
                for i in range(3):
                    for j in range(3):
                        out[e, 3 * a + i, 3 * b + j] = K[k, i, j]
                        if a != b:
                            out[e, 3 * b + j, 3 * a + i] = K[k, i, j]
                k += 1
    return out
