"""A wire to an emulated device, in memory and on a clock of its own: delays and losses without waiting."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from pliant.hardware.device import DeviceError


class Emulated(Protocol):
    """A device in software: bytes in, bytes out; time passes when it is told."""

    def feed(self, data: bytes, now: float) -> bytes:
        """What it answers to bytes that arrive at a time [s]."""
        ...

    def tick(self, now: float) -> None:
        """Time passes: watchdogs run."""
        ...


class FakeClock:
    """A clock that moves when someone waits."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        """[s]."""
        return self.time

    def wait_until(self, time: float) -> None:
        """Until a time [s]."""
        self.time = max(self.time, time)

    def advance(self, seconds: float) -> None:
        """Later."""
        self.time += seconds


class EmulatedWire:
    """Bytes to and from an emulated device.

    `out` and `back` may change what passes (corrupt, drop); answers come `delay` [s] late; `cut` is a lost
    cable.
    """

    def __init__(self, device: Emulated, clock: FakeClock) -> None:
        self.device, self.clock = device, clock
        self.out: Callable[[bytes], bytes] = lambda data: data
        self.back: Callable[[bytes], bytes] = lambda data: data
        self.delay, self.cut = 0.0, False
        self._coming: deque[tuple[float, bytes]] = deque()

    def write(self, data: bytes) -> None:
        """To the device."""
        if self.cut:
            raise DeviceError("The wire is cut.")
        now = self.clock.now()
        self.device.tick(now)
        answer = self.back(self.device.feed(self.out(data), now))
        if answer:
            self._coming.append((now + self.delay, answer))

    def read(self, timeout: float) -> bytes:
        """From the device; waiting moves the clock."""
        if self.cut:
            raise DeviceError("The wire is cut.")
        end = self.clock.now() + timeout
        if self._coming and self._coming[0][0] <= end:
            when, data = self._coming.popleft()
            self.clock.wait_until(when)
            return data
        self.clock.wait_until(end)
        self.device.tick(self.clock.now())
        return b""

    def close(self) -> None:
        """Nothing to let go of."""
