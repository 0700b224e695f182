"""The program behind both inverse models: efforts of the actuators that bring the effectors nearest to their goal.

    min ‖W_ea λ_a + W_eo λ_o + δ_e‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds on λ_a and δ_a,   0 ≤ λ_o ⊥ δ_o ≥ 0,   Coulomb's law where there is friction

Rows stand in this order: effectors e, actuators a, and o: one-sided rows, contacts (gaps, then slips along two tangents each).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.solvers import mcp, qpcc, work_scale

Bounds = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Wish:
    """What efforts are chosen for, beside the goal: bounds on λ_a and δ_a (na,), ρ, the efforts before (na,) and those to begin
    from, and from how many starts a minimum is looked for (1: that of the efforts at hand)."""

    effort: Bounds
    displacement: Bounds
    inertia: float
    previous: np.ndarray
    begin: np.ndarray
    starts: int
    frictional_starts: int


@dataclass(frozen=True)
class Forced:
    """What happens where there is nothing to choose: no efforts, those of the other rows, and the solver's certificate."""

    effort: np.ndarray
    contact: np.ndarray
    certificate: Any


def program(
    W: np.ndarray, delta: np.ndarray, friction: np.ndarray, roles: Roles, wish: Wish, settings: Settings
) -> Any:
    """A solution with `effort` (na,), `contact` (no,) and a `certificate`.

    W and δ are of effectors, actuators, one-sided rows and contacts; `friction` are the μ of the contacts, none where all are smooth.
    """
    ne, na = len(roles.effectors), len(roles.actuators)
    e, a, o = slice(0, ne), slice(ne, ne + na), slice(ne + na, len(W))
    if na == 0:
        return _forced(W[o, o], delta[o], friction)
    gaps = slice(o.start, len(W) - 2 * len(friction))
    scale = lambda rows: work_scale(W[e, a], W[e, rows], W[a, a], W[a, rows], W[rows, rows])
    base = scale(gaps) or scale(o)  # where friction alone moves the effectors, as on flat ground
    blocks = (W[e, a], W[e, o], W[a, a], W[a, o], W[o, o], delta[e], delta[a], delta[o])
    options: dict[str, Any] = {
        "effort": wish.effort,
        "displacement": wish.displacement,
        "eps": settings.energy * base,
        "rho": wish.inertia * base,
        "previous": wish.previous,
        "weights": roles.weight,
        "warm": wish.begin,
    }
    if not len(friction):
        return qpcc(*blocks, starts=wish.starts, **options)
    from pliant.inverse.rough import rough_inverse  # comes with many kernels

    return rough_inverse(blocks, friction, starts=wish.frictional_starts, easy_starts=wish.starts, **options)


def _forced(W: np.ndarray, delta: np.ndarray, friction: np.ndarray) -> Forced:
    """Without actuators, such as after the loss of the last one: the other rows answer to what is there."""
    if len(friction):
        from pliant.solvers import friction as coulomb  # comes with many kernels

        others = len(delta) - 3 * len(friction)
        found = coulomb(W, delta, friction, np.zeros(others), np.full(others, np.inf))
    else:
        found = mcp(W, delta, np.zeros(len(delta)), np.full(len(delta), np.inf))
    return Forced(np.zeros(0), found.effort, found.certificate)
