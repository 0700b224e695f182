"""Linear complementarity: contacts that push and never pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.jit import kernel
from pliant.errors import unknown_name
from pliant.solvers.mcp import check, guess, solve_bounded
from pliant.solvers.residual import natural_residual
from pliant.solvers.solution import STATUSES, Certificate, Solution

METHODS = ("active set", "pgs")


def lcp(
    W: ArrayLike,
    q: ArrayLike,
    *,
    start: Solution | ArrayLike | None = None,
    tol: float = 1e-12,
    method: str = "active set",
    iterations: int = 1000,
) -> Solution:
    """Solve 0 ≤ λ ⊥ w = W λ + q ≥ 0 for W (m, m) symmetric positive semi-definite, q (m,).

    The active-set method is exact; `start`, an earlier solution or a guess of λ, makes it faster.
    Projected Gauss–Seidel (method="pgs", at most `iterations` sweeps) is there for comparison: it is slow on
    stiff problems, and what it leaves when it stops is in the certificate.
    """
    W, q = check(W, q)
    x = guess(start, len(q))
    lo, hi = np.zeros(len(q)), np.full(len(q), np.inf)
    if method == "active set":
        return solve_bounded(W, q, lo, hi, x, tol)
    if method != "pgs":
        raise unknown_name("method", method, METHODS)
    w = np.empty(len(q))
    sweeps, residual = _gauss_seidel(W, q, lo, hi, x, w, tol, iterations)
    return Solution(x, w, Certificate(STATUSES[0 if residual <= tol else 2], residual, sweeps))


@kernel
def _gauss_seidel(W, q, lo, hi, x, w, tol, limit):
    """Projected Gauss–Seidel in place, w = Wx + q kept up to date; returns (sweeps, residual)."""
    m = len(q)
    np.maximum(x, lo, x)
    residual = natural_residual(W, q, lo, hi, x, w)
    sweeps = 0
    while residual > tol and sweeps < limit:
        for i in range(m):
            if W[i, i] > 0.0:
                row, change = W[i], max(x[i] - w[i] / W[i, i], 0.0) - x[i]
                if change != 0.0:
                    x[i] += change
                    for j in range(m):
                        w[j] += change * row[j]
        sweeps += 1
        residual = natural_residual(W, q, lo, hi, x, w)
    return sweeps, residual
