"""How the numeric kernels are compiled, and the arrays they take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

kernel = njit(cache=True, error_model="numpy")
"""Called from Python: compiled once per machine and kept on disk."""

INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**INNER)
"""Called from kernels only: without an entry from Python it compiles in half the time."""


def plain(values: ArrayLike, dtype: Any = np.float64) -> NDArray:
    """A contiguous, writeable array: kernels are compiled anew for every other kind."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.writeable else array.copy()
