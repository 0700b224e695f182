"""Devices that follow a session which someone else steps: the studio's page drives the robot on the table.

with Follower(session, [drive]) as follower:
    session.step()                          # as the studio's thread does
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from pliant.errors import PliantError
from pliant.hardware.clock import Clock, SystemClock
from pliant.hardware.device import Actuator
from pliant.hardware.output import Output
from pliant.hardware.stop import Stop


class Follower:
    """Sends every frame of a session. A pause that is longer than `watchdog` [s] is a stop; so is a device's fault.

    After a stop nothing is sent until `resume`.
    """

    def __init__(
        self,
        session: Any,
        actuators: Iterable[Actuator],
        *,
        watchdog: float | None = None,
        dry_run: bool = False,
        stop: Stop | None = None,
        recorder: Any = None,
        clock: Clock | None = None,
    ) -> None:
        self.session, self.output = session, Output(actuators, dry=dry_run)
        self.output.check_rows(list(session.robot.rows))
        self.watchdog = 5.0 * session.period if watchdog is None else watchdog
        self.emergency, self.clock, self.recorder = stop or Stop(), clock or SystemClock(), recorder
        self._fresh, self._over = 0.0, threading.Event()
        self._thread: threading.Thread | None = None
        self.emergency.listen(lambda reason: self.output.safe())

    def resume(self) -> None:
        """Arm the devices, at the beginning or after a stop."""
        self.emergency.release()
        self.output.close()
        self.output.open()
        self._fresh = self.clock.now()

    def write(self, frame: Any) -> None:
        """A frame of the session."""
        if self.emergency.pressed:
            return
        try:
            now = self.clock.now()
            values, met = self.output.limited(frame, min(now - self._fresh, self.watchdog))
            counts = self.output.send(values)
            self._fresh = now
            if self.recorder is not None:
                said = {"step": frame.step, "values": values, "counts": counts, "limits": met, "late": 0.0}
                self.recorder.note("sent", frame.time, said)
        except PliantError as error:
            self.emergency.press(str(error))

    def check(self, now: float) -> bool:
        """The watchdog: whether the last frame is fresh enough at a time [s]."""
        if not self.emergency.pressed and now - self._fresh > self.watchdog:
            self.emergency.press(f"no command for {self.watchdog:g} s")
        return not self.emergency.pressed

    def _watch(self) -> None:
        while not self._over.wait(0.25 * self.watchdog):
            self.check(self.clock.now())

    def __enter__(self) -> Follower:
        self.resume()
        self.session.listeners.append(self.write)
        if isinstance(self.clock, SystemClock):
            self._thread = threading.Thread(target=self._watch, name="pliant-watchdog", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self.session.listeners.remove(self.write)
        self.output.safe()
        self.output.close()
