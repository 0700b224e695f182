"""Checks of what users give to contact."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arrays import frozen
from pliant.errors import InputError


def vector(value: Any, what: str) -> np.ndarray:
    """Three finite numbers, (3,)."""
    try:
        array = frozen(value)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(what, expected="three finite numbers", got=repr(value))
    return array


def direction(value: Any, what: str) -> np.ndarray:
    """A unit vector (3,) along the one given."""
    array = vector(value, what)
    length = float(np.linalg.norm(array))
    if length == 0.0:
        raise InputError(what, expected="a vector that is not zero", got=repr(value))
    return frozen(array / length)


def polyline(value: Any, what: str) -> np.ndarray:
    """Points (n, 3) [m] of a path, n ≥ 2, no two in a row at the same place."""
    try:
        path = frozen(value)
    except (TypeError, ValueError):
        path = np.zeros(0)
    if path.ndim != 2 or path.shape[1:] != (3,) or len(path) < 2 or not np.isfinite(path).all():
        raise InputError(
            what, expected="two or more points, shape (n, 3), finite", got=f"shape {np.shape(path)}"
        )
    if not (np.linalg.norm(np.diff(path, axis=0), axis=1) > 0).all():
        raise InputError(
            what, expected="points that differ from the one before", got="two in a row at the same place"
        )
    return path


def rotation_matrix(value: Any) -> np.ndarray:
    """A (3, 3) matrix or a scipy Rotation as a matrix; None is the identity."""
    matrix = value.as_matrix() if hasattr(value, "as_matrix") else value
    R = np.eye(3) if matrix is None else np.array(matrix, float)
    if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0:
        raise InputError(
            "rotation", expected="a rotation matrix (3, 3) with RRᵀ = I and det R = 1", got=repr(value)
        )
    return frozen(R)
