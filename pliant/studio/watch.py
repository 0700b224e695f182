"""A robot that somebody else moves, shown in the studio: an environment that an agent acts in."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NoReturn, cast

import numpy as np

from pliant.errors import InputError, unknown_name
from pliant.frame import Frame
from pliant.stage import Stage
from pliant.studio.desk import Desk
from pliant.studio.view import Window, open_window

OBSERVED = "observed"
WORDS = "An agent moves it: this page looks on."


class Watched:
    """The surface of a `pliant.session.Session` whose steps show the frame that it was handed last."""

    alterable, stiffness = False, 1.0

    def __init__(self, stage: Stage, frame: Frame, period: float) -> None:
        # what can only be watched has no sliders; targets are shown
        rows = tuple(replace(row, role=OBSERVED) if row.role == "actuator" else row for row in stage.rows)
        self.stage, self.period, self.mode = replace(stage, rows=rows), period, frame.mode
        self.frame = self.newest = frame
        self.listeners: list[Callable[[Frame], object]] = []
        self.obstacles, self.effectors, self.actuators, self.commands = {}, {}, {}, {}

    def step(self) -> Frame:
        """The newest frame."""
        self.frame = replace(self.newest, words=WORDS)
        for listener in tuple(self.listeners):
            listener(self.frame)
        return self.frame

    def hang(self) -> None:
        """It has no targets."""

    def field(self, name: str) -> np.ndarray:
        """How far the nodes are from where they are at rest [m]."""
        if name != "displacement":
            raise unknown_name("field", name, ("displacement",))
        return np.linalg.norm(self.frame.positions - self.stage.rest, axis=1)

    def refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Nothing can be done to it here."""
        raise InputError("studio", expected="to watch", got="a command: something else moves this robot")

    aim = drive = switch = push = pull = release = reset = add = move = form = remove = lose = mend = refuse


class Show:
    """A studio that shows frames as they come, no faster than one each `period` [s]."""

    def __init__(self, stage: Stage, frame: Frame, period: float, *, browser: bool = True) -> None:
        stage = replace(stage, fields=("displacement",))
        self.watched, self._due = Watched(stage, frame, period), perf_counter()
        opener = cast(Any, lambda: self.watched)
        self.window: Window = open_window(
            lambda: Desk({stage.robot: opener}, stage.robot, folder=Path("results") / "recordings"),
            summaries={stage.robot: "moved by an agent"},
            listening=webbrowser.open if browser else None,
        )

    def show(self, frame: Frame) -> None:
        """The next frame, when it is due."""
        self._due = max(self._due + self.watched.period, perf_counter())
        self.watched.newest = frame
        sleep(max(self._due - perf_counter(), 0.0))

    def close(self) -> None:
        """End the studio."""
        self.window.close()
