"""Conditions: what the laws ask of all scalar rows in one step."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit

REDUNDANT = 1e-11  # of the largest eigenvalue of W: a smaller one is rounding, its row follows from others


@dataclass(frozen=True)
class Conditions:
    """The laws of all scalar rows of a forward problem, as arrays (m,); see `laws.Condition`."""

    given: np.ndarray
    effort: np.ndarray
    imposed: np.ndarray
    compliance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    friction: np.ndarray = field(
        default_factory=lambda: np.zeros(0)
    )  # μ of the contacts; their rows are last

    # Openings of the valves (m,) of rows that are chambers behind a line, nan for other rows; `imposed` is
    # then how far a syringe is pushed, nan: as it is. Empty, if there are none.
    valve: np.ndarray = field(default_factory=lambda: np.zeros(0))

    # What is asked of rows that are condensed, see `pliant.core.tangent.Rows` and
    # `pliant.core.step.Spreading`.

    def parted(self, view: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """The rows that are solved for, their δ, and the load with the efforts that are given."""
        H, load = view.H.parted(self.solved, self.given, self.effort, view.r)
        return H, view.delta[self.solved], load

    def support(self, condensed: Any) -> bool:
        """Whether rows that act as equalities (λ strictly inside its range) account for all negative pivots.

        The constrained tangent is positive definite then, as for a balloon past its limit point whose volume
        is imposed.
        """
        rows, lam = self.solved, condensed.view.lam
        equality = (lam[rows] > self.low[rows]) & (lam[rows] < self.high[rows])
        W = condensed.W[np.ix_(equality, equality)] + np.diag(self.compliance[rows][equality])
        return bool(len(W)) and negative_eigenvalues(W) == condensed.negative

    def spread(self, effort: np.ndarray) -> np.ndarray:
        """λ of all rows, from that of the solved ones."""
        lam = self.effort.copy()
        lam[self.solved] = effort
        return lam

    @cached_property
    def supporting(self) -> np.ndarray:
        """Which rows support what they act on: displacement imposed, whatever effort it takes."""
        rigid = ~self.given & (self.compliance == 0.0) & np.isinf(self.low) & np.isinf(self.high)
        return rigid & ~self.lined

    @cached_property
    def lined(self) -> np.ndarray:
        """Which rows are chambers whose valve or syringe is told what to do."""
        return ~np.isnan(self.valve) if len(self.valve) else np.zeros(len(self.given), bool)

    @cached_property
    def one_sided(self) -> np.ndarray:
        """Which rows act with an effort that is solved for and has bounds: cables and stops."""
        return ~self.given & (np.isfinite(self.low) | np.isfinite(self.high))

    @cached_property
    def commanded(self) -> np.ndarray:
        """What is asked for (2, m): given efforts and imposed displacements, nan where it is the other."""
        asked = np.empty((2, len(self.given)))
        asked[0] = np.where(self.given, self.effort, np.nan)
        asked[1] = np.where(self.given, np.nan, self.imposed)
        return asked

    @cached_property
    def frictional(self) -> bool:
        """Whether contacts have friction."""
        return bool(self.friction.any())

    @cached_property
    def solved(self) -> np.ndarray:
        """Indices of the rows whose effort is solved for."""
        return (~self.given).nonzero()[0]

    def with_contacts(self, friction: np.ndarray, imposed: np.ndarray, rows: int) -> Conditions:
        """With contacts below: gaps ≥ imposed (n,), and if rows = 3n their slips along two tangents each."""
        mine = self.given, self.effort, self.imposed, self.compliance, self.low, self.high
        given, (effort, aim, compliance, low, high) = _with_contacts(*mine, imposed, rows)
        return Conditions(given, effort, aim, compliance, low, high, friction)


def negative_eigenvalues(W: np.ndarray) -> int:
    """How many eigenvalues of a symmetric matrix (m, m) are negative; those of redundant rows are zero."""
    if not len(W):
        return 0
    size = np.sqrt(np.abs(np.diagonal(W)))
    size = np.where(size > 0.0, size, 1.0)
    values = np.linalg.eigvalsh(W / np.outer(size, size))
    return int((values < -REDUNDANT * np.abs(values).max()).sum())


@njit(cache=True, error_model="numpy")
def _with_contacts(given, effort, imposed, compliance, low, high, least, rows):
    """The arrays of `Conditions` with `rows` rows of contacts below: `given`, and the five others (5, ·)."""
    m, n = len(given), len(least)
    more, some = np.zeros(m + rows, np.bool_), np.zeros((5, m + rows))
    for i in range(m):
        more[i], some[0, i], some[1, i], some[2, i] = given[i], effort[i], imposed[i], compliance[i]
        some[3, i], some[4, i] = low[i], high[i]
    for i in range(m, m + rows):
        if i < m + n:
            some[1, i] = least[i - m]
        else:
            some[3, i] = -np.inf
        some[4, i] = np.inf
    return more, some
