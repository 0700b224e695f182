"""Pressure regulators with a serial port and the usual text commands.

"AS12.500" sets unit A to 12.5 kPa, and it answers

    A +012.48 +012.50        what it measures, and its set point

as those of Alicat do. There is no checksum: every answer must repeat the set point that was asked for, or it
is asked again. There is no watchdog either: let a guard hold the port (`pliant.hardware.Guarded`). Regulators
that are set by a voltage hang on the DAC of a microcontroller instead: `SerialLine` with channels of
`Channel.valve`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pliant.errors import InputError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError
from pliant.hardware.wire import Ear, OnAWire, Wire, clear

_ANSWER = re.compile(rb"([A-Z]) ([+-]\d{1,5}\.\d{1,4}) ([+-]\d{1,5}\.\d{1,4})(?: .*)?")
KPA_PER_COUNT = 1e-3  # [kPa] of a count


class RegulatorBus(OnAWire):
    """Regulators on one line; channel id 0 is unit A.

    Counts are pascals: channels have gain 1 (`RegulatorBus.channel`).

    The safe state is the `safe` pressure of each channel, or none: pressure is not something to hold still
    with.
    """

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
        super().__init__(name, channels, wire, baud=baud, timeout=timeout, retries=retries)
        for channel in self.channels:
            if channel.quantity != "effort":
                raise InputError(
                    f"channel of {channel.row!r} on {name!r}",
                    expected="quantity effort, a pressure [Pa]",
                    got=channel.quantity,
                )
            if channel.id > 25:
                raise InputError(
                    f"id of the channel of {channel.row!r}",
                    expected="0 … 25, for units A … Z",
                    got=channel.id,
                )

    @staticmethod
    def channel(row: str, id: int, *, full_scale: float) -> Channel:
        """A channel of one regulator, from 0 to `full_scale` [Pa]; safe is no pressure."""
        return Channel.valve(row, id, full_scale=full_scale, counts=(0, round(full_scale)))

    def open(self) -> None:
        """Every regulator must answer. All begin in the safe state."""
        self._plug_in()
        self.send({c.id: c.safe_counts or 0 for c in self.channels})

    def send(self, counts: Mapping[int, int]) -> None:
        for unit, pascals in counts.items():
            self._set(unit, pascals)

    def counts(self) -> dict[int, int]:
        """Measured pressures [Pa]."""
        return {c.id: round(self._ask(c.id, "")[0] / KPA_PER_COUNT) for c in self.channels}

    def safe(self) -> None:
        """Each is told once, before those that did not answer are told again."""
        silent = []
        with self._one:
            retries, self.retries = self.retries, 0
            for channel in self.channels:
                try:
                    self._set(channel.id, channel.safe_counts or 0)
                except DeviceError:
                    silent.append(channel)
            self.retries = retries
            for channel in silent:
                with suppress(DeviceError):
                    self._set(channel.id, channel.safe_counts or 0)

    def _set(self, unit: int, pascals: int) -> None:
        asked = pascals * KPA_PER_COUNT
        self._ask(unit, f"S{asked:.3f}", asked)

    def _ask(self, unit: int, command: str, expected: float | None = None) -> tuple[float, float]:
        """Measured pressure and set point [kPa]."""
        letter = chr(ord("A") + unit)
        said = None
        with self._one:
            wire = self._plugged()
            for _ in self._attempts():
                clear(wire)
                wire.write(f"{letter}{command}\r".encode())
                said = self._answer(wire, letter)
                if said is not None and (expected is None or abs(said[1] - expected) <= 0.5 * KPA_PER_COUNT):
                    return said
        why = "does not answer" if said is None else f"repeats {said[1]:g} kPa instead of {expected:g}"
        raise DeviceError(f"Regulator {letter} of {self.name!r} {why}.")

    def _answer(self, wire: Wire, letter: str) -> tuple[float, float] | None:
        ear, buffer = Ear(wire, self.timeout), b""
        while not buffer.endswith(b"\r"):
            data = ear.read()
            if not data:
                return None
            buffer += data
        match = _ANSWER.fullmatch(buffer[:-1])
        if match is None or match[1].decode() != letter:
            return None
        return float(match[2]), float(match[3])
