"""Where to start: points of the efforts' space from which descents tend to end in different minima."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pliant.solvers.qpcc.scaled import Range
from pliant.solvers.solution import Reals

JUMPS_DOWN = 0.4  # share of its range above which an effort jumps to its lower end, else …
FAR_END = 0.9  # … to this share of it
PER_START = 4  # descents that a start but the first brings
MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # of Knuth's generator


def proposals(first: int, last: int, efforts: Range, best: Reals) -> Reals:
    """The starts of descents number `first` … `last` − 1, (last − first, na).

    Zero efforts is number 0, then follow in turn a point of the range, the best efforts so far with one of
    them at its other end, and twice the best efforts with two of them anywhere.
    """
    low, span, _ = efforts
    na, number = len(low), np.arange(first, last)
    lap, kind = np.divmod(number - 1, PER_START)
    drawn = chances(last, 2 + na)[first:]
    inside = low + span * drawn[:, 2:]
    one = (drawn[:, 0] * na).astype(int)
    other = (one + 1 + (drawn[:, 1] * (na - 1)).astype(int)) % na
    points, row, turn = np.tile(best, (len(number), 1)), np.arange(len(number)), lap % na
    for some in (one, other):
        points[row, some] = inside[row, some]
    points[kind == 0] = inside[kind == 0]
    points[kind == 1] = best
    end = np.where(best > low + JUMPS_DOWN * span, low, low + FAR_END * span)
    points[row[kind == 1], turn[kind == 1]] = end[turn[kind == 1]]
    points[number == 0] = 0.0
    return points


@lru_cache(maxsize=64)
def chances(count: int, draws: int) -> Reals:
    """Numbers in [0, 1), (count, draws), the same every time, by Knuth's linear congruential generator."""
    table = np.empty((count, draws))
    for number in range(count):
        seed = (number * MULTIPLIER + INCREMENT) % 2**64  # the first depends too simply on the number
        for draw in range(draws):
            seed = (seed * MULTIPLIER + INCREMENT) % 2**64
            table[number, draw] = (seed >> 11) / 2.0**53
    table.flags.writeable = False
    return table
