"""Rows exchanged until they fit: complementarity where W has negative eigenvalues.

K with negative eigenvalues is that of a robot which would buckle if contacts did not support it. Then the
efforts solve a quadratic program that is not convex: which rows are between their bounds is guessed, these
are solved as equalities, and those that do not fit are exchanged. The answer is a minimum if the rows that
end between their bounds account for all negative eigenvalues of K.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.solution import Reals

ROUNDING = 1e-10  # of the terms of a row: what is on its wrong side by less is not exchanged
MOST_EXCHANGES = 30
ALL_AT_ONCE = 5  # exchanges of all rows that do not fit; then of the worst one, so that it cannot go round


def exchange(A: Reals, q: Reals, low: Reals, high: Reals, start: Reals, negative: int) -> Reals | None:
    """λ (m,): low ≤ λ ≤ high complementary to Aλ + q, from the rows that are between their bounds in `start`.

    A (m, m) is W with compliances on its diagonal, `negative` the number of negative eigenvalues of K. None
    where the exchange does not end, or does not end in a minimum.
    """
    between, at = (low < start) & (start < high), np.where(start >= high, high, low)
    scale = np.sqrt(np.abs(np.diagonal(A)))
    for n in range(MOST_EXCHANGES):
        x = np.where(between, 0.0, at)
        if not np.isfinite(x).all():
            return None
        inside = A[np.ix_(between, between)]
        try:
            x[between] = np.linalg.solve(inside, -(q + A @ x)[between])
        except np.linalg.LinAlgError:
            return None
        w, size = A @ x + q, np.abs(A) @ np.abs(x) + np.abs(q)
        beyond = np.maximum(low - x, x - high) * scale  # of rows between their bounds
        wrong = np.where(at >= high, w, -w) / np.where(scale > 0.0, scale, 1.0)  # of rows at a bound
        bad = np.where(between, beyond > ROUNDING * np.abs(x) * scale, wrong * scale > ROUNDING * size)
        if not bad.any():
            found = int((np.linalg.eigvalsh(inside) < 0.0).sum()) if len(inside) else 0
            return x if found == negative else None
        if n >= ALL_AT_ONCE:
            worst = np.argmax(np.where(bad, np.where(between, beyond, wrong), -np.inf))
            bad = np.arange(len(q)) == worst
        at = np.where(bad & between, np.where(x > high, high, low), at)
        between = between ^ bad
    return None
