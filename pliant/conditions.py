"""Conditions: what the laws ask of all scalar rows in one step."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import njit


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
    )  # μ of the contacts, whose rows come last

    @cached_property
    def holding(self) -> np.ndarray:
        """Which rows hold what they act on: displacement imposed, whatever effort it takes."""
        return ~self.given & (self.compliance == 0.0) & np.isinf(self.low) & np.isinf(self.high)

    @cached_property
    def rough(self) -> bool:
        """Whether contacts have friction."""
        return bool(self.friction.any())

    @cached_property
    def solved(self) -> np.ndarray:
        """Indices of the rows whose effort is solved for."""
        return (~self.given).nonzero()[0]

    def with_contacts(self, friction: np.ndarray, imposed: np.ndarray, rows: int) -> Conditions:
        """With contacts below: their gaps ≥ imposed (n,), and if rows = 3n their slip along two tangents each."""
        mine = self.given, self.effort, self.imposed, self.compliance, self.low, self.high
        given, effort, aim, compliance, low, high, solved = _with_contacts(*mine, imposed, rows)
        found = Conditions(given, effort, aim, compliance, low, high, friction)
        found.__dict__["solved"] = solved  # asked for in every step
        return found


@njit(cache=True, error_model="numpy")
def _with_contacts(given, effort, imposed, compliance, low, high, least, rows):
    """The arrays of `Conditions` with those of contacts below, gaps ≥ least (n,), then slips, in all `rows` rows; and which rows are solved for."""
    m, n = len(given), len(least)
    solved, count = np.empty(m + rows, np.int64), 0
    more, some = np.zeros(m + rows, np.bool_), np.zeros((5, m + rows))
    more[:m] = given
    for k in range(m):
        some[0, k], some[1, k], some[2, k] = effort[k], imposed[k], compliance[k]
        some[3, k], some[4, k] = low[k], high[k]
    for k in range(n):
        some[1, m + k] = least[k]
    some[3, m + n :], some[4, m:] = -np.inf, np.inf
    for i in range(m + rows):
        if not more[i]:
            solved[count] = i
            count += 1
    return more, some[0], some[1], some[2], some[3], some[4], solved[:count].copy()
