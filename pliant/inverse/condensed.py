"""From a linearisation to efforts: condense, solve, recover, as functions of matrices and roles.

Rows stand in this order: effectors e, actuators a, equalities k, one-sided rows u, contacts c (gaps, then slips along two
tangents each where there is friction).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra import Condensation, Factor, NotPositiveDefinite, SparseRows
from pliant.contact import Contacts
from pliant.inverse.held_drives import held_drives
from pliant.inverse.program import Wish, program
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.step import Linear


@dataclass(frozen=True)
class Condensed:
    """H of the needed rows, what a factor says of them, and W and δ_free over these rows."""

    H: SparseRows
    rows: Condensation
    W: np.ndarray
    delta: np.ndarray
    here: np.ndarray  # δ before the step
    negative: int  # negative pivots of K
    friction: np.ndarray  # μ of the contacts, empty where all are smooth


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
    """λ of all rows (m,), forces of the contact rows (n or 3n,) [N], and the solver's solution."""

    lam: np.ndarray
    force: np.ndarray
    solution: Any


def condense(
    factor: Factor, linear: Linear, roles: Roles, contacts: Contacts, q: np.ndarray, start: np.ndarray
) -> Condensed:
    """W = H K⁻¹ Hᵀ and δ_free = δ + H K⁻¹(r + H_gᵀλ_g), the given efforts λ_g included in the free motion.

    Slip counts from the coordinates `start`.
    """
    needed = np.concatenate([roles.effectors, roles.actuators, roles.equal, roles.pushing])
    H, delta, rough = linear.H.take(needed), linear.delta[needed], contacts.rough
    if len(contacts):
        H, delta = H.above(contacts.rows(q)), np.concatenate([delta, contacts.gap])
    if rough:
        H = H.above(contacts.tangent_rows(q))
        delta = np.concatenate([delta, contacts.slip(q, start).ravel()])
    given = np.where(roles.conditions.given, roles.conditions.effort, 0.0)
    found = factor.condense(H, linear.r + linear.H.transpose_dot(given))
    mu = contacts.friction if rough else np.zeros(0)
    return Condensed(H, found, found.W, delta + found.motion, delta, factor.negative, mu)


def holding(roles: Roles, lam: np.ndarray, force: np.ndarray, rows: int) -> np.ndarray:
    """Which of the condensed rows keep their δ when drives are locked: taut actuators, equalities, what pushes."""
    held = np.zeros(rows, bool)
    ne, na, nk, nu = (len(x) for x in (roles.effectors, roles.actuators, roles.equal, roles.pushing))
    held[ne : ne + na] = ~roles.one_sided | (lam[roles.actuators] > 0.0)
    held[ne + na : ne + na + nk] = True
    held[ne + na + nk : ne + na + nk + nu] = lam[roles.pushing] != 0.0
    held[ne + na + nk + nu :] = force != 0.0
    return held


def solve(
    condensed: Condensed,
    roles: Roles,
    aim: Aim,
    previous: np.ndarray,
    start: np.ndarray,
    settings: Settings,
) -> Efforts:
    """The quadratic program with complementarity, after the equalities are eliminated.

    `previous` (na,) are the efforts of the last step, `start` (na,) those to begin from.
    """
    ne, na, nu = (len(x) for x in (roles.effectors, roles.actuators, roles.pushing))
    W, delta, back, negative = _without_equalities(
        *_with_laws(condensed, roles, aim.goal), roles, condensed.negative
    )
    a, o = slice(ne, ne + na), slice(ne + na, len(W))
    drives = None
    if negative:
        taut = np.zeros(len(W), bool)
        taut[a] = ~roles.one_sided | (start > 0.0)
        drives = held_drives(W, condensed.here, taut, negative)
        if drives is None:
            raise NotPositiveDefinite(-1)
        W, delta = drives.stiffened(W, delta)
    frictional_starts = min(settings.rough_starts, aim.starts)
    wish = Wish(aim.effort, aim.displacement, aim.inertia, previous, start, aim.starts, frictional_starts)
    solution = program(W, delta, condensed.friction, roles, wish, settings)
    chosen = np.concatenate([np.zeros(ne), solution.effort, solution.contact])
    if drives is not None:
        chosen = drives.efforts(chosen, W, delta)
        chosen[a] = np.clip(
            chosen[a], *aim.effort
        )  # λ' was bounded: a little off until the step has converged
    lam = np.where(roles.conditions.given, roles.conditions.effort, 0.0)
    lam[roles.actuators] = chosen[a]
    lam[roles.pushing] = chosen[o][:nu]
    lam[roles.equal] = -(back[:, :-1] @ chosen + back[:, -1])
    return Efforts(lam, chosen[o][nu:].copy(), solution)


def _without_equalities(W: np.ndarray, delta: np.ndarray, roles: Roles, negative: int):
    """W and δ after the equal rows are solved for, λ_k = −back·(λ, 1), and the negative eigenvalues left to others."""
    first, count = len(roles.effectors) + len(roles.actuators), len(roles.equal)
    if not count:
        return W, delta, np.zeros((0, len(W) + 1)), negative
    k, keep = slice(first, first + count), np.r_[0:first, first + count : len(W)]
    back = np.linalg.solve(W[k, k], np.column_stack([W[k][:, keep], delta[k]]))
    across = W[keep][:, k]
    if negative:
        negative -= int((np.linalg.eigvalsh(W[k, k]) < 0.0).sum())
    return W[np.ix_(keep, keep)] - across @ back[:, :-1], delta[keep] - across @ back[:, -1], back, negative


def _with_laws(condensed: Condensed, roles: Roles, goal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W with the springs' compliance, and δ measured from goals and imposed values."""
    W, delta, c = condensed.W.copy(), condensed.delta.copy(), roles.conditions
    ne, na = len(roles.effectors), len(roles.actuators)
    delta[:ne] -= goal
    imposed = np.concatenate([roles.equal, roles.pushing])
    at = ne + na + np.arange(len(imposed))
    delta[at] -= c.imposed[imposed]
    W[at, at] += c.compliance[imposed]
    return W, delta


def recover(condensed: Condensed, roles: Roles, efforts: Efforts) -> np.ndarray:
    """dq = K⁻¹(r + Hᵀλ), (ndof,)."""
    lam, none = efforts.lam, np.zeros(len(roles.effectors))
    chosen = [none, lam[roles.actuators], lam[roles.equal], lam[roles.pushing], efforts.force]
    return condensed.rows.answer(np.concatenate(chosen))


def held(condensed: Condensed, roles: Roles, efforts: Efforts, free: np.ndarray) -> np.ndarray:
    """A motion `free` = K⁻¹r (ndof,) under some residual, with all drives held: K dq = r + Hᵀμ,  H dq = 0.

    H are the rows of taut actuators, equalities and whatever pushes: near a limit point K alone is soft where they are not.
    """
    rows = np.flatnonzero(holding(roles, efforts.lam, efforts.force, len(condensed.delta)))
    if not len(rows):
        return free
    W = condensed.W[np.ix_(rows, rows)]
    W = W + 1e-10 * np.diag(np.abs(np.diagonal(W)))  # redundant rows
    pull = np.zeros(len(condensed.delta))
    pull[rows] = np.linalg.solve(W, condensed.H.take(rows).dot(free))
    return free - condensed.rows.response(pull)
