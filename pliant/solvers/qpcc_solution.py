"""The solution of an inverse problem with contact, and the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.solvers.evidence import Motion, cost, motion, residuals
from pliant.solvers.multistart import BEGUN, CHOSEN, FIRST, LENGTH
from pliant.solvers.problem import Problem
from pliant.solvers.solution import Certificate, Reals, Solution


class QpccCertificate(Certificate):
    """Evidence for an inverse solution, checked against the user's arrays when it is first asked for.

    `status`: "solved" (a local minimum, the best of the starts), "infeasible" (the smallest violation of the bounds
    that was found) or "not converged". `residual` is the largest of `stationarity` (∂L/∂λ of the full problem and
    signs of the multipliers, relative to the terms of the gradient), `complementarity` (max |min(λ_c, gap)| relative
    to the gaps without contact forces) and `feasibility` (violation of bounds, relative to their size); efforts and
    gaps are scaled by √Wᵢᵢ so that different units compare.
    """

    def __init__(self, status: str, iterations: int, evidence: Evidence) -> None:
        self.__dict__.update(status=status, iterations=iterations, evidence=evidence)

    evidence: Evidence

    @cached_property
    def _residuals(self) -> tuple[float, float, float]:
        return residuals(self.evidence.problem, self.evidence.eps, self.evidence.numbers)

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
        return self.evidence.eps

    @property
    def start_costs(self) -> Reals:
        """Cost reached by each descent, infinite where no feasible point was found."""
        p = self.evidence.problem
        previous, Waa = p.parts()[9], p.parts()[2]
        return self.evidence.costs + p.rho * previous @ Waa @ previous  # left out in the search

    @property
    def start(self) -> int:
        """Index of the descent that led to the solution."""
        return int(self.evidence.integers[CHOSEN])

    @property
    def gap(self) -> float:
        """Cost above the best of the starts, relative; zero but for ties, where the earlier start is kept."""
        costs = self.start_costs
        best, own = costs.min(), costs[self.start]
        return float((own - best) / abs(best)) if np.isfinite(best) and best != 0.0 else 0.0

    @cached_property
    def path(self) -> tuple[tuple[int, ...], ...]:
        """The contact modes visited: the contacts that push, piece after piece."""
        integers = self.evidence.integers
        trail = integers[FIRST + 2 * self.evidence.problem.na :][: integers[LENGTH]]
        members: set[int] = {int(i) - 1 for i in trail[: integers[BEGUN]]}
        pieces = [tuple(sorted(members))]
        for move in trail[integers[BEGUN] :]:
            members ^= {abs(int(move)) - 1}
            pieces.append(tuple(sorted(members)))
        return tuple(pieces)

    @property
    def limits(self) -> dict[str, NDArray[np.int64]]:
        """Limits that hold the solution, for "effort" and "displacement": (na,) −1 lower, 1 upper, 0 none."""
        na, integers = self.evidence.problem.na, self.evidence.integers
        return {
            "effort": integers[FIRST : FIRST + na],
            "displacement": integers[FIRST + na : FIRST + 2 * na],
        }

    def __str__(self) -> str:
        return (
            f"{self.status} after {self.iterations} iterations, {len(self.evidence.costs)} descent(s): stationarity "
            f"{self.stationarity:.1e}, complementarity {self.complementarity:.1e}, feasibility {self.feasibility:.1e}"
        )

    __repr__ = __str__


class Evidence(NamedTuple):
    """What a certificate is made from; see `multistart` for costs, numbers and integers."""

    problem: Problem
    eps: float
    costs: np.ndarray
    numbers: np.ndarray
    integers: np.ndarray


@dataclass(frozen=True, eq=False, init=False)
class QpccSolution(Solution):
    """Actuator efforts `effort` λ_a (na,), contact efforts `contact` λ_c (nc,) and what follows from them; read-only.

    What follows is evaluated on the arrays as they were given, when it is first asked for: `gap` δ_c (nc,),
    `displacement` δ_a (na,), `effector` δ_e (ne,), `cost` and `multipliers`.
    """

    certificate: QpccCertificate
    contact: Reals

    def __init__(self, certificate: QpccCertificate) -> None:
        p, numbers = certificate.evidence.problem, certificate.evidence.numbers
        numbers.flags.writeable = False
        lam = numbers[0]
        self.__dict__.update(effort=lam[p.nc + p.ne :], contact=lam[: p.nc], certificate=certificate)

    @cached_property
    def _motion(self) -> Motion:
        found = motion(self.certificate.evidence.problem, self.effort, self.contact)
        for array in found:
            array.flags.writeable = False
        return found

    @property
    def gap(self) -> Reals:  # pyright: ignore[reportIncompatibleVariableOverride]
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
        evidence = self.certificate.evidence
        return cost(evidence.problem, evidence.eps, self.effort, self.effector)

    @property
    def multipliers(self) -> Mapping[str, Reals]:
        """How fast the optimal cost rises with the active bound of an effort or displacement, and falls with a gap.

        "effort" (na,) and "displacement" (na,) are ∂cost/∂bound; "gap" (nc,) is −∂cost/∂δ_c; "contact" (nc,) is the
        multiplier of λ_c ≥ 0.
        """
        p, numbers = self.certificate.evidence.problem, self.certificate.evidence.numbers
        last = p.nc + p.ne
        return {
            "effort": numbers[1, last:],
            "displacement": numbers[2, last:],
            "gap": numbers[2, : p.nc],
            "contact": numbers[1, : p.nc],
        }
