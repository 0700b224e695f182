"""A microcontroller on a serial port that speaks the line protocol.

It may drive servos, stepper drives, or the DACs of pressure regulators.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pliant.errors import InputError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError
from pliant.hardware.lineprotocol import LONGEST_LINE, SEQUENCES, Line, Splitter, pairs
from pliant.hardware.wire import Ear, OnAWire, Wire

VERSION = "1"


class SilentError(DeviceError):
    """No answer came."""


class SerialLine(OnAWire):
    """An actuator behind a wire or a port.

    watchdog [s]: without a valid command for so long, the device goes to its safe state by itself, whatever
    happened to us. timeout [s] for an answer; a request is repeated `retries` times before the device counts
    as lost. boot [s]: how long it may take until it says hello; opening a port resets an Arduino.
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
        boot: float = 3.0,
        name: str = "serial",
    ) -> None:
        super().__init__(name, channels, wire, baud=baud, timeout=timeout, retries=retries)
        longest = Line(SEQUENCES - 1, "S", tuple(f"{c.id}:{-(2**31)}" for c in self.channels)).encoded()
        if len(longest) > LONGEST_LINE:
            got = f"{len(self.channels)}, whose command takes up to {len(longest)} bytes"
            raise InputError(
                f"channels of {name!r}",
                expected=f"as many as fit a line of {LONGEST_LINE} bytes",
                got=got,
                hint="Spread them over two devices.",
            )
        if not 1 <= round(1e3 * watchdog) <= 10_000:
            raise InputError(f"watchdog of {name!r}", expected="from 0.001 to 10 s", got=watchdog)
        self.watchdog, self.boot = watchdog, boot
        self._splitter, self._sequence, self._armed = Splitter(), 0, False

    def open(self) -> None:
        """Say hello; declare the soft limits that the device enforces, its safe state and its watchdog."""
        self._plug_in()
        self._armed = False
        hello = self._hello()
        if hello[:2] != ("pliant", VERSION):
            raise DeviceError(f"Device {self.name!r} speaks {' '.join(hello)!r}, not pliant {VERSION}.")
        known = set(pairs(tuple(f"{i}:0" for i in hello[2:])) or {})
        missing = [c.id for c in self.channels if c.id not in known]
        if missing:
            raise DeviceError(f"Device {self.name!r} has channels {sorted(known)}, not {missing}.")
        for channel in self.channels:
            low, high = channel.bounds
            safe = "hold" if channel.safe_counts is None else str(channel.safe_counts)
            self._ask("D", str(channel.id), str(low), str(high), safe)
        self._ask("W", str(round(1e3 * self.watchdog)))

    def arm(self) -> None:
        """From now on it moves, and its watchdog runs."""
        self._ask("G")
        self._armed = True

    def send(self, counts: Mapping[int, int]) -> None:
        """All at once, or none: the device takes a whole line or refuses it."""
        if not self._armed:
            self.arm()
        self._ask("S", *(f"{i}:{n}" for i, n in counts.items()))

    def counts(self) -> dict[int, int]:
        """Where the device says it is; a channel that it cannot know of is left out."""
        counts = pairs(self._ask("Q", verb="R"))
        if counts is None:
            raise DeviceError(f"Device {self.name!r} answers with no positions.")
        return counts

    def safe(self) -> None:
        try:
            self._ask("Z")
        except DeviceError:
            return  # lost: its own watchdog does the rest

    def _hello(self) -> tuple[str, ...]:
        """Its answer to "who are you", waiting until it has booted."""
        rounds = max(1, math.ceil(self.boot / (self.timeout * (self.retries + 1))))
        for _ in range(rounds):
            with suppress(SilentError):
                hello = self._ask("I", verb="V")
                self.repeated = 0
                return hello
            if self.hurried:
                break
        raise SilentError(
            f"Device {self.name!r} does not answer: is firmware/pliant_serial on the board, "
            f"and is {self._baud} its baud rate?"
        )

    def _ask(self, what: str, *arguments: str, verb: str = "A") -> tuple[str, ...]:
        """Send a request until it is answered; an answer to another request does not count."""
        with self._one:
            wire = self._plugged()
            for _ in self._attempts():
                self._sequence = (self._sequence + 1) % SEQUENCES
                wire.write(Line(self._sequence, what, arguments).encoded())
                answer = self._answer(wire)
                if answer is None:
                    continue
                if answer.verb != verb:
                    reason = " ".join(answer.arguments) or answer.verb
                    raise DeviceError(f"Device {self.name!r} refuses {what}: {reason}.")
                return answer.arguments
        raise SilentError(f"Device {self.name!r} does not answer.")

    def _answer(self, wire: Wire) -> Line | None:
        """The answer to the last request; None if none came in time."""
        ear = Ear(wire, self.timeout)
        while data := ear.read():
            for line in self._splitter.feed(data):
                if line.sequence == self._sequence:
                    return line
        return None
