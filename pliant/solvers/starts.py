"""Where to start: points of the actuators' space from which descents tend to end in different minima."""

from __future__ import annotations

import numpy as np

from pliant.solvers.newton import HI, LO, X
from pliant.solvers.pieces import inner

STRONG, WEAK = 0.8, 0.35  # shares of the range


@inner
def spans(O, A, nc, span):
    """(2, na) how far efforts may go down and up from zero: to the bounds, or to what the task would take."""
    na = A.shape[1]
    m = O.shape[1]
    task, gaps = 0.0, 0.0
    for r in range(nc, m - na):
        task += O[na, r] ** 2
    for i in range(nc):
        gaps = max(gaps, abs(O[na, i]))
    for j in range(na):
        effect, push = 0.0, 0.0
        for r in range(nc, m - na):
            effect += O[j, r] ** 2
        for i in range(nc):
            push = max(push, abs(O[j, i]))
        natural = 0.0
        if effect > 0.0:
            natural = 3.0 * np.sqrt(task / effect)
        if push > 0.0:
            natural = max(natural, 3.0 * gaps / push)
        span[0, j] = max(A[LO, j], -natural)
        span[1, j] = min(A[HI, j], natural)


@inner
def propose(number, A, span):
    """X ← start `number`: nothing, each actuator alone strongly, then weakly, then random sparse patterns."""
    na = A.shape[1]
    for j in range(na):
        A[X, j] = min(max(0.0, A[LO, j]), A[HI, j])
    if number == 0:
        return
    alone, up = (number - 1) % na, 1
    share = STRONG if number <= na else WEAK
    if number <= 2 * na:
        A[X, alone] = share * span[up, alone]
        return
    state = np.uint64(number * 2654435761 + 12345)
    for j in range(na):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        pick = (state >> np.uint64(33)) / 2147483648.0
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        if pick < 0.5:
            A[X, j] = span[0, j] + (span[1, j] - span[0, j]) * ((state >> np.uint64(33)) / 2147483648.0)
