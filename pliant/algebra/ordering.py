"""Fill-reducing orders of a node graph: minimum degree, and nested dissection by coordinates or by METIS.

An order is an array (size,) of old block indices: order[new] = old.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import pliant.sparse as sp
from pliant.algebra.pattern import Indices, Pattern

LARGEST_LEAF = 12  # [blocks]: parts up to this size are not cut, they are one small dense front each
CUTS = (0.4, 0.45, 0.5, 0.55, 0.6)  # where a cut is tried: shares of the nodes on its left
UNEVEN_COST = 0.3  # how much dearer a separator counts if one half is empty, as a share
# Of METIS: how many separators it compares for every cut, and by how many thousandths of its half the larger
# part may exceed it. Uneven cuts have smaller separators, which pays in long bodies; compact ones want less.
METIS_OPTIONS = ({"nseps": 5, "ufactor": 600, "seed": 1}, {"nseps": 10, "ufactor": 400, "seed": 1})
DROP_ALL = 1e9  # of a column's norm: an incomplete factor with this threshold keeps nothing
LEFT, RIGHT, SEPARATOR = 0, 1, 2


def minimum_degree(pattern: Pattern) -> Indices:
    """Multiple minimum degree on A + Aᵀ, as SuperLU computes it.

    SuperLU gives its column order only with a factor, so it is asked for an incomplete one that drops
    everything: the order is the same. Its perm_c maps old to new, hence the argsort. SymmetricMode
    postorders by the tree of A instead of that of AᵀA.
    """
    i, j = _edges(pattern)
    size = pattern.size
    degree = np.bincount(np.concatenate([i, j]), minlength=size)
    every = np.arange(size)
    values = np.concatenate([np.full(2 * len(i), -1.0), degree + 1.0])
    pairs = np.concatenate([i, j, every]), np.concatenate([j, i, every])
    laplacian = sp.csc_array((values, pairs), shape=(size, size))
    from scipy.sparse.linalg import spilu  # slow to import

    factor = spilu(
        laplacian,
        drop_tol=DROP_ALL,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.argsort(factor.perm_c).astype(np.int64)


def metis_dissections(pattern: Pattern) -> list[Indices]:
    """Nested dissection of the graph by METIS, with different options; none where it is not installed.

    The best for large bodies: half the operations of minimum degree at 50,000 coordinates.
    """
    try:
        import pymetis
    except ImportError:
        return []
    i, j = _edges(pattern)
    below = sp.csr_array((np.ones(len(i), np.int8), (i, j)), shape=(pattern.size, pattern.size))
    graph = sp.csr_array(below + below.T)
    starts, ends = np.asarray(graph.indptr), np.asarray(graph.indices)
    adjacency = pymetis.CSRAdjacency(list(map(int, starts)), list(map(int, ends)))
    return [
        np.array(pymetis.nested_dissection(adjacency, options=pymetis.Options(**options))[0], np.int64)
        for options in METIS_OPTIONS
    ]


def nested_dissection(pattern: Pattern, coordinates: NDArray[np.float64]) -> Indices:
    """Geometric nested dissection: cut every part across its longest axis, separator last, and again.

    All parts of a level are cut at once. A part owns the interval of new indices that begins at `begin`;
    its separator takes the end of the interval.
    """
    edges = _edges(pattern)
    position = np.empty(pattern.size, np.int64)
    part = np.zeros(pattern.size, np.int64)
    nodes = np.arange(pattern.size)
    begin = np.zeros(1, np.int64)
    while len(nodes):
        side = _cut(part, nodes, coordinates, edges, len(begin))
        count = np.bincount(3 * part[nodes] + side[nodes], minlength=3 * len(begin)).reshape(-1, 3)
        starts = begin[:, None] + np.cumsum(count, axis=1) - count
        done = nodes[side[nodes] == SEPARATOR]
        position[done] = starts[part[done], SEPARATOR] + _rank(part[done], len(begin))
        nodes = nodes[side[nodes] != SEPARATOR]
        label = 2 * part[nodes] + side[nodes]
        used, part[nodes] = np.unique(label, return_inverse=True)
        begin = starts[:, :SEPARATOR].ravel()[used]
        alive = np.zeros(pattern.size, bool)
        alive[nodes] = True
        i, j = edges
        same = alive[i] & alive[j] & (part[i] == part[j])
        edges = i[same], j[same]
    return np.argsort(position)


def _cut(
    part: Indices, nodes: Indices, X: NDArray[np.float64], edges: tuple[Indices, Indices], parts: int
) -> Indices:
    """(size,) side of every node in its part; parts too small to cut are all separator."""
    size = np.bincount(part[nodes], minlength=parts)
    first = np.cumsum(size) - size
    by_part = nodes[np.argsort(part[nodes], kind="stable")]
    extent = np.maximum.reduceat(X[by_part], first) - np.minimum.reduceat(X[by_part], first)
    along = np.zeros(len(part))
    along[nodes] = X[nodes, extent.argmax(axis=1)[part[nodes]]]
    sorted_along = along[nodes[np.lexsort((along[nodes], part[nodes]))]]

    best = np.full(len(part), SEPARATOR)
    lowest = np.where(size > LARGEST_LEAF, np.inf, -np.inf)
    side = np.zeros(len(part), np.int64)
    for share in CUTS:
        threshold = sorted_along[first + (share * (size - 1)).astype(np.int64)]
        side[nodes] = along[nodes] > threshold[part[nodes]]
        trial = side.copy()
        trial[_separator(side, edges)] = SEPARATOR
        count = np.bincount(3 * part[nodes] + trial[nodes], minlength=3 * parts).reshape(-1, 3)
        better = _score(count) < lowest
        lowest = np.where(better, _score(count), lowest)
        take = nodes[better[part[nodes]]]
        best[take] = trial[take]
    return best


def _separator(side: Indices, edges: tuple[Indices, Indices]) -> Indices:
    """Fewest nodes that touch every edge between the sides: a minimum vertex cover, by König's theorem.

    From a maximum matching, alternating paths start at the unmatched left nodes; the cover is the left nodes
    they miss and the right nodes they reach. All boundary nodes of one side would be a larger separator.
    """
    cut = side[edges[0]] != side[edges[1]]
    i, j = edges[0][cut], edges[1][cut]
    left, a = np.unique(np.where(side[i] == LEFT, i, j), return_inverse=True)
    right, b = np.unique(np.where(side[i] == LEFT, j, i), return_inverse=True)
    if not len(a):
        return left
    boundary = sp.csr_array((np.ones(len(a), np.int8), (a, b)), shape=(len(left), len(right)))
    from scipy.sparse.csgraph import maximum_bipartite_matching  # slow to import

    partner = maximum_bipartite_matching(boundary, perm_type="row")
    reached, seen = np.ones(len(left), bool), np.zeros(len(right), bool)
    reached[partner[partner >= 0]] = False
    front = reached.copy()
    while front.any():
        new = np.zeros(len(right), bool)
        new[b[front[a]]] = True
        new &= ~seen
        seen |= new
        front[:] = False
        front[partner[new]] = True  # a reached right node is matched, or the matching could grow
        front &= ~reached
        reached |= front
    return np.concatenate([left[~reached], right[seen]])


def _score(count: Indices) -> NDArray[np.float64]:
    """Separator size, dearer when the halves are uneven; a cut that leaves one half empty is none."""
    halves = count[:, :SEPARATOR]
    uneven = 2 * halves.max(axis=1) / np.maximum(count.sum(axis=1), 1) - 1
    return np.where(halves.min(axis=1) > 0, count[:, SEPARATOR] * (1 + UNEVEN_COST * uneven), np.inf)


def _rank(label: Indices, labels: int) -> Indices:
    """Position of every item among those with the same label."""
    order = np.argsort(label, kind="stable")
    count = np.bincount(label, minlength=labels)
    rank = np.empty(len(label), np.int64)
    rank[order] = np.arange(len(label)) - np.repeat(np.cumsum(count) - count, count)
    return rank


def _edges(pattern: Pattern) -> tuple[Indices, Indices]:
    below = pattern.rows > pattern.cols
    return pattern.rows[below], pattern.cols[below]
