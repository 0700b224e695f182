"""Directions for points on an axis, where the distance has no gradient."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(error_model="numpy")
def unit_or_across(x, y, z, ux, uy, uz):
    """(x, y, z) scaled to length 1; if it is zero, a unit vector across u (any if u is zero)."""
    length = np.sqrt(x * x + y * y + z * z)
    if length == 0.0:  # u × the coordinate axis it is least aligned with
        if abs(ux) <= abs(uy) and abs(ux) <= abs(uz):
            x, y, z = 0.0, uz, -uy
        elif abs(uy) <= abs(uz):
            x, y, z = -uz, 0.0, ux
        else:
            x, y, z = uy, -ux, 0.0
        length = np.sqrt(x * x + y * y + z * z)
        if length == 0.0:
            return 0.0, 0.0, 1.0
    return x / length, y / length, z / length
