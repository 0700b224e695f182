"""Contact modes step by step, for methods written in Python: the mode at some efforts, pivots from there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra.jit import work_kernel
from pliant.solvers.qpcc.problem import Problem
from pliant.solvers.qpcc.region import Region, new_region, pivot_contact, respond, settle
from pliant.solvers.qpcc.scaled import Scaling, scaled
from pliant.solvers.solution import Reals

NO_GUESS = np.zeros(0)


@work_kernel
def _switch(rows, region, contact):
    """Let a contact change sides; returns the pivot, 0 if it cannot."""
    pivot = respond(rows.C, region, contact)
    if pivot > 0.0:
        pivot_contact(rows, region, contact, pivot)
    return pivot


@dataclass(frozen=True, eq=False)
class ContactMode:
    """A scaled problem and the region that a point of it lies in, whose members are the contacts that push.

    The arrays of the region change with `settle` and `switch`.
    """

    problem: Problem
    scaling: Scaling
    region: Region

    @classmethod
    def of(cls, p: Problem, shift: float) -> ContactMode:
        """Scale a problem; all contacts are open."""
        return cls(p, scaled(p, shift), new_region(p.ne, p.na, p.nc))

    def settle(self, x: np.ndarray) -> None:
        """Take the contact mode at the scaled efforts x."""
        self.region.x[:] = x
        settle(self.scaling.rows, self.region, NO_GUESS)

    def switch(self, contact: int) -> bool:
        """Let a contact change sides, by an update of the factor. False if it depends on the others."""
        return _switch(self.scaling.rows, self.region, contact) > 0.0

    @property
    def units(self) -> Reals:
        """(na,) the units of the scaled efforts."""
        return self.scaling.units[self.problem.nc + self.problem.ne :]

    @property
    def open_rows(self) -> Reals:
        """(na + 1, m) sensitivities, then values with all contacts open and no effort."""
        return np.vstack((self.scaling.rows.S, self.scaling.rows.f))

    @property
    def members(self) -> np.ndarray:
        """Contacts that push, in the order of the factor."""
        return self.region.members[: self.region.size[0]].copy()

    def at(self, x: np.ndarray) -> np.ndarray:
        """(m,) values at x on the present mode, by the factor of no other."""
        C, chosen = self.scaling.rows.C, self.members
        free = np.append(x, 1.0) @ self.open_rows
        if not len(chosen):
            return free
        push = -np.linalg.solve(C[np.ix_(chosen, chosen)], free[chosen])
        value = free + push @ C[chosen]
        value[chosen] = push
        return value
