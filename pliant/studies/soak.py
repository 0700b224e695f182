"""A soak run: an inverse model that follows a random walk of its target for a long time."""

from __future__ import annotations

import gc
import math
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from pliant.inverse import Inverse, Outcome
from pliant.studies.log import Targets

TRACED_STEPS = 100  # at the end, over which allocations are counted …
WINDOW = 25  # … in windows of so many; the first is for what is allocated once
PACE = 5e-3  # of the robot's length: how far a target walks per step (standard deviation)
PERSISTENCE = 0.95  # correlation of the pace from step to step
WIDER = 0.25  # of the path's extent: how much wider its box is on each side …
LEAST_EXTENT = 0.1  # … where the path extends by less than this share of the length, as if it did so much


@dataclass(frozen=True)
class Soak:
    """What came of a soak run.

    `steps` is how many were made, `failure` says why it ended ("" if it did not fail), `counts` are those of
    statuses, `rate` steps per second, `decrement` and `penetration` [m] the largest. `growth` [MB] is that of
    the process after the first fifth, `kept` [kB] the memory kept per step at the end; NaN if unknown, or the
    run too short.
    """

    steps: int
    failure: str
    counts: dict[str, int]
    rate: float
    decrement: float
    penetration: float
    growth: float
    kept: float


def walk(path: np.ndarray, length: float, seed: int | np.random.Generator) -> Iterator[np.ndarray]:
    """Points (m,) that wander smoothly within a box about a path (n, m), reflected at its sides.

    The box is a quarter wider than the path on each side. Steps are about 0.5 % of the `length` [m]. Many
    points are out of reach, as when a user drags a target about.
    """
    rng, m = np.random.default_rng(seed), path.shape[1]
    low, high = path.min(axis=0), path.max(axis=0)
    aside = WIDER * np.maximum(high - low, LEAST_EXTENT * length)
    low, high, place = low - aside, high + aside, 0.5 * (low + high)
    pace = PACE * length / math.sqrt(m)
    velocity = pace * rng.normal(size=m)
    while True:
        velocity = PERSISTENCE * velocity + math.sqrt(1.0 - PERSISTENCE**2) * pace * rng.normal(size=m)
        place = place + velocity
        velocity = np.where((place < low) | (place > high), -velocity, velocity)
        place = np.clip(place, low, high)
        yield place


def soak(controller: Inverse, targets: Iterator[Targets], steps: int) -> Soak:
    """The outcome of so many steps; an exception or a number that is not finite ends the run."""
    counts: Counter[str] = Counter()
    worst, failure, done, begin = np.zeros(2), "", 0, perf_counter()
    with Memory(steps) as memory:
        while done < steps and not failure:
            memory.look(done)
            try:
                out = controller.step(targets=next(targets))
            except Exception as error:  # a soak run counts these
                failure = f"step {done}: {type(error).__name__}: {error}"
                break
            failure, done = _broken(out), done + 1
            counts[out.certificate.status] += 1
            worst = np.maximum(worst, (out.certificate.decrement, out.certificate.penetration))
        rate = done / (perf_counter() - begin)
        growth, kept = memory.growth, memory.kept
    return Soak(
        done, failure, dict(counts.most_common()), rate, float(worst[0]), float(worst[1]), growth, kept
    )


class Memory:
    """Memory over a run of so many steps: `look(step)` before each.

    The size of the process is compared between a fifth of the run and its end; what Python allocates is
    traced, which is slow, during the last steps of a run that is long enough. A leak grows in every window
    of these steps, a buffer that is replaced by a larger one in one of them: their median is what is kept.
    """

    def __init__(self, steps: int) -> None:
        self.early, self.late = steps // 5, steps - 1
        self.traced = steps - TRACED_STEPS if steps >= 3 * TRACED_STEPS else -1
        self.sizes: list[float] = []
        self.allocated: list[int] = []

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        tracemalloc.stop()

    def look(self, step: int) -> None:
        """Measure what is due before this step."""
        if step == self.traced:
            tracemalloc.start()
        elif tracemalloc.is_tracing() and (step - self.traced) % WINDOW == 0:
            self.allocated.append(_allocated())
        if step in (self.early, self.traced if self.traced > 0 else self.late):
            self.sizes.append(_peak())

    @property
    def growth(self) -> float:
        """Of the process [MB]."""
        return self.sizes[-1] - self.sizes[0] if self.sizes else math.nan

    @property
    def kept(self) -> float:
        """Per step at the end [kB]."""
        if not self.allocated:
            return math.nan
        return float(np.median(np.diff([*self.allocated, _allocated()]))) / 1e3 / WINDOW


def _broken(out: Outcome) -> str:
    """Which number is not finite, if any."""
    values = {"coordinates": [out.q], "efforts": out.effort.values(), "commands": out.command.values()}
    return "".join(
        f"{name} not finite; "
        for name, arrays in values.items()
        if not all(np.isfinite(a).all() for a in arrays)
    )


def _allocated() -> int:
    """What Python has allocated of the memory that is traced [bytes], without garbage."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _peak() -> float:
    """Largest size of this process so far [MB]; NaN where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return math.nan
    import sys

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 1e6 if sys.platform == "darwin" else size / 1e3
