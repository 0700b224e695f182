"""Inverse problem with contact: a quadratic program with complementarity constraints (Coevoet et al. 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError
from pliant.solvers.certify import COST, EPSILON, Report, report
from pliant.solvers.evidence import residuals
from pliant.solvers.multistart import (
    BEGUN,
    CHOSEN,
    INTEGERS,
    ITERATIONS,
    STATUS,
    TRAIL,
    solve_starts,
    workspace,
)
from pliant.solvers.problem import FREE, Problem, problem
from pliant.solvers.solution import STATUSES, Certificate, Reals, Solution

SOLVED, INFEASIBLE, STALLED = STATUSES
LONGEST = 1e-7  # residual up to which a descent that ran out of steps still counts as solved


class QpccCertificate(Certificate):
    """Evidence for an inverse solution, checked against the user's arrays when it is first asked for.

    `status`: "solved" (a local minimum, the best of the starts), "infeasible" (the smallest violation of the bounds
    that was found) or "not converged". `residual` is the largest of `stationarity` (∂L/∂λ of the full problem and
    signs of the multipliers, relative to the terms of the gradient), `complementarity` (max |min(λ_c, gap)| relative
    to the gaps without contact forces) and `feasibility` (violation of bounds, relative to their size); efforts and
    gaps are scaled by √Wᵢᵢ so that different units compare.
    """

    def __init__(self, status: str, iterations: int, evidence: _Evidence) -> None:
        self.__dict__.update(status=status, iterations=iterations, evidence=evidence)

    evidence: _Evidence

    @cached_property
    def _residuals(self) -> tuple[float, float, float]:
        return residuals(self.evidence.problem, self.evidence.numbers)

    @property
    def residual(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The largest of the three residuals."""
        return max(self._residuals)

    @property
    def stationarity(self) -> float:
        """Relative error of the stationarity conditions."""
        return self._residuals[0]

    @property
    def complementarity(self) -> float:
        """Relative error of 0 ≤ λ_c ⊥ gap ≥ 0."""
        return self._residuals[1]

    @property
    def feasibility(self) -> float:
        """Relative violation of the bounds."""
        return self._residuals[2]

    @property
    def eps(self) -> float:
        """The ε that was used."""
        return float(self.evidence.numbers[EPSILON])

    @property
    def start_costs(self) -> Reals:
        """Cost reached from each start, infinite where no feasible point was found."""
        return self.evidence.costs

    @property
    def start(self) -> int:
        """Index of the start that led to the solution."""
        return int(self.evidence.integers[CHOSEN])

    @property
    def gap(self) -> float:
        """Cost above the best of the starts, relative; zero but for ties, where the earlier start is kept."""
        best, own = self.evidence.costs.min(), self.evidence.costs[self.start]
        return float((own - best) / abs(best)) if np.isfinite(best) and best != 0.0 else 0.0

    @cached_property
    def path(self) -> tuple[tuple[int, ...], ...]:
        """The contact modes visited: the contacts that push, piece after piece."""
        integers = self.evidence.integers
        trail = integers[INTEGERS + 2 * self.evidence.problem.na :]
        members: set[int] = {int(i) - 1 for i in trail[1 : 1 + integers[BEGUN]]}
        pieces = [tuple(sorted(members))]
        for move in trail[1 + integers[BEGUN] : 1 + trail[0]]:
            members ^= {abs(int(move)) - 1}
            pieces.append(tuple(sorted(members)))
        return tuple(pieces)

    @property
    def limits(self) -> dict[str, NDArray[np.int64]]:
        """Limits that hold the solution, for "effort" and "displacement": (na,) −1 lower, 1 upper, 0 none."""
        na, integers = self.evidence.problem.na, self.evidence.integers
        return {
            "effort": integers[INTEGERS : INTEGERS + na],
            "displacement": integers[INTEGERS + na : INTEGERS + 2 * na],
        }

    def __str__(self) -> str:
        return (
            f"{self.status} after {self.iterations} iterations, {len(self.evidence.costs)} start(s): stationarity "
            f"{self.stationarity:.1e}, complementarity {self.complementarity:.1e}, feasibility {self.feasibility:.1e}"
        )

    __repr__ = __str__


class _Evidence(NamedTuple):
    """What a certificate is made from; see `Report` and `multistart` for the vectors."""

    problem: Problem
    costs: np.ndarray
    numbers: np.ndarray
    integers: np.ndarray


@dataclass(frozen=True, eq=False)
class QpccSolution(Solution):
    """Actuator efforts λ_a (na,) and what follows from them; read-only.

    `contact` λ_c (nc,), `gap` δ_c (nc,), `displacement` δ_a (na,), `effector` δ_e (ne,), and `cost` =
    Σ wₑδₑ² + ε λ_aᵀW_aa λ_a + ρ‖λ_a − λ_prev‖²_Waa.
    """

    certificate: QpccCertificate
    contact: Reals
    displacement: Reals
    effector: Reals
    cost: float

    def __post_init__(self) -> None:
        """Arrays are views of one vector that is read-only already."""

    @property
    def multipliers(self) -> Mapping[str, Reals]:
        """How fast the optimal cost rises with the active bound of an effort or displacement, and falls with a gap.

        "effort" (na,) and "displacement" (na,) are ∂cost/∂bound; "gap" (nc,) is −∂cost/∂δ_c; "contact" (nc,) is the
        multiplier of λ_c ≥ 0.
        """
        evidence = self.certificate.evidence
        p, numbers = evidence.problem, evidence.numbers
        at: Report = report.py_func(p.ne, p.na, p.nc)
        return {
            "effort": numbers[at.effort_multiplier : at.displacement_multiplier],
            "displacement": numbers[at.displacement_multiplier : at.effector],
            "gap": numbers[at.gap_multiplier : at.contact_multiplier],
            "contact": numbers[at.contact_multiplier :],
        }


def qpcc(
    Wea: ArrayLike,
    Wec: ArrayLike,
    Waa: ArrayLike,
    Wac: ArrayLike,
    Wcc: ArrayLike,
    de: ArrayLike,
    da: ArrayLike,
    dc: ArrayLike,
    *,
    effort: tuple[ArrayLike, ArrayLike] = FREE,
    displacement: tuple[ArrayLike, ArrayLike] = FREE,
    eps: float | None = None,
    rho: float = 0.0,
    previous: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    starts: int = 8,
    warm: Any = None,
) -> QpccSolution:
    """Actuator efforts that bring the effector nearest to its target, with contacts that push and never pull.

    min Σ wₑδₑ² + ε λ_aᵀW_aa λ_a + ρ‖λ_a − λ_prev‖²_Waa,   δ_e = W_ea λ_a + W_ec λ_c + de,
    s.t. effort bounds on λ_a, displacement bounds on δ_a = W_aa λ_a + W_ac λ_c + da,
         0 ≤ λ_c ⊥ δ_c = W_ca λ_a + W_cc λ_c + dc ≥ 0.

    Bounds are numbers or (na,) arrays, ±inf where there are none. `eps` defaults to 1e-3 in units of `work_scale`.
    `warm`, an earlier solution or efforts (na,), is the first start; `previous` belongs to the ρ term. The problem has
    many local minima: `starts` descents from different points are made and the best is returned. Infeasible bounds
    give the smallest violation found and the status "infeasible".
    """
    p = problem(Wea, Wec, Waa, Wac, Wcc, de, da, dc, effort, displacement, eps, rho, previous, weights, warm)
    return descent(p, starts)


def descent(p: Problem, starts: int) -> QpccSolution:
    """The best of some descents."""
    ne, na, nc = p.ne, p.na, p.nc
    if starts < 1:
        raise InputError("starts", expected="at least 1", got=starts)
    at: Report = report.py_func(ne, na, nc)
    costs, numbers = np.empty(starts), np.empty(at.length)
    integers = np.zeros(INTEGERS + 2 * na + nc + TRAIL, np.int64)
    compiled: Any = solve_starts
    buffers = workspace(ne, na, nc)
    if not compiled(p.data, ne, na, nc, p.eps, p.rho, starts, p.warm, *buffers, costs, numbers, integers):
        raise InputError(
            "matrices and bounds", expected="finite numbers and bounds that are not NaN", got="others"
        )
    return assemble(p, at, costs, numbers, integers)


def assemble(
    p: Problem, at: Report, costs: np.ndarray, numbers: np.ndarray, integers: np.ndarray
) -> QpccSolution:
    """The solution from the vectors of results."""
    numbers.flags.writeable = False
    evidence = _Evidence(p, costs, numbers, integers)
    certificate = QpccCertificate(
        (SOLVED, STALLED, INFEASIBLE)[integers[STATUS]], int(integers[ITERATIONS]), evidence
    )
    if certificate.status == STALLED and certificate.residual <= LONGEST:
        certificate = QpccCertificate(SOLVED, certificate.iterations, evidence)
    return QpccSolution(
        numbers[at.effort : at.displacement],
        numbers[at.gap : at.gap_multiplier],
        certificate,
        numbers[at.contact : at.gap],
        numbers[at.displacement : at.effort_multiplier],
        numbers[at.effector : at.contact],
        float(numbers[COST]),
    )
