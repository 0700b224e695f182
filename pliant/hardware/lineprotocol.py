"""The serial line protocol: text lines with a checksum, for microcontrollers. docs/hardware.md describes it.

    $<sequence> <verb> <arguments>*<CRC-32>\\n          $17 S 1:2048 2:1900*8F3A11C2

The checksum, eight hexadecimal digits, is CRC-32 (IEEE 802.3, as zlib's) of everything between $ and *. A `$`
begins a line anew, so that a line cut short costs no more than itself. firmware/pliant_serial has the other
end.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

LONGEST_LINE = 240  # bytes of a line, from $ to the last digit: what a small device keeps
SEQUENCES = 65536
_LINE = re.compile(rb"(\d{1,5}) ([A-Z])((?: [!-)+-~]{1,40}){0,20})\*([0-9A-F]{8})")


@dataclass(frozen=True)
class Line:
    """A request or an answer."""

    sequence: int
    verb: str
    arguments: tuple[str, ...] = ()

    def encoded(self) -> bytes:
        """As bytes on the wire."""
        body = " ".join([str(self.sequence), self.verb, *self.arguments]).encode("ascii")
        return b"$%s*%08X\n" % (body, zlib.crc32(body))


def decoded(raw: bytes) -> Line | None:
    """The line between $ and the line end, None if it is damaged."""
    match = _LINE.fullmatch(raw)
    if match is None or len(raw) > LONGEST_LINE:
        return None
    body = raw[: raw.rindex(b"*")]
    if zlib.crc32(body) != int(match[4], 16):
        return None
    sequence = int(match[1])
    if sequence >= SEQUENCES:
        return None
    return Line(sequence, match[2].decode(), tuple(match[3].decode().split()))


class Splitter:
    """Bytes to lines; `damaged` counts what had to be thrown away."""

    def __init__(self) -> None:
        self._buffer, self._inside = bytearray(), False
        self.damaged = 0

    def feed(self, data: bytes) -> list[Line]:
        """The whole lines that these bytes complete."""
        out = []
        for byte in data:
            if byte == 0x24:  # $
                self.damaged += self._inside
                self._buffer.clear()
                self._inside = True
            elif self._inside and byte in b"\r\n":
                line = decoded(bytes(self._buffer))
                self.damaged += line is None
                out += [] if line is None else [line]
                self._inside = False
            elif self._inside:
                self._buffer.append(byte)
                if len(self._buffer) > LONGEST_LINE:
                    self.damaged += 1
                    self._inside = False
        return out


def pairs(arguments: tuple[str, ...]) -> dict[int, int] | None:
    """id:counts of each argument; None if any is no such pair, or an id comes twice."""
    out: dict[int, int] = {}
    for argument in arguments:
        match = re.fullmatch(r"(\d{1,3}):(-?\d{1,10})", argument)
        if match is None or int(match[1]) in out or not -(2**31) <= int(match[2]) < 2**31:
            return None
        out[int(match[1])] = int(match[2])
    return out
