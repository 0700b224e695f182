"""Schemes of integration in time, all of them as one implicit stage.

Every implicit scheme here asks for a velocity v with

    M (v − v*)/h + c(q, v) + D v = r(q) + Hᵀλ,      q = qₙ ⊕ (σ* + h v)                    h: the stage's own step

and arrives at  qₙ₊₁ = qₙ ⊕ (σ* + s v),  vₙ₊₁ = vₙ + (s/h)(v − vₙ).  They differ in v*, σ*, h and s (Δt: the time step):

| scheme | v* | σ* | h | s |
|---|---|---|---|---|
| euler | vₙ | 0 | Δt | Δt |
| bdf2 | vₙ + κ(vₙ − vₙ₋₁) | κ (qₙ ⊖ qₙ₋₁) | Δt (1 + w)/(1 + 2w) | h |
| midpoint | vₙ | 0 | Δt/2 | Δt |

κ = w²/(1 + 2w) with w the ratio of this step to the last one (1/3 and h = 2Δt/3 for equal steps). On rotations qₙ ⊖ qₙ₋₁ is
the increment that the last step composed with: the scheme stays of second order there. One linearisation is enough if it is made
near where the stage stands: `guess`, which bdf2 extrapolates from its past.
What viscous materials remember obeys a differential equation too and is integrated by the same formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.dynamics.motion import Motion


@dataclass(frozen=True)
class Stage:
    """What a scheme asks for: see the module. `memory` (k,) is y* of the viscous variables.

    `guess` (ndof,) is the v to linearise at first; None: that of standing still, where the step begins.
    """

    step: float  # h [s]
    reach: float  # s [s]
    v: np.ndarray
    shift: np.ndarray
    memory: np.ndarray
    guess: np.ndarray | None = None


@dataclass(frozen=True)
class Scheme:
    """A scheme, and how many linearisations it takes in a step unless told otherwise.

    predicts: whether its stages have a guess. conserves: it gives back what energy it takes, so that nodes in contact would
    bounce for ever: steps in which something touches are Euler's.
    """

    begin: Callable[[Motion, float], Stage]
    iterations: int
    predicts: bool = False
    conserves: bool = False


def euler(now: Motion, step: float) -> Stage:
    """Backward Euler: first order, damps what is fast, takes impacts as they come."""
    return Stage(step, step, now.v, np.zeros(len(now.v)), now.memory)


def bdf2(now: Motion, step: float) -> Stage:
    """Backward differences of second order; like Euler where there is no past (at the start, after an impact)."""
    past = now.past
    if past is None:
        return euler(now, step)
    w = step / past.step
    kappa, h = w * w / (1.0 + 2.0 * w), step * (1.0 + w) / (1.0 + 2.0 * w)
    back = lambda new, old: new + kappa * (new - old)
    ahead = now.v + w * (now.v - past.v)
    return Stage(h, h, back(now.v, past.v), kappa * past.increment, back(now.memory, past.memory), ahead)


def midpoint(now: Motion, step: float) -> Stage:
    """Implicit midpoint: half a step of Euler, then as far again. Keeps momenta, and energy but for a bounded ripple."""
    return Stage(0.5 * step, step, now.v, np.zeros(len(now.v)), now.memory, now.v)


SCHEMES = {
    "euler": Scheme(euler, iterations=1),
    "bdf2": Scheme(bdf2, iterations=1, predicts=True),
    "midpoint": Scheme(midpoint, iterations=20, predicts=True, conserves=True),
}
