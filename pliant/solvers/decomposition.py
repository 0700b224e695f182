"""The decomposition of Coevoet et al. 2017: one quadratic program per contact mode, one contact switched at a time.

From a feasible contact mode I, solve QP_I. Contacts whose inequality is tight at the solution are candidates; the one
with the largest multiplier changes sides. If the new program is cheaper it is kept, else the next candidate is tried.
The programs are stated either with λ_c eliminated (reduced: na unknowns, the Cholesky factor of the pushing contacts
updated from mode to mode) or with λ_c as unknowns (full: na + nc).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.solvers.descent import UNFINISHED
from pliant.solvers.modes import Modes, warm_efforts
from pliant.solvers.multistart import BEGUN, CHOSEN, FIRST, ITERATIONS, LENGTH, STATUS, outputs
from pliant.solvers.problem import Problem
from pliant.solvers.qp import INFEASIBLE, Scaled, solve_scaled
from pliant.solvers.qpcc import SHIFT, assemble, descent
from pliant.solvers.qpcc_solution import Evidence, QpccSolution

SINGULAR = 1e-9  # added to the diagonal: full programs and redundant actuators are singular
TIGHT_SLACK = 1e-8  # slack of a contact inequality, relative to the largest, that counts as none
FALLS = 1e-10  # fall of the cost that counts, relative to it and to the task without efforts


class Step(NamedTuple):
    """Solution of one program: efforts, cost, slack of the contact inequalities; multipliers of efforts, contacts,
    displacements."""

    x: np.ndarray
    cost: float
    slack: np.ndarray
    eta: np.ndarray
    border: np.ndarray
    mu: np.ndarray

    def candidates(self, tried: set[int]) -> list[int]:
        """Contacts whose inequality is tight, the largest multiplier first."""
        tight = (self.border > 0.0) | (self.slack <= TIGHT_SLACK * np.abs(self.slack).max(initial=0.0))
        return [int(c) for c in np.argsort(-self.border) if tight[c] and int(c) not in tried]


class Quadratic(NamedTuple):
    """min ½dᵀHd + gᵀd with bounds on d and, behind those, on A d."""

    H: np.ndarray
    g: np.ndarray
    A: np.ndarray
    low: np.ndarray
    high: np.ndarray


Program = Callable[[Modes, np.ndarray], Step | None]


def state_reduced(modes: Modes, x: np.ndarray) -> Quadratic:
    """QP_I with λ_c eliminated, in d = change of the efforts from x."""
    p, S, value = modes.problem, modes.slopes, modes.value
    na, nc, ne = p.na, p.nc, p.ne
    E, error = S[:, nc : nc + ne], value[nc : nc + ne]
    H = 2.0 * (E @ E.T + modes.Q)
    H.flat[:: na + 1] += SINGULAR * H.diagonal().max(initial=0.0)
    g = 2.0 * (E @ error + modes.Q @ x - modes.p)
    A = S.T[_constraints(nc, ne, na)]
    low = np.concatenate((modes.lo - x, -value[:nc], modes.dlo - value[nc + ne :]))
    high = np.concatenate((modes.hi - x, np.full(nc, np.inf), modes.dhi - value[nc + ne :]))
    return Quadratic(H, g, A, low, high)


def reduced(modes: Modes, x: np.ndarray) -> Step | None:
    """QP_I with λ_c eliminated, about the point x where the values were computed; None if it is infeasible."""
    na, nc, ne = modes.problem.na, modes.problem.nc, modes.problem.ne
    stated, error = state_reduced(modes, x), modes.value[nc : nc + ne]
    d, force = _run(stated)
    if d is None:
        return None
    cost = error @ error + x @ modes.Q @ x - 2.0 * modes.p @ x + stated.g @ d + 0.5 * d @ stated.H @ d
    slack = modes.value[:nc] + d @ modes.slopes[:, :nc]
    return Step(x + d, float(cost), slack, force[:na], force[na : na + nc], force[na + nc :])


def state_full(modes: Modes, _: np.ndarray) -> Quadratic:
    """QP_I with λ_c among the unknowns (λ_a, λ_c)."""
    p = modes.problem
    na, nc, ne = p.na, p.nc, p.ne
    rows = np.vstack((modes.start[:na], modes.C)).T  # (m, na + nc)
    fixed, E = modes.start[na], rows[nc : nc + ne]
    H = 2.0 * E.T @ E
    H[:na, :na] += 2.0 * modes.Q
    H.flat[:: na + nc + 1] += SINGULAR * H.diagonal().max(initial=0.0)
    g = 2.0 * fixed[nc : nc + ne] @ E
    g[:na] -= 2.0 * modes.p
    pushes = _pushes(modes)
    A = np.ascontiguousarray(rows[_constraints(nc, ne, na)])
    low = np.concatenate((modes.lo, np.zeros(nc), -fixed[:nc], modes.dlo - fixed[nc + ne :]))
    high = np.concatenate(
        (
            modes.hi,
            np.where(pushes, np.inf, 0.0),
            np.where(pushes, -fixed[:nc], np.inf),
            modes.dhi - fixed[nc + ne :],
        )
    )
    return Quadratic(H, g, A, low, high)


def full(modes: Modes, x: np.ndarray) -> Step | None:
    """QP_I with λ_c among the unknowns; None if it is infeasible."""
    na, nc, ne = modes.problem.na, modes.problem.nc, modes.problem.ne
    z, force = _run(state_full(modes, x))
    if z is None:
        return None
    value, pushes, new = np.append(z[:na], 1.0) @ modes.start + z[na:] @ modes.C, _pushes(modes), z[:na]
    error = value[nc : nc + ne]
    cost = error @ error + new @ modes.Q @ new - 2.0 * modes.p @ new
    border = np.where(pushes, force[na : na + nc], force[na + nc : na + 2 * nc])
    return Step(
        new, float(cost), np.where(pushes, z[na:], value[:nc]), force[:na], border, force[na + 2 * nc :]
    )


def _pushes(modes: Modes) -> np.ndarray:
    """(nc,) whether a contact pushes in the present mode."""
    pushes = np.zeros(modes.problem.nc, bool)
    pushes[modes.members] = True
    return pushes


def _constraints(nc: int, ne: int, na: int) -> np.ndarray:
    """Stacked rows that are constrained: contacts and displacements."""
    return np.concatenate((np.arange(nc), np.arange(nc + ne, nc + ne + na)))


def scaled(stated: Quadratic) -> tuple[Scaled, float, float]:
    """The program brought to unit size; its own size and the unit of its variables."""
    H, g, A, low, high = stated
    size = float(H.diagonal().max(initial=0.0)) or 1.0
    unit = float(np.abs(g).max(initial=0.0)) / size or 1.0
    return Scaled(H / size, g / (size * unit), np.ascontiguousarray(A), low / unit, high / unit), size, unit


def _run(stated: Quadratic) -> tuple[np.ndarray | None, np.ndarray]:
    """(d or None if infeasible, multipliers with H d + g = multipliers)."""
    program, size, unit = scaled(stated)
    d, force, status, _, _ = solve_scaled(program)
    return (d * unit if status != INFEASIBLE else None), force * (size * unit)


def pivot(modes: Modes, x: np.ndarray, program: Program) -> tuple[Step, list[int], int] | None:
    """Switch contacts from the mode at x until no candidate lowers the cost: (last step, switches, programs)."""
    modes.settle(x)
    step = program(modes, x)
    if step is None:
        return None
    p = modes.problem
    task = float((modes.start[p.na, p.nc : p.nc + p.ne] ** 2).sum())
    solved, switches, tried = 1, [], set()
    while True:
        candidates = step.candidates(tried)
        if not candidates:
            modes.value[:] = modes.at(step.x)
            return reduced(modes, step.x) or step, switches, solved  # its multipliers are exact
        contact = candidates[0]
        tried.add(contact)
        if not modes.switch(contact):
            continue
        modes.value[:] = modes.at(step.x)
        new = program(modes, step.x)
        solved += 1
        if new is not None and new.cost < step.cost - FALLS * (abs(step.cost) + task):
            step, tried = new, set()
            switches.append(contact)
        else:
            modes.switch(contact)


def decompose(p: Problem, starts: int, formulation: str) -> QpccSolution:
    """The best of some decompositions; where the first is infeasible, from the point that the descent repairs."""
    modes = Modes.of(p, SHIFT)
    program = reduced if formulation == "reduced" else full
    repaired: QpccSolution | None = None
    best, costs, solved = None, np.full(starts, np.inf), 0
    for number, x in enumerate(_points(modes, starts)):
        found = pivot(modes, x, program)
        if found is None:
            repaired = repaired or descent(p, starts)
            if not repaired.certificate.solved:
                return repaired
            found = pivot(modes, repaired.effort / modes.unit, program)
        if found is not None:
            costs[number], solved = found[0].cost, solved + found[2]
            if best is None or found[0].cost < best[0].cost * (1.0 - FALLS):
                best = (*found, number, modes.members)
    if best is None:
        return repaired or descent(p, starts)
    return _report(modes, best, costs, solved)


def _points(modes: Modes, starts: int) -> np.ndarray:
    """(starts, na) scaled efforts: the warm start, nothing, then points of the range."""
    p, rng = modes.problem, np.random.default_rng(0)
    reach = np.where(np.isfinite(modes.hi), modes.hi, 1.0), np.where(np.isfinite(modes.lo), modes.lo, -1.0)
    points = reach[1] + (reach[0] - reach[1]) * rng.uniform(size=(starts, p.na))
    points[0] = warm_efforts(p) / modes.unit if p.warm else 0.0
    if p.warm and starts > 1:
        points[1] = 0.0
    return np.clip(points, modes.lo, np.maximum(modes.hi, modes.lo))


def _report(modes: Modes, best: tuple, costs: np.ndarray, solved: int) -> QpccSolution:
    """Efforts and multipliers, as the compiled descent would fill them."""
    step, switches, _, number, members = best
    p = modes.problem
    na, nc, last = p.na, p.nc, p.nc + p.ne
    numbers, integers = outputs(na, nc, last + na)
    free = np.append(step.x, 1.0) @ modes.start
    push, nu, kappa = np.zeros(nc), np.zeros(nc), np.zeros(nc)
    W = modes.C[np.ix_(members, members)]
    push[members] = np.maximum(np.linalg.solve(W, -free[members]), 0.0) if len(members) else 0.0
    error = free[nc:last] + push @ modes.C[:, nc:last]
    outside = np.ones(nc, bool)
    outside[members] = False
    nu[outside], kappa[members] = step.border[outside], step.border[members]
    force = 2.0 * modes.C[:, nc:last] @ error - modes.C[:, last:] @ step.mu - modes.C[:, :nc] @ nu
    if len(members):
        nu[members] = np.linalg.solve(W, force[members] - kappa[members])
    kappa[outside] = (force - modes.C[:, members] @ nu[members])[outside]
    none = np.zeros(p.ne)
    moving = modes.scale > 0.0
    inverse = np.where(moving, 1.0 / np.where(moving, modes.scale, 1.0), 0.0)
    numbers[0] = modes.scale * np.concatenate((push, none, step.x))
    lo, hi = p.parts()[-1][:2]
    numbers[0, last:] = np.clip(numbers[0, last:], lo, np.maximum(lo, hi))  # no ulp beyond a bound
    numbers[1] = inverse * np.concatenate((kappa, none, step.eta))
    numbers[2] = modes.scale * np.concatenate((nu, none, step.mu))
    begun = set(members.tolist()).symmetric_difference(c for c in set(switches) if switches.count(c) % 2)
    trail = integers[FIRST + 2 * na :]
    moves = [c + 1 for c in sorted(begun)] + [c + 1 for c in switches]
    integers[LENGTH], integers[BEGUN] = min(len(moves), len(trail)), len(begun)
    trail[: integers[LENGTH]] = moves[: integers[LENGTH]]
    integers[CHOSEN], integers[ITERATIONS] = number, solved
    integers[STATUS] = UNFINISHED  # until the residual says otherwise
    for k, multiplier in enumerate((step.eta, step.mu)):
        integers[FIRST + k * na : FIRST + (k + 1) * na] = -np.sign(multiplier).astype(np.int64)
    return assemble(Evidence(p, modes.eps, costs, numbers, integers))
