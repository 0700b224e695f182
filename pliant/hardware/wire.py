"""Wires: bytes to and from a device."""

from __future__ import annotations

from typing import Any, Protocol

from pliant.errors import MissingExtraError
from pliant.hardware.device import DeviceError


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
            # write_timeout: a device that takes nothing more must not hold up the loop
            self._serial: Any = serial.Serial(port, baud, timeout=0, write_timeout=0.1, exclusive=True)
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
