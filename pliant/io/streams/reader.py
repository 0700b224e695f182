"""The newest frame of a source, whoever is slow."""

from __future__ import annotations

import threading
from time import monotonic
from types import TracebackType

from pliant.io.streams.frame import Frame
from pliant.io.streams.source import Source

WAIT = 0.05  # [s] for which a source is asked at a time
RESTART = 1.0  # [s]: a clock that falls back by more has been started anew


class Reader:
    """Reads a source on a thread of its own and keeps the newest frame: a slow user never works on old ones.

    stale [s]: `latest` gives None where nothing new has come for that long. Frames whose time is not later
    than the newest one's are dropped and counted in `late`, unless the source's clock began anew (it fell
    back by more than a second). `count` frames were kept.
    """

    def __init__(self, source: Source, *, stale: float = 0.25) -> None:
        self.source, self.stale = source, stale
        self.count = self.late = 0
        self._newest: Frame | None = None
        self._arrived = -float("inf")
        self._given = 0
        self._changed = threading.Condition()
        self._running = True
        self._thread = threading.Thread(target=self._run, name="marker frames", daemon=True)
        self._thread.start()

    def latest(self) -> Frame | None:
        """The newest frame, None if none has come or it is stale."""
        with self._changed:
            return self._newest if self.age <= self.stale else None

    def wait(self, timeout: float = 1.0) -> Frame | None:
        """The newest frame not given before and not stale; None if none comes within `timeout` [s]."""
        with self._changed:
            fresh = self._changed.wait_for(
                lambda: self.count > self._given and self.age <= self.stale, timeout
            )
            self._given = self.count
            return self._newest if fresh else None

    @property
    def age(self) -> float:
        """How long ago the newest frame came [s]; infinite if none has."""
        return monotonic() - self._arrived

    @property
    def rejected(self) -> int:
        """Messages that were no frames."""
        return self.source.rejected

    def close(self) -> None:
        """Stop reading, and close the source."""
        self._running = False
        self.source.close()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while self._running and not self.source.ended:
            frame = self.source.read(WAIT)
            if frame is not None:
                self._take(frame)

    def _take(self, frame: Frame) -> None:
        with self._changed:
            newest = self._newest
            if newest is not None and newest.time - RESTART < frame.time <= newest.time:
                self.late += 1
                return
            self._newest, self._arrived = frame, monotonic()
            self.count += 1
            self._changed.notify_all()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
