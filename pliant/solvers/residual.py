"""How wrong an answer to a complementarity problem is, in units that compare between rows."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import kernel


@kernel
def scales(W):
    """(m,) |Wᵢᵢ|, kept from zero: rows that touch nothing have no compliance of their own. NaN stays."""
    largest = 0.0
    for i in range(len(W)):
        largest = max(largest, abs(W[i, i]))
    diagonal = np.empty(len(W))
    for i in range(len(W)):
        floor = max(1e-30 * largest, 1e-300)
        diagonal[i] = floor if abs(W[i, i]) < floor else abs(W[i, i])
    return diagonal


@kernel
def natural_residual(W, q, lo, hi, x, w):
    """w ← Wx + q, and max |x̂ − clip(x̂ − ŵ, lo, hi)| relative to the data; see `Certificate`.

    NaN if W or q is not finite where it matters.
    """
    for i in range(len(q)):
        w[i] = q[i]
    for j in range(len(q)):
        if x[j] != 0.0:
            row, value = W[j], x[j]
            for i in range(len(q)):
                w[i] += value * row[i]
    worst, size = 0.0, 0.0
    reference = scales(W)
    for i in range(len(q)):
        unit = np.sqrt(reference[i])
        target = min(max(x[i] - w[i] / reference[i], lo[i]), hi[i])
        if not (abs(w[i]) < np.inf and reference[i] < np.inf):
            return np.nan
        worst = max(worst, abs(x[i] - target) * unit)
        size = max(size, abs(q[i]) / unit)
        if x[i] == lo[i] or x[i] == hi[i]:
            size = max(size, abs(x[i]) * unit)
    return worst / size if size > 0.0 else worst
