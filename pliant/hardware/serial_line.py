"""A microcontroller on a serial port that speaks the line protocol: servos, stepper drives, DACs of pressure regulators."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError, checked_channels
from pliant.hardware.lineprotocol import SEQUENCES, Line, Splitter, pairs
from pliant.hardware.wire import SerialWire, Wire

VERSION = "1"


class SerialLine:
    """An actuator behind a wire or a port.

    watchdog [s]: without a valid command for so long, the device goes to its safe state by itself, whatever happened to us.
    timeout [s] for an answer; a request is repeated `retries` times before the device counts as lost.
    """

    def __init__(
        self,
        wire: Wire | str,
        channels: Sequence[Channel],
        *,
        baud: int = 115200,
        watchdog: float = 0.2,
        timeout: float = 0.02,
        retries: int = 2,
        name: str = "serial",
    ) -> None:
        self.name, self.channels = name, checked_channels(name, channels)
        self.watchdog, self.timeout, self.retries, self._baud = watchdog, timeout, retries, baud
        self._given, self._wire = wire, None if isinstance(wire, str) else wire
        self._splitter, self._sequence = Splitter(), 0
        self.repeated = 0  # requests that had to be sent again
        self._one = threading.Lock()  # an emergency stop comes from another thread

    def open(self) -> None:
        """Say hello, declare safe state, limits and watchdog, and arm."""
        if isinstance(self._given, str):
            self._wire = SerialWire(self._given, self._baud)
        hello = self._ask("I", verb="V")
        if hello[:2] != ("pliant", VERSION):
            raise DeviceError(f"Device {self.name!r} speaks {' '.join(hello)!r}, not pliant {VERSION}.")
        known = set(pairs(tuple(f"{i}:0" for i in hello[2:])) or {})
        missing = [c.id for c in self.channels if c.id not in known]
        if missing:
            raise DeviceError(f"Device {self.name!r} has channels {sorted(known)}, not {missing}.")
        for channel in self.channels:
            low, high = channel.span
            safe = "hold" if channel.safe_counts is None else str(channel.safe_counts)
            self._ask("D", str(channel.id), str(low), str(high), safe)
        self._ask("W", str(round(1e3 * self.watchdog)))
        self._ask("G")

    def send(self, counts: Mapping[int, int]) -> None:
        """All at once, or none: the device takes a whole line or refuses it."""
        self._ask("S", *(f"{i}:{n}" for i, n in counts.items()))

    def counts(self) -> dict[int, int]:
        """Where the device says it is."""
        found = pairs(self._ask("Q", verb="R"))
        if found is None:
            raise DeviceError(f"Device {self.name!r} answers with no positions.")
        return found

    def safe(self) -> None:
        try:
            self._ask("Z")
        except DeviceError:
            return  # lost: its own watchdog does the rest

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()

    def _ask(self, what: str, *arguments: str, verb: str = "A") -> tuple[str, ...]:
        """Send a request until it is answered; an answer to another request does not count."""
        with self._one:
            return self._asked(what, arguments, verb)

    def _asked(self, what: str, arguments: tuple[str, ...], verb: str) -> tuple[str, ...]:
        wire = self._wire
        if wire is None:
            raise DeviceError(f"Device {self.name!r} is not open.")
        for attempt in range(self.retries + 1):
            self.repeated += attempt > 0
            self._sequence = (self._sequence + 1) % SEQUENCES
            wire.write(Line(self._sequence, what, arguments).encoded())
            answer = self._answer(wire)
            if answer is None:
                continue
            if answer.verb == "N" and answer.arguments == ("damaged",):
                continue
            if answer.verb != verb:
                reason = " ".join(answer.arguments) or answer.verb
                raise DeviceError(f"Device {self.name!r} refuses {what}: {reason}.")
            return answer.arguments
        raise DeviceError(f"Device {self.name!r} does not answer.")

    def _answer(self, wire: Wire) -> Line | None:
        """The answer to the last request; None if none came in time."""
        while True:
            data = wire.read(self.timeout)
            if not data:
                return None
            for line in self._splitter.feed(data):
                if line.sequence == self._sequence:
                    return line
