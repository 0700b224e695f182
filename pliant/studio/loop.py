"""The simulation's own thread: commands in, steps at a fixed rate, the newest view out.

It never waits for a browser. Commands that replace each other (a target that is dragged) are joined while
they wait. Where the robot rests, and nobody looks or records, it takes no steps.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any

from pliant.studio.desk import Desk, View
from pliant.studio.limits import WAITING

SHOWN = 1.0 / 30.0  # [s] between two views, on average and at least
EARLY = 0.002  # [s] that a view may come too early: steps are never quite punctual


class Inbox:
    """Commands that wait for the next step.

    A newer one with the same key takes the place of the older, at the end.
    """

    def __init__(self, most: int = WAITING) -> None:
        self._waiting: dict[tuple[str, ...], Any] = {}
        self._lock, self._most = threading.Lock(), most

    def put(self, command: Any) -> bool:
        """Whether there was room."""
        with self._lock:
            self._waiting.pop(command.key, None)
            if len(self._waiting) >= self._most:
                return False
            self._waiting[command.key] = command
            return True

    def take(self) -> list[Any]:
        """All that wait, in order."""
        with self._lock:
            commands, self._waiting = list(self._waiting.values()), {}
        return commands


CAUGHT_UP = 1.0  # [s]


class Pace:
    """When the next step is due.

    Steps that come after a long one make up for it; more than a second is let go.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.clock, self.due = clock, clock()
        self.intervals: deque[float] = deque(maxlen=500)  # [s] between the last steps
        self._last = self.due

    def wait(self, period: float) -> float:
        """Seconds until the next step may begin, 0 if it is late."""
        now = self.clock()
        self.due = max(self.due + period, now - CAUGHT_UP)
        return max(self.due - now, 0.0)

    def begin(self) -> None:
        """A step begins."""
        now = self.clock()
        self.intervals.append(now - self._last)
        self._last = now

    def punctual(self, period: float) -> float:
        """Share of the last steps that began within 1.5 periods of the one before."""
        if not self.intervals:
            return 1.0
        return sum(i <= 1.5 * period for i in self.intervals) / len(self.intervals)


class Loop:
    """Runs a desk in a thread.

    `show` is called from that thread with every new view; `watched` says whether someone looks at them.
    """

    def __init__(
        self,
        open_desk: Callable[[], Desk],
        show: Callable[[View], None],
        *,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.inbox, self.fields, self.watched = Inbox(), frozenset(), True
        self._open, self._show, self.pace = open_desk, show, Pace(clock)
        self._due, self._asked = -1e9, True  # when the next view is, and whether someone wants one at once
        self._stop, self._call = threading.Event(), threading.Event()
        self.ready, self.failure = threading.Event(), None
        self.desk: Desk | None = None
        self._thread = threading.Thread(target=self._run, name="pliant-simulation", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and complete what is being recorded."""
        self._stop.set()
        self._call.set()
        if self._thread.ident is not None:
            self._thread.join()

    def put(self, command: Any) -> None:
        """A command, from any thread."""
        self.inbox.put(command)
        self._call.set()

    def refresh(self) -> None:
        """Show again, from any thread: someone came, or wants another field."""
        self._asked = True
        self._call.set()

    def turn(self) -> None:
        """One turn: commands, a step if someone cares, a view."""
        assert self.desk is not None
        if self.desk.gather():
            self._asked = True
        commands = self.inbox.take()
        for command in commands:
            self.desk.do(command)
        self.pace.begin()
        moved = (self.watched or bool(commands) or not self.desk.rests) and self.desk.tick()
        now = self.pace.clock()
        paused = bool(commands) and not moved  # what they changed is shown at once
        if self._asked or paused or (moved and now >= self._due - EARLY):
            self._asked = False
            # no later than that: one that was asked for in between puts off no other
            self._due = min(max(self._due + SHOWN, now), now + SHOWN + EARLY)
            self._show(self.desk.view(self.fields))

    def _run(self) -> None:
        try:
            self.desk = self._open()
        except Exception as error:  # reported to whoever started the studio
            self.failure = error
            self.ready.set()
            return
        self.desk.called_by(self._call.set)
        self.ready.set()
        try:
            while not self._stop.is_set():
                self.turn()
                self._rest()
        finally:
            self.desk.close()

    def _rest(self) -> None:
        """Until the next step; a command ends a pause at once."""
        assert self.desk is not None
        if self.desk.playing:
            self._call.clear()
            self._stop.wait(self.pace.wait(self.desk.session.period / self.desk.speed))
        else:
            self._call.wait()
            self._call.clear()
