"""The solution of a forward problem with friction, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.solvers.solution import Certificate, Reals, Solution


@dataclass(frozen=True)
class FrictionCertificate(Certificate):
    """Evidence for a solution with friction.

    `residual` is the largest of `complementarity` (|λ̂ − clip(λ̂ − ŵ, lo, hi)| of plain rows, |min(λ̂_N, ŵ_N)| of
    contacts), `cone` (‖λ̂_T‖ − μ̂ λ̂_N) and `dissipation` (‖λ̂_T − P(λ̂_T − ŵ_T)‖, P the projection on the disc of radius
    μ̂ λ̂_N: zero where slip is opposed as much as possible), relative to the largest |q̂|. Rows are scaled so that units
    compare: λ̂ = √Wᵢᵢ λ, ŵ = w/√Wᵢᵢ, the two tangents of a contact alike. "solved" means at most 1e-8. "infeasible" means
    that efforts grow beyond all bounds on the way to a solution: bodies that cannot get out of each other, or rows that
    contradict. `iterations` counts eliminations.
    """

    complementarity: float = 0.0
    cone: float = 0.0
    dissipation: float = 0.0


@dataclass(frozen=True, eq=False)
class FrictionSolution(Solution):
    """Efforts λ (m,) and gaps and slips w = Wλ + q (m,), in the order of the rows, for n contacts; read-only."""

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


def split(values: Reals, contacts: int) -> tuple[Reals, Reals]:
    """The last rows: normals (n,) and tangents (n, 2)."""
    end = len(values) - 2 * contacts
    return values[end - contacts : end], values[end:].reshape(contacts, 2)
