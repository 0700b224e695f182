"""Backward differences of second order, for steps of changing length.

κ = w²/(1 + 2w) with w the ratio of this step to the last one (1/3 and h = 2Δt/3 for equal steps). On
rotations qₙ ⊖ qₙ₋₁ is the increment that the last step composed with: the scheme stays of second order there.
One linearisation is enough if it is made near where the stage stands, which is extrapolated from the past.

Where there is no past, at the start of a smooth motion, a step has two stages that damp what is fast as
Euler's does and are of second order (Alexander 1977, γ = 1 − 1/√2): a step of Euler's by γΔt to v₁, and then

    v* = vₙ + (1 − γ)/γ (v₁ − vₙ),      σ* = (1 − γ)Δt v₁,      h = s = γΔt
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes import euler
from pliant.dynamics.schemes.scheme import Scheme, Stage


def stage(now: Motion, step: float) -> Stage:
    """The end of the step, from the last two states.

    Euler's where there is no past: at the start, after an impact.
    """
    past = now.past
    if past is None:
        return euler.stage(now, step)
    w = step / past.step
    kappa, h = w * w / (1.0 + 2.0 * w), step * (1.0 + w) / (1.0 + 2.0 * w)
    back = lambda new, old: new + kappa * (new - old)
    predicted = now.v + w * (now.v - past.v)
    v, memory = back(now.v, past.v), back(now.memory, past.memory)
    return Stage(h, h, v, kappa * past.increment, memory, predicted)


GAMMA = 1.0 - np.sqrt(0.5)  # of the step: the first of two stages


def second(first: Motion) -> Callable[[Motion, float], Stage]:
    """The second of two stages, of a step whose first stage led to a motion."""

    def stage(now: Motion, step: float) -> Stage:
        ahead = lambda new, old: old + (1.0 - GAMMA) / GAMMA * (new - old)
        h, predicted = GAMMA * step, now.v + (first.v - now.v) / GAMMA
        v, memory = ahead(first.v, now.v), ahead(first.memory, now.memory)
        return Stage(h, h, v, (1.0 - GAMMA) * step * first.v, memory, predicted)

    return stage


BDF2 = Scheme("bdf2", stage, order=2, predicts=True)
