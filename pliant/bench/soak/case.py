"""The robots of a soak: all of the gallery and of the scenes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from pliant.errors import unknown_name
from pliant.inverse import Inverse, Settings
from pliant.laws import Law
from pliant.robot import Robot
from pliant.robots import Entry, Scene, gallery, scenes
from pliant.session.session import LINEARISATIONS
from pliant.static import static


@dataclass(frozen=True)
class Case:
    """A robot, the laws of where it begins (by default all actuators are off), and how it is driven."""

    name: str
    robot: Robot
    start: Mapping[str, Law] = field(default_factory=dict)
    settings: Settings = Settings()  # noqa: RUF009  (frozen)

    @property
    def driven(self) -> bool:
        """Whether it has targets and something to reach them with."""
        return bool(self.robot.by_role("effector") and self.robot.by_role("actuator"))

    def controller(self, punctual: bool) -> Inverse:
        """A new inverse model where the run begins; punctual: with the budget of a session."""
        settings = replace(self.settings, budget=LINEARISATIONS) if punctual else self.settings
        state = static(self.robot, self.start).state if self.start else None
        return Inverse(self.robot, state=state, settings=settings)


def cases(only: str = "") -> dict[str, Callable[[], Case]]:
    """What builds each case, by name: one of exactly this name, or all whose name contains it."""
    made = {name: partial(_of_gallery, name, entry) for name, entry in gallery.items()}
    made |= {f"scene: {name}": partial(_of_scene, f"scene: {name}", make) for name, make in scenes.items()}
    chosen = {only: made[only]} if only in made else {n: make for n, make in made.items() if only in n}
    if not chosen:
        raise unknown_name("robot or scene", only, made)
    return chosen


def _of_gallery(name: str, entry: Entry) -> Case:
    return Case(name, entry.build())


def _of_scene(name: str, make: Callable[[], Scene]) -> Case:
    scene = make()
    return Case(name, scene.robot, scene.start, scene.settings)
