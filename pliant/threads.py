"""BLAS on one thread: our fronts are small, and two threads under load were many times slower than one."""

from __future__ import annotations

from threadpoolctl import ThreadpoolController


def pin_blas(threads: int = 1) -> None:
    """Limit every BLAS loaded by now.

    Called once on import and once when SciPy's own BLAS comes in: a limit per call would cost more than a
    small solve.
    """
    ThreadpoolController().limit(limits=threads, user_api="blas")
