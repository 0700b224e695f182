"""Where to start: points of the actuators' space from which descents tend to end in different minima."""

from __future__ import annotations

import numpy as np

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REALS, at, inner, native, row
from pliant.solvers.rows import dot, largest
from pliant.solvers.tableau import BEST, HI, LEFT, LO, NA, NC, NE, RIGHT, S, X

NEAR, FAR = (
    0.4,
    0.9,
)  # shares of the range: beyond the first an effort jumps to its lower end, else to the second
SHAKE = 1e-6  # share of the range that efforts are shaken by
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


@inner
def chance(seed):
    """The next number of Knuth's linear congruential generator: the same starts every time."""
    return seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@native(NOTHING, REALS, INTEGERS, INTEGER)
def propose(z, j, number):
    """X ← start of descent `number`: zero effort, then in turn a point of the range, the best efforts so far with one
    of them at its other end, and twice the best efforts with two of them anywhere.
    """
    na, kind, lap = j[NA], (number - 1) % PER_START, (number - 1) // PER_START
    seed, golden, share = chance(chance(np.uint64(number))), 1.5, 1.0
    for _ in range(10):  # gᵈ⁺¹ = g + 1: multiples of 1/g, 1/g², … spread evenly over a d-dimensional cube
        golden = (1.0 + golden) ** (1.0 / (na + 1.0))
    one = np.int64(seed >> np.uint64(33)) % na
    other = (one + 1 + np.int64(chance(seed) >> np.uint64(33)) % max(na - 1, 1)) % na
    for i in range(na):
        left, start = row(z, j, LEFT)[i], row(z, j, BEST)[i]
        wide = row(z, j, RIGHT)[i] - left
        seed = chance(seed)
        share /= golden
        if kind == 0:
            start = left + wide * ((0.5 + (lap + 1) * share) % 1.0)
        elif kind == 1 and i == lap % na:
            start = left + wide * (0.0 if start > left + NEAR * wide else FAR)
        elif kind > 1 and (i - one) * (i - other) == 0:
            start = left + wide * np.float64(seed >> np.uint64(11)) / 2.0**53
        row(z, j, X)[i] = start if number > 0 else 0.0


@native(NOTHING, REALS, INTEGERS, INTEGER)
def shake(z, j, number):
    """Move the efforts a little, one way or the other."""
    seed = np.uint64(number)
    for i in range(j[NA]):
        seed = chance(seed)
        move = SHAKE * (row(z, j, RIGHT)[i] - row(z, j, LEFT)[i])
        row(z, j, X)[i] += move if (seed >> np.uint64(63)) == 0 else -move
