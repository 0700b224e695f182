"""From a view to efforts: which rows the inverse model condenses, and how it chooses their efforts.

Rows stand in this order: effectors e, actuators a, equalities k, one-sided rows u, contacts c (gaps, then
slips along two tangents each where there is friction). Contacts that the step cannot close are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.contact.detect import search_distance
from pliant.core.tangent import Condensed
from pliant.core.view import View
from pliant.inverse.program import Wish, program
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.inverse.supporting import Supporting, supporting
from pliant.solvers.solution import STATUSES

INFEASIBLE = STATUSES[1]
SOLVED = 1e-8  # of the right-hand side: what may be left of equalities that are solved exactly
UNMET = 1e-6  # of their terms: what is left of equalities that contradict each other
SINGULAR = 1e-12  # of the largest singular value of equalities that say the same twice: smaller ones are zero
FEW_CONTACTS = 16  # up to so many are all solved for
REDUNDANT = 1e-10  # of the diagonal of W, added to it: locked rows may say the same twice


@dataclass(frozen=True)
class Aim:
    """What one step wants."""

    goal: np.ndarray  # δ of the effectors (ne,)
    effort: tuple[np.ndarray, np.ndarray]  # bounds on λ of the actuators (na,)
    displacement: tuple[np.ndarray, np.ndarray]  # bounds on δ of the actuators (na,)
    inertia: float  # ρ, which keeps efforts where they were
    energy: float  # ε, which keeps redundant efforts low
    starts: int  # from how many the solver looks for a minimum; 1: that of the efforts at hand
    reach: float = 0.0  # [m] how far contacts are searched for, if that is more than usual
    idle: bool = False  # whether the effectors came no nearer, so that contacts farther off may be of help


@dataclass(frozen=True)
class Efforts:
    """λ of the condensed rows, and the solver's solution.

    `contradiction`: whether equalities cannot all be met.
    """

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
    """The rows of a view that the inverse model condenses; open (n,): contacts that are left out."""

    roles: Roles
    view: View
    open: np.ndarray

    @classmethod
    def of(cls, roles: Roles, view: View, motion: float, least: float, idle: bool) -> InverseRows:
        """Without the contacts that push nothing and are farther than a step of some motion [m] may close.

        Where others push, that is twice as far as they have come nearer in the last step, or `least` [m]: of
        many contacts around these a step closes a few. Where none does, or the robot is idle, any of them may
        be what it needs.
        """
        contacts = view.contacts
        if contacts is None or len(contacts) <= FEW_CONTACTS:
            return cls(roles, view, np.zeros(0 if contacts is None else len(contacts), bool))
        n = len(contacts)
        gap, pushes = view.delta[view.own : view.own + n], view.force[:n] > 0.0
        reach = search_distance.MOTION * max(motion, least)
        if pushes.any() and not idle and view.at.contacts is not None:
            approached = contacts.approached(view.at.contacts)
            reach = np.minimum(reach, np.maximum(search_distance.MOTION * approached, least))
        return cls(roles, view, ~pushes & (gap > reach))

    def with_closed(self, dq: np.ndarray) -> InverseRows | None:
        """With the contacts left out that a step dq would close; None if there are none."""
        own, n = self.view.own, len(self.open)
        if not self.open.any():
            return None
        gaps = (self.view.delta + self.view.H.dot(dq))[own : own + n]
        closed = self.open & (gaps < 0.0)
        return replace(self, open=self.open & ~closed) if closed.any() else None

    @cached_property
    def needed(self) -> np.ndarray:
        """Indices of these rows, in their order."""
        own, k, n = self.view.own, np.flatnonzero(~self.open), len(self.open)
        slips = (2 * k[:, None] + np.arange(2)).ravel() if len(self.friction) else k[:0]
        return np.concatenate([self.roles.condensed, own + k, own + n + slips])

    @cached_property
    def friction(self) -> np.ndarray:
        """μ of the contacts among these rows; none where all contacts are without friction."""
        contacts = self.view.contacts
        frictional = contacts is not None and contacts.frictional
        return contacts.friction[~self.open] if frictional else np.zeros(0)  # type: ignore[union-attr]

    def parted(self, view: View) -> tuple[SparseRows, np.ndarray, np.ndarray]:
        """H and δ of the condensed rows, and the load with the given efforts."""
        given = np.zeros(len(view.lam))
        c = self.roles.conditions
        given[: view.own] = np.where(c.given, c.effort, 0.0)
        return view.H.take(self.needed), view.delta[self.needed], view.r + view.H.transpose_dot(given)

    def support(self, condensed: Condensed) -> bool:
        """Whether equalities, taut actuators and contacts that push support the robot past a limit point.

        There K is indefinite, and efforts alone would not.
        """
        system = _with_laws(condensed, self.roles, 0.0)
        W, _, _, negative = _without_equalities(*system, self.roles, condensed.negative)
        return negative == 0 or self.supporting(condensed, W, negative) is not None

    def supporting(self, condensed: Condensed, W: np.ndarray, negative: int) -> Supporting | None:
        """What supports it of the rows that are left without the equalities, see `supporting.py`."""
        roles, lam = self.roles, self.view.lam
        kept = np.zeros(len(condensed.here), bool)
        kept[len(roles.effectors) :][: len(roles.actuators)] = ~roles.one_sided | (lam[roles.actuators] > 0.0)
        kept[self.gaps] = lam[self.needed[self.gaps]] > 0.0
        left = _but_equalities(roles, len(kept))
        return supporting(W, condensed.here[left], kept[left], negative)

    @property
    def gaps(self) -> slice:
        """Which of these rows are gaps of contacts."""
        first = len(self.roles.condensed)
        return slice(first, first + len(self.open) - int(self.open.sum()))

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
    """The efforts that the quadratic program with complementarity chooses, equalities eliminated before.

    `previous` (na,) are the efforts of the last step; the solver begins from the efforts of the view.
    """
    roles, view = rows.roles, rows.view
    ne, na, nk = len(roles.effectors), len(roles.actuators), len(roles.equal)
    W_all, delta_all = _with_laws(condensed, roles, aim.goal)
    W, delta, back, negative = _without_equalities(W_all, delta_all, roles, condensed.negative)
    a, support = slice(ne, ne + na), None
    if negative:
        support = rows.supporting(condensed, W, negative)
        assert support is not None  # see `InverseRows.support`
        W, delta = support.stiffened(W, delta)
    start = view.lam[roles.actuators]
    frictional_starts = min(settings.frictional_starts, aim.starts)
    bounds, kept = (aim.effort, aim.displacement), (aim.inertia, aim.energy)
    wish = Wish(*bounds, *kept, previous, start, aim.starts, frictional_starts)
    solution = program(W, delta, rows.friction, roles, wish)
    chosen = np.concatenate([np.zeros(ne), solution.effort, solution.contact])
    if support is not None:
        chosen = support.efforts(chosen, W, delta)
        # λ' was bounded, not λ: a little different until the step has converged
        chosen[a] = np.clip(chosen[a], *aim.effort)
    if not nk:
        return Efforts(chosen, solution)
    equal = -(back[:, :-1] @ chosen + back[:, -1])
    effort = np.concatenate([chosen[: ne + na], equal, chosen[ne + na :]])
    k = slice(ne + na, ne + na + nk)
    left = W_all[k] @ effort + delta_all[k]
    terms = np.abs(W_all[k]) @ np.abs(effort) + np.abs(delta_all[k])
    return Efforts(effort, solution, bool((np.abs(left) > UNMET * terms).any()))


def _without_equalities(W: np.ndarray, delta: np.ndarray, roles: Roles, negative: int):
    """W and δ without the equalities, how these follow, and the negative eigenvalues left to others.

    λ_k = −back·(λ, 1).
    """
    first, count = len(roles.effectors) + len(roles.actuators), len(roles.equal)
    if not count:
        return W, delta, np.zeros((0, len(W) + 1)), negative
    k, keep = slice(first, first + count), _but_equalities(roles, len(W))
    back = _solved(W[k, k], np.column_stack([W[k][:, keep], delta[k]]))
    across = W[keep][:, k]
    if negative:
        negative -= int((np.linalg.eigvalsh(W[k, k]) < 0.0).sum())
    return W[np.ix_(keep, keep)] - across @ back[:, :-1], delta[keep] - across @ back[:, -1], back, negative


def _but_equalities(roles: Roles, count: int) -> np.ndarray:
    """Indices of the condensed rows, so many, that are no equalities."""
    first = len(roles.effectors) + len(roles.actuators)
    return np.r_[0:first, first + len(roles.equal) : count]


def _solved(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A⁻¹B; where rows of A say the same twice, the smallest of the best answers."""
    try:
        X = np.linalg.solve(A, B)
        if np.abs(A @ X - B).max(initial=0.0) <= SOLVED * np.abs(B).max(initial=0.0):
            return X
    except np.linalg.LinAlgError:
        pass
    return np.linalg.lstsq(A, B, rcond=SINGULAR)[0]


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

    H are the rows of taut actuators, equalities and whatever pushes: near a limit point K alone is soft where
    they are not.
    """
    rows = np.flatnonzero(_locked(roles, efforts.effort))
    if not len(rows):
        return free
    W = condensed.W[np.ix_(rows, rows)]
    W = W + REDUNDANT * np.diag(np.abs(np.diagonal(W)))
    pull = np.zeros(len(condensed.here))
    pull[rows] = np.linalg.solve(W, condensed.H.take(rows).dot(free))
    return free - condensed.rows.response(pull)


def _locked(roles: Roles, effort: np.ndarray) -> np.ndarray:
    """Which of the condensed rows keep their δ when drives are locked.

    These are taut actuators, equalities, and what pushes.
    """
    ne, na, nk = len(roles.effectors), len(roles.actuators), len(roles.equal)
    locked = effort != 0.0
    locked[:ne] = False
    locked[ne : ne + na] = ~roles.one_sided | (effort[ne : ne + na] > 0.0)
    locked[ne + na : ne + na + nk] = True
    return locked
