"""What the thread of the workshop makes, and what it is made of."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.session import Session

FILE = "robot.toml"


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a robot comes from: the folder of its meshes, and the part that they are made of.

    `unit` is that of the part, "" if it states it itself; a temporary folder lasts as long as this value.
    """

    place: Path
    part: Path | None = None
    unit: str = ""
    temporary: tempfile.TemporaryDirectory[str] | None = None
    file: str = FILE


@dataclass(frozen=True, eq=False)
class Made:
    """What the thread made of a document: in place of the last `replaced` ones, it is the present one."""

    document: dict[str, Any]
    project: Any
    fast: Any  # its reduced model, if it has one
    session: Session
    facts: dict[str, Any]
    origin: Origin
    replaced: int = 0
    doubt: str = ""  # what may be wrong with the part


@dataclass(frozen=True)
class Refused:
    """Why it could not be made."""

    why: str


@dataclass(frozen=True)
class Measured:
    """Figures of the robot of a document: how fast it is on this machine [Hz], the error of its mesh …"""

    document: dict[str, Any]
    figures: dict[str, Any]


@dataclass(frozen=True)
class Under:
    """How far the thread is, in words."""

    way: str
