"""Material points on sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.bodies.location import LEAST_WEIGHT, ON_MESH, checked_points
from pliant.bodies.support_motion import carried_regions
from pliant.errors import InputError
from pliant.mesh.motion import moved_rigidly
from pliant.mesh.sheets import Sheet
from pliant.points import Points

if TYPE_CHECKING:
    from pliant.bodies.shells.membrane import Membrane
    from pliant.bodies.shells.shell import Shell
    from pliant.bodies.shells.thin import ThinBody

NEAREST_TRIANGLES = 8  # by their centres, tried first for each point
NO_OFFSET = 1e-9  # of the sheet's size: points nearer to the middle surface are on it


def nearest_triangles(sheet: Sheet, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The points of a sheet nearest to (P, 3): triangle (P,), area coordinates (P, 3), distance (P,) [m]."""
    from scipy.spatial import KDTree  # slow to import

    tree = KDTree(sheet.centres)
    corners = sheet.nodes[sheet.cells]
    reach = float(np.linalg.norm(corners - sheet.centres[:, None], axis=2).max())
    count = min(NEAREST_TRIANGLES, len(sheet.cells))
    first = np.asarray(tree.query(points, k=count)[1]).reshape(len(points), count)
    _, distance = _closest(points[:, None], corners[first])
    limit = distance.min(axis=1)  # no triangle with its centre farther than that and its own reach is nearer
    balls = [np.asarray(ball, np.int64) for ball in tree.query_ball_point(points, limit + reach)]
    point = np.repeat(np.arange(len(points)), [len(ball) for ball in balls])
    cell = np.concatenate(balls)
    weights, distance = _closest(points[point], corners[cell])
    order = np.lexsort((cell, distance, point))
    best = order[np.unique(point[order], return_index=True)[1]]
    return cell[best], weights[best], distance[best]


def _closest(p: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Area coordinates (..., 3) of the points of triangles (..., 3, 3) nearest to p (..., 3); distances."""
    a, b, c = np.moveaxis(corners, -2, 0)
    u, v, w = b - a, c - a, p - a
    uu, uv, vv = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    wu, wv = (w * u).sum(-1), (w * v).sum(-1)
    det = uu * vv - uv * uv
    s, t = (vv * wu - uv * wv) / det, (uu * wv - uv * wu) / det
    nearest = np.stack([1 - s - t, s, t], axis=-1)
    gap = np.where((nearest >= 0).all(-1), np.linalg.norm(p - _mix(nearest, corners), axis=-1), np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):  # else on a side
        x, y = corners[..., i, :], corners[..., j, :]
        share = np.clip(((p - x) * (y - x)).sum(-1) / ((y - x) ** 2).sum(-1), 0.0, 1.0)
        side = np.zeros(nearest.shape)
        side[..., i], side[..., j] = 1 - share, share
        off = np.linalg.norm(p - _mix(side, corners), axis=-1)
        nearer = off < gap
        nearest, gap = np.where(nearer[..., None], side, nearest), np.where(nearer, off, gap)
    return nearest, gap


def _mix(weights: np.ndarray, corners: np.ndarray) -> np.ndarray:
    return np.einsum("...a,...ai->...i", weights, corners)


def located(
    sheet: Sheet, where: Any, outside: str, allowed: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rest positions (P, 3) [m] with their triangles (P,) and area coordinates (P, 3).

    `allowed` [m] is the distance beyond which a point is off the sheet: an error, unless outside="nearest".
    """
    if outside not in ("error", "nearest"):
        raise InputError("outside", expected="'error' or 'nearest'", got=repr(outside))
    rest = checked_points(where)
    cell, weights, distance = nearest_triangles(sheet, rest)
    limit = np.broadcast_to(allowed, len(sheet.cells))[cell]
    lost = np.flatnonzero(distance > limit)
    if len(lost) and outside == "error":
        worst = lost[np.argmax(distance[lost] - limit[lost])]
        raise InputError(
            f"point {worst} at {rest[worst].tolist()}",
            expected=f"on the sheet (within {limit[worst]:.2g} m)",
            got=f"{distance[worst]:.3g} m off it"
            + (f", with {len(lost) - 1} others" if len(lost) > 1 else ""),
            hint='outside="nearest" attaches points off the sheet to the nearest triangle.',
        )
    return rest, cell, weights


def on_membrane(body: ThinBody, where: Any, *, outside: str, tolerance: float | None) -> Points:
    """The points of the sheet nearest to rest positions (P, 3) [m]."""
    sheet = body.mesh
    allowed = ON_MESH * sheet.size if tolerance is None else tolerance
    _, cell, weights = located(sheet, where, outside, allowed)
    return _weighted(body, cell, weights)


def on_shell(body: Shell, where: Any, *, outside: str, tolerance: float | None) -> Points:
    """Points at rest positions (P, 3) [m]: x = Σ N_a (x_a + R_a d), d the offset from the middle at rest."""
    sheet = body.mesh
    allowed = 0.5 * body.thickness + ON_MESH * sheet.size if tolerance is None else tolerance
    rest, cell, weights = located(sheet, where, outside, allowed)
    offset = rest - _mix(weights, sheet.nodes[sheet.cells[cell]])
    offset[np.linalg.norm(offset, axis=1) < NO_OFFSET * sheet.size] = 0.0
    flat = np.asarray(~offset.any(axis=1))
    if flat.all():
        return _weighted(body, cell, weights)
    numbering, P = body.numbering, len(rest)
    node = sheet.cells[cell]
    region = numbering.region[node]
    frame = numbering.frame_nodes(region)  # (P, 3, 4)
    unit = numbering.arm[frame[..., 1], 0]  # distance of the tips from the centre
    d = np.einsum("pani,pn->pai", body.region_frame[region], offset) / unit[..., None]
    arms = weights[..., None] * np.concatenate([-d.sum(axis=2, keepdims=True), d], axis=2)
    # A node by itself is the centre of its frame, which has rotations too; one in a rigid region is not.
    place = np.where(numbering.shared[node] | flat[:, None], node, frame[..., 0])
    index = np.concatenate([place[..., None], frame], axis=2).reshape(P, -1)
    weight = np.concatenate([weights[..., None], arms], axis=2).reshape(P, -1)
    keep = np.abs(weight) > LEAST_WEIGHT
    ptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    return Points(body, rest, ptr, index[keep], weight[keep])


def half_thickness(body: Shell | Membrane, points: Points) -> np.ndarray:
    """Half the mean thickness (P,) [m] of the triangles round the nodes of points."""
    total, count = np.zeros(len(body.coordinates.rest)), np.zeros(len(body.coordinates.rest))
    np.add.at(total, body.mesh.cells, body.thickness[:, None])
    np.add.at(count, body.mesh.cells, 1.0)
    at_node = 0.5 * total / np.maximum(count, 1.0)
    share = np.where(count > 0, 1.0, 0.0)[points.node_index] * points.node_weight
    of_point = np.repeat(np.arange(len(points)), np.diff(points.node_ptr))
    return np.bincount(of_point, share * at_node[points.node_index], len(points))


def moved_supports(body: Shell, q: np.ndarray, rotation: Any, translation: Any, nodes: Any) -> np.ndarray:
    """q with the fixed nodes at x = R X + t, those whose rotation is fixed turned by R as well.

    Regions on a hinge or a ball are moved with their axes.
    """
    chosen = ~body.free.reshape(-1, 6)
    if nodes is not None:
        picked = body.numbering.region[body._selected("nodes", nodes)]
        chosen &= np.isin(np.arange(len(chosen)), picked)[:, None]
    named = np.array([not name.startswith("node ") for name in body.coordinates.region_names], bool)
    jointed = carried_regions(body, named & chosen.any(axis=1))
    c, q = body.coordinates, q.copy()
    moved = moved_rigidly(c.region_centre, rotation, translation)
    R = moved_rigidly(np.eye(3), rotation, None).T
    pose = q[c.pose : c.pose + 12 * len(c.region_block)].reshape(-1, 12)
    pose[:, :3] = np.where(chosen[:, :3], moved, pose[:, :3])
    turned = chosen[:, 3:].all(axis=1) | (jointed & chosen[:, 3:].any(axis=1))
    pose[turned, 3:] = (R @ c.region_frame[turned]).reshape(-1, 9)
    x = q[: c.pose].reshape(-1, 3)
    region = body.numbering.region
    x[:] = pose[region, :3] + np.einsum(
        "nij,nj->ni", pose[:, 3:].reshape(-1, 3, 3)[region], body.numbering.arm
    )
    return q


def _weighted(body: ThinBody, cell: np.ndarray, weights: np.ndarray) -> Points:
    node, keep = body.mesh.cells[cell], np.abs(weights) > LEAST_WEIGHT
    ptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    return Points(body, _mix(weights, body.mesh.nodes[node]), ptr, node[keep], weights[keep])
