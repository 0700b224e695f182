"""What a vector of environments shares with the processes that step them: records, moments and queues.

A step depends on the moment that an environment is in alone, so that any process may take any environment,
and which one does makes no difference to the numbers. Each has a queue of those that it stepped last, as it
still has their moments at hand; when that is empty, it takes from the end of another's, whose moments are
written down for others to see. The rest is written down only when asked for.
"""

from __future__ import annotations

import math
import os
import pickle
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from time import perf_counter
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.learning.episode import Environment, Saved

# What to do with an environment; a reset goes on with its random numbers, or begins from a seed.
STEP, RESET, SEEDED = range(3)
OFFERED_SHARE = 0.5  # share of a queue that others may take from
MOMENT_BYTES = 2**20  # of a moment, at most; memory that is not written to is not taken


@dataclass(frozen=True)
class Shape:
    """How many environments and processes, and the numbers of an action and an observation."""

    envs: int
    processes: int
    action: int
    observation: int

    @classmethod
    def of(cls, envs: int, processes: int, spaces: tuple[Any, Any]) -> Shape:
        """For spaces of observations and actions."""
        return cls(envs, processes, spaces[1].shape[0], spaces[0].shape[0])

    @property
    def record(self) -> np.dtype:
        """Of an environment; `home` is the process that did its last job, −1 for none, in `seconds`."""
        return np.dtype(
            [
                ("job", "i8"),
                ("seed", "u8"),
                ("action", "f8", (self.action,)),
                ("observation", "f4", (self.observation,)),
                ("reward", "f8"),
                ("terminated", "?"),
                ("is_success", "?"),
                ("failed", "?"),
                ("home", "i8"),
                ("seconds", "f8"),
            ],
            align=True,
        )

    @property
    def queue(self) -> np.dtype:
        """Of a process: its environments in the order in which they are taken, and its CPU time.

        Of the order, `begin` to `end` are left; from `open` on others may take them; it is stepping `has`.
        """
        numbers = [(name, "i8") for name in ("begin", "end", "open", "has")]
        return np.dtype([("order", "i8", (self.envs,)), *numbers, ("spent", "f8")], align=True)


class Board:
    """Records (n,), moments and queues (processes,) in a file in memory.

    Every process that has its path sees the same. `number` is that of the process, −1 for the one that asks.
    """

    def __init__(self, shape: Shape, path: Path | None = None, number: int = -1) -> None:
        moment = np.dtype([("size", "i8"), ("data", "u1", (MOMENT_BYTES,))])
        layout = np.dtype(
            [
                ("queues", shape.queue, (shape.processes,)),
                ("records", shape.record, (shape.envs,)),
                ("moments", moment, (shape.envs,)),
            ],
            align=True,
        )
        self.path = _new_file() if path is None else path
        table = np.asarray(np.memmap(self.path, layout, "r+" if path else "w+", shape=(1,)))
        self.queues, self.records, self._moments = (
            table[name][0] for name in ("queues", "records", "moments")
        )
        self.number = number
        self._kept: dict[int, Saved] = {}  # of those that this process stepped last
        self._unwritten: set[int] = set()
        if path is None:
            self.records["home"] = self.queues["has"] = -1

    def __getitem__(self, index: int) -> Saved | None:
        """The moment of an environment; None before its first episode."""
        if 0 <= self.number == self.records["home"][index]:
            return self._kept[index]
        size = self._moments["size"][index]
        return pickle.loads(self._moments["data"][index, :size].tobytes()) if size else None

    def __setitem__(self, index: int, moment: Saved) -> None:
        self.records["home"][index] = self.number
        if self.number < 0:
            self._write(index, moment)
            return
        self._kept[index] = moment
        self._unwritten.add(index)

    def publish(self, which: np.ndarray | None = None) -> None:
        """Write down, for all to see, the moments of some environments of this process, or of all of them."""
        which = np.arange(len(self.records)) if which is None else which
        own = which[self.records["home"][which] == self.number]
        for index in self._unwritten.intersection(own.tolist()):
            self._write(index, self._kept[index])
            self._unwritten.remove(index)

    def _write(self, index: int, moment: Saved) -> None:
        data = pickle.dumps(moment, protocol=5)
        if len(data) > MOMENT_BYTES:
            raise PliantError(
                f"A moment of environment {index} takes {len(data)} bytes, more than {MOMENT_BYTES}."
            )
        self._moments["data"][index, : len(data)] = np.frombuffer(data, "u1")
        self._moments["size"][index] = len(data)

    def deal(self, which: np.ndarray) -> None:
        """Put environments into the queues of the processes that had them, those that took longest first."""
        home, seconds = self.records["home"][which], self.records["seconds"][which]
        home = np.where(home < 0, which % len(self.queues), home)
        for k, queue in enumerate(self.queues):
            own = which[home == k][np.argsort(-seconds[home == k], kind="stable")]
            queue["order"][: len(own)] = own
            queue["begin"], queue["end"], queue["open"], queue["has"] = 0, len(own), len(own), -1

    def offer(self) -> None:
        """Let others take the last of this process's queue."""
        queue = self.queues[self.number]
        first = queue["end"] - math.ceil(OFFERED_SHARE * queue["end"])
        self.publish(queue["order"][first : queue["end"]])
        queue["open"] = first

    def take(self) -> int | None:
        """The next environment for this process, or None; one process at a time may take."""
        queue = self.queues[self.number]
        if queue["begin"] < queue["end"]:
            queue["begin"] += 1
            return int(queue["order"][queue["begin"] - 1])
        left = self.queues["end"] - np.maximum(self.queues["begin"], self.queues["open"])
        queue = self.queues[int(np.argmax(left))]
        if left.max() <= 0:
            return None
        queue["end"] -= 1
        return int(queue["order"][queue["end"]])

    def forget(self) -> None:
        """Remove the file's name: memory is freed once nobody looks at it, also if processes are killed."""
        with suppress(OSError):  # where a file in use cannot be removed
            self.path.unlink()


def _new_file() -> Path:
    """An empty one, in memory where there is such a folder."""
    memory = Path("/dev/shm")
    number, name = mkstemp(prefix="pliant-", dir=memory if memory.is_dir() else None)
    os.close(number)
    return Path(name)


def advance(env: Environment, record: Any, moment: Saved | None) -> Saved:
    """Do what a record says with an environment from a moment of it; the moment after."""
    begin = perf_counter()
    if moment is not None:
        env.restore(moment)
    if record["job"] == STEP:
        seen, record["reward"], record["terminated"], _, info = env.step(record["action"])
    else:
        seen, info = env.reset(seed=int(record["seed"]) if record["job"] == SEEDED else None)
        record["reward"], record["terminated"] = 0.0, False
    record["observation"] = seen
    record["is_success"], record["failed"] = info["is_success"], info["failed"]
    record["seconds"] = perf_counter() - begin
    return env.save()
