"""Devices that follow a session which someone else steps: the studio's page drives the robot on the table.

with Follower(session, [drive]) as follower:
    session.step()                          # as the studio's thread does
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

from pliant.hardware.clock import Clock, SystemClock
from pliant.hardware.device import Actuator
from pliant.hardware.output import Output
from pliant.hardware.stop import Stop
from pliant.hardware.supervisor import Supervisor


class Follower:
    """Sends every frame of a session.

    A pause that is longer than `watchdog` [s] is a stop; so is a device's fault.

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
        self.session = session
        self.watchdog = 5.0 * session.period if watchdog is None else watchdog
        self.output = Output(actuators, dry=dry_run, longest=self.watchdog)
        self.output.check_rows(list(session.robot.rows))
        self.emergency, self.clock, self.recorder = stop or Stop(), clock or SystemClock(), recorder
        self._fresh, self._supervisor = 0.0, None
        self.emergency.listen(lambda reason: self.output.safe())

    def resume(self) -> None:
        """Arm the devices, at the beginning or after a stop."""
        self._fresh = float("inf")  # nothing is too old while they are opened, however long that takes
        self.emergency.release()
        self.output.close()
        self.output.open()
        self._fresh = self.clock.now()

    def write(self, frame: Any) -> None:
        """A frame of the session. Whatever goes wrong here is a stop, and no concern of the session."""
        if self.emergency.pressed or self.output.state != "open":
            return
        try:
            now = self.clock.now()
            values, met = self.output.limited(frame, now - self._fresh)
            counts = self.output.send(values)
            self._fresh = now
            if self.recorder is not None:
                late = self.clock.now() - now
                said = {"step": frame.step, "values": values, "counts": counts, "limits": met, "late": late}
                self.recorder.note("sent", frame.time, said)
        except Exception as error:
            self.emergency.press(str(error))

    def check(self, now: float) -> bool:
        """The watchdog: whether the last frame is fresh enough at a time [s]."""
        if not self.emergency.pressed and now - self._fresh > self.watchdog:
            self.emergency.press(f"no command for {self.watchdog:g} s")
        return not self.emergency.pressed

    def __enter__(self) -> Follower:
        self.resume()
        self.session.listeners.append(self.write)
        if isinstance(self.clock, SystemClock):
            self._supervisor = Supervisor(lambda: self.check(self.clock.now()) or True, self.watchdog)
            self._supervisor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._supervisor is not None:
            self._supervisor.end()
        self.session.listeners.remove(self.write)
        self.output.safe()
        self.output.close()
