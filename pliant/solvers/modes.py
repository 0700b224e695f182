"""Contact modes from Python: the compiled steps of `pieces` one by one, for methods that are written there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.errors import InputError
from pliant.solvers.multistart import workspace
from pliant.solvers.newton import DHI, DLO, HI, LO
from pliant.solvers.pieces import FIXED, MEMBERS, PLACE, VALUE, cross, respond, sensitivities, settle
from pliant.solvers.problem import Problem, offsets
from pliant.solvers.scaling import load

FAST = {"reassoc", "contract"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _load(data, ne, na, nc, eps, rho, shift, M, I, A, P, scale):
    eps, _, sound = load(data, ne, na, nc, eps, rho, shift, M, A, P[: na + 1], scale)
    I[MEMBERS, nc] = 0
    for i in range(nc):
        I[PLACE, i] = -1
    return eps, sound


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _settle(M, L, I, x, slopes):
    settle(M, L, I, x)
    if slopes:
        sensitivities(M, L, I)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _switch(M, L, I, i):
    pivot = respond(M, L, I, i)
    if pivot > 0.0:
        cross(M, L, I, i, pivot)
    return pivot > 0.0


@dataclass(frozen=True, eq=False)
class Modes:
    """A scaled problem (see `pieces`) and the contact mode it is in."""

    problem: Problem
    eps: float
    M: np.ndarray
    L: np.ndarray
    I: np.ndarray
    scale: np.ndarray
    lo: np.ndarray  # (na,) bounds of x …
    hi: np.ndarray
    dlo: np.ndarray  # (na,) … and of displacements
    dhi: np.ndarray
    Q: np.ndarray  # (na, na) the cost is ‖effector‖² + xᵀQx − 2 pᵀx
    p: np.ndarray

    @classmethod
    def of(cls, p: Problem, shift: float) -> Modes:
        """Scale a problem; all contacts are open."""
        M, L, I, A, P, _, _, scale, _ = (array.copy() for array in workspace(p.ne, p.na, p.nc))
        eps, sound = _load(p.data, p.ne, p.na, p.nc, p.eps, p.rho, shift, M, I, A, P, scale)
        if not sound:
            raise InputError(
                "matrices and bounds", expected="finite numbers, bounds that are not NaN", got="others"
            )
        na = p.na
        return cls(p, eps, M, L, I, scale, A[LO], A[HI], A[DLO], A[DHI], P[:na].copy(), P[na].copy())

    def settle(self, x: np.ndarray, *, slopes: bool = True) -> None:
        """Take the contact mode at the scaled efforts x; `slopes` fills the sensitivities too."""
        _settle(self.M, self.L, self.I, x, slopes)

    def switch(self, contact: int) -> bool:
        """Let a contact change sides, by an update of the Cholesky factor. False if it depends on the others."""
        return _switch(self.M, self.L, self.I, contact)

    @property
    def value(self) -> np.ndarray:
        """(m,) values of all rows at the point settled at."""
        return self.M[self.problem.na + VALUE]

    @property
    def slopes(self) -> np.ndarray:
        """(na, m) sensitivities."""
        return self.M[: self.problem.na]

    @property
    def start(self) -> np.ndarray:
        """(na + 1, m) sensitivities and values with all contacts open and no effort."""
        na = self.problem.na
        return self.M[na + FIXED : 2 * na + FIXED + 1]

    @property
    def C(self) -> np.ndarray:
        """(nc, m) values per contact effort."""
        return self.M[2 * self.problem.na + FIXED + 1 :]

    @property
    def members(self) -> np.ndarray:
        """Contacts that push, in the order of the factor."""
        return self.I[MEMBERS, : self.I[MEMBERS, -1]].copy()

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
    begin = offsets.py_func(p.ne, p.na, p.nc).start
    return p.data[begin : begin + p.na]
