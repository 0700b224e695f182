"""NatNet messages, versions 3 and 4, little-endian: the frame of data that OptiTrack's Motive sends.

    uint16 message | uint16 bytes | content

    content of a frame (message 7); (n) is an int32, from version 4.1 followed by the size in bytes, int32
    int32 frame number
    (n) marker sets      name, zero-terminated | int32 m | m × 3 float32
    (n) other markers    3 float32
    (n) rigid bodies     int32 id | 3 float32 | 4 float32 | float32 error | int16 flags           38 bytes
    (n) skeletons        int32 id | int32 m | m × rigid body
    (n) assets           int32 id | int32 m | m × rigid body | int32 k | k × labelled marker      from 4.1
    (n) labelled markers int32 id | 3 float32 | float32 size | int16 flags | float32 residual     26 bytes
    (n) force plates     int32 id | int32 channels, each: int32 m | m × float32
    (n) devices          as force plates
    uint32 timecode, 2 × | float64 time [s] | uint64 camera, received, sent | uint32 2 × (from 4.1)
    int16 flags | int32 end

An id is model · 2¹⁶ + marker. Flags of a labelled marker: 1 occluded (its place is then filled in by a
model), 16 unlabelled.
"""

from __future__ import annotations

import struct

import numpy as np

from pliant.errors import PliantError
from pliant.io.streams.frame import Frame

CONNECT, SERVER_INFO, FRAME, KEEP_ALIVE = 0, 1, 7, 10
OCCLUDED, UNLABELLED = 0x01, 0x10
RIGID_BODY, LABELLED = 38, 26  # bytes
MARKER = np.dtype(
    [("id", "<i4"), ("place", "<f4", 3), ("size", "<f4"), ("flags", "<i2"), ("residual", "<f4")]
)
Version = tuple[int, int]


class Malformed(PliantError):
    """A message that is cut off, or says more than it holds."""


class Cursor:
    """Walks through a message; reading past its end is `Malformed`."""

    def __init__(self, data: bytes, version: Version) -> None:
        self.data, self.at, self.sized = data, 0, version >= (4, 1)

    def skip(self, count: int) -> int:
        """Pass so many bytes; returns where they begin."""
        begin = self.at
        if count < 0 or begin + count > len(self.data):
            raise Malformed(f"{count} bytes at {begin} of a message of {len(self.data)}")
        self.at = begin + count
        return begin

    def take(self, form: str) -> tuple:
        """Numbers of a struct format."""
        return struct.unpack_from("<" + form, self.data, self.skip(struct.calcsize("<" + form)))

    def count(self) -> int:
        """An int32 that counts something."""
        (n,) = self.take("i")
        if n < 0:
            raise Malformed(f"{n} of something")
        return n

    def text(self) -> str:
        """Zero-terminated text."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise Malformed("text without an end")
        begin = self.skip(end + 1 - self.at)
        return self.data[begin:end].decode("utf-8", "replace")

    def section(self) -> tuple[int, int | None]:
        """How many items come, and in how many bytes if the version says so."""
        n = self.count()
        return n, self.count() if self.sized else None

    def array(self, dtype: np.dtype | str, n: int) -> np.ndarray:
        """n items of a type."""
        kind = np.dtype(dtype)
        begin = self.skip(n * kind.itemsize)
        return np.frombuffer(self.data, kind, n, begin)


def decode_frame(content: bytes, version: Version) -> tuple[int, Frame]:
    """Number and frame of a message's content: labelled markers that were seen, and unlabelled points."""
    c = Cursor(content, version)
    (number,) = c.take("i")
    _pass(c, _marker_set)
    others = c.array("<f4", 3 * c.section()[0]).reshape(-1, 3)
    _pass(c, lambda c: c.skip(RIGID_BODY))
    _pass(c, lambda c: (c.skip(4), c.skip(RIGID_BODY * c.count())))
    if c.sized:
        _pass(c, _asset)
    named = c.array(MARKER, c.section()[0])
    for _ in range(2):
        _pass(c, _channels)
    c.skip(8)
    (time,) = c.take("d")
    if not np.isfinite(time):
        raise Malformed("a time that is no number")
    return number, _frame(time, named, others)


def _pass(c: Cursor, item) -> None:
    """Over a section, by its size or item by item."""
    n, size = c.section()
    if size is not None:
        c.skip(size)
        return
    for _ in range(n):
        item(c)


def _marker_set(c: Cursor) -> None:
    c.text()
    c.skip(12 * c.count())


def _asset(c: Cursor) -> None:
    c.skip(4)
    c.skip(RIGID_BODY * c.count())
    c.skip(LABELLED * c.count())


def _channels(c: Cursor) -> None:
    c.skip(4)
    for _ in range(c.count()):
        c.skip(4 * c.count())


def _frame(time: float, named: np.ndarray, others: np.ndarray) -> Frame:
    named = named[(named["flags"] & OCCLUDED) == 0]
    # Unlabelled points come among the labelled ones too: those with the same numbers are the same.
    known = {place.tobytes() for place in named["place"]}
    extra = np.array([p for p in others if p.tobytes() not in known], float).reshape(-1, 3)
    label = [
        "" if flags & UNLABELLED or not (i >> 16) else f"{i >> 16}:{i & 0xFFFF}"
        for i, flags in zip(named["id"].tolist(), named["flags"].tolist(), strict=True)
    ]
    points = np.concatenate([named["place"].astype(float), extra])
    return Frame(time, points, (*label, *[""] * len(extra)) if any(label) else None)


def message(kind: int, content: bytes = b"") -> bytes:
    """A message with its head."""
    return struct.pack("<HH", kind, len(content)) + content


def server_version(content: bytes) -> Version:
    """The NatNet version in a server's answer: name (256 bytes), its version (4), that of NatNet (4)."""
    if len(content) < 264:
        raise Malformed("a server's answer that is cut off")
    return content[260], content[261]


def connection(version: Version) -> bytes:
    """What a client sends to be connected: who it is, and the version that it reads."""
    return message(CONNECT, b"Ping".ljust(264, b"\0") + bytes([0, *version, 0, 0, 0]))
