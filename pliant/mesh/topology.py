"""Connectivity: faces, edges, neighbours and connected pieces, from integer arrays alone."""

from __future__ import annotations

import numpy as np

from pliant.mesh.elements import element


def group_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of an integer array (n, m).

    Returns the index of the first occurrence of each distinct row, in sorted order, and the number (n,) of
    every row.
    """
    order = np.lexsort(rows.T[::-1])
    new = np.ones(len(rows), bool)
    new[1:] = (rows[order][1:] != rows[order][:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(new) - 1
    first = np.full(int(new.sum()), len(rows), np.int64)
    np.minimum.at(first, number, np.arange(len(rows)))
    return first, number


def cell_faces(cells: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray, int]:
    """All faces of all cells, outward: nodes (nf, m), owning cell (nf,), number of corners per face."""
    e = element(kind)
    faces = cells[:, e.faces]
    owner = np.repeat(np.arange(len(cells)), faces.shape[1])
    return faces.reshape(-1, faces.shape[2]), owner, element(e.face_kind).corners


def face_groups(cells: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Number (nf,) of each cell face, equal for equal corners, and how many cells share the face (nf,)."""
    faces, _, corners = cell_faces(cells, kind)
    _, number = group_rows(np.sort(faces[:, :corners], axis=1))
    return number, np.bincount(number)[number]


def ring_sense(faces: np.ndarray) -> np.ndarray:
    """±1 for each ring of corners (nf, m): opposite for the same ring run through the other way."""
    m = faces.shape[1]
    start = faces.argmin(axis=1)
    rows = np.arange(len(faces))
    return np.where(faces[rows, (start + 1) % m] < faces[rows, (start - 1) % m], 1, -1)


def clashing_cells(cells: np.ndarray, kind: str) -> np.ndarray:
    """Cells (sorted) with a face that a neighbour has in the same sense: both lie on the same side of it."""
    faces, owner, corners = cell_faces(cells, kind)
    number, count = face_groups(cells, kind)
    balance = np.bincount(number, weights=ring_sense(faces[:, :corners]))[number]
    return np.unique(owner[(count == 2) & (balance != 0)])


def unique_edges(cells: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Corner edges (n_edges, 2), lower node first, sorted, and their numbers by cell (cells, edges)."""
    e = element(kind)
    pairs = np.sort(cells[:, e.edges].reshape(-1, 2), axis=1)
    first, number = group_rows(pairs)
    return pairs[first], number.reshape(len(cells), len(e.edges))


def compact(nodes: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Without the nodes that no cell uses: nodes, renumbered cells, and the kept node indices, in order."""
    kept = np.unique(cells)
    number = np.full(len(nodes), -1, np.int64)
    number[kept] = np.arange(len(kept))
    return nodes[kept], number[cells], kept


def weld(nodes: np.ndarray, tolerance: float) -> np.ndarray:
    """For each node the lowest index among the nodes chained to it by steps of at most the tolerance [m]."""
    from scipy.spatial import KDTree

    pairs = KDTree(nodes).query_pairs(tolerance, output_type="ndarray")
    label = pieces(pairs, len(nodes))
    lowest = np.full(label.max(initial=-1) + 1, len(nodes), np.int64)
    np.minimum.at(lowest, label, np.arange(len(nodes)))
    return lowest[label]


def pieces(rows: np.ndarray, size: int) -> np.ndarray:
    """Connected piece (size,) of each of `size` items, where the items in a row (n, m) hang together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.repeat(rows[:, 0], rows.shape[1] - 1)
    rest = rows[:, 1:].ravel()
    graph = coo_array((np.ones(len(first), np.int8), (first, rest)), shape=(size, size))
    return connected_components(graph, directed=False)[1].astype(np.int64)
