"""What a solver returns: the answer and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

STATUSES = SOLVED, INFEASIBLE, STALLED = "solved", "infeasible", "not converged"


class Certified(Protocol):
    """What every certificate says."""

    @property
    def status(self) -> str:
        """One of STATUSES."""
        ...

    @property
    def residual(self) -> float:
        """How wrong the answer is, relative to the data."""
        ...

    @property
    def iterations(self) -> int:
        """How many it took."""
        ...

    @property
    def solved(self) -> bool:
        """Whether the problem was solved to the tolerance."""
        ...


@dataclass(frozen=True)
class Certificate:
    """Evidence for a solution.

    `status` is "solved", "infeasible" or "not converged". `residual` is the natural residual of the
    complementarity problem, max |λ̂ − clip(λ̂ − ŵ, lo, hi)|, relative to the data (the largest |q̂| or |λ̂|
    on a bound). Rows are scaled so that different units compare: λ̂ = √|Wᵢᵢ| λ, ŵ = w / √|Wᵢᵢ|. An exact
    solution has 0; "solved" means at most 1e-10.
    """

    status: str
    residual: float
    iterations: int

    @property
    def solved(self) -> bool:
        """Whether the problem was solved to the tolerance."""
        return self.status == SOLVED


@dataclass(frozen=True, eq=False)
class Solution:
    """Efforts λ (m,) and gaps w = Wλ + q (m,), in the units of the problem; read-only."""

    effort: Reals
    gap: Reals
    certificate: Certified

    def __post_init__(self) -> None:
        self.effort.flags.writeable = False
        self.gap.flags.writeable = False
