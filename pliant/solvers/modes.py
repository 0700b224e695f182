"""Contact modes from Python: the compiled steps of `pieces` one by one, for methods that are written there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.errors import InputError
from pliant.solvers.native import link, pointer
from pliant.solvers.pieces import cross, respond, sensitivities, settle
from pliant.solvers.problem import Problem, offsets
from pliant.solvers.scaling import PAPER, UNSOUND, load, work
from pliant.solvers.tableau import (
    CONTACTS,
    COUNT,
    DHI,
    DLO,
    HEAD,
    HI,
    LO,
    MEMBERS,
    NA,
    NC,
    NE,
    SCALE,
    VALUE,
    S,
    X,
    new,
)

LOAD, SETTLE, SLOPES, SWITCH = range(4)


@njit(cache=True, error_model="numpy")
def _step(what, data, Z, J, eps, rho, shift, i):
    """One of the steps above; returns its number: ε (NaN if the input is not finite) or the pivot."""
    z, j, found = pointer(Z), pointer(J), 0.0
    if what == LOAD:
        found = eps if eps >= 0.0 else PAPER * work(pointer(data), j[NE], j[NA], j[NC])
        if load(pointer(data), z, j, found, rho, shift) == UNSOUND:
            found = np.nan
    elif what == SWITCH:
        found = respond(z, j, i)
        if found > 0.0:
            cross(z, j, i, found)
    else:
        settle(z, j)
        if what == SLOPES:
            sensitivities(z, j)
    return found


@dataclass(frozen=True, eq=False)
class Modes:
    """A scaled problem (see `tableau`) and the contact mode it is in."""

    problem: Problem
    Z: np.ndarray
    J: np.ndarray
    eps: float

    @classmethod
    def of(cls, p: Problem, shift: float) -> Modes:
        """Scale a problem; all contacts are open."""
        link(_step.py_func)
        Z, J = new(p.ne, p.na, p.nc)
        eps = _step(LOAD, p.data, Z, J, p.eps, p.rho, shift, 0)
        if eps != eps:
            raise InputError(
                "matrices and bounds", expected="finite numbers, bounds that are not NaN", got="others"
            )
        return cls(p, Z, J, eps)

    def settle(self, x: np.ndarray, *, slopes: bool = True) -> None:
        """Take the contact mode at the scaled efforts x; `slopes` fills the sensitivities too."""
        self.Z[X, : len(x)] = x
        _step(SLOPES if slopes else SETTLE, self.problem.data, self.Z, self.J, 0.0, 0.0, 0.0, 0)

    def switch(self, contact: int) -> bool:
        """Let a contact change sides, by an update of the Cholesky factor. False if it depends on the others."""
        return _step(SWITCH, self.problem.data, self.Z, self.J, 0.0, 0.0, 0.0, contact) > 0.0

    def _block(self, first: int, rows: int) -> np.ndarray:
        p = self.problem
        return self.Z[first : first + rows, : p.nc + p.ne + p.na]

    def _actuators(self, row: int) -> np.ndarray:
        return self.Z[row, : self.problem.na]

    @property
    def value(self) -> np.ndarray:
        """(m,) values of all rows at the point settled at."""
        return self._block(VALUE, 1)[0]

    @property
    def scale(self) -> np.ndarray:
        """(m,) λ = scale · x."""
        return self._block(SCALE, 1)[0]

    @property
    def unit(self) -> np.ndarray:
        """(na,) the scales of the actuators."""
        return self.scale[self.problem.nc + self.problem.ne :]

    @property
    def slopes(self) -> np.ndarray:
        """(na, m) sensitivities."""
        return self._block(S, self.problem.na)

    @property
    def start(self) -> np.ndarray:
        """(na + 1, m) sensitivities and values with all contacts open and no effort."""
        return self._block(S + self.problem.na, self.problem.na + 1)

    @property
    def C(self) -> np.ndarray:
        """(nc, m) values per contact effort."""
        return self._block(self.J[HEAD, CONTACTS], self.problem.nc)

    @property
    def lo(self) -> np.ndarray:
        """(na,) lower bounds of x."""
        return self._actuators(LO)

    @property
    def hi(self) -> np.ndarray:
        """(na,) upper bounds of x."""
        return self._actuators(HI)

    @property
    def dlo(self) -> np.ndarray:
        """(na,) lower bounds of displacements."""
        return self._actuators(DLO)

    @property
    def dhi(self) -> np.ndarray:
        """(na,) upper bounds of displacements."""
        return self._actuators(DHI)

    @property
    def Q(self) -> np.ndarray:
        """(na, na) the cost is ‖effector‖² + xᵀQx − 2 pᵀx."""
        na = self.problem.na
        return self.Z[S + 4 * na + 1 : S + 5 * na + 1, :na]

    @property
    def p(self) -> np.ndarray:
        """(na,) see Q."""
        return self._actuators(S + 5 * self.problem.na + 1)

    @property
    def members(self) -> np.ndarray:
        """Contacts that push, in the order of the factor."""
        return self.J[MEMBERS, : self.J[HEAD, COUNT]].copy()

    def at(self, x: np.ndarray) -> np.ndarray:
        """(m,) values at x on the present mode, by the factor of no other."""
        free, chosen = np.append(x, 1.0) @ self.start, self.members
        if not len(chosen):
            return free
        push = -np.linalg.solve(self.C[np.ix_(chosen, chosen)], free[chosen])
        value = free + push @ self.C[chosen]
        value[chosen] = push
        return value


def warm_efforts(p: Problem) -> np.ndarray:
    """(na,) efforts of the warm start, in user units."""
    begin = offsets(p.ne, p.na, p.nc).start
    return p.data[begin : begin + p.na]
