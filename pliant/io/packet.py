"""Packets: what the studio's page reads, live or from a player: a header of JSON, and arrays behind it.

Live, positions are 16-bit numbers in a box around the robot: to 1/65535 of its size, a few micrometres.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.frame import Frame
from pliant.io.plain import stage_facts
from pliant.stage import Stage

BITS = 16  # of a coordinate in a live packet
TOP_SHARE = 98.0  # percentile at the top of a colour scale: stress is singular at clamps
THINNEST = 1e-12  # [m]: the step of a box that has no extent


def packet(header: Mapping[str, Any], blocks: Mapping[str, np.ndarray]) -> bytes:
    """A JSON header and blocks of numbers behind it, little-endian, aligned to four bytes.

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


def quantised(points: np.ndarray, bits: int = BITS) -> tuple[np.ndarray, list[float]]:
    """Points (…, 3) [m] as whole numbers (…, 3) uint16 in their box, and the box: corner, step (6,) [m]."""
    flat = points.reshape(-1, 3)
    low, high = (flat.min(axis=0), flat.max(axis=0)) if len(flat) else (np.zeros(3), np.zeros(3))
    step = np.maximum((high - low) / (2**bits - 1), THINNEST)
    whole = np.rint((points - low) / step).astype(np.uint16)
    return whole, [*map(float, low), *map(float, step)]


def stage_blocks(stage: Stage) -> dict[str, np.ndarray]:
    """The arrays of a stage: the skin at rest, its triangles and materials, and those of the cavities."""
    index = np.uint16 if len(stage.rest) < 2**16 else np.uint32
    return {
        "rest": stage.rest.astype(np.float32),
        "triangles": stage.triangles.astype(index),
        "region": stage.region.astype(np.uint8),
        **{f"cavity {k}": t.astype(index) for k, (_, t) in enumerate(stage.cavities)},
    }


def stage_packet(stage: Stage, more: Mapping[str, Any]) -> bytes:
    """The stage: skin, rows, cables, cavities; `more` goes into its header."""
    return packet({"type": "stage", **stage_facts(stage), **more}, stage_blocks(stage))


def frame_packet(
    frame: Frame, stage: Stage, more: Mapping[str, Any], field: tuple[str, np.ndarray] | None = None
) -> bytes:
    """A frame; `more` goes into its header.

    `field` is a name and values (k,) at the nodes to colour the skin with.
    """
    skin = frame.positions[stage.vertices]
    whole, box = quantised(np.concatenate([skin, frame.lines]))
    blocks = {"skin": whole[: len(skin)], "lines": whole[len(skin) :]}
    header: dict[str, Any] = {"type": "frame", **frame_facts(frame), **more, "box": box}
    if len(frame.touch):
        blocks["touch"] = np.hstack([frame.touch.position, frame.touch.force]).astype(np.float32)
    if field is not None:
        name, values = field
        values = values[stage.vertices]
        top = max(float(np.percentile(values, TOP_SHARE)), 1e-12)
        blocks["field"] = np.clip(values * (255.0 / top), 0, 255).astype(np.uint8)
        header["field"] = [name, top]
    return packet(header, blocks)


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
    if frame.model:
        facts["model"] = [frame.model, frame.model_error]
    if frame.push is not None:
        facts["push"] = [*short(frame.push.position), *short(frame.push.force)]
    return facts


def short(values: Any) -> list[float]:
    """Numbers with six significant digits: shorter as text."""
    return [float(f"{float(v):.6g}") for v in np.ravel(values)]
