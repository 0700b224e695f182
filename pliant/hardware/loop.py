"""The control loop: a model's commands to devices at a fixed rate, safely.

    loop = pl.hardware.Loop(session, [drive], [markers], rate=50)
    report = loop.run(seconds=60)

One turn: sensors in, the model's step, limits, commands out. An emergency stop, an exception, a device that
does not answer, a sensor that is silent, or a model that takes too long end it in the devices' safe state. A
killed process leaves that to the devices' own watchdogs, or to a guard (`Guarded`) where they have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from pliant.errors import InputError
from pliant.hardware.clock import Clock, SystemClock
from pliant.hardware.device import Actuator, Reading, Sensor
from pliant.hardware.output import Output
from pliant.hardware.report import LoopReport
from pliant.hardware.stop import Stop
from pliant.hardware.supervisor import Supervisor

CATCH_UP = 2.0  # periods: rate limits do not let a late turn make up for more


class Controller(Protocol):
    """What says where to go: a Session, an Inverse, a closed loop.

    It may have `observe(readings)`, called before each step, and `held_back(limits)`, called after it with
    the limits that its commands met.
    """

    def step(self) -> Any:
        """One period further: something with `command`, `effort` and `displacement` by row name."""
        ...


class Loop:
    """Runs a controller on devices.

    rate [1/s]; watchdog [s]: how old the newest command, or the newest reading of any sensor, may become
    (default: five periods). dry_run: everything but the devices, and sensors that ask them. stop: an
    emergency stop to share with a keyboard or a studio. recorder: what is sent and read is written there.
    clock: for tests.
    """

    def __init__(
        self,
        controller: Controller,
        actuators: Actuator | Iterable[Actuator] = (),
        sensors: Sensor | Iterable[Sensor] = (),
        *,
        rate: float = 50.0,
        watchdog: float | None = None,
        dry_run: bool = False,
        stop: Stop | None = None,
        recorder: Any = None,
        clock: Clock | None = None,
    ) -> None:
        if not 0 < rate < float("inf"):
            raise InputError("rate", expected="a positive number [1/s]", got=rate)
        self.controller, self.period = controller, 1.0 / rate
        self.watchdog = 5.0 * self.period if watchdog is None else float(watchdog)
        if not self.watchdog >= self.period:
            raise InputError("watchdog", expected=f"at least a period, {self.period:g} s", got=watchdog)
        self.output = Output(_several(actuators, Actuator), dry=dry_run, longest=CATCH_UP * self.period)
        robot = getattr(controller, "robot", None)
        if robot is not None:
            self.output.check_rows(list(robot.rows))
        self.sensors: tuple[Any, ...] = _several(sensors, Sensor)
        names = [s.name for s in self.sensors]
        if len(set(names)) < len(names):  # the watchdog would take the one for the other
            raise InputError("sensors", expected="different names", got=str(names), hint="name=…")
        if dry_run:
            asked = [id(device) for device in self.output.actuators]
            self.sensors = tuple(s for s in self.sensors if id(getattr(s, "device", None)) not in asked)
        self.emergency, self.recorder = stop or Stop(), recorder
        self.clock = clock or SystemClock()
        self.status, self.reason = "ready", ""
        self._heard: dict[
            tuple[str, str], float
        ] = {}  # by sensor and row, "" if it does not say which it has
        self._start = self._fresh = 0.0  # when it began, and when the last command left
        self._jitter, self._busy, self._limited, self.missed = [], [], Counter(), 0
        self.emergency.listen(self._halt)

    def stop(self, reason: str = "code") -> None:
        """Emergency stop, from any thread: the safe state is sent at once, not at the next turn."""
        self.emergency.press(reason)

    def run(self, *, seconds: float | None = None, steps: int | None = None) -> LoopReport:
        """Until the time or the steps are over, or something stops it.

        An exception of the controller or a device ends it in the safe state and stands in the report.
        """
        self._begin()
        limit = np.inf if steps is None else steps
        error: BaseException | None = None
        watching = isinstance(self.clock, SystemClock)
        guard = Supervisor(lambda: self.check(self.clock.now()), self.watchdog) if watching else None
        try:
            first = self.controller.step()  # before devices are armed: it compiles, or finds its equilibrium
            self.output.limited(first, self.period)  # and must have something to say to each of them
            for sensor in self.sensors:
                sensor.open()
            if self.status == "running":  # nobody has pressed the stop meanwhile
                self.output.open()
            self._start = start = self.clock.now()
            self._fresh = start
            self._heard = {(s.name, row): start for s in self.sensors for row in getattr(s, "rows", ("",))}
            self._note("channels", {"rows": self.output.described()})
            if guard is not None:
                guard.start()
            end = np.inf if seconds is None else start + seconds - 0.5 * self.period
            self._turns(start, end, limit)
        except BaseException as caught:  # whatever it is: safe first
            error = caught
            self._end("failed", f"{type(caught).__name__}: {caught}")
        finally:
            self.output.safe()
            if guard is not None:
                guard.end()
            self.output.close()
            for sensor in self.sensors:
                with suppress(Exception):  # one that cannot be closed, or was never opened: the others can
                    sensor.close()
        self._end("done", "")
        report = self.report(error)
        with suppress(OSError, ValueError):  # a full disk, a closed file: the run itself is over
            self._note("event", {"what": self.status, "reason": self.reason, "met": report.met})
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
        return report

    def report(self, error: BaseException | None = None) -> LoopReport:
        """How it went so far."""
        return LoopReport(
            self.status,
            self.reason,
            len(self._busy),
            self.missed,
            self.period,
            np.array(self._jitter),
            np.array(self._busy),
            dict(self._limited),
            error,
        )

    def check(self, now: float) -> bool:
        """The watchdog: whether command and readings are fresh enough at a time [s].

        If not, the safe state is sent.
        """
        if self.status != "running":
            return False
        late = [key for key, heard in tuple(self._heard.items()) if now - heard > self.watchdog]
        silent = [f"{row!r} of {name}" if row else name for name, row in late]
        if now - self._fresh > self.watchdog:
            silent.append("the command")
        if not silent:
            return True
        self._end("watchdog", f"{' and '.join(silent)} older than {self.watchdog:g} s")
        self.output.safe()
        self._wake()
        return False

    # Inside

    def _begin(self) -> None:
        if self.status == "running":
            raise InputError(
                "loop", expected="one that stands still", got="one that runs", hint="loop.stop()"
            )
        if isinstance(self.clock, SystemClock):
            self.clock.sleep()  # a stop before this run has woken it for good
        self.reason, self.missed, self._start = "", 0, self.clock.now()
        self._jitter, self._busy, self._limited = [], [], Counter()
        self.status = "running"
        if self.emergency.pressed:  # looked at last: from now on a stop finds us running
            self.status = "ready"
            raise InputError(
                "emergency stop", expected="a released one", got=self.emergency.reason, hint="stop.release()"
            )

    def _turns(self, start: float, end: float, limit: float) -> None:
        due, last, count = start, start, 0
        while count < limit and due < end:
            self.clock.wait_until(due)
            begun = self.clock.now()
            if self.emergency.pressed:  # whoever pressed it may not have come to tell us
                self._end("stopped", self.emergency.reason)
            if self.status != "running":
                return
            elapsed = begun - last if count else self.period
            if not self._turn(begun, elapsed):
                return
            done = self.clock.now()
            self._jitter.append(begun - due)
            self._busy.append(done - begun)
            last, count = begun, count + 1
            # whole periods that are over; fewer than none after a clock went back, so that the next turn does
            # not wait for it
            skipped = int((done - due) // self.period)
            self.missed += max(skipped, 0)
            due += (1 + skipped) * self.period

    def _turn(self, now: float, elapsed: float) -> bool:
        """Sensors, step, limits, out. Whether it goes on."""
        readings = self._listen(now)
        if not self.check(now):
            return False
        observe: Callable[[dict[str, Reading]], object] | None = getattr(self.controller, "observe", None)
        if observe is not None and readings:
            observe(readings)
        frame = self.controller.step()
        values, met = self.output.limited(frame, elapsed)
        getattr(self.controller, "held_back", lambda limits: None)(met)
        if not self.check(self.clock.now()):  # the step took so long that someone should have stopped it
            return False
        counts = self.output.send(values)
        self._fresh = self.clock.now()
        if counts or not self.output.channels:
            self._limited.update(met)
            self._record(frame, now, {"values": values, "counts": counts, "limits": met})
        return self.status == "running"

    def _record(self, frame: Any, now: float, said: dict[str, Any]) -> None:
        if self.recorder is not None and hasattr(frame, "positions") and hasattr(frame, "mode"):
            self.recorder.write(frame, at=now - self._start)
        step = getattr(frame, "step", len(self._busy))
        self._note("sent", {"step": step, **said, "late": self._fresh - now})

    def _listen(self, now: float) -> dict[str, Reading]:
        readings = {}
        for sensor in self.sensors:
            reading = sensor.read()
            if reading is None:
                continue
            for (name, row), heard in self._heard.items():
                if name == sensor.name and (not row or row in reading.values):
                    self._heard[name, row] = max(heard, min(reading.time, now))
            readings[sensor.name] = reading
            plain = {row: np.asarray(v, float).tolist() for row, v in reading.values.items()}
            self._note("reading", {"sensor": sensor.name, "age": now - reading.time, "values": plain})
        return readings

    def _halt(self, reason: str) -> None:
        """The emergency stop was pressed."""
        if self.status == "running":
            self._end("stopped", reason)
            self.output.safe()
            self._wake()

    def _wake(self) -> None:
        """The loop need not wait for its next turn."""
        if isinstance(self.clock, SystemClock):
            self.clock.wake()

    def _end(self, status: str, reason: str) -> None:
        """The first end counts."""
        if self.status == "running":
            self.status, self.reason = status, reason

    def _note(self, kind: str, data: dict[str, Any]) -> None:
        if self.recorder is not None and hasattr(self.recorder, "note"):
            self.recorder.note(kind, self.clock.now() - self._start, data)


def _several(devices: Any, kind: type) -> tuple[Any, ...]:
    several = (devices,) if isinstance(devices, kind) else tuple(devices)
    for device in several:
        if not isinstance(device, kind):
            raise InputError(kind.__name__.lower(), expected=f"a {kind.__name__}", got=type(device).__name__)
    return several
