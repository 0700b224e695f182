"""A thread that looks at a watchdog while the model computes: it may hang."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Supervisor:
    """Calls `look` four times within the `watchdog` [s]; ends when it returns False, or by `end`."""

    def __init__(self, look: Callable[[], bool], watchdog: float) -> None:
        self._look, self._every, self._over = look, 0.25 * watchdog, threading.Event()
        self._thread = threading.Thread(target=self._watch, name="pliant-watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(self._every):
            if not self._look():
                return
