"""The desk: a session with what a studio needs around it: play and pause, robots to choose, recordings.

Used from the simulation's thread alone. Messages of the page are applied to it; `tick` moves it on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact.obstacles import KINDS
from pliant.errors import InputError, PliantError, unknown_name
from pliant.frame import Frame
from pliant.io.recording import Recorder
from pliant.session import Session
from pliant.stage import Stage
from pliant.studio.workshop import Workshop

MOST_OBSTACLES = 24
LONGEST_RECORDING = 30_000  # frames
MOTIONLESS = 1e-6  # of the robot's length: motion in a step that is none
SAME_PLACE = 1e-6  # [m]: of an effector that an edit left where it was
SETTLED = 50  # steps on end without motion; commands that are reached in hops have arrived by then


@dataclass(frozen=True, eq=False)
class View:
    """What a viewer is shown: a frame, its stage, the state of the desk, quantities at the nodes by name."""

    frame: Frame
    stage: Stage
    state: Mapping[str, Any]
    hand: float = 1.0  # stiffness of a pull on the skin [N/m]
    fields: Mapping[str, np.ndarray] = field(default_factory=dict)
    alterable: bool = True  # whether obstacles may be added, and actuators lost
    workshop: Mapping[str, Any] = field(default_factory=lambda: {"draft": None, "projects": []})


class Desk:
    """A session of one of several robots. `robots` are functions that open a session, by name."""

    def __init__(
        self,
        robots: Mapping[str, Callable[[], Session]],
        name: str,
        *,
        folder: Path | None = None,
        projects: Path | None = None,
    ) -> None:
        self.robots, self.folder = dict(robots), folder or Path("results") / "recordings"
        self.workshop = Workshop(projects or self.folder.parent / "projects")
        self.playing, self.single, self.speed = True, False, 1.0
        self._still = 0  # steps on end without motion
        self.notice = ""  # what went wrong last, for the page
        self.recorder: Recorder | None = None
        self._probe: tuple[np.ndarray, np.ndarray] | None = None  # vertices of the skin, and weights
        self.recordings: list[Path] = []  # finished, by number
        self.choose(name)

    # Commands

    def choose(self, name: str) -> None:
        """Open a session of another robot; a recording ends here."""
        own = self.workshop.project is not None and name == self.workshop.name
        if not own and name not in self.robots:
            raise unknown_name("robot", name, self.robots)
        self._show(self.workshop.session() if own else self.robots[name](), name)

    def _show(self, session: Session, name: str) -> None:
        self.stop_recording()
        self.session, self.name, self._probe = session, name, None
        self.session.hang()
        self._hung = dict(self.session.frame.target)  # where targets began

    def close(self) -> None:
        """At the end: complete the recording, and end what runs beside the studio."""
        self.stop_recording()
        self.workshop.close()

    def called_by(self, wake: Callable[[], object]) -> None:
        """Who is to be called, from another thread, when there is something to gather."""
        self.workshop.wake = wake

    def gather(self) -> bool:
        """Take what the workshop has finished; whether there was something.

        A robot that was edited goes on in the same mode among the same obstacles.
        """
        before = (self.workshop.busy, self.workshop.figures)
        session, why = self.workshop.gather()
        self.notice, self._still = why or self.notice, 0 if session else self._still
        if session is not None:
            if self.name == self.workshop.name:
                try:
                    self._hand_over(session)
                except PliantError as error:
                    self.notice = str(error)
            self._show(session, self.workshop.name)
        return bool(why) or session is not None or before != (self.workshop.busy, self.workshop.figures)

    def _hand_over(self, session: Session) -> None:
        """What a new session gets from the one before: its obstacles and, where it can, mode and targets.

        Targets that somebody moved, of effectors that are where they were; the others begin where they hang.
        """
        for name in session.obstacles:
            session.remove(name)
        for obstacle in self.session.obstacles.values():
            session.add(obstacle)
        with suppress(PliantError):
            session.switch(self.session.mode)
        before, after = _undeformed(self.session), _undeformed(session)
        for name, target in self.session.frame.target.items():
            moved = not np.array_equal(target, self._hung.get(name, target))
            if moved and name in after and np.allclose(before[name], after[name], rtol=0.0, atol=SAME_PLACE):
                session.aim(name, target)

    def save(self, name: str) -> None:
        """Write the project file of the robot that is being edited."""
        session = self.session
        more = {
            "obstacles": {n: {"kind": o.kind, **o.numbers} for n, o in session.obstacles.items()},
            "targets": {n: value.tolist() for n, value in session.frame.target.items()},
        }
        self.notice = f"Saved: {self.workshop.save(name, more)}"
        self.name = self.workshop.name

    def reset(self) -> None:
        """Back to the beginning, in the same mode among the same obstacles.

        A recording ends here, since time begins anew. Where the robot cannot begin among the obstacles, as
        with one that was moved into its first shape, these are the first ones again.
        """
        self.stop_recording()
        try:
            self.session.reset(keep=True)
        except PliantError as error:
            self.session.reset()
            self.notice = f"Back to the first obstacles: {error}"
        self.session.hang()

    def add_obstacle(self, kind: str, at: list[float], size: float) -> None:
        """An obstacle of a kind at a place (3,) [m], upright, about `size` [m] large.

        It is called what the button says that adds it.
        """
        if len(self.session.obstacles) >= MOST_OBSTACLES:
            raise InputError("obstacles", expected=f"at most {MOST_OBSTACLES}", got="one more")
        made = KINDS[kind]
        word = made.offer.word.lower() if made.offer else kind
        self.session.add(replace(made.of_size(np.array(at), size, self.session.stage.up), name=word))

    def start_recording(self) -> None:
        """Write every frame from now on to a new file."""
        if self.recorder is not None:
            return
        self.recorder = Recorder.new(self.folder, _plain(self.name), self.session.stage)
        self.session.listeners.append(self._write)
        self._write(self.session.frame)

    def stop_recording(self) -> None:
        """Complete the file.

        Never raises: a file that cannot be completed is read as far as it was written, and a notice says so.
        """
        if self.recorder is None:
            return
        recorder, self.recorder = self.recorder, None
        self.session.listeners.remove(self._write)
        self.recordings.append(recorder.path)
        try:
            recorder.close()
        except Exception as error:
            self.notice = _said(error)

    def _write(self, frame: Frame) -> None:
        """Record a frame.

        Where that fails, as on a full disk, the recording ends, and the simulation goes on.
        """
        assert self.recorder is not None
        try:
            session = self.session
            stress = session.field("stress") if "stress" in session.stage.fields else None
            self.recorder.write(frame, stress=stress)
        except Exception as error:
            self.stop_recording()
            self.notice = _said(error)

    def read(self, vertices: list[int], weights: list[float]) -> None:
        """Say the stress at a point of the skin from now on; three vertices and their weights, or none."""
        if len(vertices) != len(weights) or len(vertices) not in (0, 3):
            raise InputError("point", expected="three vertices and their weights, or none", got=len(vertices))
        count = len(self.session.stage.vertices)
        if any(v >= count for v in vertices):
            raise InputError("vertices of a point", expected=f"0 to {count - 1}", got=max(vertices))
        self._probe = (np.array(vertices), np.array(weights)) if vertices else None

    # Moving on

    def do(self, command: Any) -> None:
        """Apply a message; what goes wrong becomes a notice: the studio goes on."""
        try:
            self.notice, self._still = "", 0
            command.apply(self)
        except Exception as error:
            self.notice = _said(error)

    def tick(self) -> bool:
        """A step, if it plays or one was asked for. Whether something moved."""
        if not (self.playing or self.single):
            return False
        self.single, before = False, self.session.frame.positions
        try:
            self.session.step()
        except Exception as error:  # stop and say so: the page can reset, or choose another robot
            self.playing, self.notice = False, _said(error)
        motion = float(np.abs(self.session.frame.positions - before).max(initial=0.0))
        self._still = self._still + 1 if motion < MOTIONLESS * self.session.stage.length else 0
        if self.recorder is not None and self.recorder.count >= LONGEST_RECORDING:
            self.notice = f"The recording ended at {LONGEST_RECORDING} frames."
            self.stop_recording()
        return True

    @property
    def rests(self) -> bool:
        """Whether nothing has moved for a while, and neither a recording nor devices listen."""
        return self._still >= SETTLED and not self.session.listeners

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
        if self._probe is not None and "stress" in session.stage.fields:
            vertices, weights = self._probe
            stress = known["stress"] if "stress" in known else session.field("stress")
            state["probe"] = {"stress": float(weights @ stress[session.stage.vertices[vertices]])}
        if self.workshop.busy or self.workshop.documents:
            state["build"] = {
                "busy": self.workshop.busy,
                **self.workshop.figures,
                "edits": max(len(self.workshop.documents) - 1, 0),
                "making": self.workshop.making,
            }
        facts = self._workshop_facts()
        able = session.alterable
        return View(session.frame, session.stage, state, session.stiffness, known, able, facts)

    def _workshop_facts(self) -> dict[str, Any]:
        shown = self.workshop.facts if self.name == self.workshop.name else None
        return {"draft": shown, "projects": self.workshop.known}


def _undeformed(session: Session) -> dict[str, np.ndarray]:
    """Where a session's effectors are in the undeformed robot."""
    robot = session.robot
    delta = robot.split(robot.bundle.delta(robot.bundle.positions(robot.rest.q)))
    return {name: delta[name] for name in session.effectors}


def _said(error: Exception) -> str:
    """An error for the page: ours say what to do, others are a fault of the program."""
    return (
        str(error) if isinstance(error, PliantError) else f"{type(error).__name__}: {error}. Reset to go on."
    )


def _plain(name: str) -> str:
    """A name as part of a file's name."""
    return "".join(c if c.isalnum() else "-" for c in name) or "robot"
