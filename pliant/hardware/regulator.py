"""Pressure regulators with a serial port and the usual text commands: "AS12.500" sets unit A to 12.5 kPa, and it answers

    A +012.48 +012.50        what it measures, and its set point

as those of Alicat do. There is no checksum: every answer must repeat the set point that was asked for, or it is asked again. There is
no watchdog either: let a guard hold the port (`pliant.hardware.Guarded`). Regulators that are set by a voltage hang on the DAC of a
microcontroller instead: `SerialLine` with channels of `Channel.valve`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence

from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError, checked_channels
from pliant.hardware.wire import SerialWire, Wire

_ANSWER = re.compile(rb"([A-Z]) ([+-]\d{1,5}\.\d{1,4}) ([+-]\d{1,5}\.\d{1,4})(?: .*)?")
STEP = 1e-3  # [kPa] of a count


class RegulatorBus:
    """Regulators on one line; channel id 0 is unit A. Counts are pascals: channels have gain 1 (`Regulator.channel`)."""

    def __init__(
        self,
        wire: Wire | str,
        channels: Sequence[Channel],
        *,
        baud: int = 19200,
        timeout: float = 0.05,
        retries: int = 2,
        name: str = "pressure",
    ) -> None:
        self.name, self.channels = name, checked_channels(name, channels)
        self.timeout, self.retries, self._baud, self._given = timeout, retries, baud, wire
        self._wire: Wire | None = None if isinstance(wire, str) else wire
        self.repeated = 0
        self._one = threading.Lock()  # an emergency stop comes from another thread

    @staticmethod
    def channel(row: str, id: int, *, full_scale: float) -> Channel:
        """A channel of one regulator, from 0 to `full_scale` [Pa]; safe is no pressure."""
        return Channel.valve(row, id, full_scale=full_scale, counts=(0, round(full_scale)))

    def open(self) -> None:
        """Every regulator must answer. All begin without pressure."""
        if isinstance(self._given, str):
            self._wire = SerialWire(self._given, self._baud)
        self.send({c.id: c.safe_counts or 0 for c in self.channels})

    def send(self, counts: Mapping[int, int]) -> None:
        for unit, pascals in counts.items():
            self._set(unit, pascals)

    def counts(self) -> dict[int, int]:
        """Measured pressures [Pa]."""
        return {c.id: round(self._ask(c.id, "")[0] / STEP) for c in self.channels}

    def safe(self) -> None:
        for channel in self.channels:
            try:
                self._set(channel.id, channel.safe_counts or 0)
            except DeviceError:
                continue  # the others still answer, perhaps

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()

    def _set(self, unit: int, pascals: int) -> None:
        asked = pascals * STEP
        self._ask(unit, f"S{asked:.3f}", asked)

    def _ask(self, unit: int, command: str, expected: float | None = None) -> tuple[float, float]:
        """Measured pressure and set point [kPa]."""
        with self._one:
            return self._asked(unit, command, expected)

    def _asked(self, unit: int, command: str, expected: float | None) -> tuple[float, float]:
        letter = chr(ord("A") + unit)
        if self._wire is None or unit > 25:
            raise DeviceError(f"Regulator {letter} of {self.name!r} is not open.")
        said = None
        for attempt in range(self.retries + 1):
            self.repeated += attempt > 0
            while self._wire.read(0.0):
                pass  # a late answer to another command
            self._wire.write(f"{letter}{command}\r".encode())
            said = self._answer(letter)
            if said is not None and (expected is None or abs(said[1] - expected) <= 0.5 * STEP):
                return said
        why = "does not answer" if said is None else f"repeats {said[1]:g} kPa instead of {expected:g}"
        raise DeviceError(f"Regulator {letter} of {self.name!r} {why}.")

    def _answer(self, letter: str) -> tuple[float, float] | None:
        assert self._wire is not None
        buffer = b""
        while not buffer.endswith(b"\r"):
            data = self._wire.read(self.timeout)
            if not data:
                return None
            buffer += data
        found = _ANSWER.fullmatch(buffer[:-1])
        if found is None or found[1].decode() != letter:
            return None
        return float(found[2]), float(found[3])
