"""The loop's clock: what time it is, and waiting until another."""

from __future__ import annotations

import threading
import time
from typing import Protocol

SPIN = 5e-4  # [s] before the time is up that are not slept but watched: sleeping is not that exact


class Clock(Protocol):
    """Seconds, from any beginning.

    One that goes back blinds watchdogs for as long: the machine's wall clock is none.
    """

    def now(self) -> float:
        """[s]."""
        ...

    def wait_until(self, time: float) -> None:
        """Return at a time [s], at once if it is past; earlier if woken."""
        ...


class SystemClock:
    """The machine's monotonic clock. `wake` ends a wait from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def now(self) -> float:
        """[s]."""
        return time.perf_counter()

    def wait_until(self, time: float) -> None:
        """Sleeps, then watches the last half millisecond."""
        left = time - self.now() - SPIN
        if left > 0 and self._event.wait(left):
            return
        while self.now() < time and not self._event.is_set():
            pass

    def wake(self) -> None:
        """End all waits, until `sleep`."""
        self._event.set()

    def sleep(self) -> None:
        """Waits wait again."""
        self._event.clear()
