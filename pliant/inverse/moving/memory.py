"""What one step of a robot in motion leaves for the next, beside the state of the simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from pliant.arrays import read_only_view
from pliant.dynamics import Moment
from pliant.inverse.moving.choice import Choice
from pliant.inverse.moving.reference import Reference

DIVERGED = 1e-3  # of the length: decrement of a step that went elsewhere than predicted
LARGEST_INERTIA = 1e4  # times the usual ρ
INERTIA_GROWTH = 4.0  # of its factor in a step, while linearisations diverge
INERTIA_DECAY = 0.8  # of its factor in a step, afterwards
WORTH_A_LEAP = 0.5  # of the distance that is near enough: to come nearer by so much is worth other efforts
MOST_FAILURES = 4  # that count: after so many, every seventeenth step has a search


@dataclass(frozen=True)
class Search:
    """The search for other minima, where the nearest one will not do.

    With contacts, to step back may be the way on. Searches that found nothing better are repeated less and
    less often.
    """

    failures: int = 0  # searches in a row that found nothing better, counted up to `MOST_FAILURES`
    pause: int = 0  # steps to go before the next one

    def best(
        self,
        near: Callable[[], Choice | None],
        far: Callable[[], Choice | None],
        distance: Callable[[Choice | None], float],
        enough: float,
    ) -> tuple[Search, Choice | None]:
        """The search after a step, and the choice made: the near one, or a far one where that is better.

        `distance` [m] is how far a choice misses the goal; a near one that misses it by less than `enough`
        [m] will do.
        """
        choice = near()
        missed = distance(choice)
        if missed < enough:
            return Search(), choice
        if self.pause > 0:
            return replace(self, pause=self.pause - 1), choice
        other = far()
        if distance(other) < missed - WORTH_A_LEAP * enough:
            return replace(self, failures=0), other
        failures = min(self.failures + 1, MOST_FAILURES)
        return Search(failures, 2**failures), choice


@dataclass(frozen=True)
class MovingMemory:
    """Targets, their reference, and what the last steps have taught.

    Where the robot is and how it moves, the simulation knows.
    """

    # Where the effectors are asked to be, in δ of all rows (m,). Rows that are no effectors follow the robot.
    target: np.ndarray
    # The smooth motion on its way to the target, where it is by now.
    reference: Reference
    # How searches for a better minimum went.
    search: Search = field(default_factory=Search)
    # How much more ρ there is than usual. It grows while linearisations diverge.
    inertia_factor: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", read_only_view(self.target))

    def aimed(
        self, target: np.ndarray, effectors: np.ndarray, value: np.ndarray, rate: np.ndarray
    ) -> MovingMemory:
        """With targets of all rows (m,); those of rows that are no effectors follow the robot.

        `value` and `rate` (m,) are δ and δ̇ of the robot: rows begin where they are when they become
        effectors.
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
        grown, decayed = min(INERTIA_GROWTH * factor, LARGEST_INERTIA), max(INERTIA_DECAY * factor, 1.0)
        factor = grown if diverged else decayed
        return replace(self, reference=reference, inertia_factor=factor)
