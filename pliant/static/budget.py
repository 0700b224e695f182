"""How much work a solve may be, and what it says on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from pliant.errors import InputError, is_number

MOST_ITERATIONS = 40  # times those of one load step, for all of them
PATIENCE, ITERATIONS_AT_LEAST = 30.0, 60  # the default: so many seconds, or what so many iterations take


@dataclass(frozen=True)
class Budget:
    """The most that a solve may cost: Newton iterations of all load steps together, and seconds of computing.

    Seconds are those of the processor, so that a busy machine gives the same answer later, not another one.
    iterations: None is 40 times those of one load step (`Tolerance.iterations`). seconds: None is half a
    minute, or as long as sixty iterations take if that is longer; the first load step is always tried. A
    budget that is spent ends the solve with a ConvergenceError that says how far the load came.
    """

    iterations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "seconds"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and value > 0):
                raise InputError(f"Budget {name}", expected="a positive number, or None", got=repr(value))

    @classmethod
    def of(cls, value: Any) -> Budget:
        """A Budget, from one or from seconds."""
        if value is None or isinstance(value, Budget):
            return value or cls()
        if is_number(value):
            return cls(seconds=value)
        raise InputError("budget", expected="a Budget, or a number of seconds", got=repr(value))


@dataclass(frozen=True)
class Progress:
    """How far a solve has come: share of the loads in balance, the share it tries next, and its cost."""

    share: float
    aim: float
    iterations: int
    seconds: float


Report = Callable[[Progress], Any]


@dataclass(frozen=True)
class Account:
    """A budget that is being spent.

    begin: since when [s], a time of `thread_time`; clock: the same by `perf_counter`.
    """

    budget: Budget
    most: int
    begin: float
    clock: float

    @classmethod
    def opened(cls, budget: Budget, iterations: int) -> Account:
        """From now on; iterations: of one load step."""
        most = int(budget.iterations or MOST_ITERATIONS * iterations)
        return cls(budget, most, thread_time(), perf_counter())

    def deadline(self, spent: int) -> float:
        """When the time is over [s], after so many iterations."""
        if self.budget.seconds is not None:
            return self.begin + self.budget.seconds
        if spent == 0:
            return np.inf
        each = (thread_time() - self.begin) / spent
        return self.begin + max(PATIENCE, ITERATIONS_AT_LEAST * each)

    def overdrawn(self, spent: int) -> str:
        """What is spent, in words; empty while there is some left."""
        if spent > self.most:
            return f"the budget of {self.most} iterations is spent"
        if thread_time() > self.deadline(spent):
            return f"the budget of {self.deadline(spent) - self.begin:.3g} s is spent"
        return ""

    def progress(self, share: float, aim: float, spent: int) -> Progress:
        """What to report."""
        return Progress(share, aim, spent, thread_time() - self.begin)
