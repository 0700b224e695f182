"""Linear complementarity: contacts that push and never pull."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from pliant.errors import unknown_name
from pliant.solvers.mcp import check, guess, solve_bounded
from pliant.solvers.native import INTEGER, REAL, REALS, at, link, native, pointer
from pliant.solvers.residual import natural_residual, residual, scales
from pliant.solvers.rows import add
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
    x, w = np.maximum(x, 0.0), np.empty(len(q))
    given = W, scales(W), q, lo, hi, x, w
    link(_gauss_seidel.py_func)
    sweeps, left = _gauss_seidel(*given, tol, iterations), natural_residual(*given)
    return Solution(x, w, Certificate(STATUSES[0 if left <= tol else 2], left, sweeps))


@native(INTEGER, REALS, REALS, REALS, REALS, REALS, REALS, REALS, INTEGER, REAL, INTEGER)
def sweep(s, reference, q, lo, hi, x, w, m, tol, limit):
    """Projected Gauss–Seidel in place, w = Sx + q kept up to date; returns the number of sweeps."""
    wrong = residual(s, reference, q, lo, hi, x, w, m)
    for done in range(limit):
        if wrong <= tol:
            return done
        for i in range(m):
            own = at(s, i * m)
            if own[i] > 0.0:
                change = max(x[i] - w[i] / own[i], 0.0) - x[i]
                if change != 0.0:
                    x[i] += change
                    add(w, change, own, m)
        wrong = residual(s, reference, q, lo, hi, x, w, m)
    return limit


@njit(cache=True, error_model="numpy")
def _gauss_seidel(W, reference, q, lo, hi, x, w, tol, limit):
    given = pointer(W), pointer(reference), pointer(q), pointer(lo), pointer(hi)
    return sweep(*given, pointer(x), pointer(w), len(q), tol, limit)
