"""Pressure regulators on one serial line that obey text commands; see `pliant.hardware.regulator`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pliant.drive import Drive
from pliant.hardware.emulators.following import Following

_SET = re.compile(rb"([A-Z])S(\d{1,5}(?:\.\d{1,4})?)")


class Regulators:
    """Units by letter with their set points [kPa]; `accepted` is the log (time, letter, kPa).

    drive: how the pressure follows, in kPa; by default it is there at once.
    """

    def __init__(
        self, letters: Iterable[str] = "AB", *, full_scale: float = 200.0, drive: Drive | None = None
    ) -> None:
        self.set_point = dict.fromkeys(letters, 0.0)
        self.full_scale = full_scale
        self.accepted: list[tuple[float, str, float]] = []
        self._gauge = Following(drive, {ord(letter): 0.0 for letter in self.set_point})
        self._buffer = b""

    def tick(self, now: float) -> None:
        """They keep what they were told last."""

    def feed(self, data: bytes, now: float) -> bytes:
        """Answers to the whole commands among the bytes."""
        *lines, self._buffer = (self._buffer + data).split(b"\r")
        self._buffer = self._buffer[-64:]
        return b"".join(self._do(line, now) for line in lines)

    def _do(self, line: bytes, now: float) -> bytes:
        letter = line[:1].decode("latin-1")
        if letter not in self.set_point:
            return b""
        found = _SET.fullmatch(line)
        if found is not None and float(found[2]) <= self.full_scale:
            self.set_point[letter] = float(found[2])
            self._gauge.ask({ord(letter): float(found[2])}, now)
            self.accepted.append((now, letter, float(found[2])))
        elif len(line) != 1:
            return b"?\r"
        pressure = self._gauge.exactly(now)[ord(letter)]
        return f"{letter} {pressure:+09.3f} {self.set_point[letter]:+09.3f}\r".encode()
