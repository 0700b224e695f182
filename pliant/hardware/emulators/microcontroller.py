"""A microcontroller that speaks the line protocol, as firmware/pliant_serial does.

It keeps a log of all it accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pliant.drive import Drive
from pliant.hardware.emulators.following import Following
from pliant.hardware.lineprotocol import Line, Splitter, pairs

LONGEST_WATCHDOG = 10_000  # [ms]


class Microcontroller:
    """Channels by id with positions in counts. It moves only when armed; a silent master disarms it.

    accepted: (time, counts by id) of every command that was taken; `state` is "idle", "armed" or "safe".
    feedback: whether it measures where its channels are; if not, it knows of those that it has moved, as a
    board with hobby servos. drive: how its motors follow, in counts; by default they are there at once.
    """

    def __init__(
        self, ids: Iterable[int] = (1, 2, 3, 4), *, feedback: bool = True, drive: Drive | None = None
    ) -> None:
        self.position = dict.fromkeys(ids, 0)
        self._motors = Following(drive, self.position)
        self._known = set(self.position) if feedback else set()
        self.limits: dict[int, tuple[int, int]] = dict.fromkeys(self.position, (-(2**31), 2**31 - 1))
        self.safe_position: dict[int, int | None] = dict.fromkeys(self.position)
        self.watchdog = 0.0
        self.state, self.heard = "idle", 0.0
        self.accepted: list[tuple[float, dict[int, int]]] = []
        self.requests: list[Line] = []
        self._splitter = Splitter()

    @property
    def damaged(self) -> int:
        """Lines that were thrown away."""
        return self._splitter.damaged

    def tick(self, now: float) -> None:
        """The watchdog, and motors that go on."""
        if self.state == "armed" and now - self.heard > self.watchdog:
            self._go_safe(now)
        if self._motors.drive is not None:
            self.position |= self._motors.places(now)

    def feed(self, data: bytes, now: float) -> bytes:
        """Answers to the whole lines among the bytes."""
        self.tick(now)
        return b"".join(self._do(line, now).encoded() for line in self._splitter.feed(data))

    def _go_safe(self, now: float) -> None:
        self._move({i: n for i, n in self.safe_position.items() if n is not None}, now)
        self.state = "safe"

    def _move(self, counts: dict[int, int], now: float) -> None:
        self._motors.ask(counts, now)
        self.position |= counts if self._motors.drive is None else self._motors.places(now)
        self._known |= set(counts)

    def _do(self, line: Line, now: float) -> Line:
        self.requests.append(line)
        answer = {"I": self._hello, "D": self._declare, "W": self._watch, "S": self._set, "Q": self._tell}
        if line.verb in answer:
            verb, *words = answer[line.verb](line.arguments, now)
        elif line.arguments or line.verb not in "GZ":
            verb, words = "N", ["verb"]
        elif line.verb == "Z":
            self._go_safe(now)
            verb, words = "A", []
        elif not self.watchdog:
            verb, words = "N", ["watchdog"]
        else:
            self.state, self.heard = "armed", now
            verb, words = "A", []
        return Line(line.sequence, verb, tuple(words))

    def _hello(self, arguments: tuple[str, ...], now: float) -> tuple[str, ...]:
        return ("N", "arguments") if arguments else ("V", "pliant", "1", *map(str, self.position))

    def _declare(self, arguments: tuple[str, ...], now: float) -> tuple[str, ...]:
        """D id low high safe: only while it is not armed."""
        if self.state == "armed":
            return "N", "armed"
        if len(arguments) != 4 or not all(re.fullmatch(r"-?\d{1,10}", a) for a in arguments[:3]):
            return "N", "arguments"
        channel, low, high = map(int, arguments[:3])
        if channel not in self.position or low > high:
            return "N", "range"
        if arguments[3] == "hold":
            safe = None
        elif re.fullmatch(r"-?\d{1,10}", arguments[3]) and low <= int(arguments[3]) <= high:
            safe = int(arguments[3])
        else:
            return "N", "range"
        self.limits[channel], self.safe_position[channel] = (low, high), safe
        return ("A",)

    def _watch(self, arguments: tuple[str, ...], now: float) -> tuple[str, ...]:
        if len(arguments) != 1 or not re.fullmatch(r"\d{1,5}", arguments[0]):
            return "N", "arguments"
        if not 1 <= int(arguments[0]) <= LONGEST_WATCHDOG:
            return "N", "range"
        self.watchdog = 1e-3 * int(arguments[0])
        return ("A",)

    def _set(self, arguments: tuple[str, ...], now: float) -> tuple[str, ...]:
        each = [pairs((argument,)) for argument in arguments]
        named = [i for pair in each for i in pair or () if i in self.position]
        if not each or None in each or len(set(named)) < len(named):
            return "N", "arguments"
        if self.state != "armed":
            return "N", "safe"
        if len(named) < len(each):
            return "N", "channel"
        counts = pairs(arguments) or {}
        if any(not self.limits[i][0] <= n <= self.limits[i][1] for i, n in counts.items()):
            return "N", "range"
        self._move(counts, now)
        self.heard = now
        self.accepted.append((now, counts))
        return ("A",)

    def _tell(self, arguments: tuple[str, ...], now: float) -> tuple[str, ...]:
        if arguments:
            return "N", "arguments"
        return "R", *(f"{i}:{n}" for i, n in self.position.items() if i in self._known)
