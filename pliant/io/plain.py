"""Frames and stages as plain data for JSON, and back."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pliant.frame import Frame, Push, Touch
from pliant.stage import RowFacts, Stage
from pliant.status import severities

BY_ROW = ("effort", "displacement", "command", "target", "error")
_NUMBERS = {"type": "array", "items": {"type": "number"}}
_ROWS = {"type": "object", "additionalProperties": _NUMBERS}
SCHEMA = {
    "title": "pliant.Frame",
    "description": "A robot after one step. SI units; rows have their own, see the metadata 'stage'.",
    "type": "object",
    "properties": {
        "step": {"type": "integer"},
        "time": {"type": "number", "description": "[s]"},
        "mode": {"type": "string"},
        "status": {"type": "string"},
        "words": {"type": "string"},
        "effort": {**_ROWS, "description": "λ by row, in its effort_unit"},
        "displacement": {**_ROWS, "description": "δ by row, in its unit"},
        "command": {**_ROWS, "description": "of the actuators"},
        "target": {**_ROWS, "description": "of the effectors, in their unit"},
        "error": {**_ROWS, "description": "target − δ"},
        "touch": {"type": "array", "description": "opponent, position x y z [m], force on robot x y z [N]"},
        "push": {**_NUMBERS, "description": "position x y z [m], force x y z [N]"},
        "lines": {**_NUMBERS, "description": "points of the cables, one after another [m]"},
        "speed": {"type": "number", "description": "of the fastest node, in dynamic mode [m/s]"},
        "obstacles": {"type": "object", "description": "when they changed: by name, lengths in m"},
        "timings": {"type": "object", "description": "[s] per stage"},
        "model": {"type": "array", "description": "reduced or full, and how far they are apart [m] or null"},
    },
}  # fmt: skip
POSITIONS = "float32, little-endian, (nodes, 3) [m]: positions of the nodes, in the order of the robot"

STRESS = "float32, little-endian, (nodes,) [Pa]: von Mises stress at the nodes, in the order of the robot"


def frame_data(frame: Frame) -> dict[str, Any]:
    """A frame for JSON, without its positions and obstacles."""
    data: dict[str, Any] = {
        name: getattr(frame, name) for name in ("step", "time", "mode", "status", "words", "speed")
    }
    data |= {kind: {n: np.ravel(v).tolist() for n, v in getattr(frame, kind).items()} for kind in BY_ROW}
    data |= {name: list(getattr(frame, name)) for name in ("limits", "slack", "lost")}
    touch = frame.touch
    where, force = touch.position.tolist(), touch.force.tolist()
    data["touch"] = [[n, *p, *f] for n, p, f in zip(touch.opponent, where, force, strict=True)]
    if frame.push is not None:
        data["push"] = [*frame.push.position.tolist(), *frame.push.force.tolist()]
    data["lines"] = np.round(frame.lines, 7).ravel().tolist()
    if frame.model:
        data["model"] = [frame.model, frame.model_error]
    data["timings"] = {stage: float(t) for stage, t in frame.timings.items()}
    return data


def frame_from(data: Mapping[str, Any], positions: np.ndarray, shapes: Mapping[str, Any]) -> Frame:
    """The frame of which `frame_data` was made."""
    touch = [row[1:] for row in data["touch"]]
    model, error = data.get("model", ("", None))
    numbers = np.array(touch, float).reshape(-1, 6)
    push = np.array(data["push"], float).reshape(6) if "push" in data else None
    rows: dict[str, Any] = {kind: {n: np.array(v, float) for n, v in data[kind].items()} for kind in BY_ROW}
    return Frame(
        step=int(data["step"]),
        time=float(data["time"]),
        mode=str(data["mode"]),
        positions=positions,
        lines=np.array(data["lines"], float).reshape(-1, 3),
        **rows,
        touch=Touch(numbers[:, :3], numbers[:, 3:], tuple(row[0] for row in data["touch"])),
        status=str(data["status"]),
        words=str(data["words"]),
        limits=tuple(data["limits"]),
        slack=tuple(data["slack"]),
        lost=tuple(data["lost"]),
        push=None if push is None else Push(push[:3], push[3:]),
        obstacles=shapes,
        timings={str(stage): float(t) for stage, t in data["timings"].items()},
        speed=float(data.get("speed", 0.0)),
        model=str(model),
        model_error=None if error is None else float(error),
    )


def stage_facts(stage: Stage) -> dict[str, Any]:
    """What of a stage is not arrays, ready for JSON; limits that are infinite become null."""
    rows = [{key: _finite(value) for key, value in asdict(row).items()} for row in stage.rows]
    return {
        "robot": stage.robot,
        "summary": stage.summary,
        "length": stage.length,
        "up": stage.up.tolist(),
        "rows": rows,
        "cables": [[name, count] for name, count in stage.cables],
        "cavities": [name for name, _ in stage.cavities],
        "fields": list(stage.fields),
        "statuses": severities(),
    }


def stage_from(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Stage:
    """The stage of which `stage_facts` were made, with its arrays."""
    rows = [{**row, **{k: _limits(row[k]) for k in ("effort", "displacement")}} for row in facts["rows"]]
    return Stage(
        robot=facts["robot"],
        summary=facts["summary"],
        length=facts["length"],
        up=np.array(facts["up"]),
        rest=arrays["rest"],
        vertices=arrays["vertices"],
        triangles=arrays["triangles"],
        region=arrays["region"],
        rows=tuple(RowFacts(**row) for row in rows),
        cables=tuple((name, count) for name, count in facts["cables"]),
        cavities=tuple((name, arrays[f"cavity {k}"]) for k, name in enumerate(facts["cavities"])),
        fields=tuple(facts["fields"]),
    )


def stage_arrays(stage: Stage) -> bytes:
    """The arrays of a stage as the bytes of an npz file."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"cavity {k}": t for k, (_, t) in enumerate(stage.cavities)}
    arrays |= {name: getattr(stage, name) for name in ("rest", "vertices", "triangles", "region")}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _finite(value: Any) -> Any:
    return [x if np.isfinite(x) else None for x in value] if isinstance(value, tuple) else value


def _limits(pair: Sequence[float | None]) -> tuple[float, float]:
    low, high = pair
    return (-np.inf if low is None else low), (np.inf if high is None else high)
