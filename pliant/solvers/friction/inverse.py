"""Inverse problem with friction: actuator efforts for a task, with contacts that push, stick and slip."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.solvers.friction.descent import Descent, descend
from pliant.solvers.friction.forward import ACCEPTABLE
from pliant.solvers.friction.scaled import evidence
from pliant.solvers.friction.solution import FrictionalCertificate, FrictionalSolution
from pliant.solvers.friction.task import Point, Task
from pliant.solvers.qpcc.problem import PAPER_EPS, UNBOUNDED, Problem, problem, work_scale
from pliant.solvers.qpcc.solve import qpcc
from pliant.solvers.solution import INFEASIBLE, SOLVED, STALLED, Reals

MOST_STEPS = 200  # of one descent
SAMPLES = 8  # points of the range that are compared for every start beyond the third
STATIONARY = 1e-5  # relative gradient of a local minimum
WIDTH = 3.0  # times the efforts at hand: the range where there is no bound
ALLOWED = 1e-8  # violation of displacement bounds, scaled, relative to their size
SAME_COST = 1e-9  # costs closer than this, relative, are equal: the earlier start is kept


def frictional_inverse(
    Wea: ArrayLike,
    Wec: ArrayLike,
    Waa: ArrayLike,
    Wac: ArrayLike,
    Wcc: ArrayLike,
    de: ArrayLike,
    da: ArrayLike,
    dc: ArrayLike,
    mu: ArrayLike,
    *,
    effort: tuple[ArrayLike, ArrayLike] = UNBOUNDED,
    displacement: tuple[ArrayLike, ArrayLike] = UNBOUNDED,
    eps: float | None = None,
    rho: float = 0.0,
    previous: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    starts: int = 6,
    warm: Any = None,
) -> FrictionalSolution:
    """Actuator efforts that bring the effector nearest to its target, with contacts that push, stick, slip.

    min Σ wₑδₑ² + ε λ_aᵀW_aa λ_a + ρ‖λ_a − λ_prev‖²_Waa,   δ_e = W_ea λ_a + W_ec λ_c + de,
    s.t. effort bounds on λ_a, displacement bounds on δ_a = W_aa λ_a + W_ac λ_c + da,
         w = W_ca λ_a + W_cc λ_c + dc and λ_c obey the laws of `friction`.

    The arguments are those of `qpcc`, but the rows c are one-sided rows (0 ≤ λ ⊥ w ≥ 0), n normals, 2n
    tangents, in this order, n = len(mu). `starts` is the number of descents: from the warm start (an earlier
    solution, or efforts), from the solution without friction, from zero efforts, then from the best of some
    points of the range. The best is returned.
    """
    mu = np.atleast_1d(np.asarray(mu, np.float64))
    p = problem(Wea, Wec, Waa, Wac, Wcc, de, da, dc, effort, displacement, eps, rho, previous, weights, warm)
    _check(p, mu, starts)
    if p.eps < 0.0:
        p = p._replace(eps=PAPER_EPS * _work_scale(p, p.nc - 2 * len(mu)))
    task = Task.of(p, mu, p.eps)
    descents = [descend(task, point, MOST_STEPS) for point in _starts(task, p, mu, starts)]
    extent = _extent(task.displacement, task.unit)
    costs = np.array([d.point.cost if d.point.violation <= ALLOWED * extent else np.inf for d in descents])
    if np.isfinite(costs).any():
        chosen = int(np.argmax(costs <= costs.min() * (1.0 + SAME_COST)))
    else:
        chosen = int(np.argmin([d.point.violation for d in descents]))
    return _assemble(p, mu, task, descents, costs, chosen)


def _check(p: Problem, mu: Reals, starts: int) -> None:
    if mu.ndim != 1 or p.nc < 3 * len(mu):
        raise InputError("mu", expected=f"n numbers for at least 3n contact rows, of {p.nc}", got=mu.shape)
    if not (np.isfinite(mu).all() and (mu >= 0.0).all()):
        raise InputError("mu", expected="finite numbers ≥ 0", got=mu)
    if starts < 1:
        raise InputError("starts", expected="at least 1", got=starts)
    bounds = np.concatenate((p.lo, p.hi, p.dlo, p.dhi))
    if not np.isfinite(p.numbers()[: -len(bounds)]).all() or np.isnan(bounds).any():
        raise InputError(
            "matrices and bounds", expected="finite numbers, bounds that are not NaN", got="others"
        )


def _work_scale(p: Problem, rows: int) -> float:
    """As without friction, so that ε does not depend on it."""
    return work_scale(p.Wea, p.Wec[:, :rows], p.Waa, p.Wac[:, :rows], p.Wcc[:rows, :rows])


def _starts(task: Task, p: Problem, mu: Reals, starts: int) -> list[Point]:
    """The points that descents begin from, the most promising first."""
    points: list[Point] = []
    if p.warm:
        points.append(task.at(np.clip(p.start, *task.effort), task.contacts.x if p.guess.any() else None))
    if len(points) < starts:
        r = p.nc - 2 * len(mu)
        easy = qpcc(
            p.Wea, p.Wec[:, :r], p.Waa, p.Wac[:, :r], p.Wcc[:r, :r], p.de, p.da, p.dc[:r],
            effort=(p.lo, p.hi), displacement=(p.dlo, p.dhi), eps=p.eps, rho=p.rho, previous=p.previous,
            weights=p.weights,
        )  # fmt: skip
        points.append(task.at(np.clip(easy.effort, *task.effort)))
    if len(points) < starts:
        points.append(task.at(np.clip(np.zeros(p.na), *task.effort), points[-1].x))
    if len(points) < starts:
        reach = max(float(np.abs(point.effort * task.unit).max()) for point in points) or 1.0
        samples = [task.at(x, points[-1].x) for x in _spread(task, reach, SAMPLES * (starts - len(points)))]
        samples.sort(key=lambda point: (point.violation, point.cost))
        points.extend(samples[: starts - len(points)])
    return points


def _spread(task: Task, reach: float, count: int) -> Reals:
    """(count, na) points that fill the range of the efforts, up to WIDTH times `reach` without bounds."""
    lo, hi = task.effort
    far = WIDTH * reach / task.unit
    lo, hi = (
        np.where(np.isfinite(lo), lo, np.minimum(-far, hi - far)),
        np.where(np.isfinite(hi), hi, np.maximum(far, lo + far)),
    )
    golden = 1.5
    for _ in range(20):  # gᵈ⁺¹ = g + 1: multiples of 1/g, 1/g², … spread evenly over a d-dimensional cube
        golden = (1.0 + golden) ** (1.0 / (len(lo) + 1.0))
    shares = (0.5 + np.arange(1, count + 1)[:, None] * golden ** -np.arange(1.0, len(lo) + 1.0)) % 1.0
    return lo + (hi - lo) * shares


def _extent(bounds: tuple[Reals, Reals], unit: Reals) -> float:
    """The size of the finite bounds, scaled; 1 if there are none."""
    return max(float(np.abs((b / unit)[np.isfinite(b)]).max(initial=0.0)) for b in bounds) or 1.0


def _assemble(
    p: Problem, mu: Reals, task: Task, descents: list[Descent], costs: Reals, chosen: int
) -> FrictionalSolution:
    """The solution from the user's own arrays."""
    Wea, Wec, Waa, Wac, Wcc, de, da, dc, weights, previous = p[:10]
    lo, hi, dlo, dhi = p.lo, p.hi, p.dlo, p.dhi
    best, rows = descents[chosen], p.nc - 3 * len(mu)
    lam, contact = np.clip(best.point.effort, *task.effort), best.point.x * task.contacts.d
    free = lam @ Wac + dc
    gap, moved, error = Wcc @ contact + free, Waa @ lam + Wac @ contact + da, Wea @ lam + Wec @ contact + de
    change = lam - previous
    cost = float(weights @ error**2 + p.eps * lam @ Waa @ lam + p.rho * change @ Waa @ change)
    laws = evidence(task.contacts.d, free, mu, np.zeros(rows), np.full(rows, np.inf), contact, gap)
    over = np.maximum(dlo - moved, moved - dhi) / task.unit
    beyond = np.maximum(lo - lam, lam - hi) * task.unit
    feasibility = max(
        float(over.max(initial=0.0)) / _extent((dlo, dhi), task.unit),
        float(beyond.max(initial=0.0)) / _extent((lo, hi), 1.0 / task.unit),
    )
    status = SOLVED if max(laws) <= ACCEPTABLE and best.stationarity <= STATIONARY else STALLED
    if feasibility > ALLOWED:
        status = INFEASIBLE
    certificate = FrictionalCertificate(
        status, max(best.stationarity, feasibility, *laws), sum(d.steps for d in descents), best.stationarity,
        *laws, feasibility, p.eps, costs, chosen,
    )  # fmt: skip
    return FrictionalSolution(lam, gap, certificate, contact, moved, error, cost, len(mu))
