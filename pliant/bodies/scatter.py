"""Where blocks between nodes land in K.

A block between two nodes with coordinates of their own is a block of K. One that touches a rigid region is
collected in an extra slot behind K, and `projection` spreads it over the region's translation and rotation,
K_q = JᵀKJ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.coordinates import Coordinates


@dataclass(frozen=True, eq=False)
class Plan:
    """Slots of node pairs, in the pattern's `direct` blocks or in the extra ones behind them."""

    slots: np.ndarray  # as the pairs: block of K, extra block, or −1
    direct: int  # blocks of the pattern
    extra: np.ndarray  # (nx, 2) node pairs of the extra blocks
    target: np.ndarray  # (nx, 2, 2) where each part goes: 2·block + (1 if transposed), −1 for nowhere

    @property
    def blocks(self) -> int:
        """Blocks that assembly writes."""
        return self.direct + len(self.extra)


def ordered_cells(cells: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells with nodes in ascending rank, the order (ne, nn) of that, the first moving node (ne,)."""
    order = np.argsort(rank[cells], axis=1, kind="stable")
    cells = np.ascontiguousarray(np.take_along_axis(cells, order, axis=1))
    return cells, order, (rank[cells] < 0).sum(axis=1)


def lower_pairs(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (i, j) of the lower pairs of each cell, (ne, nn(nn+1)/2) both."""
    a, b = np.tril_indices(cells.shape[1])
    return cells[:, a], cells[:, b]


def node_blocks(coordinates: Coordinates) -> np.ndarray:
    """(n, 2) blocks of dq that move each node, −1 for none."""
    blocks = np.full((len(coordinates.rest), 2), -1, np.int64)
    blocks[:, 0] = coordinates.node_block
    rigid = coordinates.rigid_nodes
    blocks[rigid] = coordinates.region_block[coordinates.node_region[rigid], None] + np.arange(2)
    return blocks


def pattern_of(cells: np.ndarray, coordinates: Coordinates, *more: tuple[np.ndarray, np.ndarray]) -> Pattern:
    """The sparsity of K: nodes of a cell are coupled, and each region's translation and rotation.

    `more` are other pairs of nodes (i, j) that are.
    """
    i, j = (np.concatenate([side.ravel() for side in sides]) for sides in zip(lower_pairs(cells), *more))
    i, j = _distinct(i, j, len(coordinates.rest))
    blocks = node_blocks(coordinates)
    rows, cols = np.broadcast_arrays(blocks[i][:, :, None], blocks[j][:, None, :])
    both = (rows >= 0) & (cols >= 0)
    own = coordinates.region_block
    return Pattern.from_pairs(
        coordinates.size, np.concatenate([rows[both], own + 1]), np.concatenate([cols[both], own])
    )


def plan(i: np.ndarray, j: np.ndarray, coordinates: Coordinates, pattern: Pattern) -> Plan:
    """Slots of node pairs (i, j), arrays of one shape with rank[i] ≥ rank[j]."""
    rank, direct = coordinates.rank, len(pattern.rows)
    own_i, own_j = coordinates.node_block[i], coordinates.node_block[j]
    slots = np.where((own_i >= 0) & (own_j >= 0), pattern.find(own_i, own_j)[0], -1)
    indirect = (rank[i] >= coordinates.size) & (rank[j] >= 0)  # rank orders the pair: the region's node is i
    pairs, which = np.unique(np.stack([i[indirect], j[indirect]], 1), axis=0, return_inverse=True)
    slots[indirect] = direct + which.ravel()
    blocks = node_blocks(coordinates)
    k, flipped = pattern.find(blocks[pairs[:, 0]][:, :, None], blocks[pairs[:, 1]][:, None, :])
    return Plan(slots, direct, np.ascontiguousarray(pairs), np.where(k >= 0, 2 * k + flipped, -1))


def _distinct(i: np.ndarray, j: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    key = np.unique(np.maximum(i, j).ravel() * n + np.minimum(i, j).ravel())
    return key // n, key % n
