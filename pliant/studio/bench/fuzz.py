"""The messages of the studio's page, for `pliant bench fuzz`."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from pliant.bench.fuzz_kind import Kind, bar
from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.messages import Message, parse

MESSAGES = (
    {"do": "ack", "serial": 3},
    {"do": "look", "field": "strain"},
    {"do": "control", "take": True},
    {"do": "aim", "row": "tip", "value": [0.1, 0.01, 0.012]},
    {"do": "drive", "row": "cable", "kind": "displacement", "value": [0.001]},
    {"do": "mode", "mode": "forward"},
    {"do": "play", "on": False},
    {"do": "step"},
    {"do": "reset"},
    {"do": "speed", "value": 0.5},
    {"do": "add", "kind": "sphere", "at": [0.1, 0.0, -0.1], "size": 0.02},
    {"do": "move", "name": "floor", "at": [0.0, 0.0, -0.03]},
    {"do": "remove", "name": "floor"},
    {"do": "cut", "row": "cable", "on": True},
    {"do": "push", "vertices": [0, 1, 2], "weights": [0.3, 0.3, 0.4], "force": [0.0, 0.0, 0.1]},
    {"do": "robot", "name": "bar"},
    {"do": "record", "on": True},
)


def _applied(data: bytes, folder: Path) -> bool:
    """Parsed, and done on a desk of its own; the page may say nothing that is no message."""
    try:
        message = parse(data)
    except ValidationError:
        return False
    if type(message).apply is not Message.apply:
        desk = Desk({"bar": lambda: Session(bar())}, "bar", folder=folder / "recordings")
        message.apply(desk)  # not `do`, which turns faults into notices
        desk.stop_recording()
    return True


KINDS = (Kind("studio", lambda _: [json.dumps(message).encode() for message in MESSAGES], _applied),)
