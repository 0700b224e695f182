"""Backward differences of second order, for steps of changing length.

κ = w²/(1 + 2w) with w the ratio of this step to the last one (1/3 and h = 2Δt/3 for equal steps). On
rotations qₙ ⊖ qₙ₋₁ is the increment that the last step composed with: the scheme stays of second order there.
One linearisation is enough if it is made near where the stage stands, which is extrapolated from the past.
"""

from __future__ import annotations

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


BDF2 = Scheme(stage, order=2, predicts=True)
