"""Where to start: points of the actuators' space from which descents tend to end in different minima."""

from __future__ import annotations

import numpy as np

from pliant.solvers.newton import BEST, HI, LEFT, LO, RIGHT, X
from pliant.solvers.pieces import FIXED, inner

NEAR, FAR = 0.4, 0.9  # shares of the range: beyond the first an effort jumps to zero, else to the second
SHAKE = 1e-6  # share of the range that efforts are shaken by
PER_START = 3  # descents that a start but the first brings


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
    """X ← start of descent `number`: zero effort, then in turn a point of the range (every second time with about half
    of the efforts zero), the best efforts so far with some of them mirrored in their range, and the best efforts with
    one of them jumping to its other end.
    """
    na, kind, lap = A.shape[1], (number - 1) % PER_START, (number - 1) // PER_START
    state, golden, share = np.uint64(number), 1.5, 1.0
    for _ in range(10):  # gᵈ⁺¹ = g + 1: multiples of 1/g, 1/g², … spread evenly over a d-dimensional cube
        golden = (1.0 + golden) ** (1.0 / (na + 1.0))
    for j in range(na):
        left, right, best = A[LEFT, j], A[RIGHT, j], A[BEST, j]
        # Knuth's linear congruential generator: the same starts every time
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        coin = (state >> np.uint64(63)) == 0
        share /= golden
        if number == 0 or (kind == 0 and lap % 2 == 1 and coin):
            A[X, j] = 0.0
        elif kind == 0:
            A[X, j] = left + (right - left) * ((0.5 + (lap + 1) * share) % 1.0)
        elif kind == 1:
            A[X, j] = left + right - best if coin else best
        else:
            other = left if best > left + NEAR * (right - left) else left + FAR * (right - left)
            A[X, j] = other if j == lap % na else best


@inner
def shake(A, seed):
    """Move the efforts a little, one way or the other."""
    state = np.uint64(seed)
    for j in range(A.shape[1]):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        move = SHAKE * (A[RIGHT, j] - A[LEFT, j])
        A[X, j] = min(max(A[X, j] + (move if (state >> np.uint64(63)) == 0 else -move), A[LO, j]), A[HI, j])
