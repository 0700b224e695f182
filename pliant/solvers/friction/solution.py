"""Solutions of problems with friction, forward and inverse, and the evidence for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.solvers.solution import Certificate, Reals, Solution


@dataclass(frozen=True)
class FrictionCertificate(Certificate):
    """Evidence for a solution with friction.

    `residual` is the largest of `complementarity` (|λ̂ − clip(λ̂ − ŵ, lo, hi)| of plain rows, |min(λ̂_N,
    ŵ_N)| of contacts), `cone` (‖λ̂_T‖ − μ̂ λ̂_N) and `dissipation` (‖λ̂_T − P(λ̂_T − ŵ_T)‖, P the projection
    on the disc of radius μ̂ λ̂_N: zero where slip is opposed as much as possible), relative to the largest
    |q̂|. Rows are scaled so that units compare: λ̂ = √Wᵢᵢ λ, ŵ = w/√Wᵢᵢ, the two tangents of a contact alike.
    "solved" means at most 1e-8. "infeasible" means that efforts grow beyond all bounds on the way to a
    solution: bodies that cannot get out of each other, or rows that contradict. `iterations` counts
    eliminations and pivots of normals.
    """

    complementarity: float = 0.0
    cone: float = 0.0
    dissipation: float = 0.0


@dataclass(frozen=True, eq=False)
class FrictionSolution(Solution):
    """Efforts λ (m,), gaps and slips w = Wλ + q (m,), in the order of the rows, for n contacts; read-only."""

    certificate: FrictionCertificate
    contacts: int

    @property
    def normal(self) -> Reals:
        """Normal efforts λ_N (n,)."""
        return split(self.effort, self.contacts)[0]

    @property
    def tangent(self) -> Reals:
        """Tangential efforts λ_T (n, 2)."""
        return split(self.effort, self.contacts)[1]

    @property
    def slip(self) -> Reals:
        """Slips w_T (n, 2)."""
        return split(self.gap, self.contacts)[1]


@dataclass(frozen=True)
class FrictionalCertificate(Certificate):
    """Evidence for an inverse solution with friction.

    `status`: "solved" (a local minimum, the best of the starts), "infeasible" (bounds that cannot be kept;
    the efforts have the smallest violation found) or "not converged". `stationarity` is the gradient that no
    bound or border between contact modes opposes, relative to its terms, on the region of constant modes
    where the descent ended. `complementarity`, `cone` and `dissipation` are the errors of the contact laws as
    in `FrictionCertificate`, `feasibility` the violation of bounds relative to their size; `residual` is the
    largest of all. `start_costs` are what the descents reached (infinite where bounds are violated), `start`
    is the one taken, `eps` the ε that was used.
    """

    stationarity: float
    complementarity: float
    cone: float
    dissipation: float
    feasibility: float
    eps: float
    start_costs: Reals
    start: int

    @property
    def gap(self) -> float:
        """Cost above the best of the starts, relative; zero but for ties, where the earlier start is kept."""
        best, own = float(self.start_costs.min()), float(self.start_costs[self.start])
        return (own - best) / abs(best) if np.isfinite(best) and best != 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class FrictionalSolution(Solution):
    """Actuator efforts λ_a (na,) and what follows from them; read-only.

    `contact` (nc,) and `gap` (nc,) are efforts and gaps of the contact rows in their order: one-sided rows, n
    normals, 2n tangents. `displacement` δ_a (na,), `effector` δ_e (ne,), and `cost` = Σ wₑδₑ² + ε λ_aᵀW_aa
    λ_a + ρ‖λ_a − λ_prev‖²_Waa.
    """

    certificate: FrictionalCertificate
    contact: Reals
    displacement: Reals
    effector: Reals
    cost: float
    contacts: int

    def __post_init__(self) -> None:
        for array in (self.effort, self.gap, self.contact, self.displacement, self.effector):
            array.flags.writeable = False

    @property
    def normal(self) -> Reals:
        """Normal efforts (n,)."""
        return split(self.contact, self.contacts)[0]

    @property
    def tangent(self) -> Reals:
        """Tangential efforts (n, 2)."""
        return split(self.contact, self.contacts)[1]

    @property
    def slip(self) -> Reals:
        """Slips (n, 2)."""
        return split(self.gap, self.contacts)[1]


def split(values: Reals, contacts: int) -> tuple[Reals, Reals]:
    """The last rows: normals (n,) and tangents (n, 2)."""
    end = len(values) - 2 * contacts
    return values[end - contacts : end], values[end:].reshape(contacts, 2)
