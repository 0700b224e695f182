"""How the numeric kernels are compiled, and the arrays they take."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
from numba import njit
from numba.core import event
from numpy.typing import ArrayLike, NDArray

kernel = njit(cache=True, error_model="numpy")
"""Called from Python: compiled once per machine and kept on disk."""
shared_kernel = njit(cache=True, error_model="numpy", nogil=True)
"""The same, without Python's lock: other threads run meanwhile, perhaps the same kernel."""

INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**INNER)
"""Called from kernels only: without an entry from Python it compiles in half the time."""

# What allocates nothing need not count references to arrays, which costs more than most calls.
IN_PLACE: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
in_place = njit(**IN_PLACE)
"""Allocates nothing; called from kernels."""
in_place_kernel = njit(cache=True, **IN_PLACE)
"""The same, called from Python too: compiled once per machine and kept on disk."""

# Sums may be reordered, so that dot products use vector instructions; NaN and infinity keep their meaning.
WORK: dict[str, Any] = {"fastmath": {"reassoc", "contract"}, "_nrt": False}
work_kernel: Any = njit(cache=True, error_model="numpy", **WORK)
"""A kernel that works in place, on arrays it is given."""
work_inner: Any = njit(**INNER, **WORK)
"""The same, called from kernels only, in several places."""
work_part: Any = njit(inline="always", **INNER, **WORK)
"""The same, called in one place: it is compiled as if it were written there, and not once more by itself."""


class _RestingCollector(event.Listener):
    """Python's garbage collector rests while Numba compiles: it would take a tenth of the time."""

    def __init__(self) -> None:
        self.depth, self.enabled = 0, False

    def on_start(self, event: Any) -> None:
        """A function calls others, which are compiled on the way."""
        if self.depth == 0:
            self.enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """The outermost function is compiled."""
        self.depth -= 1
        if self.depth == 0 and self.enabled:
            gc.enable()


event.register("numba:compile", _RestingCollector())


def plain(values: ArrayLike, dtype: Any = np.float64) -> NDArray:
    """A contiguous, writeable array: kernels are compiled anew for every other kind."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.writeable else array.copy()
