"""Convex quadratic programs with bounds and inequalities, solved exactly by the dual active-set code DAQP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import daqp
import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.solvers.solution import INFEASIBLE, SOLVED, STALLED, Certificate, Reals, Solution

TIGHT = {"primal_tol": 1e-11, "dual_tol": 1e-11, "eps_prox": 0.0, "iter_limit": 2000}  # in scaled units …
NORMAL, LOOSE = 1e-10, 1e-8  # … and where that is too much to ask
REGULAR = 1e-6  # added to the unit diagonal of a singular Q, about the last iterate: the error vanishes …
ROUNDS = 12  # … within some rounds
STANDS_STILL = 1e-13  # change of the iterate, relative to it, that ends these rounds
ACCEPTABLE = 1e-8  # residual up to which a solution counts as solved
NO_CURVATURE = 1e-24  # diagonal entry of Q, relative to the largest, that counts as none
FREE_WEIGHT = 1e-9  # of the variables, beside the violations, where the smallest violation is looked for


@dataclass(frozen=True)
class QpCertificate(Certificate):
    """Evidence for the solution of a quadratic program.

    `residual` is the largest of `stationarity` (|Qx + c − η − Aᵀμ|, relative to its terms), `feasibility`
    (violation of bounds and rows) and `complementarity` (slack of bounds that have a multiplier), relative to
    the largest variable; variables are scaled to Qᵢᵢ = 1, rows to unit length. `regularised` is what was
    added to that unit diagonal, about the last iterate, because Q is singular, else 0.
    """

    stationarity: float = 0.0
    feasibility: float = 0.0
    complementarity: float = 0.0
    regularised: float = 0.0


@dataclass(frozen=True, eq=False)
class QpSolution(Solution):
    """x as `effort` (n,), gradient Qx + c as `gap` (n,), the rows Ax, the cost and the multipliers.

    Qx + c = `bound_multiplier` + Aᵀ `row_multiplier`; both are ∂cost/∂(active bound): positive where a lower
    bound holds, negative at an upper one.
    """

    certificate: QpCertificate
    cost: float
    rows: Reals
    bound_multiplier: Reals
    row_multiplier: Reals


class Scaled(NamedTuple):
    """The program in y with x = d y, Qᵢᵢ = 1, rows of unit length; bounds of y, then of the rows."""

    Q: np.ndarray
    c: np.ndarray
    rows: np.ndarray
    low: np.ndarray
    high: np.ndarray


def qp(
    Q: ArrayLike,
    c: ArrayLike,
    lo: ArrayLike,
    hi: ArrayLike,
    A: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    start: Solution | ArrayLike | None = None,
) -> QpSolution:
    """min ½ xᵀQx + cᵀx with lo ≤ x ≤ hi (n,) and lower ≤ A x ≤ upper (m,); Q positive semi-definite.

    Bounds are numbers or arrays, ±inf where there are none. Where Q is singular (redundant variables) it is
    regularised, and the certificate says so. Infeasible bounds give the status "infeasible" and the x of
    smallest violation. `start` is an earlier solution or a guess of x.
    """
    Q, c = np.asarray(Q, np.float64), np.asarray(c, np.float64)
    n = c.size
    if Q.shape != (n, n) or c.ndim != 1:
        raise InputError("Q, c", expected="(n, n) and (n,)", got=(Q.shape, c.shape))
    A = np.empty((0, n)) if A is None else np.asarray(A, np.float64)
    if A.ndim != 2 or A.shape[1] != n:
        raise InputError("A", expected=f"(m, {n})", got=A.shape)
    m = len(A)
    low = np.concatenate((vector(lo, n, "lo"), vector(-np.inf if lower is None else lower, m, "lower")))
    high = np.concatenate((vector(hi, n, "hi"), vector(np.inf if upper is None else upper, m, "upper")))
    if not (np.isfinite(Q).all() and np.isfinite(c).all() and np.isfinite(A).all()):
        raise InputError("Q, c, A", expected="finite numbers", got="some that are not")
    if np.isnan(low).any() or np.isnan(high).any():
        raise InputError("bounds", expected="numbers or ±inf", got="NaN")
    own = Q.diagonal()
    most = own.max(initial=0.0) or 1.0
    d = 1.0 / np.sqrt(np.where(own > NO_CURVATURE * most, own, most))
    rows = A * d
    length = np.sqrt((rows * rows).sum(axis=1))
    length[length == 0.0] = 1.0
    by = 1.0 / np.concatenate((d, length))
    size = float(np.abs(c * d).max(initial=0.0)) or 1.0  # unit of y: DAQP's tolerances are absolute
    scaled = Scaled(
        Q * d * d[:, None], c * (d / size), rows / length[:, None], low * (by / size), high * (by / size)
    )
    guess = None if start is None else _guess(start, n) / (d * size)
    y, force, status, iterations, regularised = solve_scaled(scaled, guess)
    certificate = _certify(scaled, y, force, status, iterations, regularised)
    x, multiplier = y * (d * size), force * (by * size)
    gradient = Q @ x + c
    cost = float(0.5 * x @ (gradient + c))
    return QpSolution(x, gradient, certificate, cost, A @ x, multiplier[:n], multiplier[n:])


def _guess(start: Solution | ArrayLike, n: int) -> np.ndarray:
    guess = np.array(start.effort if isinstance(start, Solution) else start, np.float64)
    if guess.shape != (n,) or not np.isfinite(guess).all():
        raise InputError("start", expected=f"{n} finite numbers", got=guess.shape)
    return guess


def solve_scaled(
    p: Scaled, guess: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, str, int, float]:
    """(y, multipliers with Qy + c = multipliers of all bounds, status, iterations, regularisation)."""
    y, force, flag, iterations = run(p, guess)
    if flag == -1 and run(p, guess, primal_tol=LOOSE, eps_prox=REGULAR)[2] == -1:
        p = _least_violation(p)
        y, force, flag, more = run(p, None, primal_tol=LOOSE)
        return y, force, INFEASIBLE, iterations + more, 0.0
    if flag > 0:
        return y, force, SOLVED, iterations, 0.0
    y = np.zeros(len(p.c)) if guess is None else guess
    shifted = p._replace(Q=p.Q + REGULAR * np.eye(len(y)))
    for _ in range(ROUNDS):
        last = y
        y, force, flag, more = run(shifted._replace(c=p.c - REGULAR * last), last, primal_tol=NORMAL)
        iterations += more
        if flag <= 0 or np.abs(y - last).max(initial=0.0) <= STANDS_STILL * np.abs(y).max(initial=0.0):
            break
    return y, force, SOLVED if flag > 0 else STALLED, iterations, REGULAR


def run(p: Scaled, guess: np.ndarray | None, **options: float) -> tuple[np.ndarray, np.ndarray, int, int]:
    """One call of DAQP: (y, multipliers, exit flag, iterations)."""
    sense = np.zeros(len(p.low), np.int32)
    y, _, flag, info = daqp.solve(
        p.Q, p.c, p.rows, p.high, p.low, sense, primal_start=guess, **{**TIGHT, **options}
    )
    return np.asarray(y), -np.asarray(info["lam"]), flag, info["iterations"]


def _least_violation(p: Scaled) -> Scaled:
    """The program with its bounds relaxed to the smallest violation, by least squares over the rows."""
    n, m = len(p.c), len(p.rows)
    with np.errstate(invalid="ignore"):  # no bounds at all have no middle
        middle = 0.5 * (p.low + p.high)
    low, high = np.where(p.low > p.high, middle, p.low), np.where(p.low > p.high, middle, p.high)
    # variables (y, s): min ½‖s‖² + tiny ½‖y‖² with low ≤ rows y + s ≤ high
    Q = np.diag(np.concatenate((np.full(n, FREE_WEIGHT), np.ones(m))))
    rows, free = np.hstack((p.rows, np.eye(m))), np.full(m, np.inf)
    slack = Scaled(
        Q,
        np.zeros(n + m),
        rows,
        np.concatenate((low[:n], -free, low[n:])),
        np.concatenate((high[:n], free, high[n:])),
    )
    y = run(slack, None)[0]
    value = p.rows @ y[:n]
    low[n:], high[n:] = np.minimum(low[n:], value), np.maximum(high[n:], value)
    return p._replace(low=low, high=high)


def _certify(
    p: Scaled, y: np.ndarray, force: np.ndarray, status: str, iterations: int, regularised: float
) -> QpCertificate:
    """Residuals against the program as it was given, scaled."""
    n = len(y)
    size = float((np.abs(p.Q) @ np.abs(y) + np.abs(p.c)).max(initial=0.0)) or 1.0
    reach = float(np.abs(y).max(initial=0.0)) or 1.0
    stationarity = float(np.abs(p.Q @ y + p.c - force[:n] - force[n:] @ p.rows).max(initial=0.0)) / size
    value = np.concatenate((y, p.rows @ y))
    feasibility = max(float(np.maximum(p.low - value, value - p.high).max(initial=0.0)), 0.0) / reach
    slack = np.where(force > 0.0, value - p.low, p.high - value)[force != 0.0]
    complementarity = 0.0 if status == INFEASIBLE else float(np.abs(slack).max(initial=0.0)) / reach
    residual = max(stationarity, feasibility, complementarity)
    if status != INFEASIBLE:
        status = SOLVED if residual <= ACCEPTABLE else STALLED
    return QpCertificate(
        status, residual, iterations, stationarity, feasibility, complementarity, regularised
    )


def vector(value: ArrayLike, n: int, name: str) -> np.ndarray:
    """(n,) from a number or n numbers."""
    array = np.asarray(value)
    if array.shape == (n,):
        return array
    if array.ndim == 0:
        return np.full(n, array)
    raise InputError(name, expected=f"a number or {n} of them", got=array.shape)
