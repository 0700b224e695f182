"""Whether a question can be answered: which forces the sensors can distinguish, and how well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError
from pliant.sensing.least_squares import UNDETERMINED, pseudo_inverse
from pliant.sensing.roles import Roles
from pliant.sensing.weights import Weights

NO_INFLUENCE = 1e-9  # of the largest column: such a force moves no sensor
ILL_CONDITIONED = 1e3  # condition above which forces are hardly distinguished
ALIKE = 1e-9  # 1 − |cosine| of two columns below which their forces move all sensors alike


@dataclass(frozen=True)
class Identifiability:
    """What W_sf (ns, nf) says about the unknown forces.

    `rank` and `condition` are those of the rows over their noise, columns scaled to one. `index` is the
    paper's I_w = ‖W_sf⁺‖₁ in N/mm, of the readings that are lengths: the most that 1 mm of error in one
    reading can add to the forces in all. `deviation` (nf,) are standard deviations from the stated noise,
    infinite where undetermined. `blind` names forces without influence, `alike` pairs that move all sensors
    alike (up to a factor); `warning` says in words what cannot be answered, empty if all can.
    """

    readings: int
    unknowns: int
    rank: int
    condition: float
    index: float
    deviation: np.ndarray
    blind: tuple[str, ...]
    alike: tuple[tuple[str, str], ...]

    @property
    def answerable(self) -> bool:
        """Whether every unknown is determined."""
        return self.rank == self.unknowns

    @property
    def warning(self) -> str:
        """In words, what cannot be answered; empty if everything can."""
        if self.blind:
            return f"Nothing that is measured moves when these act: {', '.join(self.blind)}."
        if self.readings < self.unknowns:
            numbers = f"{self.readings} readings cannot tell {self.unknowns} unknowns"
            return f"{numbers}: some estimates are arbitrary."
        if not self.answerable:
            pairs = "; ".join(f"{a} and {b}" for a, b in self.alike)
            return (
                f"The sensors determine only {self.rank} of {self.unknowns} unknowns"
                + (f": they cannot tell apart {pairs}" if pairs else "")
                + ". Add markers elsewhere, or ask for fewer forces."
            )
        if self.condition > ILL_CONDITIONED:
            worst = int(self.deviation.argmax())
            return (
                f"The sensors hardly tell some forces apart (condition {self.condition:.1e}): deviations up "
                f"to {self.deviation[worst]:.3g} N. Add markers near the forces, or ask for fewer."
            )
        return ""

    def __str__(self) -> str:
        head = (
            f"{self.readings} readings, {self.unknowns} unknowns: rank {self.rank}, condition "
            f"{self.condition:.2e}, I_w {self.index:.3g} N/mm, largest deviation "
            f"{self.deviation.max(initial=0.0):.3g} N"
        )
        return f"{head}. {self.warning}" if self.warning else head


def paper_index(A: np.ndarray) -> float:
    """I_w = ‖A⁺‖₁ [N/mm] of A = W_sf [m/N]: the largest column sum of |A⁺|."""
    inverse, _, _ = pseudo_inverse(A)
    return 1e-3 * float(np.abs(inverse).sum(axis=0).max(initial=0.0))


def identifiability(A: np.ndarray, roles: Roles, seen: np.ndarray, weights: Weights) -> Identifiability:
    """The report on A = W_sf (ns, nf), with the readings that are seen (ns,) bool."""
    white = weights.whitened(A, seen)
    size = np.linalg.norm(white, axis=0)
    weak = size <= NO_INFLUENCE * size.max(initial=0.0)
    gain, singular, rank = pseudo_inverse(white)
    n = white.shape[1]
    full = rank == n
    condition = float(singular[0] / singular[-1]) if full and n else float("inf")
    deviation = np.linalg.norm(gain, axis=1)
    share = np.einsum("ij,ji->i", gain, white)
    deviation = np.where(share < 1.0 - UNDETERMINED, np.inf, deviation)
    return Identifiability(
        int(seen.sum()),
        n,
        rank,
        condition,
        paper_index(A[seen & roles.metres]),
        deviation,
        tuple(name for name, w in zip(roles.names, weak, strict=True) if w),
        () if full else _alike(white, size, weak, roles.names),
    )


def _alike(
    white: np.ndarray, size: np.ndarray, weak: np.ndarray, names: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    unit = white / np.where(weak, 1.0, size)
    cosine = np.abs(unit.T @ unit)
    pairs = np.argwhere(np.triu(cosine > 1.0 - ALIKE, 1) & ~weak[:, None] & ~weak[None])
    return tuple((names[i], names[j]) for i, j in pairs)


def check_influence(report: Identifiability) -> None:
    """Raise InputError naming forces that move no sensor."""
    if report.blind:
        hint = "Nothing that is measured moves when they act: are they on a fixed support?"
        raise InputError(
            "candidates", expected="forces that move some sensor", got=", ".join(report.blind), hint=hint
        )
