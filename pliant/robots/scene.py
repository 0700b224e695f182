"""Scenes: a robot in its surroundings with something to do, for the inverse model.

scene = pl.robots.scenes["trunk"]()
for out in pl.robots.follow(scene, steps=200):
    print(out.error["tip"], out.certificate)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.inverse import Inverse, Outcome
from pliant.inverse.settings import Settings
from pliant.laws import Law
from pliant.robot import Robot
from pliant.static import static


class Paper(NamedTuple):
    """A line of Table 12 in Coevoet et al. 2017: contacts and degrees of freedom on average, times [ms]."""

    contacts: int
    dofs: int
    compliance: float
    programs: float


@dataclass(frozen=True)
class Event:
    """Something that happens during a run: `act(controller, share)` before each step from `begin` to `end`.

    These are shares of the run. `share` goes from 0 at `begin` to 1 at `end`; an event with begin = end
    happens once.
    """

    begin: float
    end: float
    act: Callable[[Inverse, float], None]

    def happen(self, controller: Inverse, before: float, now: float) -> None:
        """Do the part of the event between two moments of the run, `before` excluded."""
        if self.end == self.begin:
            if before < self.begin <= now:
                self.act(controller, 1.0)
        elif before < self.end and now > self.begin:
            self.act(controller, float(np.clip((now - self.begin) / (self.end - self.begin), 0.0, 1.0)))


@dataclass(frozen=True)
class Scene:
    """A robot and its task.

    `path` gives the targets (steps, m) of the row `effector` for a run of so many steps. `events` happen
    during the run. `start` are laws that set where the run begins; by default all actuators are off.
    `element` is the finite element in words, `paper` its line of Table 12, if it has one.
    """

    name: str
    robot: Robot
    path: Callable[[int], np.ndarray]
    element: str
    effector: str = "tip"
    events: tuple[Event, ...] = ()
    start: Mapping[str, Law] = field(default_factory=dict)
    settings: Settings = Settings()  # noqa: RUF009  (frozen)
    paper: Paper | None = None

    @property
    def length(self) -> float:
        """Size of the robot [m], which errors are compared with."""
        return self.robot.length

    @property
    def dofs(self) -> int:
        """Degrees of freedom, three per free node (and per direction of a rigid region)."""
        return self.robot.ndof

    def controller(self, **options: Any) -> Inverse:
        """A new inverse model where the run begins; options as for `Inverse`."""
        options.setdefault("settings", self.settings)
        if self.start and "state" not in options:
            options["state"] = static(self.robot, self.start).state
        return Inverse(self.robot, **options)


def follow(scene: Scene, *, steps: int = 300, controller: Inverse | None = None) -> Iterator[Outcome]:
    """The outcomes of a scene: one step of the inverse model to each target of its path, with its events."""
    if steps < 1:
        raise InputError("steps", expected="at least 1", got=steps)
    controller = scene.controller() if controller is None else controller
    before = -1.0
    for k, target in enumerate(scene.path(steps)):
        now = k / max(1, steps - 1)
        for event in scene.events:
            event.happen(controller, before, now)
        before = now
        yield controller.step(targets={scene.effector: target})


def through(points: ArrayLike, *, closed: bool = False) -> Callable[[int], np.ndarray]:
    """A smooth path through waypoints (n, m) [m]: steps ↦ (steps, m).

    It passes them at equal intervals and starts and ends with zero speed. A closed path returns to its first
    point.
    """
    waypoints = np.asarray(points, float)
    if closed:
        waypoints = np.vstack([waypoints, waypoints[:1]])

    def path(steps: int) -> np.ndarray:
        from scipy.interpolate import CubicSpline  # slow to import

        curve = CubicSpline(np.linspace(0.0, 1.0, len(waypoints)), waypoints, bc_type="clamped")
        return curve(np.linspace(0.0, 1.0, steps))

    return path
