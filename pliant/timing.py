"""Timing as a ratio: a time in units of a 1500 × 1500 matrix product.

Machines differ and are noisy; their ratios less so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

STAGES = ("linearise", "factorise", "condense", "solve", "recover")


@dataclass
class Stopwatch:
    """The time spent in each stage of a step [s]."""

    timings: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    def timed(self, stage: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What an action returns; its time is added to the stage's."""
        start = perf_counter()
        try:
            return action(*args, **kwargs)
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + perf_counter() - start

    def clear(self) -> None:
        """Begin anew, with the stages that were met."""
        self.timings.update(dict.fromkeys(self.timings, 0.0))


Clock = Callable[[], float]  # perf_counter, or process_time where others use the machine, too


def milliseconds(
    action: Callable[[], object], *, repeats: int = 30, budget: float = 1.0, clock: Clock = perf_counter
) -> float:
    """Median time of an action [ms], over `repeats` runs or `budget` seconds, after two warm-up runs."""
    action()
    action()
    times: list[float] = []
    begin = clock()
    while len(times) < repeats and (len(times) < 5 or clock() - begin < budget):
        start = clock()
        action()
        times.append(clock() - start)
    return 1e3 * float(np.median(times))


def microseconds(action: Callable[[], object], *, repeats: int = 15) -> float:
    """Median time of a short action [µs], after one warm-up run."""
    action()
    times: list[float] = []
    for _ in range(repeats):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return 1e6 * float(np.median(times))


def in_turns(
    action: Callable[[], object],
    other: Callable[[], object],
    *,
    rounds: int = 30,
    clock: Clock = perf_counter,
) -> float:
    """How many times longer an action takes than another: the median of rounds in which each has its turn."""
    time = lambda one: milliseconds(one, repeats=15, clock=clock)
    return float(np.median([time(action) / time(other) for _ in range(rounds)]))


@dataclass(frozen=True)
class Yardstick:
    """dgemm(1500) on one thread [ms]."""

    milliseconds: float

    @classmethod
    def measure(cls, size: int = 1500, *, clock: Clock = perf_counter) -> Yardstick:
        """Time the product in this process; BLAS is pinned to one thread on import of pliant."""
        a = np.random.default_rng(0).normal(size=(size, size))
        out = np.empty_like(a)
        return cls(milliseconds(lambda: np.matmul(a, a, out=out), repeats=9, budget=2.0, clock=clock))

    def ratio(self, ms: float) -> float:
        """A time in units of the yardstick."""
        return ms / self.milliseconds


def paired(
    action: Callable[[], object], *, rounds: int = 5, budget: float = 0.4, clock: Clock = perf_counter
) -> tuple[float, float]:
    """(milliseconds, ratio) of an action; the yardstick is measured around every round: drift cancels."""
    samples, before = [], Yardstick.measure(clock=clock)
    for _ in range(rounds):
        ms, after = milliseconds(action, budget=budget, clock=clock), Yardstick.measure(clock=clock)
        samples.append((ms, 2.0 * ms / (before.milliseconds + after.milliseconds)))
        before = after
    samples.sort(key=lambda s: s[1])
    return samples[len(samples) // 2]
