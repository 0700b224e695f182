"""From a linearisation to efforts: condense, solve, recover, as functions of matrices and roles.

Rows stand in this order: effectors e, actuators a, equalities k, one-sided rows u, contacts c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra import Factor
from pliant.contact import Contacts
from pliant.interactions.chain import SparseRows
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.solvers import qpcc, work_scale
from pliant.step import Linear


@dataclass(frozen=True)
class Condensed:
    """H of the needed rows, the free motion (ndof,), and W and δ_free over these rows."""

    H: SparseRows
    free: np.ndarray
    W: np.ndarray
    delta: np.ndarray


@dataclass(frozen=True)
class Efforts:
    """λ of all rows (m,), contact forces (n,) [N], and the solver's solution."""

    lam: np.ndarray
    force: np.ndarray
    solution: Any


def condense(
    factor: Factor, linear: Linear, roles: Roles, contacts: Contacts | None, q: np.ndarray
) -> Condensed:
    """W = H K⁻¹ Hᵀ and δ_free = δ + H K⁻¹(r + H_gᵀλ_g), the given efforts λ_g included in the free motion."""
    needed = np.concatenate([roles.effectors, roles.actuators, roles.equal, roles.pushing])
    H, delta = linear.H.take(needed), linear.delta[needed]
    if contacts is not None and len(contacts):
        H, delta = H.above(contacts.rows(q)), np.concatenate([delta, contacts.gap])
    given = np.where(roles.conditions.given, roles.conditions.effort, 0.0)
    free = factor.solve(linear.r + linear.H.transpose_dot(given))
    return Condensed(H, free, factor.compliance(H), delta + H.dot(free))


def solve(
    condensed: Condensed,
    roles: Roles,
    goal: np.ndarray,
    displacement: tuple[np.ndarray, np.ndarray],
    previous: np.ndarray,
    start: np.ndarray,
    touching: bool,
    settings: Settings,
) -> Efforts:
    """The quadratic program with complementarity, after the equalities are eliminated.

    `previous` (na,) are the efforts of the last step, `start` (na,) those to begin from; `displacement` bounds δ_a⁺.
    """
    ne, na, nk, nu = (len(x) for x in (roles.effectors, roles.actuators, roles.equal, roles.pushing))
    W, delta = _with_laws(condensed, roles, goal)
    k = slice(ne + na, ne + na + nk)
    keep = np.r_[0 : ne + na, k.stop : len(W)]
    back = (
        np.linalg.solve(W[k, k], np.column_stack([W[k][:, keep], delta[k]]))
        if nk
        else np.zeros((0, len(keep) + 1))
    )
    W, delta = W[np.ix_(keep, keep)] - W[keep][:, k] @ back[:, :-1], delta[keep] - W[keep][:, k] @ back[:, -1]
    e, a, o = slice(0, ne), slice(ne, ne + na), slice(ne + na, len(W))
    base = work_scale(W[e, a], W[e, o], W[a, a], W[a, o], W[o, o])
    solution = qpcc(
        W[e, a], W[e, o], W[a, a], W[a, o], W[o, o], delta[e], delta[a], delta[o],
        effort=roles.effort,
        displacement=displacement,
        eps=settings.energy * base,
        rho=(settings.inertia_in_contact if touching else settings.inertia) * base,
        previous=previous,
        weights=roles.weight,
        starts=settings.starts,
        warm=start,
    )  # fmt: skip
    lam = np.where(roles.conditions.given, roles.conditions.effort, 0.0)
    lam[roles.actuators] = solution.effort
    lam[roles.pushing] = solution.contact[:nu]
    others = np.concatenate([np.zeros(ne), solution.effort, solution.contact])
    lam[roles.equal] = -(back[:, :-1] @ others + back[:, -1])
    return Efforts(lam, np.array(solution.contact[nu:]), solution)


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


def recover(factor: Factor, condensed: Condensed, roles: Roles, efforts: Efforts) -> np.ndarray:
    """dq = free + K⁻¹ Hᵀλ, (ndof,)."""
    lam, none = efforts.lam, np.zeros(len(roles.effectors))
    chosen = [none, lam[roles.actuators], lam[roles.equal], lam[roles.pushing], efforts.force]
    return condensed.free + factor.solve(condensed.H.transpose_dot(np.concatenate(chosen)))
