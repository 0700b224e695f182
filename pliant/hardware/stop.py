"""Emergency stop: a switch that anything may press, from any thread, once."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

KEYS = b" \x1bqQ\x03"  # space, escape, q, Ctrl+C
# What ends or freezes a program: Ctrl+C, `kill`, a lost terminal or connection, Ctrl+\\, Ctrl+Z. Not all
# systems have all of them.
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP")


class Stop:
    """Pressed or not, and why. It stays pressed until `release`."""

    def __init__(self) -> None:
        self.reason = ""
        self._pressed, self._lock = threading.Event(), threading.Lock()
        self._listeners: list[Callable[[str], object]] = []

    @property
    def pressed(self) -> bool:
        """Whether someone pressed it."""
        return self._pressed.is_set()

    def press(self, reason: str = "code") -> None:
        """Stop. The first reason counts."""
        with self._lock:
            first = not self._pressed.is_set()
            if first:
                self.reason = reason
                self._pressed.set()
            listeners = tuple(self._listeners) if first else ()
        with ExitStack() as calls:  # every one is called, even if another raises
            for listener in reversed(listeners):
                calls.callback(listener, reason)

    def wait(self, timeout: float | None = None) -> bool:
        """Until it is pressed."""
        return self._pressed.wait(timeout)

    def release(self) -> None:
        """Ready again."""
        with self._lock:
            self.reason = ""
            self._pressed.clear()

    def listen(self, listener: Callable[[str], object]) -> None:
        """Call this, from the pressing thread, when it is pressed."""
        self._listeners.append(listener)


class Signals:
    """While in its `with` block, Ctrl+C, Ctrl+Z, SIGTERM and a lost terminal press a stop instead of ending
    the program; a second Ctrl+C ends it. Main thread only.
    """

    def __init__(self, stop: Stop) -> None:
        self.stop, self._before = stop, {}

    def _press(self, number: int, frame: FrameType | None) -> None:
        # in a thread: this runs between two lines of the main thread, which may have the lock of the wire
        if self.stop.pressed and number == signal.SIGINT:  # the model hangs, and someone has seen enough
            raise KeyboardInterrupt
        threading.Thread(target=self.stop.press, args=(signal.Signals(number).name,), daemon=True).start()

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
            self._before = {n: signal.signal(n, self._press) for n in numbers}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class Keyboard:
    """In its `with` block, space, escape or q in a terminal press a stop; so does a closed terminal."""

    def __init__(self, stop: Stop, file: Any = None) -> None:
        self.stop = stop
        self._file = sys.stdin if file is None else file
        self._end, self._thread, self._before = threading.Event(), None, None

    def _watch(self, terminal: int) -> None:
        while not self._end.is_set():
            ready, _, _ = select.select([terminal], [], [], 0.05)
            if not ready:
                continue
            try:
                typed = os.read(terminal, 64)
            except OSError:
                typed = b""
            if not typed:
                self.stop.press("terminal closed")
                return
            if any(key in typed for key in KEYS):
                self.stop.press("keyboard")
                return

    def __enter__(self) -> Keyboard:
        try:
            import termios
            import tty
        except ImportError:  # no such terminals on this system
            return self
        try:
            terminal = self._file.fileno()
            if _in_background(terminal):
                return self
            self._before = termios.tcgetattr(terminal)
        except (OSError, ValueError, termios.error):  # no terminal: nobody to type
            return self
        tty.setcbreak(terminal)
        self._thread = threading.Thread(target=self._watch, args=(terminal,), name="pliant-stop", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        if self._before is not None:
            import termios

            termios.tcsetattr(self._file.fileno(), termios.TCSADRAIN, self._before)


def _in_background(terminal: int) -> bool:
    """Whether we run in the background of a shell.

    Then keys go to others, and the system would freeze us if we changed the terminal.
    """
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # not the terminal that we were started from
        return False


def studio_stop(desk: Any, stop: Stop) -> None:
    """Let a studio's pause, reset or choice of another robot press a stop.

    It wraps the desk's `do`, which gets every message.
    """
    apply = desk.do

    def do(command: Any) -> None:
        playing, session, count = desk.playing, desk.session, desk.session.count
        try:
            apply(command)
        finally:
            if (playing and not desk.playing) or desk.session is not session or desk.session.count < count:
                stop.press("studio")

    desk.do = do
