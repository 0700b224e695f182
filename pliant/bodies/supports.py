"""Supports: which nodes are fixed or rigid, and how many rigid motions that leaves."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

import pliant.sparse as sp
from pliant.errors import InputError
from pliant.mesh import Mesh

if TYPE_CHECKING:
    from pliant.bodies.coordinates import Coordinates

DEPENDENT = 1e-8  # singular value of a unit row, below which supports depend on each other


def select_nodes(what: str, selection: Any, given: Mesh, mesh: Mesh) -> np.ndarray:
    """Mask (k, 3) over the nodes of `mesh` of a selection on the mesh `given`, which has the same corners.

    The selection is a mask (k,) or (k, 3), indices, or a function of the nodes. Mid nodes that `given` lacks
    are selected when both of their corners are.
    """
    k = len(given.nodes)
    if selection is None:
        return np.zeros((len(mesh.nodes), 3), bool)
    if callable(selection):
        selection = selection(given.nodes)
    chosen = as_selection(what, selection)
    if chosen.size == 0 and chosen.ndim == 1:
        mask = np.zeros((k, 3), bool)
    elif chosen.dtype == bool:
        mask = _checked_mask(what, chosen, k)
    else:
        mask = np.zeros((k, 3), bool)
        mask[checked_indices(what, chosen, k)] = True
    if mesh is given:
        return mask
    carried = np.zeros((len(mesh.nodes), 3), bool)
    carried[:k] = mask
    carried[mesh.midnodes] = mask[mesh.edges_of_midnodes].all(axis=1)
    return carried


def as_selection(what: str, selection: Any) -> np.ndarray:
    """A mask or indices as an array."""
    try:
        return np.asarray(selection)
    except ValueError:
        expected = "a mask, node indices or a function of the nodes"
        raise InputError(what, expected=expected, got=reprlib.repr(selection)) from None


def _checked_mask(what: str, chosen: np.ndarray, k: int) -> np.ndarray:
    if chosen.shape not in ((k,), (k, 3)):
        raise InputError(what, expected=f"a mask of shape ({k},) or ({k}, 3)", got=chosen.shape)
    return np.repeat(chosen[:, None], 3, axis=1) if chosen.ndim == 1 else chosen.copy()


def checked_indices(what: str, chosen: np.ndarray, k: int) -> np.ndarray:
    """Node indices (n,) from 0 to k − 1, or an InputError."""
    if not np.issubdtype(chosen.dtype, np.integer) or chosen.ndim > 1:
        got = f"{chosen.dtype} {chosen.shape}"
        raise InputError(what, expected="a mask, node indices or a function of the nodes", got=got)
    chosen = np.atleast_1d(chosen)
    outside = chosen[(chosen < 0) | (chosen >= k)]
    if len(outside):
        raise InputError(what, expected=f"node indices from 0 to {k - 1}", got=int(outside[0]))
    return chosen


def count_rigid_modes(mesh: Mesh, coordinates: Coordinates, fixed: np.ndarray) -> int:
    """Rigid motions of the connected pieces of a body that fixed nodes (k, 3) and joints leave free.

    Six for each piece, less the rank of its supports; a rigid region joins the pieces that it touches.
    """
    node_region = coordinates.node_region[: len(mesh.nodes)]
    label, free = _pieces(mesh, node_region), 0
    for piece in np.unique(label):
        inside = label == piece
        origin = mesh.nodes[inside].mean(0)
        rows = [_motion(mesh.nodes[inside], origin, mesh.size)[fixed[inside]]]
        for r in np.unique(node_region[inside]):
            if r >= 0:
                rows.append(_region_rows(coordinates, int(r), origin, mesh.size))
        free += 6 - rank_of_supports(np.vstack(rows))
    return free


def rank_of_supports(rows: np.ndarray) -> int:
    """How many rigid motions the supports `rows` (n, 6), linear functions of them, prevent."""
    return int(np.linalg.matrix_rank(rows, tol=DEPENDENT * np.sqrt(len(rows)))) if len(rows) else 0


def _motion(x: np.ndarray, origin: np.ndarray, size: float) -> np.ndarray:
    """Displacement (n, 3, 6) of points under unit translations and rotations; lengths in units of `size`."""
    arm = (x - origin) / size
    motion = np.zeros((len(x), 3, 6))
    motion[:, :, :3] = np.eye(3)
    for axis in range(3):
        motion[:, :, 3 + axis] = np.cross(np.eye(3)[axis], arm)
    return motion


def _region_rows(coordinates: Coordinates, r: int, origin: np.ndarray, size: float) -> np.ndarray:
    """Locked coordinates of region r as linear functions (m, 6) of its piece's rigid motion."""
    Q = coordinates.region_frame[r]
    translation = Q.T @ _motion(coordinates.region_centre[r][None], origin, size)[0]
    rotation = np.hstack([np.zeros((3, 3)), Q.T])
    block = int(coordinates.region_block[r])
    locked = ~coordinates.free[3 * block : 3 * block + 6]
    return np.vstack([translation, rotation])[locked]


def _pieces(mesh: Mesh, region: np.ndarray) -> np.ndarray:
    """Piece number (k,) of each node; cells and rigid regions join their nodes."""
    first = mesh.cells[:, :1].repeat(mesh.cells.shape[1] - 1, axis=1).ravel()
    links = [(first, mesh.cells[:, 1:].ravel())]
    for r in range(int(region.max(initial=-1)) + 1):
        nodes = np.flatnonzero(region == r)
        links.append((nodes[:-1], nodes[1:]))
    i, j = (np.concatenate(side) for side in zip(*links))
    graph = sp.coo_array((np.ones(len(i)), (i, j)), shape=(len(region), len(region)))
    from scipy.sparse.csgraph import connected_components  # slow to import

    return connected_components(graph, directed=False)[1]
