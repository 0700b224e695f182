"""Memory of factors: given back when a factor is let go, and used again, since fresh memory costs as much as a small factorisation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.factor import Reals

KEPT = 2  # that nobody uses, at most: a step needs one at a time, seldom two


class Memory(NamedTuple):
    """What one factor needs: L by panels, stacks of fronts while it is computed, signs and ratios of its pivots."""

    panels: Reals
    stacks: tuple[Reals, ...]
    signs: Reals
    ratios: Reals


class Pool:
    """Memory that is free, of one analysis. A copy begins empty."""

    def __init__(self) -> None:
        self._free: list[Memory] = []

    def __reduce__(self) -> tuple[type[Pool], tuple[()]]:
        return Pool, ()

    def take(self, entries: int, ndof: int, stacks: tuple[int, ...]) -> Memory:
        """Some memory, with whatever stood in it."""
        try:
            return self._free.pop()
        except IndexError:
            room = tuple(np.empty(length) for length in stacks)
            return Memory(np.empty(entries), room, np.ones(ndof), np.ones(ndof))

    def give(self, memory: Memory) -> None:
        """Some memory back."""
        if len(self._free) < KEPT:
            self._free.append(memory)
