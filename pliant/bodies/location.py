"""Where a point lies in a mesh: its cell, its reference coordinates ξ, and the shape functions there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.mesh import Mesh
from pliant.mesh.elements import gradients, shape

if TYPE_CHECKING:
    from scipy.spatial import KDTree

MOST_ITERATIONS = 30  # of Newton's method for ξ
NEAREST_CELLS = 12  # by their centres, tried first for each point
FARTHEST_POINT = 1e9  # [m] from the origin: squares of much more overflow
LEAST_WEIGHT = 1e-14  # of a node in a point: smaller ones are rounding, and are left out
ON_MESH = 1e-6  # of the mesh's size: points that are nearer count as inside
BULGE = 0.2  # of its extent, how far a curved cell may reach beyond its nodes
SAME_PLACE = 1e-12  # of the mesh's size: distances that are shorter are rounding
CONVERGED_STEP = 1e-13  # of ξ, in reference coordinates
FOLDED_MAP = 1e-12  # det(∂x/∂ξ) over |∂x/∂ξ|³, at which the map of a cell counts as folded
ON_FACE = 1e-12  # of reference coordinates beyond the cell, that are rounding


@dataclass(frozen=True)
class Location:
    """Cells (P,) and weights (P, nn) of points, x = Σ weight · node."""

    cells: np.ndarray
    weights: np.ndarray


def locate(mesh: Mesh, where: Any, *, outside: str = "error", tolerance: float | None = None) -> Location:
    """The cells around points (P, 3) [m] of the mesh at rest.

    outside: "error" for points more than `tolerance` [m] off the mesh (1e-6 of its size), or "nearest",
    which extends the cell whose centre is nearest linearly beyond its boundary.
    """
    if outside not in ("error", "nearest"):
        raise InputError("outside", expected="'error' or 'nearest'", got=repr(outside))
    points = checked_points(where)
    tolerance = ON_MESH * mesh.size if tolerance is None else tolerance
    from scipy.spatial import KDTree  # slow to import

    tree = KDTree(mesh.centres)
    cell, xi, off = _search(mesh, points, tree, tolerance)
    lost = np.flatnonzero(off > tolerance)
    if len(lost) and outside == "error":
        worst = lost[np.argmax(off[lost])]
        raise InputError(
            f"point {worst} at {points[worst].tolist()}",
            expected=f"inside the mesh (within {tolerance:.2g} m)",
            got=f"about {off[worst]:.3g} m outside"
            + (f", with {len(lost) - 1} others" if len(lost) > 1 else ""),
            hint='outside="nearest" attaches points outside to the nearest cell.',
        )
    weights = shape(mesh.kind, xi)
    if len(lost):
        cell[lost] = tree.query(points[lost])[1]
        weights[lost] = _extended(mesh, cell[lost], points[lost])
    return Location(cell, weights)


def checked_points(where: Any) -> np.ndarray:
    """Coordinates as an array (P, 3), or an InputError."""
    expected = "finite coordinates of shape (P, 3) in metres"
    points = np.atleast_2d(as_floats("points", where, expected))
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError("points", expected=expected, got=np.shape(where))
    bad = np.flatnonzero(~(np.abs(points) <= FARTHEST_POINT).all(axis=1))
    if len(bad):
        raise InputError("points", expected=expected, got=f"point {bad[0]} at {points[bad[0]]}")
    return points


def _search(
    mesh: Mesh, points: np.ndarray, tree: KDTree, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best cell (P,), ξ (P, 3) and distance off it (P,) [m].

    The cells with the nearest centres are tried first, then all whose boxes contain the point; for points in
    no cell, the nearest cells say how far outside they are.
    """
    corners = mesh.nodes[mesh.cells]
    margin = BULGE * np.ptp(corners, axis=1) * (mesh.element.order - 1) + tolerance
    low, high = corners.min(axis=1) - margin, corners.max(axis=1) + margin
    reach = float(np.linalg.norm(np.maximum(high - mesh.centres, mesh.centres - low), axis=1).max())
    best = np.zeros(len(points), np.int64), np.zeros((len(points), 3)), np.full(len(points), np.inf)
    for stage in ("near", "reach", "distance"):
        lost = np.flatnonzero(best[2] > tolerance)
        if not len(lost):
            break
        point, cell = _candidates(tree, points, lost, reach if stage == "reach" else None)
        if stage != "distance":
            within = ((points[point] >= low[cell]) & (points[point] <= high[cell])).all(axis=1)
            point, cell = point[within], cell[within]
        trial = _best(mesh, points, point, cell)
        closer = trial[2] < best[2]
        for array, better in zip(best, trial):
            array[closer] = better[closer]
    return best


def _candidates(
    tree: KDTree, points: np.ndarray, chosen: np.ndarray, reach: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (point, cell) of the chosen points with the nearest cells, or with all within `reach` [m]."""
    if reach is None:
        count = min(NEAREST_CELLS, tree.n)
        near = np.asarray(tree.query(points[chosen], k=count)[1]).reshape(len(chosen), count)
        return np.repeat(chosen, count), near.ravel()
    balls = [np.asarray(ball, np.int64) for ball in tree.query_ball_point(points[chosen], reach)]
    return np.repeat(chosen, [len(ball) for ball in balls]), np.concatenate(balls)


def _best(
    mesh: Mesh, points: np.ndarray, point: np.ndarray, cell: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest cell of each point among candidate pairs (point, cell), ξ in it, and its distance [m]."""
    xi = reference_coordinates(mesh, cell, points[point])
    inside = _clipped(mesh.kind, xi)
    gap = points[point] - np.einsum("pa,pai->pi", shape(mesh.kind, inside), mesh.nodes[mesh.cells[cell]])
    off = np.linalg.norm(gap, axis=1)
    off[off < SAME_PLACE * mesh.size] = 0.0
    order = np.lexsort((off, point))
    chosen = order[np.unique(point[order], return_index=True)[1]]
    best_cell, best_xi = np.zeros(len(points), np.int64), np.zeros((len(points), 3))
    best_off = np.full(len(points), np.inf)
    where = point[chosen]
    best_cell[where], best_xi[where], best_off[where] = cell[chosen], xi[chosen], off[chosen]
    return best_cell, best_xi, best_off


def reference_coordinates(mesh: Mesh, cell: np.ndarray, points: np.ndarray) -> np.ndarray:
    """ξ (n, 3) with Σ N_a(ξ) X_a = x in the given cells, by Newton from their middle.

    Linear tetrahedra take one step. Other maps may fold over far outside the cell, so their steps are
    limited.
    """
    X, affine = mesh.nodes[mesh.cells[cell]], mesh.kind == "tet4"
    limit = np.inf if affine else 2.0 * float(np.ptp(mesh.element.nodes))
    xi = np.tile(mesh.element.nodes[: mesh.element.corners].mean(0), (len(cell), 1))
    active = np.arange(len(cell))
    for _ in range(1 if affine else MOST_ITERATIONS):
        N, D = shape(mesh.kind, xi[active]), gradients(mesh.kind, xi[active])
        gap = points[active] - np.einsum("pa,pai->pi", N, X[active])
        step = _solved(np.einsum("pai,pad->pid", X[active], D), gap)
        length = np.abs(step).max(axis=1, initial=0.0)
        xi[active] += step * np.minimum(1.0, limit / np.maximum(length, 1e-300))[:, None]
        active = active[length > CONVERGED_STEP]
        if not len(active):
            break
    return xi


def _solved(J: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """J⁻¹ gap, with a folded map (J singular far outside the cell) left where it is."""
    det = np.linalg.det(J)
    usable = np.abs(det) > FOLDED_MAP * np.linalg.norm(J, axis=(1, 2)) ** 3
    step = np.zeros_like(gap)
    step[usable] = np.linalg.solve(J[usable], gap[usable][:, :, None])[:, :, 0]
    return step


def _clipped(kind: str, xi: np.ndarray) -> np.ndarray:
    """ξ moved into the reference cell (unchanged inside, up to rounding)."""
    if kind.startswith("hex"):
        return np.where(np.abs(xi) <= 1.0 + ON_FACE, xi, np.clip(xi, -1.0, 1.0))
    barycentric = np.column_stack([1.0 - xi.sum(axis=1), xi])
    inside = np.min(barycentric, axis=1) >= -ON_FACE
    cut = np.maximum(barycentric, 0.0)
    return np.where(inside[:, None], xi, (cut / cut.sum(axis=1, keepdims=True))[:, 1:])


def _extended(mesh: Mesh, cell: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Weights N(ξ₀) + ∇N(ξ₀)(ξ − ξ₀) about a point ξ₀ of the cell near x; they reproduce linear fields."""
    X = mesh.nodes[mesh.cells[cell]]
    near = _clipped(mesh.kind, reference_coordinates(mesh, cell, points))
    N, D = shape(mesh.kind, near), gradients(mesh.kind, near)
    gap = points - np.einsum("pa,pai->pi", N, X)
    step = np.linalg.solve(np.einsum("pai,pad->pid", X, D), gap[:, :, None])[:, :, 0]
    return N + np.einsum("pad,pd->pa", D, step)
