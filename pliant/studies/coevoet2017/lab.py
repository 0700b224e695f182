"""What the parts of this study share: the setting, the scenes, and one run of each along its path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bench.instances import recording
from pliant.inverse import Inverse
from pliant.robot import Robot
from pliant.robots.scenes import scenes
from pliant.solvers.qpcc.problem import Problem
from pliant.studies.coevoet2017.tissues import folder_of_tissues, tissues_scene
from pliant.studies.log import Log, Targets, follow
from pliant.studies.setup import Setup
from pliant.timing import Yardstick

PACE = 1000  # steps in which a scene's path is followed from its beginning to its end
WARMING_STEPS = 3  # before a run is timed


@dataclass(frozen=True)
class Setting:
    """Sizes of the samples.

    `path` is the number of steps made along a scene's path, which has PACE of them, `events` those in which a
    scene with events is run from its beginning to its end; `grid` that of points
    along an axis of a map, `places` that of random places of its balls; `equilibria` of states solved again
    per scene; `problems` of recorded ones judged per scene; `trial` the most steps to come to rest at a
    target; `soak` the steps of a soak run. `robots` are the scenes of the last three (none: all).
    `yardsticks` says whether dgemm is timed around every run, or once.
    """

    path: int
    events: int
    grid: int
    places: int
    equilibria: int
    problems: int
    trial: int
    soak: int
    robots: tuple[str, ...] = ()
    yardsticks: bool = True


FULL = Setting(
    path=PACE, events=PACE, grid=500, places=200, equilibria=8, problems=1000, trial=300, soak=10_000
)
QUICK = Setting(
    path=60,
    events=60,
    grid=60,
    places=9,
    equilibria=1,
    problems=10,
    trial=150,
    soak=30,
    robots=("beam",),
    yardsticks=False,
)


@dataclass(frozen=True)
class Course:
    """A run along a scene's path: its log, dgemm(1500) around it, and problems with contact that came up."""

    log: Log
    yardstick: Yardstick
    problems: list[Problem]


class Lab:
    """Scenes by name; scenes and runs are made when first asked for, and kept.

    `names` are all scenes, `robots` those that are not a variant of another one ("trunk, lost cable" is one
    of "trunk"), `thorough` those of the parts that take long.
    """

    def __init__(self, setting: Setting, setup: Setup | None = None) -> None:
        self.setting, self.setup = setting, setup or Setup()
        self.names = tuple(scenes)
        self.robots = tuple(name for name in scenes if "," not in name)
        self.thorough = setting.robots or self.robots
        self._scenes: dict[str, Any] = {}
        self._courses: dict[str, Course] = {}
        self._only: Yardstick | None = None

    # Scenes

    def scene(self, name: str) -> Any:
        """A scene of the gallery; the two bodies are the authors' tissues where their meshes are at hand."""
        if name not in self._scenes:
            theirs = self.tissues if name == "two bodies" else None
            self._scenes[name] = scenes[name]() if theirs is None else tissues_scene(theirs)
        return self._scenes[name]

    @property
    def tissues(self) -> Path | None:
        """The folder with both meshes of the authors' tissues, if there is one."""
        return folder_of_tissues(self.setup)

    def robot(self, name: str) -> Robot:
        """Its robot."""
        return self.scene(name).robot

    def controller(self, name: str, **options: Any) -> Inverse:
        """A new controller at the scene's start."""
        return self.scene(name).controller(**options)

    def effort_unit(self, name: str, row: str) -> str:
        """In which an actuator's effort is measured."""
        return self.robot(name).rows[row].interaction.effort_unit

    # Places

    def path(self, name: str) -> np.ndarray:
        """(n, m) the predefined path of the effector; its beginning, if n is smaller than its steps are.

        A scene with events is run from its beginning to its end, however fast.
        """
        scene, setting = self.scene(name), self.setting
        return np.asarray(scene.path(setting.events) if scene.events else scene.path(PACE)[: setting.path])

    def target(self, name: str, place: np.ndarray) -> Targets:
        """The targets that bring the effector to a place."""
        return {self.scene(name).effector: place}

    def start(self, name: str) -> np.ndarray:
        """(m,) where the path begins."""
        return self.path(name)[0]

    def direction(self, name: str) -> np.ndarray:
        """(m,) unit: from the start to the farthest point of the path."""
        away = np.asarray(self.scene(name).path(PACE)) - self.start(name)
        far = away[np.argmax(np.linalg.norm(away, axis=1))]
        return far / np.linalg.norm(far)

    # The run along the path

    def course(self, name: str) -> Course:
        """The run, with the scene's events."""
        if name not in self._courses:
            self._courses[name] = self._run(name)
        return self._courses[name]

    def log(self, name: str) -> Log:
        """Of the run."""
        return self.course(name).log

    def _run(self, name: str) -> Course:
        controller, path = self.controller(name), self.path(name)
        follow(controller, [self.target(name, path[0])] * WARMING_STEPS)
        keep = max(1, len(path) // (self.setting.equilibria + 1))
        targets = (self.target(name, p) for p in path)
        events = self.happening(name, controller, len(path))
        before = self._yardstick()
        with recording() as problems:
            log = follow(controller, targets, keep=keep, measure=max(1, keep // 4), before=events)
        mean = 0.5 * (before.milliseconds + self._yardstick().milliseconds)
        return Course(log, Yardstick(mean), thinned(problems, self.setting.problems))

    def _yardstick(self) -> Yardstick:
        if self.setting.yardsticks:
            return Yardstick.measure()
        self._only = self._only or Yardstick.measure()
        return self._only

    def happening(self, name: str, controller: Inverse, steps: int) -> Callable[[int], None]:
        """A function to call before each step, for the events of a scene."""

        def before(step: int) -> None:
            now, last = step / max(1, steps - 1), (step - 1) / max(1, steps - 1)
            for event in self.scene(name).events:
                event.happen(controller, last, now)

        return before


def thinned(problems: Sequence[Problem], count: int) -> list[Problem]:
    """So many of those with contacts, evenly spread over the run."""
    touching = [p for p in problems if p.nc]
    pick = np.unique(np.linspace(0, len(touching) - 1, min(count, len(touching))).round().astype(int))
    return [touching[k] for k in pick]
