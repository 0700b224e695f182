"""Choosing nodes of a mesh, or facets of a surface, by where they are.

Each function returns a boolean mask: over the nodes of a Mesh or a Sheet, over the facets of a Surface (by
their centres), or over the rows of an array of points (n, 3). Masks combine with &, | and ~.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.mesh.mesh import Mesh
from pliant.mesh.sheets import Sheet
from pliant.mesh.surface import Surface

ON_PLANE = 1e-6  # of the size of the point set: points that are nearer are on a plane
ROUNDING = 1e-9  # of the size of the point set: coordinates may be off by this


def positions(what: Mesh | Sheet | Surface | np.ndarray) -> np.ndarray:
    """The points (n, 3) [m] that a selection looks at."""
    if isinstance(what, Surface):
        return what.centres
    if isinstance(what, (Mesh, Sheet)):
        return what.nodes
    points = np.asarray(what, float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(
            "selection", expected="a Mesh, a Sheet, a Surface or points (n, 3)", got=points.shape
        )
    return points


def where(what: Mesh | Sheet | Surface | np.ndarray, predicate: Callable[[np.ndarray], Any]) -> np.ndarray:
    """The points for which the predicate of the coordinates (n, 3) → (n,) is true."""
    points = positions(what)
    mask = np.asarray(predicate(points))
    if mask.shape != (len(points),):
        raise InputError(
            "predicate", expected=f"a function (n, 3) → (n,), here ({len(points)},)", got=mask.shape
        )
    return mask.astype(bool)


def inside_box(
    what: Mesh | Sheet | Surface | np.ndarray, lo: Any, hi: Any, *, tol: float = 0.0
) -> np.ndarray:
    """The points with lo ≤ x ≤ hi, each (3,) [m], ±inf for no bound; the box is enlarged by `tol` [m]."""
    points, lo, hi = positions(what), _vector("lo", lo), _vector("hi", hi)
    if (lo > hi).any():
        raise InputError("box", expected="lo ≤ hi along each axis", got=f"{lo.tolist()}, {hi.tolist()}")
    return ((points >= lo - tol) & (points <= hi + tol)).all(axis=1)


def near_plane(
    what: Mesh | Sheet | Surface | np.ndarray, point: Any, normal: Any, tol: float | None = None
) -> np.ndarray:
    """The points at most `tol` [m] (1e-6 of the size) from the plane through `point` with `normal`."""
    points, origin, n = positions(what), _vector("point", point), _unit("normal", normal)
    return np.abs((points - origin) @ n) <= _tolerance(points, tol, ON_PLANE)


def inside_sphere(what: Mesh | Sheet | Surface | np.ndarray, centre: Any, radius: float) -> np.ndarray:
    """The points at most `radius` [m] from the centre."""
    points = positions(what)
    return np.linalg.norm(points - _vector("centre", centre), axis=1) <= radius + _tolerance(points, None)


def inside_cylinder(
    what: Mesh | Sheet | Surface | np.ndarray, start: Any, end: Any, radius: float
) -> np.ndarray:
    """The points within the cylinder of `radius` [m] about the segment from `start` to `end`."""
    points, a = positions(what), _vector("start", start)
    axis = _unit("cylinder axis", _vector("end", end) - a)
    along = (points - a) @ axis
    off = np.linalg.norm(points - a - along[:, None] * axis, axis=1)
    tol = _tolerance(points, None)
    length = float((_vector("end", end) - a) @ axis)
    return (along >= -tol) & (along <= length + tol) & (off <= radius + tol)


def _vector(name: str, value: Any) -> np.ndarray:
    vector = np.asarray(value, float)
    if vector.shape != (3,) or np.isnan(vector).any():
        raise InputError(name, expected="three numbers [m]", got=value)
    return vector


def _unit(name: str, value: Any) -> np.ndarray:
    vector = _vector(name, value)
    length = np.linalg.norm(vector)
    if not (np.isfinite(length) and length > 0):
        raise InputError(name, expected="a vector with a direction", got=value)
    return vector / length


def _tolerance(points: np.ndarray, tol: float | None, relative: float = ROUNDING) -> float:
    """The tolerance asked for, or a share of the size of the point set: coordinates carry rounding errors."""
    return relative * float(np.linalg.norm(np.ptp(points, axis=0))) if tol is None else tol
