"""Arrays that nobody writes to. Kernels see one type of array then, and compile once."""

from __future__ import annotations

from typing import Any

import numpy as np


def frozen(array: Any, dtype: Any = float) -> np.ndarray:
    """A contiguous read-only copy."""
    copy = np.array(array, dtype, order="C")
    copy.setflags(write=False)
    return copy


def frozen_view(array: Any, dtype: Any = float) -> np.ndarray:
    """The same array, contiguous and read-only; a copy only where it is not contiguous or of another type."""
    if type(array) is np.ndarray and array.dtype == dtype:
        flags = array.flags
        if flags.c_contiguous and not flags.writeable:
            return array
    return read_only_view(np.ascontiguousarray(array, dtype))


def read_only(*arrays: np.ndarray) -> list[np.ndarray]:
    """Contiguous copies of arrays, of the types they have."""
    return [frozen(array, array.dtype) for array in map(np.asarray, arrays)]


def read_only_view(array: np.ndarray) -> np.ndarray:
    """A read-only view of the same array."""
    view = array.view()
    view.flags.writeable = False
    return view
