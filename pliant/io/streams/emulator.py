"""Senders that stand for a tracker: to try a set-up without one."""

from __future__ import annotations

import socket
import struct

import numpy as np

from pliant.io.streams.frame import Frame
from pliant.io.streams.json_udp import message_of
from pliant.io.streams.natnet_wire import (
    CONNECT,
    FRAME,
    MARKER,
    OCCLUDED,
    SERVER_INFO,
    UNLABELLED,
    Version,
    message,
)


class JsonEmulator:
    """Sends frames as JSON datagrams to an address."""

    def __init__(self, host: str, port: int) -> None:
        self._address, self._socket = (host, port), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, frame: Frame) -> None:
        """Send a frame."""
        self.send_raw(message_of(frame))

    def send_raw(self, data: bytes) -> None:
        """Send any bytes."""
        self._socket.sendto(data, self._address)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class NatNetEmulator:
    """A NatNet server on this machine: answers clients that connect, and sends them frames."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, version: Version = (4, 1)) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, port))
        self._socket.setblocking(False)
        self.port, self.version = self._socket.getsockname()[1], version
        self.clients: set[tuple[str, int]] = set()
        self._number = 0

    def answer(self) -> None:
        """Answer all that have asked since."""
        while True:
            try:
                data, sender = self._socket.recvfrom(4096)
            except OSError:
                return
            if len(data) >= 4 and struct.unpack_from("<H", data)[0] == CONNECT:
                self.clients.add(sender)
                name = b"Emulator".ljust(256, b"\0")
                self._socket.sendto(
                    message(SERVER_INFO, name + bytes([1, 0, 0, 0, *self.version, 0, 0])), sender
                )

    def send(self, frame: Frame) -> None:
        """Send a frame to all clients."""
        self._number += 1
        self.send_raw(encode_frame(frame, self._number, self.version))

    def send_raw(self, data: bytes) -> None:
        """Send any bytes to all clients."""
        self.answer()
        for client in self.clients:
            self._socket.sendto(data, client)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def encode_frame(frame: Frame, number: int, version: Version, *, full: bool = False) -> bytes:
    """A frame of data as Motive sends it: points with labels "model:marker" as labelled markers, others as
    unlabelled ones; a point that was not seen as an occluded one. `full` adds rigid bodies, a skeleton, an
    asset, a force plate and a device.
    """
    body = bytes(38)
    labels = frame.labels or ("",) * len(frame)
    markers = np.zeros(len(frame), MARKER)
    for k, (label, place) in enumerate(zip(labels, frame.points, strict=True)):
        model, _, own = label.partition(":")
        markers[k]["id"] = (int(model) << 16 | int(own)) if label else k + 1
        hidden = bool(np.isnan(place).any())
        markers[k]["place"] = 0.0 if hidden else place
        markers[k]["flags"] = (OCCLUDED if hidden else 0) | (0 if label else UNLABELLED)
    free = markers[(markers["flags"] == UNLABELLED)]["place"]
    count = struct.pack("<i", 3)
    channels = struct.pack("<ii", 7, 2) + count + bytes(12) + count + bytes(12)
    extra = int(full)
    asset = struct.pack("<ii", 1, 1) + body + struct.pack("<i", 1) + bytes(26)
    sections = [
        (1, b"all\0" + struct.pack("<i", len(markers)) + markers["place"].tobytes()),
        (len(free), free.tobytes()),
        (2 * extra, 2 * extra * body),
        (extra, extra * (struct.pack("<ii", 1, 2) + 2 * body)),
        *([(extra, extra * asset)] if version >= (4, 1) else []),
        (len(markers), markers.tobytes()),
        (extra, extra * channels),
        (extra, extra * channels),
    ]  # fmt: skip
    sized = version >= (4, 1)
    parts = [
        struct.pack("<i", n) + (struct.pack("<i", len(data)) if sized else b"") + data for n, data in sections
    ]
    stamps = struct.pack("<IId3Q", 0, 0, frame.time, 0, 0, 0) + (struct.pack("<II", 0, 0) if sized else b"")
    return message(FRAME, struct.pack("<i", number) + b"".join(parts) + stamps + struct.pack("<hi", 0, 0))
