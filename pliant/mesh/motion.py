"""Rigid motions of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats

NOT_ORTHOGONAL = 1e-6  # of RRᵀ − I, in any entry, that is still a rotation


def moved_rigidly(x: np.ndarray, rotation: Any, translation: Any) -> np.ndarray:
    """R x + t of points x (n, 3); R a matrix (3, 3) or a scipy Rotation, t (3,) [m]; None leaves one out."""
    given: Any = np.eye(3) if rotation is None else rotation
    matrix = given.as_matrix() if hasattr(given, "as_matrix") else given
    R = as_floats("rotation", matrix, "a rotation matrix (3, 3)")
    orthogonal = R.shape == (3, 3) and np.allclose(R @ R.T, np.eye(3), atol=NOT_ORTHOGONAL)
    if not orthogonal or np.linalg.det(R) < 0:
        expected = "a rotation matrix (3, 3) with RRᵀ = I and det R = 1"
        raise InputError("rotation", expected=expected, got=R.tolist())
    expected = "three finite numbers [m]"
    t = np.zeros(3) if translation is None else as_floats("translation", translation, expected)
    if t.shape != (3,) or not np.isfinite(t).all():
        raise InputError("translation", expected=expected, got=t.tolist() if t.shape == (3,) else t.shape)
    return x @ R.T + t
