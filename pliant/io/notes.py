"""Notes: what a recording says beside its frames.

What was sent to devices, what sensors read, what happened. SI units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ROWS = {"type": "object", "additionalProperties": {"type": "number"}}
_MANY = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}
_PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "channels": {
        "rows": {
            "type": "object",
            "description": "by row: device, id, quantity (its SI unit is the row's), gain [counts per unit], "
            "zero [counts], sign, safe or null",
        }
    },
    "sent": {
        "step": {"type": "integer", "description": "of the frame it belongs to"},
        "values": {**_ROWS, "description": "by row, in the unit of its channel"},
        "counts": {**_ROWS, "description": "by row, as sent; empty if nothing was"},
        "limits": {"type": "array", "description": "limits that were met"},
        "late": {"type": "number", "description": "[s] after the turn of the loop began"},
    },
    "reading": {
        "sensor": {"type": "string"},
        "age": {"type": "number", "description": "[s]"},
        "values": {**_MANY, "description": "by row, in its unit"},
    },
    "event": {
        "what": {"type": "string"},
        "reason": {"type": "string"},
        "met": {"type": "number", "description": "share of the loop's deadlines that were met"},
    },
}
KINDS = tuple(_PROPERTIES)
PUNCTUAL = 0.9  # share of the deadlines that a good run meets


@dataclass(frozen=True)
class Note:
    """One of them: its kind, when [s] since the recording's run began, and its data."""

    kind: str
    time: float
    data: Mapping[str, Any]


def schema(kind: str) -> dict[str, Any]:
    """JSON Schema of a kind."""
    properties = {"time": {"type": "number", "description": "[s]"}, **_PROPERTIES[kind]}
    return {"title": f"pliant.{kind.capitalize()}", "type": "object", "properties": properties}
