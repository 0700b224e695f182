"""Where to start: points of the actuators' space from which descents tend to end in different minima."""

from __future__ import annotations

import numpy as np

from pliant.solvers.newton import HI, LEFT, LO, RIGHT, X
from pliant.solvers.pieces import FIXED, inner

STRONG, WEAK = 0.8, 0.35  # shares of the range


@inner
def spans(M, A, nc):
    """LEFT and RIGHT: how far efforts may go down and up from zero: to the bounds, or to what the task would take."""
    na, m = A.shape[1], M.shape[1]
    start, task, gaps = M[2 * na + FIXED], 0.0, 0.0
    for r in range(m - na):
        if r < nc:
            gaps = max(gaps, abs(start[r]))
        else:
            task += start[r] ** 2
    for j in range(na):
        row, effect = M[na + FIXED + j], 0.0
        push, natural = 0.0, 0.0
        for r in range(m - na):
            if r < nc:
                push = max(push, abs(row[r]))
            else:
                effect += row[r] ** 2
        if effect > 0.0:
            natural = 3.0 * np.sqrt(task / effect)
        if push > 0.0:
            natural = max(natural, 3.0 * gaps / push)
        A[LEFT, j], A[RIGHT, j] = max(A[LO, j], -natural), min(A[HI, j], natural)


@inner
def propose(number, A):
    """X ← start `number`: nothing, each actuator alone strongly, then weakly, then random sparse patterns."""
    na = A.shape[1]
    for j in range(na):
        A[X, j] = 0.0
    if number == 0:
        return
    alone = (number - 1) % na
    if number <= 2 * na:
        A[X, alone] = (STRONG if number <= na else WEAK) * A[RIGHT, alone]
        return
    state = np.uint64(number * 2654435761 + 12345)
    for k in range(2 * na):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        share, j = (state >> np.uint64(33)) / 2147483648.0, k // 2
        if k % 2 == 0:
            A[X, j] = A[LEFT, j] + (A[RIGHT, j] - A[LEFT, j]) * share
        elif share < 0.5:
            A[X, j] = 0.0
