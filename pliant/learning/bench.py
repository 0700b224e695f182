"""How many steps a second the learning environments make: alone, and in two processes at once."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import gymnasium
import numpy as np

from pliant.io.table import Table
from pliant.learning import ENVIRONMENTS
from pliant.timing import Yardstick

STEPS = 150
ASKED = 1.7  # times the throughput of one process, with two
COLUMNS = (
    "environment",
    "processes",
    "steps/s",
    "ms per step ÷ dgemm(1500)",
    "times one process",
    "asked",
    "check",
)


def learning_bench() -> list[Table]:
    """Random actions, held for five steps; `times one process` compares with a plain loop over one environment."""
    table = Table("Learning environments", COLUMNS)
    for name in ENVIRONMENTS:
        alone = _alone(gymnasium.make(name))
        table.add(environment=name, processes=1, **_figures(alone))
        many = gymnasium.make_vec(
            name, num_envs=2, vectorization_mode="async", vector_kwargs={"context": "spawn"}
        )
        both = _together(many)
        gain = both / alone
        said = {"times one process": round(gain, 2), "asked": ASKED, "check": gain >= ASKED}
        table.add(environment=name, processes=2, **_figures(both), **said)
        many.close()
    return [table]


def _figures(rate: float) -> dict[str, float]:
    return {"steps/s": round(rate), COLUMNS[3]: round(Yardstick.measure().ratio(1e3 / rate), 4)}


def _actions(shape: tuple[int, ...]) -> np.ndarray:
    held = np.random.default_rng(0).uniform(-1.0, 1.0, (STEPS // 5, *shape))
    return np.repeat(held, 5, axis=0).astype(np.float32)


def _alone(env: Any) -> float:
    """Steps per second of one environment."""
    env.reset(seed=0)
    moves = _actions(env.action_space.shape)
    for move in moves[:10]:
        env.step(move)
    env.reset(seed=0)
    begin = perf_counter()
    for move in moves:
        *_, ended, stopped, _ = env.step(move)
        if ended or stopped:
            env.reset()
    return STEPS / (perf_counter() - begin)


def _together(envs: Any) -> float:
    """Steps per second of all of several environments; each gets the same actions at another time."""
    moves = _actions(envs.single_action_space.shape)
    turn = lambda k: np.array([moves[(k + n * 40) % STEPS] for n in range(envs.num_envs)])
    envs.reset(seed=0)
    for k in range(10):
        envs.step(turn(k))
    envs.reset(seed=0)
    begin = perf_counter()
    for k in range(STEPS):
        envs.step(turn(k))
    return envs.num_envs * STEPS / (perf_counter() - begin)
