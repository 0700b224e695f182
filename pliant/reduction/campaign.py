"""Campaigns: all trajectories of a plan, here, on several processes or on a cluster.

A kill loses the trajectories that were running, and no others.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

from pliant.errors import InputError, PliantError
from pliant.files import reading
from pliant.reduction.drive import Probe, Source, built, run
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.plans import Plan
from pliant.reduction.snapshots import Snapshots
from pliant.robot import Robot

FACTS = "campaign.json"
Progress = bool | Callable[[int, int], object]


class WorkerLostError(PliantError):
    """An executor lost a worker.

    `snapshots` has the trajectories that were finished, None if there are none.
    """

    def __init__(self, message: str, snapshots: Snapshots | None) -> None:
        self.snapshots = snapshots
        super().__init__(message)


def collect(
    robot: Source,
    plan: Plan,
    *,
    executor: Any = None,
    folder: str | Path | None = None,
    probe: Probe | None = None,
    creep: int = 0,
    progress: Progress = False,
) -> Snapshots:
    """The snapshots of a robot driven through a plan, in the plan's order whoever finished first.

    `robot` is a Robot, a name of the gallery, or a function that builds one (what goes to other machines is
    pickled).

    `executor` is any of `concurrent.futures`, or a `dask.distributed.Client`; None runs here. One that loses
    a worker raises `WorkerLostError`; if there is a `folder`, the same call with a new executor continues
    where that one stopped. Each trajectory is written to the `folder` once it is finished, completely or not
    at all, and what is there is not run again. A folder of another plan or robot is refused.

    `probe` is a function of each `Result` → arrays by name, kept in `Snapshots.extra`. `creep` = 0 solves for
    the equilibrium of every command; n > 0 takes up to n damped steps in time towards it instead, see
    `pliant.reduction.drive`. `progress` shows a bar with the time left, or is a function that is told
    how many steps are done, and of how many.
    """
    if not isinstance(plan, Plan):
        raise InputError("plan", expected="a Plan, see pliant.reduction.plans", got=type(plan).__name__)
    model = built(robot)
    plan.check(model)
    store = _Store(folder, plan, Fingerprint.of(model), creep)
    todo = [n for n in range(len(plan)) if n not in store]
    with _bar(plan, store, progress) as advance:
        if executor is None:
            for n in todo:
                store.put(n, run(model, plan, n, probe, creep, advance))
        else:
            _distribute(robot, plan, todo, executor, store, (probe, creep), advance)
    return Snapshots.join([store.get(n) for n in range(len(plan))])


def _distribute(
    robot: Source,
    plan: Plan,
    todo: list[int],
    executor: Any,
    store: _Store,
    options: tuple[Probe | None, int],
    advance: Callable[..., object],
) -> None:
    """Run trajectories on an executor and store them as they finish."""
    pool: Executor = executor.get_executor(pure=False) if hasattr(executor, "get_executor") else executor
    if not hasattr(pool, "submit"):
        expected = "an executor of concurrent.futures, or a dask.distributed Client"
        raise InputError("executor", expected=expected, got=type(executor).__name__)
    source = _portable(robot, pool)
    futures: dict[Any, int] = {}
    number = todo[0] if todo else 0
    try:
        futures = {pool.submit(run, source, plan, n, *options): n for n in todo}
        for future in as_completed(futures):
            number = futures[future]
            store.put(number, future.result())
            advance(len(plan.trajectories[number]))
    except _losses() as error:
        done = [store.get(n) for n in range(len(plan)) if n in store]
        where = "in error.snapshots"
        if store.folder:
            where = f"in {store.folder}; the same call goes on from there"
        message = (
            f"A worker was lost in trajectory {number + 1} of {len(plan)} ({type(error).__name__}): "
            f"{len(done)} are finished, {where}."
        )
        raise WorkerLostError(message, Snapshots.join(done) if done else None) from error
    finally:
        for future in futures:
            future.cancel()


def _portable(robot: Source, pool: Executor) -> Source:
    """The robot in a form from which every worker can build its own."""
    if not isinstance(robot, Robot):
        return robot
    if isinstance(pool, ThreadPoolExecutor):
        return partial(deepcopy, robot)  # a robot remembers its last posture: no two threads share one
    try:
        pickle.dumps(robot)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        hint = "A name of the gallery will do, or functools.partial(pl.robots.trunk, length=0.25)."
        expected = "one that can be sent to other processes"
        raise InputError("robot", expected=expected, got=f"one that cannot ({error})", hint=hint) from None
    return robot


def _losses() -> tuple[type[BaseException], ...]:
    """What executors raise when a worker is lost; dask's own only where it is in use."""
    distributed = sys.modules.get("distributed")
    killed = getattr(distributed, "KilledWorker", BrokenExecutor)
    return BrokenExecutor, CancelledError, killed


class _Store:
    """Finished trajectories by number, in memory or in a folder."""

    def __init__(self, folder: str | Path | None, plan: Plan, fingerprint: Fingerprint, creep: int) -> None:
        self.folder = None if folder is None else Path(folder)
        self._kept: dict[int, Snapshots] = {}
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._claim(
                self.folder / FACTS, {"plan": plan.digest, "creep": creep, "fingerprint": fingerprint.data()}
            )

    def _claim(self, path: Path, facts: dict[str, Any]) -> None:
        """Write which campaign the folder belongs to, or check that it is this one."""
        if not path.exists():
            draft = path.with_name(f".{path.name}.{os.getpid()}.part")
            draft.write_text(json.dumps(facts, indent=1), encoding="utf-8")
            os.replace(draft, path)
        hint = "Take another folder, or remove this one."
        with reading(path, "campaign", "what pliant wrote about this folder", hint=hint) as file:
            there = dict(json.loads(file.read_text(encoding="utf-8")))
        for name, value in facts.items():
            if there.get(name) != value:
                expected = f"a folder of the same {'robot' if name == 'fingerprint' else name}"
                raise InputError(
                    f"folder {str(path.parent)!r}", expected=expected, got="another's", hint=hint
                )

    def _path(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / f"trajectory {number + 1:04d}.npz"

    def __contains__(self, number: int) -> bool:
        return self._path(number).exists() if self.folder is not None else number in self._kept

    def put(self, number: int, snapshots: Snapshots) -> None:
        if self.folder is not None:
            snapshots.save(self._path(number))
        else:
            self._kept[number] = snapshots

    def get(self, number: int) -> Snapshots:
        return Snapshots.load(self._path(number)) if self.folder is not None else self._kept[number]


@contextmanager
def _bar(plan: Plan, store: _Store, shown: Progress) -> Iterator[Callable[..., object]]:
    """A function to call after every step, or with a number of steps, that moves the bar on."""
    done = sum(len(t) for n, t in enumerate(plan.trajectories) if n in store)
    if callable(shown):
        count = itertools.count(done)
        shown(next(count), plan.size)
        yield lambda steps=1: [shown(next(count), plan.size) for _ in range(steps)]
        return
    if not shown:
        yield lambda steps=1: None
        return
    from rich import progress as bar
    from rich.console import Console

    columns = ("{task.description}", bar.BarColumn(), bar.MofNCompleteColumn(), bar.TimeElapsedColumn())
    left = bar.TextColumn("left"), bar.TimeRemainingColumn()
    with bar.Progress(*columns, *left, console=Console(stderr=True), transient=True) as display:
        task = display.add_task("Snapshots", total=plan.size, completed=done)
        yield lambda steps=1: display.advance(task, steps)
