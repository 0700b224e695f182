"""The decomposition of Coevoet et al. 2017: one quadratic program per contact mode, one pivot at a time.

From a feasible contact mode I (eq. 16), solve QP_I (eqs. 8–13). Contacts whose inequality is tight at the
solution are candidates for a pivot; the one with the largest multiplier changes sides. If the new program is
cheaper it is kept, else the next candidate is tried. The programs are stated either with λ_c eliminated
(reduced, eqs. 14–15: na unknowns, the Cholesky factor of the pushing contacts updated from mode to mode) or
with λ_c as unknowns (full: na + nc).

The paper's eqs. 14–15 are misprinted: the constant of λ_c is δ_c^free in both, and members push where A_I λ_a
+ b_I ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.solvers.qp import Scaled, solve_scaled
from pliant.solvers.qpcc.contact_mode import ContactMode
from pliant.solvers.qpcc.problem import Problem
from pliant.solvers.qpcc.residuals import Point
from pliant.solvers.qpcc.solution import QpccCertificate, QpccSolution, Trail, certified
from pliant.solvers.qpcc.solve import SHIFT, descent
from pliant.solvers.solution import INFEASIBLE, STALLED, Reals

SINGULAR = 1e-9  # added to the diagonal, relative to its largest entry: programs may be singular
TIGHT_SLACK = 1e-8  # slack of a contact inequality, relative to the largest, that counts as none
FALLS = 1e-10  # fall of the cost that counts, relative to it and to the task without efforts


class Optimum(NamedTuple):
    """The solution of one program, scaled."""

    x: Reals  # (na,) efforts
    cost: float
    slack: Reals  # (nc,) of the contact inequalities
    eta: Reals  # (na,) multipliers of effort bounds …
    border: Reals  # (nc,) … of contact inequalities …
    mu: Reals  # (na,) … and of displacement bounds

    def candidates(self, tried: set[int]) -> list[int]:
        """Contacts whose inequality is tight, the largest multiplier first."""
        tight = (self.border > 0.0) | (self.slack <= TIGHT_SLACK * np.abs(self.slack).max(initial=0.0))
        return [int(c) for c in np.argsort(-self.border) if tight[c] and int(c) not in tried]


class Quadratic(NamedTuple):
    """min ½dᵀHd + gᵀd with bounds on d and, behind those, on A d."""

    H: Reals
    g: Reals
    A: Reals
    low: Reals
    high: Reals


class Pivoted(NamedTuple):
    """Where a sequence of pivots ended."""

    optimum: Optimum
    switches: list[int]  # contacts that pivoted, in their order
    programs: int  # that were solved
    members: np.ndarray  # contacts that push at the end


Program = Callable[[ContactMode, np.ndarray], Optimum | None]


def state_reduced(mode: ContactMode, x: np.ndarray) -> Quadratic:
    """QP_I with λ_c eliminated (eq. 15), in d = change of the efforts from x."""
    p, rows, scaling = mode.problem, mode.scaling.rows, mode.scaling
    S, value, na, nc, last = mode.region.S, mode.region.value, p.na, p.nc, p.nc + p.ne
    E, error = S[:, nc:last], value[nc:last]
    H = 2.0 * (E @ E.T + scaling.Q)
    H.flat[:: na + 1] += SINGULAR * H.diagonal().max(initial=0.0)
    g = 2.0 * (E @ error + scaling.Q @ x - scaling.p)
    A = S.T[_constraints(nc, p.ne, na)]
    low = np.concatenate((rows.lo - x, -value[:nc], rows.dlo - value[last:]))
    high = np.concatenate((rows.hi - x, np.full(nc, np.inf), rows.dhi - value[last:]))
    return Quadratic(H, g, A, low, high)


def reduced(mode: ContactMode, x: np.ndarray) -> Optimum | None:
    """QP_I with λ_c eliminated, about the point x of the region's values; None if it is infeasible."""
    p, value, scaling = mode.problem, mode.region.value, mode.scaling
    na, nc = p.na, p.nc
    stated, error = state_reduced(mode, x), value[nc : nc + p.ne]
    d, force = _run(stated)
    if d is None:
        return None
    cost = error @ error + x @ scaling.Q @ x - 2.0 * scaling.p @ x + stated.g @ d + 0.5 * d @ stated.H @ d
    slack = value[:nc] + d @ mode.region.S[:, :nc]
    return Optimum(x + d, float(cost), slack, force[:na], force[na : na + nc], force[na + nc :])


def state_full(mode: ContactMode, _: np.ndarray) -> Quadratic:
    """QP_I with λ_c among the unknowns (λ_a, λ_c) (eqs. 8–13)."""
    p, scaling = mode.problem, mode.scaling
    na, nc, last = p.na, p.nc, p.nc + p.ne
    f, S, C, lo, hi, dlo, dhi = scaling.rows
    rows = np.vstack((S, C)).T  # (m, na + nc)
    E = rows[nc:last]
    H = 2.0 * E.T @ E
    H[:na, :na] += 2.0 * scaling.Q
    H.flat[:: na + nc + 1] += SINGULAR * H.diagonal().max(initial=0.0)
    g = 2.0 * f[nc:last] @ E
    g[:na] -= 2.0 * scaling.p
    pushes, gap, free = mode.region.place >= 0, f[:nc], f[last:]
    A = np.ascontiguousarray(rows[_constraints(nc, p.ne, na)])
    low = np.concatenate((lo, np.zeros(nc), -gap, dlo - free))
    high = np.concatenate((hi, np.where(pushes, np.inf, 0.0), np.where(pushes, -gap, np.inf), dhi - free))
    return Quadratic(H, g, A, low, high)


def full(mode: ContactMode, x: np.ndarray) -> Optimum | None:
    """QP_I with λ_c among the unknowns; None if it is infeasible."""
    p, scaling = mode.problem, mode.scaling
    na, nc = p.na, p.nc
    z, force = _run(state_full(mode, x))
    if z is None:
        return None
    new, push, pushes = z[:na], z[na:], mode.region.place >= 0
    value = np.append(new, 1.0) @ mode.open_rows + push @ scaling.rows.C
    error = value[nc : nc + p.ne]
    cost = error @ error + new @ scaling.Q @ new - 2.0 * scaling.p @ new
    border = np.where(pushes, force[na : na + nc], force[na + nc : na + 2 * nc])
    slack = np.where(pushes, push, value[:nc])
    return Optimum(new, float(cost), slack, force[:na], border, force[na + 2 * nc :])


def _constraints(nc: int, ne: int, na: int) -> np.ndarray:
    """Stacked rows that are constrained: contacts and displacements."""
    return np.concatenate((np.arange(nc), np.arange(nc + ne, nc + ne + na)))


def scaled(stated: Quadratic) -> tuple[Scaled, float, float]:
    """The program brought to unit size; its own size and the unit of its variables."""
    H, g, A, low, high = stated
    size = float(H.diagonal().max(initial=0.0)) or 1.0
    unit = float(np.abs(g).max(initial=0.0)) / size or 1.0
    return Scaled(H / size, g / (size * unit), np.ascontiguousarray(A), low / unit, high / unit), size, unit


def _run(stated: Quadratic) -> tuple[Reals | None, Reals]:
    """(d or None if infeasible, multipliers with H d + g = multipliers)."""
    program, size, unit = scaled(stated)
    d, force, status, _, _ = solve_scaled(program)
    return (d * unit if status != INFEASIBLE else None), force * (size * unit)


def pivot(mode: ContactMode, x: np.ndarray, program: Program) -> Pivoted | None:
    """Pivot from the mode at x until no candidate lowers the cost; None if its program is infeasible."""
    mode.settle(x)
    step, value = program(mode, x), mode.region.value
    if step is None:
        return None
    errors = mode.scaling.rows.f[mode.problem.nc : mode.problem.nc + mode.problem.ne]
    task = float(errors @ errors)
    solved, switches, tried = 1, [], set()
    while candidates := step.candidates(tried):
        contact = candidates[0]
        tried.add(contact)
        if not mode.switch(contact):
            continue
        value[:] = mode.at(step.x)
        new = program(mode, step.x)
        solved += 1
        if new is not None and new.cost < step.cost - FALLS * (abs(step.cost) + task):
            step, tried = new, set()
            switches.append(contact)
        else:
            mode.switch(contact)
    value[:] = mode.at(step.x)
    return Pivoted(reduced(mode, step.x) or step, switches, solved, mode.members)  # its multipliers are exact


def decompose(p: Problem, starts: int, formulation: str) -> QpccSolution:
    """The best of some decompositions; infeasible ones begin again where the descent has repaired bounds."""
    mode = ContactMode.of(p, SHIFT)
    program = reduced if formulation == "reduced" else full
    repaired: QpccSolution | None = None
    best, costs, chosen, solved = None, np.full(starts, np.inf), 0, 0
    for number, x in enumerate(_points(mode, starts)):
        end = pivot(mode, x, program)
        if end is None:
            repaired = repaired or descent(p, starts)
            if not repaired.certificate.solved:
                return repaired
            end = pivot(mode, repaired.effort / mode.units, program)
        if end is not None:
            costs[number], solved = end.optimum.cost, solved + end.programs
            if best is None or end.optimum.cost < best.optimum.cost * (1.0 - FALLS):
                best, chosen = end, number
    if best is None:
        return repaired or descent(p, starts)
    return _report(mode, best, costs, chosen, solved)


def _points(mode: ContactMode, starts: int) -> np.ndarray:
    """(starts, na) scaled efforts: the warm start, nothing, then points of the range."""
    p, rng, lo, hi = mode.problem, np.random.default_rng(0), mode.scaling.rows.lo, mode.scaling.rows.hi
    high, low = np.where(np.isfinite(hi), hi, 1.0), np.where(np.isfinite(lo), lo, -1.0)
    points = low + (high - low) * rng.uniform(size=(starts, p.na))
    points[0] = p.start / mode.units if p.warm else 0.0
    if p.warm and starts > 1:
        points[1] = 0.0
    return np.clip(points, lo, np.maximum(hi, lo))


def _report(mode: ContactMode, best: Pivoted, costs: Reals, chosen: int, solved: int) -> QpccSolution:
    """The solution in the user's units, with the multipliers of λ_c that the programs do not have."""
    step, switches, _, members = best
    p, C, units = mode.problem, mode.scaling.rows.C, mode.scaling.units
    nc, last = p.nc, p.nc + p.ne
    free = np.append(step.x, 1.0) @ mode.open_rows
    push, nu, kappa = np.zeros(nc), np.zeros(nc), np.zeros(nc)
    W = C[np.ix_(members, members)]
    push[members] = np.maximum(np.linalg.solve(W, -free[members]), 0.0) if len(members) else 0.0
    error = free[nc:last] + push @ C[:, nc:last]
    outside = np.ones(nc, bool)
    outside[members] = False
    nu[outside], kappa[members] = step.border[outside], step.border[members]
    force = 2.0 * C[:, nc:last] @ error - C[:, last:] @ step.mu - C[:, :nc] @ nu
    if len(members):
        nu[members] = np.linalg.solve(W, force[members] - kappa[members])
    kappa[outside] = (force - C[:, members] @ nu[members])[outside]
    contact, actuator = units[:nc], units[last:]
    effort = np.clip(actuator * step.x, p.lo, np.maximum(p.lo, p.hi))  # no ulp beyond a bound
    loose = np.divide(kappa, contact, out=np.zeros(nc), where=contact > 0.0)
    point = Point(effort, contact * push, step.eta / actuator, loose, actuator * step.mu, contact * nu)
    began = set(members.tolist()).symmetric_difference(c for c in set(switches) if switches.count(c) % 2)
    trail = Trail(np.array([*sorted(began), *switches], np.int64) + 1, len(began))
    sides = {"effort": step.eta, "displacement": step.mu}
    limits = {name: -np.sign(multiplier).astype(np.int64) for name, multiplier in sides.items()}
    costs = costs + p.rho * float(p.previous @ p.Waa @ p.previous)
    # STALLED until the residual says otherwise
    return certified(
        QpccCertificate(STALLED, solved, mode.scaling.eps, costs, chosen, limits, trail, p, point)
    )
