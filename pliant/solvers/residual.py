"""How wrong an answer to a complementarity problem is, in units that compare between rows."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import kernel


@kernel
def scales(W):
    """(m,) |Wᵢᵢ|, kept from zero."""
    largest = 0.0
    for i in range(len(W)):
        largest = max(largest, abs(W[i, i]))
    diagonal = np.empty(len(W))
    for i in range(len(W)):
        diagonal[i] = max(abs(W[i, i]), 1e-30 * largest, 1e-300)
    return diagonal


@kernel
def natural_residual(W, q, lo, hi, x, w):
    """w ← Wx + q, and max |x̂ − clip(x̂ − ŵ, lo, hi)| relative to max(|q̂|, |x̂|); see `Certificate`."""
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
        error = abs(x[i] - target) * unit
        if not error <= worst:  # also keeps NaN
            worst = error
        size = max(size, abs(q[i]) / unit, abs(x[i]) * unit)
    return worst / size if size > 0.0 else worst
