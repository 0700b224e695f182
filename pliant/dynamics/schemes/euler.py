"""Backward Euler: first order, damps what is fast, takes impacts as they come.

Other schemes fall back to it.
"""

from __future__ import annotations

import numpy as np

from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes.scheme import Scheme, Stage


def stage(now: Motion, step: float) -> Stage:
    """The end of the step, from where it begins."""
    return Stage(step, step, now.v, np.zeros(len(now.v)), now.memory)


EULER = Scheme("euler", stage, order=1)
