"""What one step of the inverse model of a robot in motion leaves for the next, beside the state of the simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from pliant.dynamics import Moment
from pliant.inverse.memory import read_only
from pliant.inverse.moving_choice import Choice
from pliant.inverse.moving_reference import Reference

DIVERGED = 1e-3  # of the length: decrement of a step that went elsewhere than predicted
LARGEST_INERTIA = 1e4  # times the usual ρ
BETTER = 0.5  # of the distance that is near enough: to come nearer by so much is worth a leap
MOST = 4  # failures that count: after so many, every seventeenth step has a search


@dataclass(frozen=True)
class Search:
    """Looking further, where the nearest minimum will not do: with contacts, to step back may be the way on.

    Searches that found nothing are repeated less and less often.
    """

    failures: int = 0  # searches in a row that found nothing, counted up to a most
    patience: int = 0  # steps to go before the next one

    def best(
        self,
        near: Callable[[], Choice | None],
        far: Callable[[], Choice | None],
        distance: Callable[[Choice | None], float],
        enough: float,
    ) -> tuple[Search, Choice | None]:
        """The choice nearby, or the best from far and wide where that one misses its goal by `enough` [m]; and the search after that.

        `distance` [m] is how far a choice misses the goal.
        """
        choice = near()
        missed = distance(choice)
        if missed < enough:
            return Search(), choice
        if self.patience > 0:
            return replace(self, patience=self.patience - 1), choice
        other = far()
        if distance(other) < missed - BETTER * enough:
            return replace(self, failures=0), other
        failures = min(self.failures + 1, MOST)
        return Search(failures, 2**failures), choice


@dataclass(frozen=True)
class MovingMemory:
    """Targets, their reference, and what the last steps have taught. Where the robot is and how it moves, the simulation knows."""

    # Where the effectors are asked to be, in δ of all rows (m,). Rows that are no effectors follow the robot.
    target: np.ndarray
    # The smooth motion on its way to the target, where it is by now.
    reference: Reference
    # How searches for a better minimum went.
    search: Search = field(default_factory=Search)
    # How much more ρ there is than usual. It grows while linearisations diverge.
    inertia_factor: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", read_only(self.target))

    def aimed(
        self, target: np.ndarray, effectors: np.ndarray, value: np.ndarray, rate: np.ndarray
    ) -> MovingMemory:
        """With targets of all rows (m,), of which those that are no effectors follow the robot at δ and δ̇ (m,).

        So they begin where they are when they become some.
        """
        aims, r = np.isin(np.arange(len(target)), effectors), self.reference
        reference = replace(r, value=np.where(aims, r.value, value), speed=np.where(aims, r.speed, rate))
        return replace(self, target=np.where(aims, target, value), reference=reference)

    def after(self, time_step: float, moment: Moment | None, length: float) -> MovingMemory:
        """After a step of the simulation, None where there was none; `length` [m] of the robot.

        While linearisations diverge, as near a singular pose, efforts are kept more and more where they were.
        """
        reference = self.reference if moment is None else self.reference.after(time_step, self.target)
        step, factor = None if moment is None else moment.certificate, self.inertia_factor
        diverged = step is None or step.load_steps > 1 or step.decrement > DIVERGED * length
        factor = min(4.0 * factor, LARGEST_INERTIA) if diverged else max(0.8 * factor, 1.0)
        return replace(self, reference=reference, inertia_factor=factor)
