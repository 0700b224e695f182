"""Marker frames from OptiTrack's Motive, by its NatNet protocol, without its library."""

from __future__ import annotations

import struct
from time import monotonic

from pliant.errors import InputError
from pliant.io.streams.frame import Frame
from pliant.io.streams.natnet_wire import (
    FRAME,
    KEEP_ALIVE,
    SERVER_INFO,
    Malformed,
    Version,
    connection,
    decode_frame,
    message,
    server_version,
)
from pliant.io.streams.source import Datagrams

GROUP, DATA_PORT, COMMAND_PORT = "239.255.42.99", 1511, 1510
NEWEST, OLDEST = (4, 1), (3, 0)
AGAIN = 2.0  # [s] after which a server is told again that we listen


class NatNet(Datagrams):
    """Frames of a NatNet server, version 3 or 4.

    Without `server`, listens to what it sends to all (multicast `group`, `port`). With one ("192.168.1.5"),
    asks it for frames of our own (unicast) and for its version, and again whenever it has been silent.
    `version` is that of the stream where no server has answered: Motive 3.1 sends 4.1, Motive 2 sends 3.1.
    Points are in metres, as Motive sends them.
    """

    def __init__(
        self,
        server: str | None = None,
        *,
        version: Version = NEWEST,
        group: str = GROUP,
        port: int = DATA_PORT,
        command_port: int = COMMAND_PORT,
        interface: str = "",
    ) -> None:
        self.version = _checked(version)
        self.server = None if server is None else (server, command_port)
        if server is None:
            super().__init__(("", port), group=group, interface=interface)
        else:
            super().__init__((interface, 0))
        self._spoken = -AGAIN
        self.connected = False

    def read(self, timeout: float = 1.0) -> Frame | None:
        """The next frame; keeps the connection alive."""
        if self.server is not None and monotonic() - self._spoken > AGAIN and not self.ended:
            self._spoken = monotonic()
            self._send(message(KEEP_ALIVE) if self.connected else connection(self.version))
        return super().read(timeout)

    def decode(self, data: bytes, sender: tuple[str, int]) -> Frame | None:
        """The frame of a datagram; None for other messages. What cannot be read is counted."""
        try:
            kind, size = struct.unpack_from("<HH", data)
            if size > len(data) - 4:
                raise Malformed(f"{len(data) - 4} of {size} bytes")
            content = data[4:]
            if kind == SERVER_INFO:
                self.version, self.connected = _checked(server_version(content)), True
            return decode_frame(content, self.version)[1] if kind == FRAME else None
        except (Malformed, InputError, struct.error):
            self.rejected += 1
            return None

    def _send(self, what: bytes) -> None:
        try:
            self._socket.sendto(what, self.server)  # type: ignore[arg-type]
        except OSError:  # no network: it will be tried again
            self.connected = False


def _checked(version: Version) -> Version:
    pair = tuple(int(v) for v in version[:2])
    if len(pair) != 2 or not OLDEST <= pair < (5, 0):
        raise InputError("NatNet version", expected="3.0 to 4.x, such as (4, 1)", got=repr(version))
    return pair
