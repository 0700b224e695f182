"""Mixed complementarity between bounds: the forward problem of condensed rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.jit import plain
from pliant.errors import InputError
from pliant.solvers.complementarity.active_set import INFEASIBLE, SOLVED, STALLED, solve_box
from pliant.solvers.complementarity.free_rows import eliminate, substitute
from pliant.solvers.complementarity.residual import natural_residual, scales
from pliant.solvers.solution import STATUSES, Certificate, Reals, Solution

ACCEPT = 1e-10  # residual up to which a solution counts as solved, whichever path led there
REFINE = 1e-12  # residual from which a step of iterative refinement is tried
PROXIMAL = 1e-9  # proximal regularisation, as a share of the diagonal …
PROXIMAL_STEPS = 10  # … in so many steps, which forget it


def mcp(
    W: ArrayLike,
    q: ArrayLike,
    lo: ArrayLike,
    hi: ArrayLike,
    *,
    start: Solution | ArrayLike | None = None,
    tol: float = 1e-12,
) -> Solution:
    """Solve lo ≤ λ ≤ hi, w = W λ + q (m,): w = 0 inside, w ≥ 0 at lo, w ≤ 0 at hi.

    W (m, m) is symmetric. Rows without bounds (±inf) are equalities and are eliminated first. W may have
    negative eigenvalues if they disappear with these rows, and may be singular: redundant equalities get zero
    effort. `start` is an earlier solution or a guess of λ. Contradictory rows give a certificate with the
    status "infeasible" and its residual, not an exception.
    """
    W, q = check(W, q)
    lo, hi = _bounds(lo, len(q)), _bounds(hi, len(q))
    if not np.all(lo <= hi):
        row = int(np.argmin(lo <= hi))
        raise InputError(f"bounds of row {row}", expected="lo ≤ hi", got=(float(lo[row]), float(hi[row])))
    x = guess(start, len(q))
    free = int(np.count_nonzero((lo == -np.inf) & (hi == np.inf)))
    if free == 0:
        return solve_bounded(W, q, lo, hi, x, tol)
    reduced, elimination = eliminate(W, q, lo, hi, x, free)
    status, iterations = SOLVED, 0
    if free < len(q):
        status, iterations = _active_set(*reduced, np.ones(len(q) - free), tol)
    substitute(elimination, reduced.guess, lo, hi, x)
    return _certified(W, scales(W), q, lo, hi, x, INFEASIBLE if status == SOLVED else status, iterations)


def solve_bounded(W: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, tol: float) -> Solution:
    """Solve a problem in which every row has a finite bound; x is the guess and becomes the effort."""
    reference = scales(W)
    status, iterations = _active_set(W, q, lo, hi, x, reference, tol)
    return _certified(W, reference, q, lo, hi, x, STALLED if status == SOLVED else status, iterations)


def check(W: ArrayLike, q: ArrayLike) -> tuple[Reals, Reals]:
    """W (m, m) and q (m,) as kernels take them."""
    matrix, vector = plain(W), plain(q)
    if vector.ndim != 1 or matrix.shape != (len(vector), len(vector)):
        raise InputError("W, q", expected="(m, m) and (m,)", got=(matrix.shape, vector.shape))
    return matrix, vector


def guess(start: Solution | ArrayLike | None, m: int) -> Reals:
    """The efforts to start from, a copy."""
    if start is None:
        return np.zeros(m)
    effort = np.array(start.effort if isinstance(start, Solution) else start, np.float64)
    if effort.shape != (m,) or not np.isfinite(effort).all():
        raise InputError("start", expected=f"{m} finite efforts", got=effort.shape)
    return effort


def _active_set(
    A: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, reference: Reals, tol: float
) -> tuple[int, int]:
    """Active set; if degenerate rows stall it, proximal steps x ← argmin f(x) + ½ρ‖x − xₖ‖²."""
    limit = 10 * len(q) + 100
    status, iterations = solve_box(A, q, lo, hi, x, reference, tol, limit)
    if status == STALLED:
        shifted = A + np.diag(PROXIMAL * reference)
        for _ in range(PROXIMAL_STEPS):
            status, more = solve_box(shifted, q - PROXIMAL * reference * x, lo, hi, x, reference, tol, limit)
            iterations += more
    return status, iterations


def _certified(
    W: Reals, reference: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, otherwise: int, iterations: int
) -> Solution:
    """The solution with its residual in the original problem; status `otherwise` unless that is small."""
    w, residual = natural_residual(W, reference, q, lo, hi, x)
    if residual > REFINE:
        x, w, residual = _refined(W, reference, q, lo, hi, x, w, residual)
    if not np.isfinite(residual):
        if not (np.isfinite(W).all() and np.isfinite(q).all()):
            raise InputError("W, q", expected="finite values", got="some that are not")
        residual = np.inf  # efforts beyond all numbers: rows that contradict each other almost
    status = STATUSES[SOLVED if residual <= ACCEPT else otherwise]
    return Solution(x, w, Certificate(status, residual, iterations))


def _refined(
    W: Reals, reference: Reals, q: Reals, lo: Reals, hi: Reals, x: Reals, w: Reals, residual: float
) -> tuple[Reals, Reals, float]:
    """One step of iterative refinement on the rows inside their bounds, kept if it helps."""
    inside = (x > lo) & (x < hi)
    low, high = np.where(inside, -np.inf, 0.0), np.where(inside, np.inf, 0.0)
    step = np.zeros(len(q))
    reduced, elimination = eliminate(W, w, low, high, step, int(np.count_nonzero(inside)))
    substitute(elimination, reduced.guess, low, high, step)
    better = np.clip(x + step, lo, hi)
    gap, after = natural_residual(W, reference, q, lo, hi, better)
    return (better, gap, after) if after < residual else (x, w, residual)


def _bounds(values: ArrayLike, m: int) -> Reals:
    array = np.asarray(values, np.float64)
    return plain(array if array.shape == (m,) else np.broadcast_to(array, (m,)))
