"""Search for a policy by trying small changes: augmented random search (Mania, Guy and Recht, NeurIPS 2018).

    curve = search("Pliant/TrunkReach-v0", iterations=40, processes=2)
    curve.plot("curve.png");  action = curve.policy(observation)

The policy is linear, u = clip(M [o, 1]). An iteration tries M ± ν Δ for some random Δ, each pair on an
episode of its own, and goes

    M ← M + α/σ Σ (R₊ − R₋) Δ

over the best of them, σ the deviation of their returns. Which numbers are drawn does not depend on how many
processes share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from pliant.errors import InputError, PliantError
from pliant.learning.crew import GUARD

JUDGED_EPISODES = 10  # always the same, on which a policy is judged
SMALLEST_SPREAD = 1e-9  # of returns, by which a step is divided


@dataclass(frozen=True, eq=False)
class Policy:
    """u = clip(M [o, 1], −1, 1); matrix M (actions, observations + 1)."""

    matrix: np.ndarray

    def __call__(self, observation: Any) -> np.ndarray:
        return np.clip(self.matrix @ np.append(observation, 1.0), -1.0, 1.0).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Curve:
    """What a search history: the best policy, and its learning curve by iteration (n,).

    The mean return and the share of successes of ten episodes that are not searched on; the steps taken until
    then.
    """

    environment: str
    policy: Policy
    returns: np.ndarray
    success: np.ndarray
    steps: np.ndarray

    def plot(self, path: str | Path) -> Path:
        """Draw it."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.plot(self.steps, self.returns, color="#1f5fa8", label="mean return")
        axes.set(
            xlabel="steps of the environment", ylabel="mean return of ten episodes", title=self.environment
        )
        other = axes.twinx()
        other.plot(self.steps, 100.0 * self.success, color="#c2410c", label="successes")
        other.set(ylabel="successes [%]", ylim=(-3, 103))
        figure.legend(loc="outside lower center", ncols=2)
        figure.savefig(path, dpi=150)
        return Path(path)


def search(
    environment: str,
    *,
    iterations: int = 40,
    directions: int = 16,
    best: int = 8,
    noise: float = 0.3,
    rate: float = 0.15,
    seed: int = 0,
    processes: int = 1,
    report: Callable[[int, float, float], object] | None = None,
) -> Curve:
    """A linear policy for an environment, and its learning curve.

    `report(iteration, return, successes)` is called on the way.
    """
    if not (iterations >= 1 and directions >= best >= 1 and processes >= 1):
        got = f"iterations {iterations}, directions {directions}, best {best}, processes {processes}"
        raise InputError("search", expected="positive numbers, best ≤ directions", got=got)
    random, shape = np.random.default_rng(seed), _shape(environment)
    matrix, steps, history = np.zeros(shape), 0, []
    with _workers(environment, processes) as run:
        for k in range(iterations):
            changes = random.normal(size=(directions, *shape))
            seeds = random.integers(2**31, size=directions)
            tries = [
                (environment, matrix + s * noise * d, int(n)) for d, n in zip(changes, seeds) for s in (1, -1)
            ]
            judges = [(environment, matrix, -1 - n) for n in range(JUDGED_EPISODES)]
            results = list(run(tries + judges))
            gains = np.array([r.total for r in results[: len(tries)]]).reshape(-1, 2)
            steps += sum(r.steps for r in results[: len(tries)])
            judged = results[len(tries) :]
            score, done = np.mean([r.total for r in judged]), np.mean([r.success for r in judged])
            history.append((score, done, steps, matrix))
            if report is not None:
                report(k, float(score), float(done))
            top = np.argsort(-gains.max(axis=1), kind="stable")[:best]
            spread = max(float(gains[top].std()), SMALLEST_SPREAD)
            matrix = (
                matrix + rate / spread * np.einsum("i,iao->ao", gains[top] @ [1.0, -1.0], changes[top]) / best
            )
    returns, success, counts, matrices = zip(*history)
    champion = matrices[int(np.argmax(returns))]
    return Curve(environment, Policy(champion), np.array(returns), np.array(success), np.array(counts))


@dataclass(frozen=True)
class Outcome:
    """Of an episode: return, whether it ended in success, steps."""

    total: float
    success: bool
    steps: int


_made: dict[str, Any] = {}  # environments of this process by name: they are costly to make


def episode(job: tuple[str, np.ndarray, int]) -> Outcome:
    """Run a policy, given by its matrix, for an episode of an environment; judges' seeds are negative."""
    name, matrix, seed = job
    env, policy = _environment(name), Policy(matrix)
    observation, _ = env.reset(seed=seed if seed >= 0 else 2**31 - seed)
    total, steps, over, info = 0.0, 0, False, {}
    while not over:
        observation, reward, ended, stopped, info = env.step(policy(observation))
        total, steps, over = total + float(reward), steps + 1, ended or stopped
    return Outcome(total, bool(info["is_success"]), steps)


def _environment(name: str) -> Any:
    if name not in _made:
        _made[name] = gymnasium.make(name)
    return _made[name]


def _shape(name: str) -> tuple[int, int]:
    env = _environment(name)
    return env.action_space.shape[0], env.observation_space.shape[0] + 1


@contextmanager
def _workers(name: str, processes: int) -> Iterator[Callable[[list[Any]], Iterator[Outcome]]]:
    """`map` of episodes, in this process or in several."""
    if processes == 1:
        yield lambda jobs: map(episode, jobs)
        return
    known = (gymnasium.spec(name),)
    try:
        with ProcessPoolExecutor(processes, get_context("spawn"), _know, known) as workers:
            yield lambda jobs: workers.map(episode, jobs)
    except BrokenProcessPool as error:
        raise PliantError(f"A process of the search in {name!r} has ended. {GUARD}") from error


def _know(spec: Any) -> None:
    """In a new process: an environment that was registered in the one that started it."""
    gymnasium.registry.setdefault(spec.id, spec)
