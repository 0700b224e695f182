"""From a view to efforts: which rows the inverse model condenses, and how it chooses, as functions of matrices and roles.

Rows stand in this order: effectors e, actuators a, equalities k, one-sided rows u, contacts c (gaps, then slips along two
tangents each where there is friction).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.core.tangent import Condensed
from pliant.core.view import View
from pliant.inverse.locked_drives import locked_drives
from pliant.inverse.program import Wish, program
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.solvers.solution import STATUSES

INFEASIBLE = STATUSES[1]
SAME = 1e-8  # of the data: what may be left of equalities that are solved …
UNMET = 1e-6  # … and what is left of those that cannot be met, of their terms


@dataclass(frozen=True)
class Aim:
    """What one step wants: δ of the effectors, bounds on λ and δ of the actuators, ρ that keeps efforts where they were, and from how
    many starts the solver looks for a minimum (1: that of the efforts at hand)."""

    goal: np.ndarray
    effort: tuple[np.ndarray, np.ndarray]
    displacement: tuple[np.ndarray, np.ndarray]
    inertia: float
    starts: int


@dataclass(frozen=True)
class Efforts:
    """λ of the condensed rows, and the solver's solution; `contradiction`: whether equalities cannot all be met."""

    effort: np.ndarray
    solution: Any
    contradiction: bool = False

    @property
    def certificate(self) -> Any:
        """The solver's."""
        return self.solution.certificate

    @property
    def status(self) -> str:
        """The solver's word, or that of the equalities."""
        return INFEASIBLE if self.contradiction else self.certificate.status


@dataclass(frozen=True)
class InverseRows:
    """The rows of a view that the inverse model condenses."""

    roles: Roles
    view: View

    @cached_property
    def needed(self) -> np.ndarray:
        """Indices of these rows, in their order."""
        own, all_rows = self.view.own, len(self.view.lam)
        return np.concatenate([self.roles.condensed, np.arange(own, all_rows)])

    def parted(self, view: View) -> tuple[SparseRows, np.ndarray, np.ndarray]:
        """H and δ of the condensed rows, and the load with the given efforts."""
        given = np.zeros(len(view.lam))
        c = self.roles.conditions
        given[: view.own] = np.where(c.given, c.effort, 0.0)
        return view.H.take(self.needed), view.delta[self.needed], view.r + view.H.transpose_dot(given)

    def support(self, condensed: Condensed) -> bool:
        """Whether equalities and taut actuators hold what the efforts alone would not, past a limit point."""
        W, _, _, negative = _without_equalities(
            *_with_laws(condensed, self.roles, 0.0), self.roles, condensed.negative
        )
        return negative == 0 or self.locked(condensed, W, negative) is not None

    def locked(self, condensed: Condensed, W: np.ndarray, negative: int) -> Any:
        """The actuators that hold it, see `locked_drives`."""
        roles, ne = self.roles, len(self.roles.effectors)
        taut = np.zeros(len(W), bool)
        taut[ne : ne + len(roles.actuators)] = ~roles.one_sided | (self.view.lam[roles.actuators] > 0.0)
        return locked_drives(W, condensed.here, taut, negative)

    def spread(self, effort: np.ndarray) -> np.ndarray:
        """λ of all rows, from that of the condensed ones."""
        roles, own = self.roles, self.view.own
        lam = np.zeros(len(self.view.lam))
        lam[:own] = np.where(roles.conditions.given, roles.conditions.effort, 0.0)
        first = len(roles.effectors)
        lam[self.needed[first:]] = effort[first:]
        return lam


def solve(
    condensed: Condensed, rows: InverseRows, aim: Aim, previous: np.ndarray, settings: Settings
) -> Efforts:
    """The quadratic program with complementarity, after the equalities are eliminated, from the efforts of the view.

    `previous` (na,) are the efforts of the last step.
    """
    roles, view = rows.roles, rows.view
    ne, na, nk = len(roles.effectors), len(roles.actuators), len(roles.equal)
    whole = _with_laws(condensed, roles, aim.goal)
    W, delta, back, negative = _without_equalities(*whole, roles, condensed.negative)
    a, drives = slice(ne, ne + na), None
    if negative:
        drives = rows.locked(condensed, W, negative)
        W, delta = drives.stiffened(W, delta)
    contacts, start = view.contacts, view.lam[roles.actuators]
    friction = contacts.friction if contacts is not None and contacts.frictional else np.zeros(0)
    frictional_starts = min(settings.rough_starts, aim.starts)
    wish = Wish(aim.effort, aim.displacement, aim.inertia, previous, start, aim.starts, frictional_starts)
    solution = program(W, delta, friction, roles, wish, settings)
    chosen = np.concatenate([np.zeros(ne), solution.effort, solution.contact])
    if drives is not None:
        chosen = drives.efforts(chosen, W, delta)
        # λ' was bounded: a little off until the step has converged
        chosen[a] = np.clip(chosen[a], *aim.effort)
    equal = -(back[:, :-1] @ chosen + back[:, -1])
    if not nk:
        return Efforts(chosen, solution)
    effort = np.concatenate([chosen[: ne + na], equal, chosen[ne + na :]])
    k = slice(ne + na, ne + na + nk)
    left, size = (
        whole[0][k] @ effort + whole[1][k],
        np.abs(whole[0][k]) @ np.abs(effort) + np.abs(whole[1][k]),
    )
    return Efforts(effort, solution, bool((np.abs(left) > UNMET * size).any()))


def _without_equalities(W: np.ndarray, delta: np.ndarray, roles: Roles, negative: int):
    """W and δ after the equal rows are solved for, λ_k = −back·(λ, 1), and the negative eigenvalues left to others."""
    first, count = len(roles.effectors) + len(roles.actuators), len(roles.equal)
    if not count:
        return W, delta, np.zeros((0, len(W) + 1)), negative
    k, keep = slice(first, first + count), np.r_[0:first, first + count : len(W)]
    back = _solved(W[k, k], np.column_stack([W[k][:, keep], delta[k]]))
    across = W[keep][:, k]
    if negative:
        negative -= int((np.linalg.eigvalsh(W[k, k]) < 0.0).sum())
    return W[np.ix_(keep, keep)] - across @ back[:, :-1], delta[keep] - across @ back[:, -1], back, negative


def _solved(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A⁻¹B; where rows of A say the same twice, the smallest of the best answers."""
    try:
        found = np.linalg.solve(A, B)
        if np.abs(A @ found - B).max(initial=0.0) <= SAME * np.abs(B).max(initial=0.0):
            return found
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(A, B, rcond=1e-12)[0]


def _with_laws(condensed: Condensed, roles: Roles, goal: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """W with the springs' compliance, and δ measured from goals and imposed values."""
    W, delta, c = condensed.W.copy(), condensed.free.copy(), roles.conditions
    ne, na = len(roles.effectors), len(roles.actuators)
    delta[:ne] -= goal
    imposed = np.concatenate([roles.equal, roles.pushing])
    at = ne + na + np.arange(len(imposed))
    delta[at] -= c.imposed[imposed]
    W[at, at] += c.compliance[imposed]
    return W, delta


def locked_motion(condensed: Condensed, roles: Roles, efforts: Efforts, free: np.ndarray) -> np.ndarray:
    """A motion `free` = K⁻¹r (ndof,) under some residual, with all drives locked: K dq = r + Hᵀμ,  H dq = 0.

    H are the rows of taut actuators, equalities and whatever pushes: near a limit point K alone is soft where they are not.
    """
    rows = np.flatnonzero(_locked(roles, efforts.effort))
    if not len(rows):
        return free
    W = condensed.W[np.ix_(rows, rows)]
    W = W + 1e-10 * np.diag(np.abs(np.diagonal(W)))  # redundant rows
    pull = np.zeros(len(condensed.here))
    pull[rows] = np.linalg.solve(W, condensed.H.take(rows).dot(free))
    return free - condensed.rows.response(pull)


def _locked(roles: Roles, effort: np.ndarray) -> np.ndarray:
    """Which of the condensed rows keep their δ when drives are locked: taut actuators, equalities, what pushes."""
    ne, na, nk = len(roles.effectors), len(roles.actuators), len(roles.equal)
    locked = effort != 0.0
    locked[:ne] = False
    locked[ne : ne + na] = ~roles.one_sided | (effort[ne : ne + na] > 0.0)
    locked[ne + na : ne + na + nk] = True
    return locked
