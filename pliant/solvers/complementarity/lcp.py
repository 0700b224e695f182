"""Linear complementarity: contacts that push and never pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.jit import work_kernel
from pliant.errors import unknown_name
from pliant.solvers.complementarity.mcp import check, guess, solve_bounded
from pliant.solvers.complementarity.residual import natural_residual, scales
from pliant.solvers.solution import SOLVED, STALLED, Certificate, Reals, Solution
from pliant.solvers.vectors import add

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
    x = np.maximum(x, 0.0)
    w, residual, sweeps = _gauss_seidel(W, q, lo, hi, x, tol, iterations)
    return Solution(x, w, Certificate(SOLVED if residual <= tol else STALLED, residual, sweeps))


def _gauss_seidel(
    W: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, tol: float, limit: int
) -> tuple[Reals, float, int]:
    """Projected Gauss–Seidel on x in place: (w, residual, sweeps)."""
    reference, sweeps = scales(W), 0
    w, residual = natural_residual(W, reference, q, lo, hi, x)
    while not residual <= tol and sweeps < limit:
        _sweep(W, x, w)
        sweeps += 1
        w, residual = natural_residual(W, reference, q, lo, hi, x)
    return w, residual, sweeps


@work_kernel
def _sweep(W, x, w):
    """One sweep over all rows, w = Wx + q kept up to date."""
    for i in range(len(x)):
        own = W[i, i]
        if own > 0.0:
            change = max(x[i] - w[i] / own, 0.0) - x[i]
            if change != 0.0:
                x[i] += change
                add(w, change, W[i], len(w))
