"""Compiled loops over the segments of a polyline, shared by cables and stretch sensors."""

from __future__ import annotations

import numpy as np
from numba import njit


def neighbour_pairs(count: int, reach: int) -> np.ndarray:
    """Pairs (j + o, j) for o = 0 … reach, offset by offset, (npair, 2)."""
    return np.concatenate(
        [np.column_stack([np.arange(o, count), np.arange(count - o)]) for o in range(reach + 1)]
    )


@njit(cache=True, error_model="numpy")
def unit(ax, ay, az, bx, by, bz):
    """Length of a → b and its direction; the direction of a segment of no length is zero."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    length = np.sqrt(ux * ux + uy * uy + uz * uz)
    scale = 1.0 / length if length > 0.0 else 0.0
    return length, ux * scale, uy * scale, uz * scale


@njit(cache=True, error_model="numpy")
def add_stiffness(block, s, ux, uy, uz):
    """block += s (I − u uᵀ)."""
    block[0, 0] += s * (1.0 - ux * ux)
    block[1, 1] += s * (1.0 - uy * uy)
    block[2, 2] += s * (1.0 - uz * uz)
    block[0, 1] -= s * ux * uy
    block[1, 0] -= s * ux * uy
    block[0, 2] -= s * ux * uz
    block[2, 0] -= s * ux * uz
    block[1, 2] -= s * uy * uz
    block[2, 1] -= s * uy * uz
