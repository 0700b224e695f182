"""The output stage: a frame's commands through limits to devices, and the safe state. Everything that reaches a wire goes through here."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError, unknown_name
from pliant.hardware.channel import Channel
from pliant.hardware.device import Actuator, DeviceError, Feedback


def commanded(frame: Any, channel: Channel) -> float:
    """What a frame of a session, or an outcome of the inverse model, asks of a channel, in SI units."""
    if channel.quantity == "effort":
        values = frame.effort
    else:
        inverse = getattr(frame, "mode", "inverse") == "inverse"
        values = frame.command if inverse else frame.displacement
    value = np.asarray(values[channel.row], float)
    if value.shape != (1,) and value.shape != ():
        raise InputError(f"command of {channel.row!r}", expected="one number", got=f"shape {value.shape}")
    return float(value.reshape(-1)[0])


class Output:
    """Devices behind soft limits and rate limits. `dry`: devices are never touched.

    state: "off" → "open" → "safe". From "safe" nothing is sent any more until it is opened again. Safe may be called from
    any thread; a lock keeps a command from slipping in behind it.
    """

    def __init__(self, actuators: Iterable[Actuator], *, dry: bool = False) -> None:
        self.actuators, self.dry = tuple(actuators), dry
        for device in self.actuators:
            if not isinstance(device, Actuator):
                raise InputError("actuator", expected="a device with channels", got=type(device).__name__)
        rows = [c.row for device in self.actuators for c in device.channels]
        if len(set(rows)) < len(rows):
            raise InputError("channels", expected="one for each row", got=str(rows))
        self.channels = {c.row: c for device in self.actuators for c in device.channels}
        self.state, self.last = "off", {}
        self._opened: list[Actuator] = []
        self._lock = threading.Lock()

    def check_rows(self, known: Sequence[str]) -> None:
        """Every channel must drive one of these rows."""
        for row in self.channels:
            if row not in known:
                raise unknown_name("row of a channel", row, known)

    def described(self) -> dict[str, dict[str, Any]]:
        """The channels in plain data, by row."""
        return {
            c.row: {
                "device": device.name,
                "id": c.id,
                "quantity": c.quantity,
                "gain": c.gain,
                "zero": c.zero,
                "sign": c.sign,
                "safe": c.safe,
            }
            for device in self.actuators
            for c in device.channels
        }

    def open(self) -> None:
        """Open all devices; if one fails, those that are open go to their safe state."""
        with self._lock:
            self.state, self.last = "open", {}
        try:
            for device in () if self.dry else self.actuators:
                self._opened.append(device)
                device.open()
                if isinstance(device, Feedback):
                    present = device.counts()
                    self.last |= {c.row: c.value(present[c.id]) for c in device.channels if c.id in present}
        except BaseException:
            self.safe()
            self.close()
            raise

    def limited(self, frame: Any, elapsed: float) -> tuple[dict[str, float], list[str]]:
        """Commands in SI units by row, within soft limits and rates over `elapsed` [s]; and which limits they met."""
        values, met = {}, []
        for row, channel in self.channels.items():
            asked = commanded(frame, channel)
            if not np.isfinite(asked):
                raise DeviceError(f"The command of {row!r} is {asked}.")
            value = min(max(asked, channel.limits[0]), channel.limits[1])
            if value != asked:
                met.append(f"{row}: soft limit")
            if row in self.last and np.isfinite(channel.rate):
                reach = channel.rate * elapsed
                slower = min(max(value, self.last[row] - reach), self.last[row] + reach)
                if slower != value:
                    met.append(f"{row}: rate")
                value = min(max(slower, channel.limits[0]), channel.limits[1])
            values[row] = value
        return values, met

    def send(self, values: Mapping[str, float]) -> dict[str, int]:
        """To the devices, as counts by row; returns them. Nothing is sent unless open."""
        counts = {row: self.channels[row].counts(value) for row, value in values.items()}
        with self._lock:
            if self.state != "open":
                return {}
            for device in () if self.dry else self.actuators:
                device.send({c.id: counts[c.row] for c in device.channels})
            self.last = dict(values)
        return counts

    def safe(self) -> None:
        """All devices to their safe state. Never raises; what is open goes on to the next device."""
        with self._lock:
            self.state = "safe" if self.state != "off" else "off"
            for device in self._opened:
                try:
                    device.safe()
                except Exception:
                    continue

    def close(self) -> None:
        """Let go of all devices."""
        with self._lock:
            for device in self._opened:
                try:
                    device.close()
                except Exception:
                    continue
            self._opened, self.state = [], "off"
