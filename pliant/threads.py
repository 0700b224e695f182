"""How many threads the numerics use: decided here, and nowhere else.

BLAS has one: most fronts are small, and two threads of its own under load were many times slower than one.
The factor of a large matrix is shared out by `pliant.algebra` itself among a few threads, which take whatever
nobody has begun: a thread that is not running holds up nobody.

`PLIANT_THREADS` in the environment, or `limit(n)`, says how many at most; 1 is for processes that are many
already, and for machines whose other cores have something else to do.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

from pliant.errors import InputError

VARIABLE = "PLIANT_THREADS"
MOST = 4  # by default: fronts are too small for more


def pin_blas(threads: int = 1) -> None:
    """Limit every BLAS loaded by now.

    Called once on import and once when SciPy's own BLAS comes in: a limit per call would cost more than a
    small solve.
    """
    ThreadpoolController().limit(limits=threads, user_api="blas")


class _Crew:
    """Threads that wait for work beside the caller's, started when they are first needed."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.busy = threading.Lock()
        self.pool: ThreadPoolExecutor | None = None

    def started(self) -> ThreadPoolExecutor:
        """The helpers, one fewer than threads."""
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="pliant-factor")
        return self.pool


def _chosen() -> int:
    """What the environment says, or one for each core that this process may use, at most four.

    A process that another one started to share its work has one.
    """
    said = os.environ.get(VARIABLE, "").strip()
    if said:
        return _checked(VARIABLE, int(said) if said.isdecimal() else said)
    if multiprocessing.parent_process() is not None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST)


def _checked(name: str, threads: Any) -> int:
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise InputError(name, expected="a whole number of threads, 1 or more", got=repr(threads))
    return threads


def limit(threads: int) -> None:
    """From now on, use at most so many threads for a factor; 1: only the one that calls."""
    global _crew
    _crew = _Crew(_checked("threads", threads))


def threads() -> int:
    """How many threads a large factor may use."""
    return _crew.threads


@contextmanager
def helpers(work: Callable[..., Any], *arguments: Any) -> Iterator[None]:
    """Meanwhile, the helpers call work(*arguments), which must be as right if none of them ever does.

    Without a helper where one thread is the limit, or where somebody else has them: two factors at once have
    a thread each.
    """
    crew = _crew
    if crew.threads == 1 or not crew.busy.acquire(blocking=False):
        yield
        return
    futures = []
    try:
        pool = crew.started()
        futures = [pool.submit(work, *arguments) for _ in range(crew.threads - 1)]
        yield
    finally:
        for future in futures:
            future.cancel()
        crew.busy.release()


def _after_fork() -> None:
    """Threads do not live on in a forked process, and forks are many already."""
    limit(1)


_crew = _Crew(_chosen())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
