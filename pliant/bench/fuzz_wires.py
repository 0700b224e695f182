"""The messages that pliant reads from sockets and serial lines, for `pliant bench fuzz`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bench.fuzz_kind import Kind
from pliant.bench.fuzz_mutation import Damage
from pliant.hardware import Channel, Dynamixel, RegulatorBus, SerialLine
from pliant.hardware.emulators import DynamixelBus, EmulatedWire, FakeClock, Microcontroller, Regulators
from pliant.hardware.emulators.dynamixel import HEADER, packet
from pliant.hardware.lineprotocol import Line, Splitter
from pliant.io.streams import Frame, JsonUdp, NatNet
from pliant.io.streams.emulator import encode_frame
from pliant.io.streams.json_udp import message_of
from pliant.io.streams.natnet_wire import SERVER_INFO, message

LOCAL = "127.0.0.1"
SERVOS = tuple(Channel.spool(f"cable {k}", k, radius=0.01, safe=0.0) for k in (1, 2))
Split = Callable[[bytes], list[bytes]]
VALVES = (RegulatorBus.channel("chamber", 0, full_scale=1e5),)


def _frames() -> list[Frame]:
    points = np.array([[0.1, 0.2, 0.3], [np.nan] * 3])
    return [Frame(1.5, points, ("1:2", "1:3")), Frame(2.5, points), Frame(3.5, np.zeros((0, 3)))]


# Datagrams of markers


@cache
def _json() -> JsonUdp:
    return JsonUdp(0, host=LOCAL)


def _natnet_seeds(_: Path) -> list[bytes]:
    frames = [encode_frame(f, 7, version, full=True) for f in _frames() for version in ((3, 0), (4, 1))]
    return [*frames, message(SERVER_INFO, b"Server".ljust(256, b"\0") + bytes([1, 0, 0, 0, 4, 1, 0, 0]))]


@cache
def _natnet() -> NatNet:
    return NatNet(LOCAL, interface=LOCAL)


def _natnet_read(data: bytes, _: Path) -> bool:
    """As the newest version and as the oldest."""
    source = _natnet()
    before = source.rejected
    for version in ((3, 0), (4, 1)):
        source.version = version
        source.decode(data, (LOCAL, 0))
    return source.rejected < before + 2


# Answers of devices


class Scripted:
    """A wire that answers as often as an emulated device would, but with the next parts of a script."""

    def __init__(self, script: bytes, device: Any, split: Split) -> None:
        self._parts, self._device, self._split, self._coming = split(script), device, split, b""

    def write(self, data: bytes) -> None:
        """So many answers are due."""
        due = len(self._split(self._device.feed(data, 0.0)))
        self._coming += b"".join(self._parts[:due])
        del self._parts[:due]

    def read(self, timeout: float) -> bytes:
        """All of it at once, or nothing."""
        out, self._coming = self._coming, b""
        return out

    def close(self) -> None:
        """Nothing to let go of."""


def _spoken(device: Any, drive: Callable[[Any], Any]) -> bytes:
    """All that an emulated device says while it is opened, driven and read."""
    said: list[bytes] = []
    wire = EmulatedWire(device, FakeClock())
    wire.back = lambda data: said.append(data) or data
    _driven(drive(wire))
    return b"".join(said)


def _driven(drive: Any) -> bool:
    drive.open()
    drive.send({channel.id: 100 for channel in drive.channels})
    counts = drive.counts()
    drive.safe()
    return set(counts) == {channel.id for channel in drive.channels}


def _board() -> Microcontroller:
    return Microcontroller([1, 2])


def _servos() -> DynamixelBus:
    return DynamixelBus([1, 2])


def _line(wire: Any) -> SerialLine:
    return SerialLine(wire, SERVOS, boot=0.05)


def _bus(wire: Any) -> Dynamixel:
    return Dynamixel(wire, SERVOS)


def _valves(wire: Any) -> RegulatorBus:
    return RegulatorBus(wire, VALVES)


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _packets(data: bytes) -> list[bytes]:
    """Parts that begin with a packet's head."""
    first, *parts = data.split(HEADER)
    return ([first] if first else []) + [HEADER + part for part in parts]


def _line_read(data: bytes, _: Path) -> bool:
    Splitter().feed(data)
    _board().feed(data, 0.0)
    return _driven(_line(Scripted(data, _board(), _lines)))


def _line_inside(data: bytes, damage: Damage) -> bytes:
    """One line changed, with the checksum that it should have."""
    lines = Splitter().feed(data)
    k = int(damage.rng.integers(len(lines)))
    words = damage(" ".join(lines[k].arguments).encode()).decode("ascii", errors="replace").split()
    arguments = tuple(w.encode("ascii", "replace").decode() for w in words)[:20]
    lines[k] = Line(lines[k].sequence, lines[k].verb, arguments)
    return b"".join(line.encoded() for line in lines)


def _bus_read(data: bytes, _: Path) -> bool:
    _servos().feed(data, 0.0)
    return _driven(_bus(Scripted(data, _servos(), _packets)))


def _bus_inside(data: bytes, damage: Damage) -> bytes:
    """One status packet changed, with the checksum that it should have."""
    parts = _packets(data)
    k = int(damage.rng.integers(len(parts)))
    parts[k] = packet(parts[k][4], parts[k][7], damage(parts[k][8:-2])[:300])
    return b"".join(parts)


def _valves_read(data: bytes, _: Path) -> bool:
    Regulators("A").feed(data, 0.0)
    return _driven(_valves(Scripted(data, Regulators("A"), _lines)))


KINDS = (
    Kind(
        "markers json",
        lambda _: [message_of(frame) for frame in _frames()],
        lambda data, _: _json().decode(data, (LOCAL, 0)) is not None,
    ),
    Kind("markers natnet", _natnet_seeds, _natnet_read),
    Kind("serial line", lambda _: [_spoken(_board(), _line)], _line_read, _line_inside),
    Kind("regulators", lambda _: [_spoken(Regulators("A"), _valves)], _valves_read),
)
if find_spec("dynamixel_sdk"):
    KINDS += (Kind("dynamixel", lambda _: [_spoken(_servos(), _bus)], _bus_read, _bus_inside),)
