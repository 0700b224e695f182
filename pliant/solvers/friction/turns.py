"""Normals and tangents by turns, then Newton's method on the contacts that push.

Panagiotopoulos' fixed point: with given tangential efforts the normals are a complementarity problem, whose
active-set method copes with contacts that depend on each other; with given normal efforts the tangents are a
convex problem on discs of radius μ x_N. The error falls by a factor of about μ a turn. Which contacts push
and which of these stick is soon right, and Newton's method on them alone ends it: there are few of them, and
all that Newton's method cannot cope with, such as three contacts where two can push, is left out.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import plain, work_kernel
from pliant.solvers.complementarity.mcp import solve_bounded
from pliant.solvers.friction.cone import project
from pliant.solvers.friction.mode_equations import gaps
from pliant.solvers.friction.newton import newton
from pliant.solvers.friction.scaled import Scaled
from pliant.solvers.solution import Reals

MOST_TURNS = 12
SWEEPS = 4  # over the tangents in a turn: more would only follow normals that are not right yet
LOCAL_STEPS = 3  # along the gradient of one contact's two tangents in a sweep
PATIENCE = 2  # with Newton's method
ADDITIONS = 2  # of contacts that the solution for others has penetrated, in a turn


def by_turns(s: Scaled, x: Reals, good: float, tol: float, *, warm: bool) -> tuple[float, Reals, int]:
    """(residual, efforts (m,), eliminations and pivots) from x; it ends with a residual of `good` or less.

    `warm`: x may be nearly right, so that Newton's method on the contacts that push there comes first.
    """
    best, found, iterations = np.inf, x, 0
    for turn in range(MOST_TURNS):
        if turn or not warm:
            x, pivots = normals(s, x, tol)
            x = _with_friction(s, x)
            residual, _ = newton(s, x, tol, 0)
            iterations += pivots
            best, found = (residual, x) if residual < best else (best, found)
        residual, end, steps = _finished(s, x, good, tol)
        iterations += steps
        if residual < np.inf:
            x = end
            best, found = (residual, x) if residual < best else (best, found)
        if best <= good:
            break
    return best, found, iterations


def _finished(s: Scaled, x: Reals, good: float, tol: float) -> tuple[float, Reals, int]:
    """(residual, x (m,), eliminations) by Newton's method on the contacts that push in x.

    It is repeated with those that the solution has penetrated. The residual is infinite where it fails.
    """
    normal, steps = slice(len(s.lo), len(s.lo) + len(s.mu)), 0
    residual, some = np.inf, x[normal] > 0.0
    for _ in range(1 + ADDITIONS):
        rows, part = among(s, some, x)
        left, more = newton(part, part.x, tol, PATIENCE)
        steps += more
        if left > good:
            break
        x = _spread(s, rows, part.x)
        residual, _ = newton(s, x, tol, 0)
        penetrated = (s.q + part.x @ s.W[rows])[normal] < 0.0
        if residual <= good or not (penetrated & ~some).any():
            break
        some = some | penetrated
    return residual, x, steps


def normals(s: Scaled, x: Reals, tol: float, *, contacts: bool = True) -> tuple[Reals, int]:
    """x (m,) with the efforts of plain rows and normals that its tangential efforts ask for, and pivots.

    With `contacts` False these are the efforts of plain rows alone, all others zero.
    """
    p, rows = len(s.lo), len(s.lo) + (len(s.mu) if contacts else 0)
    low, high = np.zeros(rows), np.full(rows, np.inf)
    low[:p], high[:p] = s.lo, s.hi
    free, guess = s.q[:rows].copy(), np.clip(x[:rows], low, high)
    if contacts:
        free += x[rows:] @ s.W[rows:, :rows]
    solution = solve_bounded(plain(s.W[:rows, :rows]), free, low, high, guess, tol)
    out = x.copy() if contacts else np.zeros(len(x))
    out[:rows] = solution.effort
    return out, solution.certificate.iterations


def among(s: Scaled, some: np.ndarray, x: Reals) -> tuple[np.ndarray, Scaled]:
    """The rows of plain rows and of some contacts (mask), and the problem of these alone, from x (m,)."""
    p, n, k = len(s.lo), len(s.mu), np.flatnonzero(some)
    rows = np.concatenate([np.arange(p), p + k, p + n + (2 * k[:, None] + np.arange(2)).ravel()])
    return rows, Scaled(s.W[rows[:, None], rows], s.q[rows], s.mu[k], s.lo, s.hi, x[rows], s.d[rows])


def _with_friction(s: Scaled, x: Reals) -> Reals:
    """x (m,) with better tangential efforts for its normals; those of open contacts are zero."""
    rows, part = among(s, x[len(s.lo) : len(s.lo) + len(s.mu)] > 0.0, x)
    _slide(part, np.empty(len(rows)), SWEEPS)
    return _spread(s, rows, part.x)


def _spread(s: Scaled, rows: np.ndarray, values: Reals) -> Reals:
    x = np.zeros(len(s.q))
    x[rows] = values
    return x


@work_kernel
def _slide(s, w, sweeps):
    """Improve the tangential efforts of s.x for the normals as they are, contact by contact; w is scratch.

    min ½ x_TᵀW_TT x_T + w_Tᵀx_T with ‖x_T‖ ≤ μ x_N, by projected gradients.
    """
    p, n, x, W = len(s.lo), len(s.mu), s.x, s.W
    project(s.mu, s.lo, s.hi, x)
    gaps(W, s.q, x, w)
    for _ in range(sweeps):
        for c in range(n):
            t, radius = p + n + 2 * c, s.mu[c] * x[p + c]
            own, across, other = W[t, t], W[t, t + 1], W[t + 1, t + 1]
            most = 0.5 * (own + other) + np.hypot(0.5 * (own - other), across)
            one, two, w1, w2 = x[t], x[t + 1], w[t], w[t + 1]
            for _ in range(LOCAL_STEPS):
                y1, y2 = one - w1 / most, two - w2 / most
                size = np.hypot(y1, y2)
                if size > radius:
                    y1, y2 = y1 * (radius / size), y2 * (radius / size)
                w1 += own * (y1 - one) + across * (y2 - two)
                w2 += across * (y1 - one) + other * (y2 - two)
                one, two = y1, y2
            d1, d2 = one - x[t], two - x[t + 1]
            x[t], x[t + 1] = one, two
            for i in range(p + n, len(w)):
                w[i] += d1 * W[t, i] + d2 * W[t + 1, i]
