"""The studio's packets: stages and frames as its page reads them.

Positions are 16-bit numbers in a box around the robot: to 1/65535 of its size, a few micrometres.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.frame import Frame
from pliant.io.packet import frame_facts, packet
from pliant.io.plain import stage_facts
from pliant.stage import Stage

TOP_SHARE = 98.0  # percentile at the top of a colour scale: stress is singular at clamps


def quantised(points: np.ndarray, bits: int = 16) -> tuple[np.ndarray, list[float]]:
    """Points (…, 3) [m] as whole numbers (…, 3) uint16 in their box, and the box: corner and step, (6,)."""
    flat = points.reshape(-1, 3)
    low, high = (flat.min(axis=0), flat.max(axis=0)) if len(flat) else (np.zeros(3), np.zeros(3))
    step = np.maximum((high - low) / (2**bits - 1), 1e-12)
    whole = np.rint((points - low) / step).astype(np.uint16)
    return whole, [*map(float, low), *map(float, step)]


def stage_packet(stage: Stage, more: Mapping[str, Any]) -> bytes:
    """The stage: skin, rows, cables, cavities; `more` goes into its header."""
    index = np.uint16 if len(stage.rest) < 2**16 else np.uint32
    blocks = {
        "rest": stage.rest.astype(np.float32),
        "triangles": stage.triangles.astype(index),
        "region": stage.region.astype(np.uint8),
    }
    for k, (_, triangles) in enumerate(stage.cavities):
        blocks[f"cavity {k}"] = triangles.astype(index)
    return packet({"type": "stage", **stage_facts(stage), **more}, blocks)


def frame_packet(
    frame: Frame, stage: Stage, more: Mapping[str, Any], field: tuple[str, np.ndarray] | None = None
) -> bytes:
    """A frame; `more` goes into its header, `field` is a name and values (k,) at the nodes to colour the skin with."""
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
