"""The desk: a session with what a studio needs around it: play and pause, robots to choose, recordings.

Used from the simulation's thread alone. Messages of the page are applied to it; `tick` moves it on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact import Box, Cylinder, Plane, Sphere
from pliant.errors import InputError, PliantError, unknown_name
from pliant.frame import Frame
from pliant.io.recording import Recorder
from pliant.session import Session
from pliant.stage import Stage

MOST_OBSTACLES = 24
LONGEST_RECORDING = 30_000  # frames


@dataclass(frozen=True, eq=False)
class View:
    """What a viewer is shown: a frame, its stage, the state of the desk, and quantities at the nodes by name."""

    frame: Frame
    stage: Stage
    state: Mapping[str, Any]
    hand: float = 1.0  # stiffness of a pull on the skin [N/m]
    fields: Mapping[str, np.ndarray] = field(default_factory=dict)


class Desk:
    """A session of one of several robots. `robots` are functions that open a session, by name."""

    def __init__(
        self, robots: Mapping[str, Callable[[], Session]], name: str, *, folder: Path | None = None
    ) -> None:
        self.robots, self.folder = dict(robots), folder or Path("results") / "recordings"
        self.playing, self.single, self.speed = True, False, 1.0
        self.notice = ""  # what went wrong last, for the page
        self.recorder: Recorder | None = None
        self.recordings: list[Path] = []  # finished, by number
        self.choose(name)

    # Commands

    def choose(self, name: str) -> None:
        """Open a session of another robot; a recording ends here."""
        if name not in self.robots:
            raise unknown_name("robot", name, self.robots)
        self.stop_recording()
        self.session, self.name = self.robots[name](), name

    def reset(self) -> None:
        """Back to the beginning; a recording ends here, since time begins anew."""
        self.stop_recording()
        self.session.reset()

    def add_obstacle(self, kind: str, at: list[float], size: float) -> None:
        """A sphere, box, cylinder or plane at a place (3,) [m]; the plane faces up, the cylinder stands."""
        if len(self.session.obstacles) >= MOST_OBSTACLES:
            raise InputError("obstacles", expected=f"at most {MOST_OBSTACLES}", got="one more")
        place, up = np.array(at), self.session.stage.up
        made = {
            "sphere": lambda: Sphere(place, size / 2),
            "box": lambda: Box(place, np.full(3, size), rounding=0.1 * size),
            "cylinder": lambda: Cylinder(place - up * size, place + up * size, size / 3),
            "plane": lambda: Plane(place, up),
        }
        self.session.add(made[kind]())

    def start_recording(self) -> None:
        """Write every frame from now on to a new file."""
        if self.recorder is not None:
            return
        number = 1
        while (path := self.folder / f"{_plain(self.name)}-{number}.mcap").exists():
            number += 1
        self.recorder = Recorder(path, self.session.stage)
        self.recorder.write(self.session.frame)
        self.session.listeners.append(self.recorder.write)

    def stop_recording(self) -> None:
        """Complete the file."""
        if self.recorder is None:
            return
        self.session.listeners.remove(self.recorder.write)
        self.recorder.close()
        self.recordings.append(self.recorder.path)
        self.recorder = None

    # Moving on

    def do(self, command: Any) -> None:
        """Apply a message; what goes wrong becomes a notice: the studio goes on."""
        try:
            self.notice = ""
            command.apply(self)
        except Exception as error:
            self.notice = _said(error)

    def tick(self) -> bool:
        """A step, if it plays or one was asked for. Whether something moved."""
        if not (self.playing or self.single):
            return False
        self.single = False
        try:
            self.session.step()
        except Exception as error:  # stop and say so: the page can reset, or choose another robot
            self.playing, self.notice = False, _said(error)
        if self.recorder is not None and self.recorder.count >= LONGEST_RECORDING:
            self.stop_recording()
            self.notice = f"The recording ended at {LONGEST_RECORDING} frames."
        return True

    def view(self, fields: frozenset[str] = frozenset()) -> View:
        """What viewers see now, with the fields that some of them want."""
        session = self.session
        known = {name: session.field(name) for name in fields if name in session.stage.fields}
        asked = {n: [drive, *map(float, value)] for n, (drive, value) in session.commands.items()}
        state = {
            "playing": self.playing,
            "speed": self.speed,
            "period": session.period,
            "chosen": self.name,
            "asked": asked,
            "notice": self.notice,
            "recording": self.recorder.count if self.recorder else None,
            "recordings": len(self.recordings),
        }
        return View(session.frame, session.stage, state, session.stiffness, known)


def _said(error: Exception) -> str:
    """An error for the page: ours say what to do, others are a fault of the program."""
    return (
        str(error) if isinstance(error, PliantError) else f"{type(error).__name__}: {error}. Reset to go on."
    )


def _plain(name: str) -> str:
    """A name as part of a file's name."""
    return "".join(c if c.isalnum() else "-" for c in name) or "robot"
