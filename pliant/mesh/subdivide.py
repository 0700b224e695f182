"""Hexahedra cut into tetrahedra so that neighbours always match; tetrahedra cut into eight.

Every quadrilateral face is cut along the diagonal through its first corner in one global order of the
nodes, so both cells at a face cut it alike, whatever the mesh. A hexahedron is then the cone from its own
first corner over the triangles of the three faces away from it: six tetrahedra, or five when all diagonals
join corners of one parity.
"""

from __future__ import annotations

import numpy as np

from pliant.mesh.elements import ELEMENTS
from pliant.mesh.topology import unique_edges

_FACES = ELEMENTS["hex8"].faces
_FAR_FACES = np.array([[face for face in _FACES if corner not in face] for corner in range(8)])
_OPPOSITE = np.array([6, 7, 4, 5, 2, 3, 0, 1])  # across the body diagonal
_EVEN = np.array([True, False, True, False, False, True, False, True])  # parity of the corner on the cube
# The five-tetrahedra cut whose diagonals join even corners, and its mirror image.
_FIVE_EVEN = np.array([[0, 1, 2, 5], [0, 2, 3, 7], [0, 5, 7, 4], [2, 7, 5, 6], [0, 2, 7, 5]])
_FIVE_ODD = np.array([[1, 2, 3, 6], [1, 3, 0, 4], [1, 6, 4, 5], [3, 4, 6, 7], [1, 3, 4, 6]])


def parity(cells: np.ndarray) -> np.ndarray:
    """0 or 1 for each node (k,), different at the ends of every edge of hexahedra where the mesh allows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    edges, _ = unique_edges(cells, "hex8")
    k = int(cells.max()) + 1
    graph = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(k, k)).tocsr()
    colour = np.zeros(k, np.int64)
    _, piece = connected_components(graph, directed=False)
    for start in np.unique(piece, return_index=True)[1]:
        order, before = breadth_first_order(graph, start, directed=False)
        for node in order[1:]:
            colour[node] = 1 - colour[before[node]]
    return colour


def tetrahedra(cells: np.ndarray, priority: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Tetrahedra (m, 4) of hexahedra (n, 8), and the hexahedron (m,) each comes from.

    `priority` (k,) orders the nodes, low first, ties by index. The default, the parity of the nodes, gives
    five tetrahedra per cell and keeps mirror symmetries; `np.arange(k)` on a grid gives six with parallel
    diagonals.
    """
    priority = parity(cells) if priority is None else np.asarray(priority)
    rank = np.empty(len(priority), np.int64)
    rank[np.lexsort((np.arange(len(priority)), priority))] = np.arange(len(priority))

    apex = rank[cells].argmin(axis=1)
    far = np.take_along_axis(cells[:, None, :], _FAR_FACES[apex], axis=2)  # (n, 3, 4)
    turn = (rank[far].argmin(axis=2)[..., None] + np.arange(4)) % 4
    far = np.take_along_axis(far, turn, axis=2)  # each face starts at its own first corner
    rows = np.arange(len(cells))
    crossed = (far[:, :, [0, 2]] == cells[rows, _OPPOSITE[apex]][:, None, None]).any(axis=(1, 2))

    tets, parent = [], []
    for chosen, local in ((~crossed & _EVEN[apex], _FIVE_EVEN), (~crossed & ~_EVEN[apex], _FIVE_ODD)):
        tets.append(cells[chosen][:, local].reshape(-1, 4))
        parent.append(np.repeat(rows[chosen], 5))
    triangles = far[crossed][:, :, [[0, 2, 1], [0, 3, 2]]].reshape(-1, 3)  # turned to face the apex
    tips = np.repeat(cells[rows, apex][crossed], 6)
    tets.append(np.column_stack([triangles, tips]))
    parent.append(np.repeat(rows[crossed], 6))

    order = np.argsort(np.concatenate(parent), kind="stable")
    return np.vstack(tets)[order], np.concatenate(parent)[order]


# Of a tet10 cell: its four corners, and the octahedron between them cut along each of its three diagonals.
_CORNERS = np.array([[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3]])
_DIAGONALS = np.array([[4, 9], [5, 7], [6, 8]])
_RINGS = np.array([[5, 6, 7, 8], [4, 6, 9, 8], [4, 5, 9, 7]])  # around each diagonal


def eighths(nodes: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Linear tetrahedra (8 n, 4) on the nodes of quadratic ones (n, 10), eight for each, in its order.

    Faces are cut into four alike on both sides. The octahedron in the middle is cut along its shortest
    diagonal, which keeps the shapes of repeated cuts from getting worse.
    """
    ends = nodes[cells[:, _DIAGONALS]]  # (n, 3, 2, 3)
    shortest = np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2).argmin(axis=1)
    start, end = _DIAGONALS[shortest].T
    ring = _RINGS[shortest]
    inner = np.stack([np.column_stack([start, end, ring[:, k], ring[:, (k + 1) % 4]]) for k in range(4)], 1)
    local = np.concatenate([np.broadcast_to(_CORNERS, (len(cells), 4, 4)), inner], axis=1)
    out = np.take_along_axis(cells[:, None, :], local, axis=2).reshape(-1, 4)
    a, b, c, d = (nodes[out[:, k]] for k in range(4))
    turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) < 0
    out[turned] = out[turned][:, [0, 2, 1, 3]]
    return out
