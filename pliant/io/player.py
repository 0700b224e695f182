"""A recording as one HTML file that plays offline in any browser: the studio's page with the frames in it.

Positions are whole numbers in a box around all frames, predicted in time from the two frames before,

    r[t] = x[t] − 2 x[t−1] + x[t−2],

so that what is left is small wherever the motion is smooth, and deflates well.
"""

from __future__ import annotations

import base64
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.frame import Frame
from pliant.io.packet import TOP_SHARE, frame_facts, packet, quantised, short, stage_blocks
from pliant.io.page import element, restriction
from pliant.io.plain import stage_facts
from pliant.io.policy import policy, scripts_of
from pliant.io.recording import Recording

BITS = 13  # of a coordinate: 1/8191 of the box, a fraction of a pixel
MARK = "<!-- recording -->"  # of the page: here goes the recording
HEAD = "<head>"


@cache
def page() -> str:
    """The page of the studio: one file with everything in it, built from studio/web."""
    return files("pliant").joinpath("studio", "page.html").read_text(encoding="utf-8")


def export(recording: Recording | str | Path, path: str | Path, *, every: int = 1) -> Path:
    """Write a player of a recording (or of a file of one) to a path; `every` n-th frame of it."""
    if not isinstance(recording, Recording):
        recording = Recording.read(recording)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(player(recording, every=every), encoding="utf-8")
    return path


def player(recording: Recording, *, every: int = 1) -> str:
    """The text of the HTML file, under a policy that lets only the page's own script run.

    The recording is base64 in it, which has no character that means something in HTML.
    """
    if not len(recording):
        raise InputError("recording", expected="at least one frame", got="none")
    stress = None if recording.stress is None else recording.stress[::every]
    raw = _data(recording, recording.frames[::every], stress)
    data = base64.b64encode(zlib.compress(raw, 9)).decode()
    script = element("script", {"type": "application/octet-stream", "id": "recording"}, data)
    rules = restriction(policy(scripts_of(page())))
    return page().replace(HEAD, f"{HEAD}\n{rules}", 1).replace(MARK, script, 1)


def predicted(whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Low and high bytes of zigzag-coded residuals of whole numbers (frames, n), predicted in time."""
    x = whole.astype(np.int32)
    r = x.copy()
    r[1:] -= x[:-1]
    r[2:] -= x[1:-1] - x[:-2]
    zigzag = np.where(r >= 0, 2 * r, -2 * r - 1).astype(np.uint16)
    return (zigzag & 255).astype(np.uint8), (zigzag >> 8).astype(np.uint8)


def unpredicted(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The whole numbers of which `predicted` was made."""
    z = low.astype(np.int32) | (high.astype(np.int32) << 8)
    x = (z >> 1) ^ -(z & 1)
    for t in range(1, len(x)):
        x[t] += 2 * x[t - 1] - (x[t - 2] if t > 1 else x[t - 1])
    return x


def _data(recording: Recording, frames: tuple[Frame, ...], stress: np.ndarray | None) -> bytes:
    stage = recording.stage
    points = np.array([np.concatenate([f.positions[stage.vertices], f.lines]) for f in frames])
    whole, box = quantised(points, BITS)
    bytes_low, bytes_high = predicted(whole.reshape(len(frames), -1))
    shapes, facts = _with_shapes(frames)
    blocks = {"low": bytes_low, "high": bytes_high, **stage_blocks(stage)}
    header = {
        "type": "recording",
        **stage_facts(stage),
        "fields": ["displacement"],
        "box": box,
        "points": points.shape[1],
        "skin": len(stage.vertices),
        "frames": facts,
        "shapes": shapes,
    }
    if stress is not None:
        header["fields"] = ["displacement", "stress"]
        blocks["stress"], header["top"] = coloured(stress[:, stage.vertices])
    return packet(header, blocks)


def coloured(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Values as shares 0 … 255 of the top of one scale for all frames, and that top."""
    top = max(float(np.percentile(values, TOP_SHARE, axis=-1).max()), 1e-12)
    return np.clip(values * (255.0 / top), 0, 255).astype(np.uint8), top


def _with_shapes(frames: tuple[Frame, ...]) -> tuple[list[Any], list[dict[str, Any]]]:
    """Facts of the frames, each with the number of its set of obstacles, and these sets."""
    shapes: list[Any] = []
    facts = []
    for frame in frames:
        if not shapes or shapes[-1] is not frame.obstacles:
            shapes.append(frame.obstacles)
        touch = np.hstack([frame.touch.position, frame.touch.force])
        facts.append({**frame_facts(frame), "shapes": len(shapes) - 1, "touch": short(touch)})
    return [dict(s) for s in shapes], facts
