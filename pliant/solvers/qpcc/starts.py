"""Where to start: points of the efforts' space from which descents tend to end in different minima."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from pliant.solvers.qpcc.scaled import Range
from pliant.solvers.solution import Reals

JUMPS_DOWN = 0.4  # share of its range above which an effort jumps to its lower end, else …
FAR_END = 0.9  # … to this share of it
PER_START = 4  # descents that a start but the first brings
MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # of Knuth's generator


def propose(number: int, chances: Iterator[float], efforts: Range, best: Reals | None) -> Reals:
    """The start of a descent (na,).

    Zero efforts, then in turn a point of the range, the best efforts so far with one of them at its other
    end, and twice the best efforts with two of them anywhere.
    """
    low, span, _ = efforts
    na, (lap, kind) = len(low), divmod(number - 1, PER_START)
    one = int(next(chances) * na)
    other = (one + 1 + int(next(chances) * (na - 1))) % na
    shares = list(islice(chances, na))
    if number == 0 or best is None:
        return np.zeros(na)
    if kind == 0:
        return low + span * np.array(shares)
    start = best.copy()
    if kind == 1:
        i = lap % na
        start[i] = low[i] + span[i] * (0.0 if start[i] > low[i] + JUMPS_DOWN * span[i] else FAR_END)
    else:
        for i in (one, other):
            start[i] = low[i] + span[i] * shares[i]
    return start


def chances(number: int) -> Iterator[float]:
    """Numbers in [0, 1) for one descent, the same every time, by Knuth's linear congruential generator."""
    seed = (number * MULTIPLIER + INCREMENT) % 2**64  # the first depends too simply on the number
    while True:
        seed = (seed * MULTIPLIER + INCREMENT) % 2**64
        yield (seed >> 11) / 2.0**53
