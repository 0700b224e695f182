"""How the numeric kernels are compiled."""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, error_model="numpy")
"""Called from Python: compiled once per machine and kept on disk."""

inner = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Called from kernels only: without an entry from Python it compiles in half the time."""
