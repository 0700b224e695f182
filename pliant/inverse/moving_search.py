"""Looking further, where the nearest minimum will not do: with contacts, to step back may be the way on."""

from __future__ import annotations

from collections.abc import Callable

from pliant.inverse.moving_choice import Choice

BETTER = 0.5  # of the distance that is near enough: to come nearer by so much is worth a leap
MOST = 4  # failures that count: after so many, every seventeenth step has a search


class Search:
    """Searches for a better minimum; those that found nothing are repeated less and less often."""

    def __init__(self, enough: float) -> None:
        self.enough = enough  # distance from the goal [m] that needs no search
        self.failures, self.patience = 0, 0

    def best(
        self,
        near: Callable[[], Choice | None],
        far: Callable[[], Choice | None],
        distance: Callable[[Choice | None], float],
    ) -> Choice | None:
        """The choice nearby, or the best from far and wide where that one misses its goal by some `distance` [m]."""
        choice = near()
        missed = distance(choice)
        if missed < self.enough:
            self.failures = self.patience = 0
            return choice
        if self.patience > 0:
            self.patience -= 1
            return choice
        other = far()
        if distance(other) < missed - BETTER * self.enough:
            self.failures = 0
            return other
        self.failures = min(self.failures + 1, MOST)
        self.patience = 2**self.failures
        return choice
