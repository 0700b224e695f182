"""Who steps the environments of a vector: this process, or several others.

Steps differ in length: some are halved, contacts take time. A process that is done with its environments
takes over some of another's (see `board`), those that took long in the step before come first, and so nobody
waits for longer than the last and shortest takes.
"""

from __future__ import annotations

import os
import signal
import traceback
import weakref
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from time import monotonic, process_time
from typing import Any

import gymnasium
import numpy as np

from pliant.errors import InputError, PliantError
from pliant.learning.board import Board, Shape, advance
from pliant.learning.episode import Environment, Saved
from pliant.threads import pin_blas

END_PATIENCE = 2.0  # [s] that a process has to end by itself
GO, SHOW, STOP = b"go", b"show", b""
GUARD = 'A script that starts processes must do so below `if __name__ == "__main__":`.'


def made(spec: Any, options: Mapping[str, Any]) -> Environment:
    """An environment as it is, without Gymnasium's wrappers."""
    env = gymnasium.make(spec, disable_env_checker=True, **options).unwrapped
    if not isinstance(env, Environment):
        hint = "gymnasium.make_vec makes vectors of others."
        raise InputError(
            f"environment {spec.id!r}", expected="one of pliant", got=type(env).__name__, hint=hint
        )
    return env


class Here:
    """One environment in this process, which goes from moment to moment of all."""

    closed = False  # there is nothing to close

    def __init__(self, spec: Any, options: Mapping[str, Any], envs: int) -> None:
        self.env = made(spec, options)
        self.spaces, self.metadata = (self.env.observation_space, self.env.action_space), self.env.metadata
        shape = Shape.of(envs, 1, self.spaces)
        self.records, self.spent = np.zeros(envs, shape.record), np.zeros(1)
        self.moments: list[Saved | None] = [None] * envs

    def run(self, which: np.ndarray) -> None:
        """Do what the records of these environments say."""
        begin = process_time()
        for k in which:
            self.moments[k] = advance(self.env, self.records[k], self.moments[k])
        self.spent[0] += process_time() - begin

    def close(self) -> None:
        """Nothing is left behind."""


class Crew:
    """Processes, each with an environment of its own."""

    def __init__(self, spec: Any, options: Mapping[str, Any], envs: int, processes: int) -> None:
        context = get_context("spawn")  # forks of a process with threads, as BLAS makes them, may hang
        lock, self._ends, self._workers = context.Lock(), [], []
        self._board, self._ready = None, False
        self._close = weakref.finalize(self, _dismiss, self._workers, self._ends)
        for k in range(processes):
            end, other = context.Pipe()
            worker = context.Process(
                target=work, args=(k, other, lock, spec, dict(options)), name=f"pliant-{k}", daemon=True
            )
            worker.start()
            other.close()
            self._ends.append(end)
            self._workers.append(worker)
        said = self._heard()
        self.spaces, self.metadata = said[0]
        shape = Shape.of(envs, processes, self.spaces)
        self._board = board = Board(shape)
        try:
            for end in self._ends:
                end.send((shape, board.path))
            self._heard()
        finally:
            board.forget()
        self._ready = True

    @property
    def board(self) -> Board:
        """What all of them see."""
        assert self._board is not None
        return self._board

    @property
    def records(self) -> np.ndarray:
        """Of the environments, (n,)."""
        return self.board.records

    @property
    def moments(self) -> Board:
        """Of the environments, by their numbers."""
        self._ask(SHOW)
        return self.board

    @property
    def spent(self) -> np.ndarray:
        """CPU time [s] of each process in its steps, (processes,)."""
        return self.board.queues["spent"].copy()

    def run(self, which: np.ndarray) -> None:
        """Do what the records of these environments say."""
        self.board.deal(which)
        self._ask(GO)

    def _ask(self, what: bytes) -> None:
        for end in self._ends:
            with suppress(OSError):  # where the other end is gone, `_heard` says why
                end.send_bytes(what)
        self._heard()

    @property
    def closed(self) -> bool:
        """Whether the processes have ended."""
        return not self._close.alive

    def close(self) -> None:
        """End the processes and free what they shared."""
        self._close()

    def _heard(self) -> list[Any]:
        """One answer of every process. Whatever goes wrong, all of them end."""
        answers: dict[Any, Any] = {}
        try:
            while left := [end for end in self._ends if end not in answers]:
                for end in wait(left):
                    answers[end] = said = _answer(end)
                    if said is None or isinstance(said, str):
                        raise self._error(self._ends.index(end), said)
        except BaseException:
            self.close()
            raise
        return [answers[end] for end in self._ends]

    def _error(self, k: int, said: str | None) -> PliantError:
        """For a process that said what went wrong, or is gone."""
        has = -1 if self._board is None else int(self._board.queues["has"][k])
        when = f"in a step of environment {has}" if has >= 0 else "between steps"
        when, hint = (when, "Make the vector again.") if self._ready else ("before it was ready", GUARD)
        who = f"Process {k} of the environments (id {self._workers[k].pid})"
        if said is not None:
            return PliantError(f"{who} failed {when}:\n{said}")
        self._workers[k].join(END_PATIENCE)
        code = self._workers[k].exitcode or 0
        why = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return PliantError(f"{who} {why} {when}. {hint}")


def _answer(end: Any) -> Any:
    """What a process says; None if it ended in the middle."""
    try:
        return end.recv()
    except (EOFError, OSError):
        return None


def _dismiss(workers: list[Any], ends: list[Connection]) -> None:
    """End processes: by asking, then by signals; wait for each, so that none is left over."""
    for end in ends:
        with suppress(OSError):
            end.send_bytes(STOP)
    for ask in (lambda worker: None, lambda worker: worker.terminate(), lambda worker: worker.kill()):
        late = monotonic() + END_PATIENCE
        for worker in workers:
            if worker.is_alive():
                ask(worker)
                worker.join(max(0.0, late - monotonic()))
    for thing in (*workers, *ends):
        thing.close()


def work(number: int, end: Connection, lock: Any, spec: Any, options: Mapping[str, Any]) -> None:
    """What a process does: make an environment, then jobs from the queue, round by round, until the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the process that asks
    try:
        env = made(spec, options)
        pin_blas()  # others may have loaded one besides
        end.send(((env.observation_space, env.action_space), env.metadata))
        shape, path = end.recv()
        board = Board(shape, path, number)
        end.send(True)
        while (asked := end.recv_bytes()) != STOP:
            begin = process_time()
            if asked == SHOW:
                board.publish()
            else:
                _round(env, board, lock)
            board.queues["spent"][number] += process_time() - begin
            end.send(True)
    except (EOFError, BrokenPipeError):
        pass  # nobody asks any more
    except Exception:
        end.send(traceback.format_exc())
    end.close()
    os._exit(0)  # there is nothing to keep, and to let go of all compiled code takes Python a second


def _round(env: Environment, board: Board, lock: Any) -> None:
    board.offer()
    while True:
        with lock:
            index = board.take()
        if index is None:
            return
        board.queues["has"][board.number] = index
        board[index] = advance(env, board.records[index], board[index])
