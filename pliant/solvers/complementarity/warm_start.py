"""Mixed complementarity from a warm start: if its active set is right, one factorisation is enough."""

from __future__ import annotations

import numpy as np

from pliant.solvers.solution import Reals

ROUNDING = 1e-13  # of a row's data: what counts as nothing
ACCURATE = 1e-12  # of a row's data: what may be left of it
DEPENDENT = 1e-12  # share of the diagonal below which a pivot is rounding


def warm_start(
    W: Reals,
    free: Reals,
    rows: np.ndarray,
    imposed: Reals,
    compliance: Reals,
    low: Reals,
    high: Reals,
    start: Reals,
) -> tuple[Reals, bool]:
    """(λ, True) if the rows between their bounds are those of `start`; else something and False.

    low ≤ λ ≤ high is complementary to (W + diag compliance) λ + free − imposed. W (m, m) and free (m,) are
    those of `rows` (m,), the other arrays those of all rows.
    """
    A, q, low, high = W + np.diag(compliance[rows]), free - imposed[rows], low[rows], high[rows]
    x = start[rows]
    inside = np.flatnonzero((low < x) & (x < high))
    x = np.where(x <= low, low, high)
    x[inside] = 0.0
    if not np.isfinite(x).all():
        return x, False
    x[inside], solvable = _solved(A[inside[:, None], inside], -(q + A @ x)[inside])
    within = (low[inside] <= x[inside]) & (x[inside] <= high[inside])
    return x, bool(solvable and within.all() and _complementary(A, q, low, high, x))


def _solved(A: Reals, b: Reals) -> tuple[Reals, bool]:
    """A⁻¹b by Cholesky; False where A is not positive definite, or its rows depend on each other."""
    from scipy.linalg.lapack import dposv  # type: ignore[attr-defined]  # slow to import

    if not len(b):
        return b, True
    L, y, wrong = dposv(A, b, lower=1)
    return y, wrong == 0 and bool((L.diagonal() ** 2 > DEPENDENT * A.diagonal()).all())


def _complementary(A: Reals, q: Reals, low: Reals, high: Reals, x: Reals) -> bool:
    """Whether rows between their bounds are in balance, and no other should leave its bound."""
    used = np.flatnonzero(x)
    terms = A[:, used] * x[used]
    w, size = q + terms.sum(axis=1), np.maximum(np.abs(q), np.abs(terms).max(axis=1, initial=0.0))
    inside = (low < x) & (x < high)
    good = np.where(x <= low, w >= -ROUNDING * size, w <= ROUNDING * size)
    return bool(np.where(inside, np.abs(w) <= ACCURATE * size, good).all())
