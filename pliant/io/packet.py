"""Packets: what the studio's page reads, live or from a file."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.frame import Frame


def packet(header: Mapping[str, Any], blocks: Mapping[str, np.ndarray]) -> bytes:
    """A JSON header and blocks of numbers behind it, little-endian, aligned to four bytes: what the page reads.

    uint32 n | header, n bytes of JSON | block | block …        header["blocks"] = [[name, type, count], …]
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in blocks.items()}
    listed = [[name, array.dtype.name, int(array.size)] for name, array in arrays.items()]
    text = json.dumps({**header, "blocks": listed}, separators=(",", ":"), allow_nan=False).encode()
    parts = [struct.pack("<I", len(text) + -len(text) % 4), text, b" " * (-len(text) % 4)]
    for array in arrays.values():
        raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        parts += [raw, b"\0" * (-len(raw) % 4)]
    return b"".join(parts)


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and blocks of a packet: what the page does in JavaScript."""
    (size,) = struct.unpack_from("<I", data)
    header, at, blocks = json.loads(data[4 : 4 + size]), 4 + size, {}
    for name, kind, count in header["blocks"]:
        dtype = np.dtype(kind).newbyteorder("<")
        blocks[name] = np.frombuffer(data, dtype, count, at)
        at += blocks[name].nbytes + -blocks[name].nbytes % 4
    return header, blocks


def frame_facts(frame: Frame) -> dict[str, Any]:
    """What of a frame is not arrays, ready for JSON."""
    named = lambda values: {name: short(value) for name, value in values.items()}
    facts: dict[str, Any] = {
        "step": frame.step,
        "time": round(frame.time, 6),
        "mode": frame.mode,
        "status": frame.status,
        "words": frame.words,
        "limits": list(frame.limits),
        "slack": list(frame.slack),
        "lost": list(frame.lost),
        "effort": named(frame.effort),
        "displacement": named(frame.displacement),
        "command": named(frame.command),
        "target": named(frame.target),
        "error": named(frame.error),
        "contact": [len(frame.touch), short([frame.touch.total])[0]],
        "timings": {stage: round(float(t), 6) for stage, t in frame.timings.items()},
    }
    if frame.push is not None:
        facts["push"] = [*short(frame.push.position), *short(frame.push.force)]
    return facts


def short(values: Any) -> list[float]:
    """Numbers with six significant digits: shorter as text."""
    return [float(f"{float(v):.6g}") for v in np.ravel(values)]
