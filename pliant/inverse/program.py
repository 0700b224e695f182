"""The program behind both inverse models: the efforts that bring the effectors nearest to their goal.

    min ‖W_ea λ_a + W_eo λ_o + δ_e‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds on λ_a and δ_a,   0 ≤ λ_o ⊥ δ_o ≥ 0,   Coulomb's law where there is friction

Rows stand in this order: effectors e, actuators a, and o: one-sided rows, contacts (gaps, then slips along
two tangents each).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.inverse.roles import Roles
from pliant.solvers import mcp, qpcc, work_scale

CONTACT_ROUNDS = 8  # at most, of solving with friction for the contacts that push
PENETRATED = 1e-9  # of the largest gap: how deep a contact that was left out must be to be added

Bounds = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Wish:
    """What efforts are chosen for, beside the goal."""

    effort: Bounds  # on λ_a (na,)
    displacement: Bounds  # on δ_a (na,)
    inertia: float  # ρ
    energy: float  # ε
    previous: np.ndarray  # efforts (na,) that ρ keeps them near to
    begin: np.ndarray  # efforts (na,) to begin from
    starts: int  # from how many a minimum is looked for; 1: that of the efforts to begin from
    frictional_starts: int  # the same where there is friction


@dataclass(frozen=True)
class ProgramSolution:
    """Efforts (na,), those of the other rows (no,), and the solver's certificate."""

    effort: np.ndarray
    contact: np.ndarray
    certificate: Any


def program(W: np.ndarray, delta: np.ndarray, friction: np.ndarray, roles: Roles, wish: Wish) -> Any:
    """A solution with `effort` (na,), `contact` (no,) and a `certificate`.

    W and δ are of effectors, actuators, one-sided rows and contacts; `friction` are the μ of the contacts,
    none where all are without friction.
    """
    ne, na = len(roles.effectors), len(roles.actuators)
    e, a, o = slice(0, ne), slice(ne, ne + na), slice(ne + na, len(W))
    if na == 0:
        return _without_actuators(W[o, o], delta[o], friction)
    gaps = slice(o.start, len(W) - 2 * len(friction))
    scale = lambda rows: work_scale(W[e, a], W[e, rows], W[a, a], W[a, rows], W[rows, rows])
    base = scale(gaps) or scale(o)  # where friction alone moves the effectors, as on flat ground
    blocks = (W[e, a], W[e, o], W[a, a], W[a, o], W[o, o], delta[e], delta[a], delta[o])
    options: dict[str, Any] = {
        "effort": wish.effort,
        "displacement": wish.displacement,
        "eps": wish.energy * base,
        "rho": wish.inertia * base,
        "previous": wish.previous,
        "weights": roles.weight,
        "warm": wish.begin,
    }
    if not len(friction):
        return qpcc(*blocks, starts=wish.starts, **options)
    starts = {"starts": wish.frictional_starts, "starts_without_friction": wish.starts}
    return _with_friction(blocks, friction, **starts, **options)


def _with_friction(
    blocks: tuple[np.ndarray, ...],
    mu: np.ndarray,
    *,
    starts: int,
    starts_without_friction: int,
    **options: Any,
) -> ProgramSolution:
    """`frictional_inverse` with many contacts of which few push.

    `blocks` are (Wea, Wec, Waa, Wac, Wcc, de, da, dc). It is solved for the contacts that push without
    friction, then again with those that were penetrated, until none is.
    """
    from pliant.solvers import frictional_inverse  # comes with many kernels

    Wea, Wec, Waa, Wac, Wcc, de, da, dc = blocks
    n, one_sided = len(mu), len(dc) - 3 * len(mu)
    gaps = slice(0, one_sided + n)
    part = (Wea, Wec[:, gaps], Waa, Wac[:, gaps], Wcc[gaps, gaps], de, da, dc[gaps])
    frictionless = qpcc(*part, starts=starts_without_friction, **options)
    pushing = frictionless.contact[one_sided:] > 0.0
    if options.get("warm") is None:
        options["warm"] = frictionless.effort
    for _ in range(CONTACT_ROUNDS):
        rows = _rows(pushing, one_sided)
        part = (Wea, Wec[:, rows], Waa, Wac[:, rows], Wcc[np.ix_(rows, rows)], de, da, dc[rows])
        solution = frictional_inverse(*part, mu[pushing], starts=starts, **options)
        gap = dc[gaps] + Wac[:, gaps].T @ solution.effort + Wcc[gaps][:, rows] @ solution.contact
        penetrated = ~pushing & (gap[one_sided:] < -PENETRATED * np.abs(dc[gaps]).max(initial=0.0))
        if not penetrated.any():
            break
        pushing |= penetrated
    contact = np.zeros(len(dc))
    contact[rows] = solution.contact
    return ProgramSolution(np.array(solution.effort), contact, solution.certificate)


def _rows(pushing: np.ndarray, one_sided: int) -> np.ndarray:
    """Rows of the one-sided rows and of the contacts that push (mask): normals, then tangents."""
    k, n = np.flatnonzero(pushing), len(pushing)
    tangents = one_sided + n + (2 * k[:, None] + np.arange(2)).ravel()
    return np.concatenate([np.arange(one_sided), one_sided + k, tangents])


def _without_actuators(W: np.ndarray, delta: np.ndarray, mu: np.ndarray) -> ProgramSolution:
    """How the other rows answer where there is nothing to choose, as after the loss of the last actuator."""
    if len(mu):
        from pliant.solvers import friction  # comes with many kernels

        one_sided = len(delta) - 3 * len(mu)
        solution = friction(W, delta, mu, np.zeros(one_sided), np.full(one_sided, np.inf))
    else:
        solution = mcp(W, delta, np.zeros(len(delta)), np.full(len(delta), np.inf))
    return ProgramSolution(np.zeros(0), solution.effort, solution.certificate)
