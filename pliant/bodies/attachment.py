"""Material points on a solid body: in its cells, at its nodes, on its rigid regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bodies.coordinates import FRAME_NODES
from pliant.bodies.location import checked_points, locate
from pliant.bodies.supports import as_selection, checked_indices
from pliant.errors import InputError
from pliant.points import Points

if TYPE_CHECKING:
    from pliant.bodies.solid import Solid


def in_cells(body: Solid, where: Any, *, outside: str, tolerance: float | None) -> Points:
    """Points at rest positions (P, 3) [m], weighted over the nodes of their cells."""
    rest = checked_points(where)
    found = locate(body.mesh, rest, outside=outside, tolerance=tolerance)
    keep = np.abs(found.weights) > 1e-14  # a point on a face or an edge hangs on few nodes
    ptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    return Points(body, rest, ptr, body.mesh.cells[found.cells][keep], found.weights[keep])


def at_nodes(body: Solid, nodes: Any) -> Points:
    """Nodes by mask, index or function; a mask on the given mesh leaves its mid nodes out."""
    chosen = as_selection("nodes", nodes(body.mesh.nodes) if callable(nodes) else nodes)
    k, given = len(body.mesh.nodes), len(body.input_mesh.nodes)
    if chosen.dtype != bool:
        return _exactly(body, checked_indices("nodes", chosen, k))
    if chosen.shape not in ((k,), (given,)):
        raise InputError("nodes", expected=f"a mask of shape ({given},) or ({k},)", got=chosen.shape)
    return _exactly(body, np.flatnonzero(chosen))


def at_frame(body: Solid, name: str) -> Points:
    """Centre and axis tips of a rigid region, (4,)."""
    return _exactly(body, body.coordinates.frame_nodes(body.coordinates.region(name)))


def on_region(body: Solid, name: str, where: Any) -> Points:
    """Points at rest positions (P, 3) [m] that move with a rigid region: affine in its frame nodes."""
    rest = checked_points(where)
    frame = body.coordinates.frame_nodes(body.coordinates.region(name))
    corners = np.vstack([body.coordinates.rest[frame].T, np.ones(FRAME_NODES)])
    weights = np.linalg.solve(corners, np.vstack([rest.T, np.ones(len(rest))])).T
    ptr = FRAME_NODES * np.arange(len(rest) + 1)
    return Points(body, rest, ptr, np.tile(frame, len(rest)), weights.ravel())


def _exactly(body: Solid, nodes: np.ndarray) -> Points:
    return Points(body, body.coordinates.rest[nodes], np.arange(len(nodes) + 1), nodes, np.ones(len(nodes)))
