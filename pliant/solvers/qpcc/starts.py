"""Where to start: points of the efforts' space from which descents tend to end in different minima."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pliant.solvers.qpcc.scaled import Range
from pliant.solvers.solution import Reals

JUMPS_DOWN = 0.4  # share of its range above which an effort jumps to its lower end, else …
FAR_END = 0.9  # … to this share of it
PER_START = 4  # descents that a start but the first brings
ASIDE = 0.01, 0.03  # shares of their range by which efforts differ from the best, in turn, near it
MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # of Knuth's generator


def propose(number: int, efforts: Range, best: Reals) -> Reals:
    """The start of a descent (na,).

    Zero efforts, then in turn a point of the range, the best efforts so far with one of them at its other
    end, and twice the best efforts with two of them anywhere. Every second lap looks farther, up to the
    bounds: for the first of these, and for the last with one effort alone, at its bound itself. A minimum
    there may have another beside it, in which descents from within the range end.
    """
    low, na, (lap, kind) = efforts.low, len(efforts.low), divmod(number - 1, PER_START)
    if number == 0:
        return np.zeros(na)
    drawn, far = chances(number, 2 + na), lap % 2 == 1
    span = efforts.most if far else efforts.span
    if kind == 0:
        return low + span * np.array(drawn[2:])
    if kind == 3 and far:
        i, start = lap // 2 % na, np.zeros(na)
        start[i] = low[i] + span[i]
        return start
    start, span = best.copy(), efforts.span
    if kind == 1:
        i = lap % na
        start[i] = low[i] + span[i] * (0.0 if start[i] > low[i] + JUMPS_DOWN * span[i] else FAR_END)
    else:
        one = int(drawn[0] * na)
        for i in (one, (one + 1 + int(drawn[1] * (na - 1))) % na):
            start[i] = low[i] + span[i] * drawn[2 + i]
    return start


def nearby(number: int, efforts: Range, best: Reals) -> Reals:
    """The start of a descent (na,) near the best efforts so far."""
    aside = 2.0 * np.array(chances(number, len(best))) - 1.0
    return best + ASIDE[number % len(ASIDE)] * efforts.span * aside


@lru_cache(maxsize=1024)
def chances(number: int, count: int) -> tuple[float, ...]:
    """Numbers in [0, 1) for one descent, the same every time, by Knuth's linear congruential generator."""
    seed = (number * MULTIPLIER + INCREMENT) % 2**64  # the first depends too simply on the number
    drawn = []
    for _ in range(count):
        seed = (seed * MULTIPLIER + INCREMENT) % 2**64
        drawn.append((seed >> 11) / 2.0**53)
    return tuple(drawn)
