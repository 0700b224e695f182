"""The solution of an inverse problem with contact, and the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.solvers.qpcc.descent import UNFINISHED
from pliant.solvers.qpcc.problem import Problem
from pliant.solvers.qpcc.residuals import Motion, Point, motion, residuals
from pliant.solvers.qpcc.scaled import Scaling
from pliant.solvers.qpcc.search import Search
from pliant.solvers.solution import INFEASIBLE, SOLVED, STALLED, Reals

NEARLY_SOLVED = 1e-7  # residual up to which a search that ran out of steps still counts as solved


class Trail(NamedTuple):
    """The pivots of a descent: contacts that push at first, as i + 1, then those that pivot, as ±(i + 1)."""

    moves: np.ndarray
    began: int  # how many push at the start


@dataclass(frozen=True, eq=False)
class QpccCertificate:
    """Evidence for an inverse solution, checked against the user's arrays when it is first asked for.

    `status`: "solved" (a local minimum, the best of the starts), "infeasible" (the smallest violation of the
    bounds that was found) or "not converged". `residual` is the largest of `stationarity` (∂L/∂λ of the full
    problem and signs of the multipliers, relative to the terms of the gradient), `complementarity` (max
    |min(λ_c, gap)| relative to the gaps without contact forces) and `feasibility` (violation of bounds,
    relative to their size); efforts and gaps are scaled by √Wᵢᵢ so that different units compare.

    `start_costs` are the costs reached by the descents, infinite where no feasible point was found, `start`
    is the one that led to the solution. `limits` are those that hold it, for "effort" and "displacement":
    (na,) −1 lower, 1 upper, 0 none. `eps` is the ε that was used. `proven`: whether it is certain that no
    efforts at all are better (see `proof`); False where that is not known, or only one start was asked for.
    """

    status: str
    iterations: int
    eps: float
    start_costs: Reals
    start: int
    limits: Mapping[str, NDArray[np.int64]]
    trail: Trail
    problem: Problem
    point: Point
    proven: bool = False

    @property
    def solved(self) -> bool:
        """Whether a local minimum was found to the tolerance."""
        return self.status == SOLVED

    @cached_property
    def _residuals(self) -> tuple[float, float, float]:
        return residuals(self.problem, self.eps, self.point)

    @property
    def residual(self) -> float:
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
    def gap(self) -> float:
        """Cost above the best of the starts, relative; zero but for ties, where the earlier start is kept."""
        costs = self.start_costs
        best, own = costs.min(), costs[self.start]
        return float((own - best) / abs(best)) if np.isfinite(best) and best != 0.0 else 0.0

    @cached_property
    def path(self) -> tuple[tuple[int, ...], ...]:
        """The pivot path: the contacts that push, region after region."""
        moves, began = self.trail
        members: set[int] = {int(i) - 1 for i in moves[:began]}
        regions = [tuple(sorted(members))]
        for move in moves[began:]:
            members ^= {abs(int(move)) - 1}
            regions.append(tuple(sorted(members)))
        return tuple(regions)

    def __str__(self) -> str:
        return (
            f"{self.status} after {self.iterations} iterations, {len(self.start_costs)} descent(s): "
            f"stationarity {self.stationarity:.1e}, complementarity {self.complementarity:.1e}, "
            f"feasibility {self.feasibility:.1e}"
        )

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class QpccSolution:
    """Actuator efforts `effort` λ_a (na,), contact efforts `contact` λ_c (nc,) and what follows; read-only.

    What follows is evaluated on the arrays as they were given, when it is first asked for: `gap` δ_c (nc,),
    `displacement` δ_a (na,), `effector` δ_e (ne,), `cost` and `multipliers`.
    """

    effort: Reals
    contact: Reals
    certificate: QpccCertificate

    def __post_init__(self) -> None:
        self.effort.flags.writeable = False
        self.contact.flags.writeable = False

    @cached_property
    def _motion(self) -> Motion:
        result = motion(self.certificate.problem, self.effort, self.contact)
        for array in result:
            array.flags.writeable = False
        return result

    @property
    def gap(self) -> Reals:
        """δ_c (nc,)."""
        return self._motion.gap

    @property
    def displacement(self) -> Reals:
        """δ_a (na,)."""
        return self._motion.moved

    @property
    def effector(self) -> Reals:
        """δ_e (ne,)."""
        return self._motion.error

    @cached_property
    def cost(self) -> float:
        """Σ wₑδₑ² + ε λ_aᵀW_aa λ_a + ρ‖λ_a − λ_prev‖²_Waa."""
        p, effort = self.certificate.problem, self.effort
        change = effort - p.previous
        work = self.certificate.eps * effort @ p.Waa @ effort + p.rho * change @ p.Waa @ change
        return float(p.weights @ self.effector**2 + work)

    @property
    def multipliers(self) -> Mapping[str, Reals]:
        """How fast the optimal cost rises with bounds of efforts and displacements, and falls with gaps.

        "effort" (na,) and "displacement" (na,) are ∂cost/∂bound; "gap" (nc,) is −∂cost/∂δ_c; "contact" (nc,)
        is the multiplier of λ_c ≥ 0.
        """
        point = self.certificate.point
        return {"effort": point.eta, "displacement": point.mu, "gap": point.nu, "contact": point.kappa}


def report(p: Problem, scaling: Scaling, result: Search, *, infeasible: bool) -> QpccSolution:
    """The solution that a search has found, in the user's units."""
    best, last = result.best, p.nc + p.ne
    actuator, contact = scaling.units[last:], scaling.units[: p.nc]
    kappa = np.divide(best.kappa, contact, out=np.zeros(p.nc), where=contact > 0.0)
    effort = best.x * actuator
    if not scaling.contradictory:  # no ulp beyond a bound
        effort = np.minimum(np.maximum(effort, p.lo), p.hi)
    point = Point(
        effort, best.push * contact, best.eta / actuator, kappa, best.mu * actuator, best.nu * contact
    )
    status = INFEASIBLE if infeasible else STALLED if best.status == UNFINISHED else SOLVED
    constant = p.rho * float(p.previous @ p.Waa @ p.previous) if p.rho else 0.0  # left out in the search
    limits = {"effort": best.at_effort, "displacement": best.at_displacement}
    trail = Trail(best.path, best.began)
    costs = result.costs + constant
    certificate = QpccCertificate(
        status, result.iterations, scaling.eps, costs, result.chosen, limits, trail, p, point, result.proven
    )
    return certified(certificate)


def certified(certificate: QpccCertificate) -> QpccSolution:
    """The solution of a certificate; where steps ran out, its residual decides whether it is solved."""
    if certificate.status == STALLED and certificate.residual <= NEARLY_SOLVED:
        certificate = replace(certificate, status=SOLVED)
    return QpccSolution(certificate.point.effort, certificate.point.contact, certificate)
