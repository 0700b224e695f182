"""A pseudo-terminal with an emulated device behind it: what a program sees is a serial port."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any


class Terminal:
    """Serves a device on a pty in a thread; `port` is the path to open. POSIX only.

    with Terminal(Microcontroller()) as terminal:
        drive = SerialLine(terminal.port, channels)
    """

    def __init__(self, device: Any, *, clock: Callable[[], float] = time.monotonic) -> None:
        import pty
        import tty

        self.device, self._clock = device, clock
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="pliant-emulator", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._end.is_set():
            ready, _, _ = select.select([self._master], [], [], 0.005)
            now = self._clock()
            self.device.tick(now)
            if not ready:
                continue
            try:
                data = os.read(self._master, 4096)
                answer = self.device.feed(data, now)
                if answer:
                    os.write(self._master, answer)
            except OSError:  # hung up
                return

    def close(self) -> None:
        """Pull the plug."""
        if self._end.is_set():
            return
        self._end.set()
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
