"""Damage: what discs, wires, other programs and ill will do to files and messages.

Equal random generators do equal damage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
QUOTED = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
STRANGE = (
    b"nan", b"inf", b"-inf", b"-1", b"0", b"-0.0", b"1e308", b"-1e308", b"1e150", b"1e-320",
    b"1000000000000", b"2147483648", b"-9223372036854775809", b"18446744073709551616", b"9" * 5000,
    b"1.5", b"true", b"[]", b"x", b"",
)  # fmt: skip
EXTREMES = (0, 1, -1, 2**31 - 1, -(2**31), 10**12, 2**62, 2**63 - 1, -(2**63))
OPENINGS = (b"[", b"{", b'{"a":', b"a.", b"[[a]]\n", b"<a>", b"(", b"$")
LONGEST_INPUT = 200_000  # bytes that an input may grow to


@dataclass(frozen=True)
class Damage:
    """Changes bytes at random.

    `others` are valid inputs of the same kind, `words` strings that should do no harm, such as paths.
    """

    rng: np.random.Generator
    others: Sequence[bytes]
    words: Sequence[bytes]

    def __call__(self, data: bytes) -> bytes:
        """One to three changes."""
        for _ in range(int(self.rng.integers(1, 4))):
            change = CHANGES[int(self.rng.integers(len(CHANGES)))]
            data = change(self, data)[:LONGEST_INPUT]
        return data

    def _place(self, data: bytes) -> int:
        return int(self.rng.integers(len(data) + 1))

    def _chunk(self, data: bytes) -> tuple[int, int]:
        begin = self._place(data)
        return begin, min(len(data), begin + int(self.rng.geometric(0.05)))

    def _one(self, choices: Sequence[bytes]) -> bytes:
        return choices[int(self.rng.integers(len(choices)))] if choices else b""

    def truncate(self, data: bytes) -> bytes:
        return data[: self._place(data)]

    def flip(self, data: bytes) -> bytes:
        out = bytearray(data)
        for _ in range(int(self.rng.integers(1, 9)) if out else 0):
            out[int(self.rng.integers(len(out)))] ^= 1 << int(self.rng.integers(8))
        return bytes(out)

    def splice(self, data: bytes) -> bytes:
        other = self._one(self.others)
        return data[: self._place(data)] + other[self._place(other) :]

    def repeat(self, data: bytes) -> bytes:
        begin, end = self._chunk(data)
        return data[:end] + data[begin:end] * int(self.rng.integers(1, 20)) + data[end:]

    def delete(self, data: bytes) -> bytes:
        begin, end = self._chunk(data)
        return data[:begin] + data[end:]

    def overwrite(self, data: bytes) -> bytes:
        begin, end = self._chunk(data)
        return data[:begin] + self.rng.bytes(end - begin) + data[end:]

    def swap_numbers(self, data: bytes) -> bytes:
        """One number, or all of them, for strange ones."""
        matches = list(NUMBER.finditer(data))
        if not matches:
            return data
        if self.rng.random() < 0.1:
            return NUMBER.sub(lambda _: self._one(STRANGE[:-8]), data)
        one = matches[int(self.rng.integers(len(matches)))]
        return data[: one.start()] + self._one(STRANGE) + data[one.end() :]

    def swap_integers(self, data: bytes) -> bytes:
        """An extreme number in place of some bytes: counts and sizes that announce more than there is."""
        value, size = EXTREMES[int(self.rng.integers(len(EXTREMES)))], int(self.rng.choice([2, 4, 8]))
        raw = (value % 256**size).to_bytes(size, "little" if self.rng.random() < 0.7 else "big")
        begin = self._place(data)
        return data[:begin] + raw + data[begin + size :]

    def swap_words(self, data: bytes) -> bytes:
        """A quoted string for a path that leads elsewhere."""
        matches = list(QUOTED.finditer(data))
        if not matches:
            return data
        one = matches[int(self.rng.integers(len(matches)))]
        return data[: one.start() + 1] + self._one(self.words) + data[one.end() - 1 :]

    def nest(self, data: bytes) -> bytes:
        begin, depth = self._place(data), int(self.rng.choice([3, 100, 1000, 20_000]))
        return data[:begin] + self._one(OPENINGS) * depth + data[begin:]

    def behead(self, data: bytes) -> bytes:
        """Another beginning."""
        count = int(self.rng.integers(1, 9))
        head = (b"", b"\xef\xbb\xbf" + data[:count], self.rng.bytes(count), self._one(self.others)[:count])
        return head[int(self.rng.integers(len(head)))] + data[count:]

    def shuffle_lines(self, data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        if len(lines) < 2:
            return data
        i, j = self.rng.integers(len(lines), size=2).tolist()
        lines[i], lines[j] = lines[j], lines[i] if self.rng.random() < 0.5 else b""
        return b"".join(lines)


CHANGES: tuple[Callable[[Damage, bytes], bytes], ...] = (
    Damage.truncate,
    Damage.flip,
    Damage.splice,
    Damage.repeat,
    Damage.delete,
    Damage.overwrite,
    Damage.swap_numbers,
    Damage.swap_numbers,
    Damage.swap_integers,
    Damage.swap_words,
    Damage.nest,
    Damage.behead,
    Damage.shuffle_lines,
)
