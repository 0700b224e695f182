"""How wrong an answer to a complementarity problem is, in units that compare between rows."""

from __future__ import annotations

import numpy as np

from pliant.solvers.solution import Reals

NO_COMPLIANCE = 1e-30  # of a row, relative to the softest


def scales(W: Reals) -> Reals:
    """(m,) |Wᵢᵢ|; rows without compliance of their own count as the softest. NaN stays."""
    own = np.abs(W.diagonal())
    softest = float(own.max(initial=0.0))
    return np.where(own <= NO_COMPLIANCE * softest, softest if softest > 0.0 else 1.0, own)


def natural_residual(
    W: Reals, reference: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals
) -> tuple[Reals, float]:
    """w = Wx + q, and max |x̂ − clip(x̂ − ŵ, lo, hi)| relative to the data; see `Certificate`.

    `reference` are the `scales` of W. NaN if W or q is not finite where it matters.
    """
    used = np.flatnonzero(x)
    w = q + x[used] @ W[used]
    if not (np.isfinite(w).all() and np.isfinite(reference).all()):
        return w, np.nan
    unit = np.sqrt(reference)
    wrong = np.abs(x - np.minimum(np.maximum(x - w / reference, lo), hi)) * unit
    on_bound = (x == lo) | (x == hi)
    sizes = np.concatenate((np.abs(q) / unit, (np.abs(x) * unit)[on_bound]))
    worst, size = float(wrong.max(initial=0.0)), float(sizes.max(initial=0.0))
    return w, worst / size if size > 0.0 else worst
