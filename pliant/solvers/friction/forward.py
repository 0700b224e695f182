"""Contact with Coulomb friction: the forward problem of condensed rows, in the true cone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.jit import plain
from pliant.errors import InputError
from pliant.solvers.complementarity.free_rows import eliminate, substitute
from pliant.solvers.complementarity.mcp import check, guess
from pliant.solvers.friction.newton import newton
from pliant.solvers.friction.path import advance, begin
from pliant.solvers.friction.scaled import Scaled, evidence, scaled, units
from pliant.solvers.friction.solution import FrictionCertificate, FrictionSolution
from pliant.solvers.friction.turns import by_turns, normals
from pliant.solvers.solution import INFEASIBLE, SOLVED, STALLED, Reals, Solution

GOOD = 1e-11  # residual of a solution that nobody needs to improve …
ACCEPTABLE = 1e-8  # … and of one that counts as solved
FIRST_ROUNDS = 30  # of a path, until Newton's method is tried
MOST_ROUNDS_OF_ONE = 4000  # of a path, …
MOST_ROUNDS = (
    8000  # … and of all of them: this bounds the time of problems that are hard, or without solution
)
FEW_CONTACTS = 8  # up to which a path is cheaper than steps of Newton's method that lead nowhere
QUICK, PATIENT = 3, 5  # patience with Newton's method
MOST_PATHS = 4  # that are tried
IMMOBILE = 1e-13  # share of its compliance that equalities leave a row; less is rounding
UNBOUNDED = 1e6  # efforts, in units of the data, that show that there is no solution …
WORTH = 0.5  # … and what they must make of the residual to be kept


def friction(
    W: ArrayLike,
    q: ArrayLike,
    mu: ArrayLike,
    low: ArrayLike = (),
    high: ArrayLike = (),
    *,
    start: Solution | ArrayLike | None = None,
    tol: float = 1e-12,
) -> FrictionSolution:
    """Solve w = W λ + q (m,) for p plain rows, n normals and 2n tangents (two per contact), m = p + 3n.

    Plain rows: low ≤ λ ≤ high, w = 0 inside, w ≥ 0 at low, w ≤ 0 at high; without bounds (±inf) they are
    equalities. Contacts: 0 ≤ λ_N ⊥ w_N ≥ 0, ‖λ_T‖ ≤ μ λ_N, and w_T = 0 inside the cone, λ_T = −μ λ_N
    w_T/‖w_T‖ where they slip: w_N is the gap at the end of a step, w_T the slip during it.

    W (m, m) is symmetric and positive semi-definite once the equalities are eliminated; contacts may be
    redundant. `mu` is (n,) or one number, `low` and `high` are (p,) or one number. `start` is an earlier
    solution or a guess of λ. Newton's method on the contacts that push there is tried first, then others are
    found by turns (see `turns`), then a path from open contacts is followed (see `path`). Friction may leave
    several solutions or none: then the certificate says so, and the efforts are the best that were found.
    """
    W, q = check(W, q)
    mu, lo, hi = _laws(mu, low, high, len(q))
    x = guess(start, len(q))
    if not np.isfinite(W.sum() + q.sum()) and not (np.isfinite(W).all() and np.isfinite(q).all()):
        raise InputError("W, q", expected="finite values", got="some that are not")
    free = int(np.count_nonzero((lo == -np.inf) & (hi == np.inf)))
    if free:
        best, iterations, bounded = _eliminated(W, q, mu, lo, hi, x, free, start is not None, tol)
        d, _ = units(W, len(lo), len(mu))
    else:
        s = scaled(W, q, mu, lo, hi, x)
        best, iterations, bounded = solve_scaled(s, start is not None, tol)
        d = s.d
        np.multiply(s.x, d, out=x)
        np.clip(x[: len(lo)], lo, hi, out=x[: len(lo)])
    w = W @ x + q
    parts = evidence(d, q, mu, lo, hi, x, w)
    possible = bounded and best > ACCEPTABLE  # else equalities, or rows that nothing moves, are what is left
    status = SOLVED if max(parts) <= ACCEPTABLE else STALLED if possible else INFEASIBLE
    return FrictionSolution(x, w, FrictionCertificate(status, max(parts), iterations, *parts), len(mu))


def solve_scaled(s: Scaled, warm: bool, tol: float) -> tuple[float, int, bool]:
    """Improve s.x in place; returns (residual, eliminations, whether the efforts stayed bounded)."""
    best, iterations, bounded, enough = np.inf, 0, True, GOOD
    for residual, x, more in _attempts(s, warm, tol):
        iterations += more
        small = _small(s, x)
        bounded = bounded and small
        if residual < (1.0 if small else WORTH) * best:
            best, s.x[:] = residual, x
        if best <= enough:
            break
        enough = ACCEPTABLE if best <= ACCEPTABLE else GOOD  # one more attempt where a solution is not good
    return best, iterations, bounded or best <= ACCEPTABLE


def _attempts(s: Scaled, warm: bool, tol: float) -> Iterator[tuple[float, Reals, int]]:
    """(residual, x, eliminations) of one method after the other; s.x is the best so far."""
    nothing = np.zeros(len(s.q))
    yield by_turns(s, s.x if warm else nothing, GOOD, tol, warm=warm)
    x, pivots = normals(s, nothing, tol)
    residual, steps = newton(s, x, tol, PATIENT)
    yield residual, x, pivots + steps
    left = MOST_ROUNDS
    for seed in (None, *range(MOST_PATHS)) if warm else range(MOST_PATHS):
        end = _along_path(s, seed, tol, min(left, MOST_ROUNDS_OF_ONE))
        yield end
        left -= end[2]
        if left <= 0 or (seed is not None and not _small(s, end[1])):
            break


def _small(s: Scaled, x: Reals) -> bool:
    size = max(np.abs(s.q).max(initial=0.0), np.minimum(np.abs(s.lo), np.abs(s.hi)).max(initial=0.0))
    return bool(np.abs(x).max(initial=0.0) <= UNBOUNDED * size)


def _along_path(s: Scaled, seed: int | None, tol: float, most: int) -> tuple[float, Reals, int]:
    """(residual, x, eliminations) of a path, with Newton's method at its end and where it gets expensive.

    `most`: rounds after which it is given up.
    """
    p = len(s.lo)
    x = s.x if seed is None else normals(s, s.x, tol, contacts=False)[0]
    path, rounds, iterations = begin(s, x, seed), FIRST_ROUNDS, 0
    while True:
        iterations += advance(s, path, min(rounds, max(most - iterations, 0)))
        over = path.stopped or iterations >= most
        if over or np.count_nonzero(path.mode[p:]) > FEW_CONTACTS:
            x = path.x.copy()
            residual, more = newton(s, x, tol, QUICK)
            iterations += more
            if over or residual <= GOOD:
                return residual, x, iterations
        rounds *= 2


def _eliminated(
    W: Reals, q: Reals, mu: Reals, lo: Reals, hi: Reals, x: Reals, free: int, warm: bool, tol: float
) -> tuple[float, int, bool]:
    """Eliminate the free rows, solve for the others, and substitute: x becomes the efforts of all rows."""
    m, p = len(q), len(lo)
    low, high = np.full(m, -np.inf), np.full(m, np.inf)
    low[:p], high[:p] = lo, hi
    cones = np.where(np.arange(m) < p, low, 0.0)  # any bound keeps the rows of contacts from counting as free
    (S, right, _, _, y), elimination = eliminate(W, q, cones, high, x, free)
    order, d = elimination.order[free:], elimination.d
    kept, unit = order[order < p], d[order]
    immobile = S.diagonal() <= IMMOBILE * np.abs(W.diagonal()[order]) * unit**2
    S[immobile], S[:, immobile] = 0.0, 0.0
    s = scaled(S / np.outer(unit, unit), right / unit, mu, plain(lo[kept]), plain(hi[kept]), y * unit)
    best, iterations, bounded = solve_scaled(s, warm, tol)
    substitute(elimination, s.x * s.d / unit, low, high, x)
    return best, iterations, bounded


def _laws(mu: ArrayLike, low: ArrayLike, high: ArrayLike, m: int) -> tuple[Reals, Reals, Reals]:
    """μ (n,) and the bounds (p,) with p + 3n = m."""
    mu, low, high = (np.asarray(value, np.float64) for value in (mu, low, high))
    if mu.ndim == 0:
        rows = max(low.size if low.ndim else 0, high.size if high.ndim else 0)
        mu = np.full((m - rows) // 3, mu)
    p = m - 3 * mu.size
    if mu.ndim != 1 or p < 0:
        raise InputError("mu, q", expected="n and p + 3n numbers", got=(mu.shape, m))
    if not (np.isfinite(mu).all() and (mu >= 0.0).all()):
        raise InputError("mu", expected="finite numbers ≥ 0", got=mu)
    bounds = []
    for name, value in (("low", low), ("high", high)):
        if value.shape not in ((), (p,)):
            raise InputError(name, expected=f"a number or {p} of them, one per plain row", got=value.shape)
        bounds.append(plain(np.broadcast_to(value, (p,))))
    if not np.all(bounds[0] <= bounds[1]):
        row = int(np.argmin(bounds[0] <= bounds[1]))
        raise InputError(f"bounds of row {row}", expected="low ≤ high", got=(bounds[0][row], bounds[1][row]))
    return plain(mu), bounds[0], bounds[1]
