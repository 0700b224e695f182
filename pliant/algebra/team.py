"""Threads that share the work of one kernel, phase by phase.

Every thread runs the same kernel with the same `Team`. A phase is a number of chunks of work that do not
depend on each other; a thread takes the next chunk that nobody has taken, and no thread goes on before all
chunks of a phase are finished. A thread that comes late finds the chunks taken and does nothing, so nobody
waits for one that has not started; and the chunks are the same however many threads there are, so that the
results are the same to the last bit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from pliant.algebra.blas import call
from pliant.algebra.jit import inner
from pliant.threads import helpers

SPINS = 2000  # looks at a counter before the processor is offered to others: some microseconds


class Team(NamedTuple):
    """Chunks taken and finished, by phase, and the address of the system's call that yields the processor."""

    taken: np.ndarray
    finished: np.ndarray
    yielding: np.ndarray

    @classmethod
    def of(cls, phases: int) -> Team:
        """For so many phases, none begun."""
        return cls(np.zeros(phases, np.int64), np.zeros(phases, np.int64), _yielding())


def together(kernel: Callable[..., Any], phases: int, *arguments: Any, shared: bool) -> Any:
    """What kernel(*arguments, team) returns in this thread; if `shared`, others run it with the same team."""
    team = Team.of(phases)
    if not shared:
        return kernel(*arguments, team)
    with helpers(kernel, *arguments, team):
        return kernel(*arguments, team)


@cache
def _yielding() -> np.ndarray:
    """(1,) address of `sched_yield`, 0 where the system has none."""
    try:
        routine = ctypes.CDLL(None).sched_yield
    except (OSError, TypeError, AttributeError):
        return np.zeros(1, np.uintp)
    return np.array([ctypes.cast(routine, ctypes.c_void_p).value or 0], np.uintp)


def _fetch_add(typingctx, array, place):
    """The value of array[place], which is raised by one, in one indivisible act."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        one = context.get_constant(types.int64, 1)
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), one, "seq_cst")

    return types.int64(array, types.intp), generate


def _read(typingctx, array, place):
    """The value of array[place] now, whichever thread wrote it, with all that was written before it."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "seq_cst", 8)

    return types.int64(array, types.intp), generate


fetch_add: Any = intrinsic(_fetch_add)
read: Any = intrinsic(_read)


@inner
def take(team, phase, chunks):
    """The next chunk of a phase that nobody has taken, −1 if there is none."""
    if read(team.taken, phase) >= chunks:
        return -1
    chunk = fetch_add(team.taken, phase)
    return chunk if chunk < chunks else -1


@inner
def finish(team, phase):
    """Say that a chunk of a phase is finished."""
    fetch_add(team.finished, phase)


@inner
def wait(team, phase, chunks):
    """Wait until all chunks of a phase are finished."""
    spins = 0
    while read(team.finished, phase) < chunks:
        spins += 1
        if spins > SPINS and team.yielding[0] != 0:
            call(team.yielding[0], ())
