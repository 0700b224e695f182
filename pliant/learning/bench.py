"""How many steps a second the learning environments make: in a loop, and as a vector of one or two processes.

Everybody makes the same steps: environment k from seed k, with the same actions. A loop makes them one after
another. On a machine that others use as well, wall time says little. `2 loops` says what it allows: two
processes that share the episodes and never wait for each other. `free cores` compares CPU times, that of the
loop with the way through the vector's rounds on which somebody has to wait, the longest of the processes in
each round and what the asking one does in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from time import perf_counter, process_time
from typing import Any

import gymnasium
import numpy as np

from pliant.io.table import Table
from pliant.learning import ENVIRONMENTS, Vector, vector
from pliant.timing import Yardstick

ENVS, STEPS, ACTION_STEPS = 16, 15, 5  # environments, steps of each, steps with one action
REPEATS = 3  # measurements of each, in turns; the best counts
ASKED_GAIN = 1.7  # times the throughput of one process, with two
DGEMM = "ms per step ÷ dgemm(1500)"
COLUMNS = (
    "environment",
    "how",
    "steps/s",
    "CPU ms per step",
    DGEMM,
    "times the loop",
    "times one process",
    "free cores",
    "asked",
    "check",
)


@dataclass(frozen=True)
class Run:
    """Wall and CPU time [s] of all steps, and the CPU time on the way on which somebody waits."""

    wall: float
    spent: float
    longest: float

    def best(self, other: Run) -> Run:
        """The shorter times of two."""
        return Run(*(min(getattr(self, n), getattr(other, n)) for n in ("wall", "spent", "longest")))


def learning_bench(names: Sequence[str] = tuple(ENVIRONMENTS)) -> list[Table]:
    """Steps a second of the environments, with random actions kept for ACTION_STEPS."""
    table = Table("Learning environments", COLUMNS)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for name in names:
            runs = _measured(name, pool)
            yardstick = Yardstick.measure()
            for how, run in runs.items():
                said = _figures(run, runs["loop"], yardstick)
                if how == "2 processes":
                    gain = round(runs["1 process"].wall / run.wall, 2)
                    said |= {"times one process": gain, "asked": ASKED_GAIN, "check": gain >= ASKED_GAIN}
                table.add(environment=name, how=how, **said)
    return [table]


def _measured(name: str, pool: Executor) -> dict[str, Run]:
    """The best of REPEATS measurements of each."""
    one, two = (vector(name, envs=ENVS, processes=n) for n in (1, 2))
    actions = _actions(one.action_space.shape)
    ways: dict[str, Callable[[], Run]] = {
        "loop": lambda: _loop(name, actions, range(ENVS)),
        "2 loops": lambda: _loops(name, actions, pool),
        "1 process": lambda: _rounds(one, actions),
        "2 processes": lambda: _rounds(two, actions),
    }
    runs = {how: go() for how, go in ways.items()}
    for _ in range(REPEATS):
        runs = {how: runs[how].best(go()) for how, go in ways.items()}
    one.close()
    two.close()
    return runs


def _figures(run: Run, loop: Run, yardstick: Yardstick) -> dict[str, Any]:
    ms, gain = 1e3 * run.wall / (ENVS * STEPS), loop.wall / run.wall
    said: dict[str, Any] = {
        "steps/s": round(1e3 / ms),
        "CPU ms per step": round(ms * run.spent / run.wall, 2),
    }
    said |= {DGEMM: round(yardstick.ratio(ms), 4), "times the loop": round(gain, 2)}
    return said | {"free cores": round(loop.spent / run.longest, 2)}


def _actions(shape: Any) -> np.ndarray:
    """(steps, environments, a)."""
    drawn = np.random.default_rng(0).uniform(-1.0, 1.0, (-(-STEPS // ACTION_STEPS), *shape))
    return np.repeat(drawn, ACTION_STEPS, axis=0)[:STEPS].astype(np.float32)


@cache
def _made(name: str) -> Any:
    return gymnasium.make(name)


def _loop(name: str, actions: np.ndarray, which: Iterable[int]) -> Run:
    """Episodes one after another."""
    env = _made(name)
    begin, spent = perf_counter(), process_time()
    for k in which:
        env.reset(seed=k)
        for action in actions[:, k]:
            *_, ended, stopped, _ = env.step(action)
            if ended or stopped:
                env.reset()
    spent = process_time() - spent
    return Run(perf_counter() - begin, spent, spent)


def _loops(name: str, actions: np.ndarray, pool: Executor) -> Run:
    """Half of the episodes in each of two processes."""
    begin = perf_counter()
    halves = [range(k, ENVS, 2) for k in (0, 1)]
    both = list(pool.map(_loop, [name] * 2, [actions] * 2, halves))
    return Run(perf_counter() - begin, sum(run.spent for run in both), max(run.spent for run in both))


def _rounds(envs: Vector, actions: np.ndarray) -> Run:
    begin, first, own, longest = perf_counter(), envs.spent, process_time(), 0.0
    envs.reset(seed=0)
    longest += float((envs.spent - first).max())
    for action in actions:
        before = envs.spent
        envs.step(action)
        longest += float((envs.spent - before).max())
    wall, spent, own = perf_counter() - begin, float((envs.spent - first).sum()), process_time() - own
    here = len(first) == 1  # this process made the steps itself
    return Run(wall, own if here else spent + own, own if here else longest + own)
