"""The output stage: a frame's commands through limits to devices, and the safe state.

Everything that reaches a wire goes through here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from pliant.errors import InputError, unknown_name
from pliant.hardware.channel import Channel
from pliant.hardware.device import Actuator, DeviceError, Feedback

# How far beyond its soft limits a device may stand when it is armed
TOLERATED_SHARE, TOLERATED_COUNTS = 0.05, 10  # of the range between them, and in counts


def commanded(frame: Any, channel: Channel) -> float:
    """What a frame of a session, or an outcome of the inverse model, asks of a channel, in SI units."""
    if channel.quantity == "effort":
        values = frame.effort
    else:
        inverse = getattr(frame, "mode", "inverse") == "inverse"
        values = frame.command if inverse else frame.displacement
    if channel.row not in values:
        raise unknown_name("row with a command", channel.row, values)
    value = np.asarray(values[channel.row], float)
    if value.shape != (1,) and value.shape != ():
        raise InputError(f"command of {channel.row!r}", expected="one number", got=f"shape {value.shape}")
    return float(value.reshape(-1)[0])


class _Slot:
    """A device, and a lock: one thread talks to it at a time."""

    def __init__(self, device: Actuator) -> None:
        self.device: Any = device  # it may have more than an Actuator must
        self.lock, self.used = threading.RLock(), False  # a driver may press the stop itself

    def _hurry(self, on: bool) -> None:
        if hasattr(self.device, "hurried"):
            self.device.hurried = on

    def retreat(self, *, wait: bool) -> bool:
        """The safe state, whatever the driver does; False if another thread still talks to the device.

        That thread is told to hurry.
        """
        if not self.lock.acquire(blocking=wait):
            self._hurry(True)
            return False
        try:
            self._hurry(False)
            if self.used:
                self.device.safe()
        except Exception:
            pass  # the next device counts as much
        except BaseException:  # an impatient Ctrl+C: not before this is done
            with suppress(BaseException):
                self.device.safe()
        finally:
            self.lock.release()
        return True


class Output:
    """Devices behind soft limits and rate limits.

    `dry`: devices are never touched. longest [s]: rate limits do not let a late command make up for more.

    state: "off" → "opening" → "open" → "safe". From "safe" nothing is sent any more until it is opened again.
    Safe may be called from any thread; locks keep a command from slipping in behind it.
    """

    def __init__(self, actuators: Iterable[Actuator], *, dry: bool = False, longest: float = np.inf) -> None:
        self.actuators, self.dry, self.longest = tuple(actuators), dry, longest
        for device in self.actuators:
            if not isinstance(device, Actuator):
                raise InputError("actuator", expected="a device with channels", got=type(device).__name__)
        rows = [c.row for device in self.actuators for c in device.channels]
        if len(set(rows)) < len(rows):
            raise InputError("channels", expected="one for each row", got=str(rows))
        self.channels = {c.row: c for device in self.actuators for c in device.channels}
        self.state, self.last = "off", {}
        self._slots = [] if dry else [_Slot(device) for device in self.actuators]
        self._turning = threading.Lock()  # of the state

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
        """Open all devices, then arm them: their watchdogs must not wait for those that are slow to open.

        If one fails, or the safe state is called for meanwhile, those that are open go there.
        """
        self.state = "opening"
        self.last = {row: c.safe for row, c in self.channels.items() if c.safe is not None}
        try:
            for act in (self._connect, lambda device: getattr(device, "arm", lambda: None)()):
                for slot in self._slots:
                    with slot.lock:
                        if self.state != "opening":
                            return
                        slot.used = True
                        act(slot.device)
            self._turn("opening", "open")
        except BaseException:
            self.safe()
            self.close()
            raise

    def _turn(self, before: str, after: str) -> None:
        """From one state to another, unless it is in a third."""
        with self._turning:
            self.state = after if self.state == before else self.state

    def _connect(self, device: Actuator) -> None:
        """Open it, and see where it stands: rate limits begin there."""
        device.open()
        present = device.counts() if isinstance(device, Feedback) else {}
        for channel in device.channels:
            if channel.id in present:
                self.last[channel.row] = _standing(channel, present[channel.id])

    def limited(self, frame: Any, elapsed: float) -> tuple[dict[str, float], list[str]]:
        """Commands in SI units by row, within rates over `elapsed` [s] and within soft limits; and which
        limits they met. A time that is negative or no number, because a clock was set back, counts as none.
        """
        elapsed = min(elapsed, self.longest) if elapsed > 0 else 0.0
        values, met = {}, []
        for row, channel in self.channels.items():
            asked = commanded(frame, channel)
            if not np.isfinite(asked):
                raise DeviceError(f"The command of {row!r} is {asked}.")
            value = min(max(asked, channel.limits[0]), channel.limits[1])
            if value != asked:
                met.append(f"{row}: soft limit")
            inside = channel.within(value)
            if inside != value:
                met.append(f"{row}: range of the device")
                value = inside
            if row in self.last and np.isfinite(channel.rate):
                reach = channel.rate * elapsed
                slower = min(max(value, self.last[row] - reach), self.last[row] + reach)
                if slower != value:
                    met.append(f"{row}: rate")
                value = slower
            values[row] = value
        return values, met

    def send(self, values: Mapping[str, float]) -> dict[str, int]:
        """To the devices, as counts by row; returns them.

        Nothing is sent unless open, and nothing beyond soft limits, whatever was asked for.
        """
        values = {row: self.channels[row].within(value) for row, value in values.items()}
        counts = {row: self.channels[row].counts(value) for row, value in values.items()}
        for slot in self._slots:
            with slot.lock:
                if self.state != "open":
                    return {}
                slot.device.send({c.id: counts[c.row] for c in slot.device.channels})
        if self.state != "open":
            return {}
        self.last = dict(values)
        return counts

    def safe(self) -> None:
        """All devices to their safe state, those first that no other thread talks to. Never raises."""
        self._turn("opening", "safe")
        self._turn("open", "safe")
        waiting = self._slots
        for wait in (False, True):
            waiting = [slot for slot in waiting if not slot.retreat(wait=wait)]

    def close(self) -> None:
        """Let go of all devices."""
        for slot in self._slots:
            with slot.lock, suppress(Exception):
                if slot.used:
                    slot.used = False
                    slot.device.close()
        self.state = "off"


def _standing(channel: Channel, counts: int) -> float:
    """The value at which a device stands, within the limits.

    A stroke or angle far outside of them has a wrong zero: where would it go?
    """
    value, (low, high) = channel.value(counts), channel.limits
    nearest = min(max(value, low), high)
    tolerated = max(
        TOLERATED_COUNTS / channel.gain, TOLERATED_SHARE * (high - low) if np.isfinite(high - low) else 0.0
    )
    if channel.quantity == "displacement" and abs(value - nearest) > tolerated:
        raise DeviceError(
            f"{channel.row!r} stands at {value:.4g} ({counts} counts), "
            f"outside its limits {low:g} … {high:g}: "
            "bring it there by hand, or zero it with pliant.hardware.zero."
        )
    return nearest
