"""Where to start: points of the actuators' space from which descents tend to end in different minima."""

from __future__ import annotations

import numpy as np

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, at, native, row
from pliant.solvers.rows import dot, largest
from pliant.solvers.tableau import BEST, HI, LEFT, LO, NA, NC, NE, RIGHT, SEED, S, X

NEAR, FAR = 0.4, 0.9  # shares of the range: beyond the first an effort jumps to its lower end, else to FAR
PER_START = 4  # descents that a start but the first brings


@native(NOTHING, REALS, INTEGERS)
def spans(z, j):
    """LEFT and RIGHT: how far efforts may go down and up from zero: to the bounds, or to what the task would take."""
    na, nc, ne = j[NA], j[NC], j[NE]
    start = row(z, j, S + 2 * na)
    task, gaps = dot(at(start, nc), at(start, nc), ne), largest(start, nc)
    for i in range(na):
        slopes = row(z, j, S + na + i)
        effect, push = dot(at(slopes, nc), at(slopes, nc), ne), largest(slopes, nc)
        natural = 3.0 * np.sqrt(task / effect) if effect > 0.0 else 0.0
        if push > 0.0:
            natural = max(natural, 3.0 * gaps / push)
        row(z, j, LEFT)[i] = max(row(z, j, LO)[i], -natural)
        row(z, j, RIGHT)[i] = min(row(z, j, HI)[i], natural)


@native(REAL, INTEGERS)
def chance(j):
    """The next number in [0, 1) after SEED, by Knuth's linear congruential generator: the same starts every time."""
    seed = np.uint64(j[SEED]) * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    j[SEED] = np.int64(seed)
    return np.float64(seed >> np.uint64(11)) / 2.0**53


@native(NOTHING, REALS, INTEGERS, INTEGER)
def propose(z, j, number):
    """X ← start of descent `number`: zero effort, then in turn a point of the range, the best efforts so far with one
    of them at its other end, and twice the best efforts with two of them anywhere.
    """
    na, kind, lap = j[NA], (number - 1) % PER_START, (number - 1) // PER_START
    j[SEED] = number
    chance(j)  # the first depends too simply on the seed
    one = np.int64(chance(j) * na)
    other = (one + 1 + np.int64(chance(j) * (na - 1))) % na
    for i in range(na):
        left, start, lucky = row(z, j, LEFT)[i], row(z, j, BEST)[i], chance(j)
        wide = row(z, j, RIGHT)[i] - left
        if kind == 0 or (kind > 1 and (i - one) * (i - other) == 0):
            start = left + wide * lucky
        elif kind == 1 and i == lap % na:
            start = left + wide * (0.0 if start > left + NEAR * wide else FAR)
        row(z, j, X)[i] = start if number > 0 else 0.0
