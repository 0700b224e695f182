"""Many arrays in three: to be handed an array takes a kernel as long as to read hundreds of numbers, as it is an object far from all others."""

from __future__ import annotations

import numpy as np
from numba import njit

Packed = tuple[np.ndarray, np.ndarray, np.ndarray]


def packed(*arrays: np.ndarray) -> tuple[Packed, tuple[np.ndarray, ...]]:
    """Integers one after the other, reals likewise, and where each array begins and ends in its own (n, 2); and the arrays as views of them, not
    to be written to if they were not."""
    whole = [a.dtype.kind != "f" for a in arrays]
    ends, marks, views = [0, 0], np.zeros((len(arrays), 2), np.int64), []
    for k, array in enumerate(arrays):
        marks[k] = ends[whole[k]], ends[whole[k]] + array.size
        ends[whole[k]] = marks[k, 1]
    both = np.empty(ends[0]), np.empty(ends[1], np.int64)
    for k, array in enumerate(arrays):
        part = both[whole[k]][marks[k, 0] : marks[k, 1]].reshape(array.shape)
        part[...] = array
        view = part.view()
        view.flags.writeable = array.flags.writeable
        views.append(view)
    return (both[1], both[0], marks), tuple(views)


@njit(error_model="numpy")
def piece(arena, marks, k):
    """Array k, flat, of integers or of reals."""
    return arena[marks[k, 0] : marks[k, 1]]


@njit(error_model="numpy")
def table(arena, marks, k, columns):
    """Array k in rows."""
    flat = arena[marks[k, 0] : marks[k, 1]]
    return flat.reshape((len(flat) // columns, columns))
