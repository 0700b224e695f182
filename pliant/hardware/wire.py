"""Wires: bytes to and from a device, and what the drivers behind one have in common."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Protocol

from pliant.errors import MissingExtraError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError, checked_channels

# [s] for which a device may take nothing before it is lost. That includes what this machine stalls.
WRITE_TIMEOUT = 1.0
MOST_BYTES = 4096  # bytes: no answer is so long, nor is there so much to clear away


class Wire(Protocol):
    """Bytes out, bytes in. DeviceError when the cable is gone."""

    def write(self, data: bytes) -> None:
        """Send."""
        ...

    def read(self, timeout: float) -> bytes:
        """What has come in, waiting at most `timeout` [s] for the first byte; b"" if nothing came."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class SerialWire:
    """A serial port, such as /dev/ttyUSB0 or COM3."""

    def __init__(self, port: str, baud: int = 115200) -> None:
        try:
            import serial
        except ImportError as error:
            raise MissingExtraError("A serial port", "hardware") from error
        self.port = port
        self._lost: tuple[type[Exception], ...] = (serial.SerialException, OSError)
        try:
            self._serial: Any = serial.Serial(
                port, baud, timeout=0, write_timeout=WRITE_TIMEOUT, exclusive=True
            )
        except (*self._lost, ValueError) as error:
            raise DeviceError(f"Serial port {port} cannot be opened: {error}.") from error

    def write(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except self._lost as error:
            raise DeviceError(f"Serial port {self.port} is lost: {error}.") from error

    def read(self, timeout: float) -> bytes:
        try:
            waiting = self._serial.in_waiting
            if not waiting:
                self._serial.timeout = max(timeout, 0.0)
                first = self._serial.read(1)
                self._serial.timeout = 0
                return first + self._serial.read(self._serial.in_waiting) if first else b""
            return self._serial.read(waiting)
        except self._lost as error:
            raise DeviceError(f"Serial port {self.port} is lost: {error}.") from error

    def close(self) -> None:
        self._serial.close()


class Ear:
    """Listens for one answer: for some seconds, and not for ever to a device that babbles."""

    def __init__(self, wire: Wire, seconds: float) -> None:
        self.wire, self.seconds = wire, seconds
        self._end, self._left = None, MOST_BYTES

    def read(self) -> bytes:
        """What came in; b"" when the time is up, or more came than an answer may be long."""
        if self._left <= 0 or (self._end is not None and monotonic() > self._end):
            return b""
        self._end = monotonic() + self.seconds if self._end is None else self._end
        data = self.wire.read(self.seconds)
        self._left -= len(data)
        return data


def clear(wire: Wire) -> None:
    """Throw away what has come in: late answers to other questions."""
    left = MOST_BYTES
    while left > 0 and (data := wire.read(0.0)):
        left -= len(data)


class OnAWire:
    """What actuators behind a wire or a port share: one request at a time, repeated `retries` times.

    timeout [s] for an answer. `hurried`: someone waits for the safe state, so requests are not repeated any
    more.
    """

    def __init__(
        self,
        name: str,
        channels: Sequence[Channel],
        wire: Wire | str,
        *,
        baud: int,
        timeout: float,
        retries: int,
    ) -> None:
        self.name, self.channels = name, checked_channels(name, channels)
        self.timeout, self.retries, self.hurried = timeout, retries, False
        self.repeated = 0  # requests that had to be sent again
        self._given, self._baud = wire, baud
        self._wire: Wire | None = None if isinstance(wire, str) else wire
        self._one = threading.RLock()  # an emergency stop comes from another thread

    def close(self) -> None:
        """Let go of the port."""
        if self._wire is not None:
            self._wire.close()

    def _plug_in(self) -> Wire:
        """The wire; a port is opened."""
        if isinstance(self._given, str):
            self.close()  # of an attempt before: a port has one user
            self._wire = SerialWire(self._given, self._baud)
        return self._plugged()

    def _plugged(self) -> Wire:
        if self._wire is None:
            raise DeviceError(f"Device {self.name!r} is not open.")
        return self._wire

    def _attempts(self) -> Iterator[int]:
        """Once, and again while nobody is in a hurry."""
        for attempt in range(self.retries + 1):
            if attempt and self.hurried:
                return
            self.repeated += attempt > 0
            yield attempt
