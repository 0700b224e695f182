"""A source of marker frames: something that can be asked for its next one."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from types import TracebackType

from pliant.errors import InputError
from pliant.io.streams.frame import Frame

LARGEST = 65535  # bytes of a datagram
BUFFER = 2**20  # bytes that the system keeps for us


class Source:
    """Frames one after the other: `read(timeout)` gives the next.

    It gives None if none came in time, or none will (`ended`).

    `read(timeout)` gives the next, None if none came in time or none will (`ended`).

    `rejected` counts messages that were no frames.
    """

    ended = False
    rejected = 0

    def read(self, timeout: float = 1.0) -> Frame | None:
        """The next frame; None if none came within `timeout` [s], or none ever will."""
        raise NotImplementedError(f"{type(self).__name__}.read")

    def close(self) -> None:
        """Let go of files and sockets. Reading afterwards gives None."""
        self.ended = True

    def __iter__(self) -> Iterator[Frame]:
        while not self.ended:
            frame = self.read()
            if frame is not None:
                yield frame

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


class Datagrams(Source):
    """Frames that come one to a datagram; a subclass says how to `decode` one."""

    def __init__(self, address: tuple[str, int], *, group: str | None = None, interface: str = "") -> None:
        self._socket = _bound(address, group, interface)
        self.port: int = self._socket.getsockname()[1]

    def read(self, timeout: float = 1.0) -> Frame | None:
        """The next frame; what cannot be read as one is counted and passed over."""
        try:
            self._socket.settimeout(max(timeout, 1e-6))
            message, sender = self._socket.recvfrom(LARGEST)
        except OSError:  # nothing came in time, or the socket was closed by another thread
            return None
        return self.decode(message, sender)

    def decode(self, message: bytes, sender: tuple[str, int]) -> Frame | None:
        """The frame in a message, None if it holds none."""
        raise NotImplementedError(f"{type(self).__name__}.decode")

    def close(self) -> None:
        """Close the socket."""
        super().close()
        self._socket.close()


def _bound(address: tuple[str, int], group: str | None, interface: str) -> socket.socket:
    """A socket that receives at an address, as a member of a multicast group if one is given."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        if group is not None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            member = socket.inet_aton(group) + socket.inet_aton(interface or "0.0.0.0")
            made.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        made.bind(address)
    except (OSError, OverflowError) as error:
        made.close()
        where = f"{address[0] or 'all interfaces'}:{address[1]}"
        raise InputError("address", expected="one to receive at", got=where, hint=f"{error}.") from None
    return made
