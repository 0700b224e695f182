"""What drives and sensors are: two small protocols, and the errors of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.errors import InputError, PliantError, unknown_name
from pliant.hardware.channel import Channel


class DeviceError(PliantError):
    """A device that does not answer, refuses, or is gone. The loop goes to the safe state."""


@runtime_checkable
class Actuator(Protocol):
    """A device with channels.

    `safe` brings it to its declared safe state: it must not raise, and may be called at any time.

    Devices with a watchdog have `arm`, which starts it; it is called when all devices of a loop are open.
    """

    name: str
    channels: tuple[Channel, ...]

    def open(self) -> None:
        """Connect, declare the safe state. DeviceError if that fails."""
        ...

    def send(self, counts: Mapping[int, int]) -> None:
        """Set channels by id. DeviceError unless the device took them."""
        ...

    def safe(self) -> None:
        """The declared safe state, as well as it can be reached."""
        ...

    def close(self) -> None:
        """Let go of the port."""
        ...


@runtime_checkable
class Feedback(Protocol):
    """An actuator that tells where it is."""

    def counts(self) -> dict[int, int]:
        """Present counts by channel id; a channel is left out if the device cannot know."""
        ...


@dataclass(frozen=True, eq=False)
class Reading:
    """What a sensor measured: values by row name (m,) [SI], and when [s] on the loop's clock it came in."""

    time: float
    values: Mapping[str, np.ndarray]


@runtime_checkable
class Sensor(Protocol):
    """A device that measures rows.

    `read` gives the newest reading that it has not given yet, without waiting.
    """

    name: str

    def open(self) -> None:
        """Connect."""
        ...

    def read(self) -> Reading | None:
        """The newest reading since the last call, or None."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


def checked_channels(name: str, channels: Sequence[Channel]) -> tuple[Channel, ...]:
    """Channels with different ids and rows."""
    channels = tuple(channels)
    if not channels:
        raise InputError(f"device {name!r}", expected="at least one channel", got="none")
    for what in ("id", "row"):
        values = [getattr(c, what) for c in channels]
        if len(set(values)) < len(values):
            raise InputError(f"channels of {name!r}", expected=f"different {what}s", got=str(values))
    return channels


def zero(device: Any, at: Mapping[str, float] | None = None) -> tuple[Channel, ...]:
    """Zeroing: take the device's present counts for these values by row (0 if not named).

    Opens and closes the device; do this before a loop has it. Returns the new channels, whose `zero` can be
    kept in a project file.
    """
    if not hasattr(device, "counts"):
        raise InputError("device to zero", expected="one that tells its counts", got=type(device).__name__)
    given: tuple[Channel, ...] = device.channels
    for row in at or {}:
        if row not in [c.row for c in given]:
            raise unknown_name("row of a channel", row, [c.row for c in given])
    device.channels = tuple(replace(c, safe=None) for c in given)  # nothing may move by the old zero
    try:
        device.open()
        present = device.counts()
    finally:
        device.safe()
        device.close()
        device.channels = given
    unknown = [c.row for c in given if c.id not in present]
    if unknown:
        raise DeviceError(f"Device {device.name!r} does not know where {unknown} stand: zero them by hand.")
    device.channels = tuple(c.zeroed(present[c.id], (at or {}).get(c.row, 0.0)) for c in given)
    return device.channels
