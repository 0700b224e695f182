"""How wrong an answer to a complementarity problem is, in units that compare between rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.solvers.native import INTEGER, REAL, REALS, at, link, native, pointer
from pliant.solvers.rows import add, copy
from pliant.solvers.solution import Reals


def scales(W: Reals) -> Reals:
    """(m,) |Wᵢᵢ|; rows that touch nothing have no compliance of their own and count as the softest. NaN stays."""
    own = np.abs(W.diagonal())
    softest = float(own.max(initial=0.0))
    return np.where(own <= 1e-30 * softest, softest if softest > 0.0 else 1.0, own)


@native(REAL, REALS, REALS, REALS, REALS, REALS, REALS, REALS, INTEGER)
def residual(s, reference, q, lo, hi, x, w, m):
    """w ← Sx + q, and how wrong that is; see `natural_residual`."""
    copy(w, 1.0, q, m)
    for i in range(m):
        if x[i] != 0.0:
            add(w, x[i], at(s, i * m), m)
    worst, size = 0.0, 0.0
    for i in range(m):
        unit = np.sqrt(reference[i])
        target = min(max(x[i] - w[i] / reference[i], lo[i]), hi[i])
        if not (abs(w[i]) < np.inf and reference[i] < np.inf):
            return np.nan
        worst, size = max(worst, abs(x[i] - target) * unit), max(size, abs(q[i]) / unit)
        if x[i] == lo[i] or x[i] == hi[i]:
            size = max(size, abs(x[i]) * unit)
    return worst / size if size > 0.0 else worst


@njit(cache=True, error_model="numpy")
def _residual(W, reference, q, lo, hi, x, w):
    given = pointer(W), pointer(reference), pointer(q), pointer(lo), pointer(hi)
    return residual(*given, pointer(x), pointer(w), len(q))


def natural_residual(W: Reals, reference: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, w: Reals) -> float:
    """w ← Wx + q, and max |x̂ − clip(x̂ − ŵ, lo, hi)| relative to the data; see `Certificate`.

    `reference` are the `scales` of W. NaN if W or q is not finite where it matters.
    """
    link(_residual.py_func)
    return _residual(W, reference, q, lo, hi, x, w)
