"""The obstacles around a robot in a session, by name, and their plain data for viewers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.contact import Detector, Obstacle
from pliant.errors import InputError, unknown_name
from pliant.laws import as_vector


class Around:
    """Obstacles that are added, moved and removed.

    `obstacles` and `shapes` are new dictionaries after each change.
    """

    def __init__(self, obstacles: Iterable[Obstacle]) -> None:
        self.obstacles: dict[str, Obstacle] = {}
        self.shapes: dict[str, dict[str, Any]] = {}
        for obstacle in obstacles:
            self.add(obstacle)

    def add(self, obstacle: Obstacle) -> str:
        """Another obstacle; returns its name. One without a name is called after its kind."""
        if not isinstance(obstacle, Obstacle):
            raise InputError("obstacle", expected="one such as Sphere(…)", got=type(obstacle).__name__)
        name = base = obstacle.name or obstacle.kind or type(obstacle).__name__.lower()
        k = 2
        while name in self.obstacles:
            name, k = f"{base} {k}", k + 1
        named = copy(obstacle)
        object.__setattr__(named, "name", name)
        self._put(named)
        return name

    def move(self, name: str, position: Any) -> None:
        """Move an obstacle so that its `centre` (see `Obstacle.data`) is at a position (3,) [m]."""
        self._check(name)
        translation = as_vector(position, 3, f"position of {name!r}") - self.shapes[name]["centre"]
        self._put(self.obstacles[name].moved(translation=translation))

    def form(self, name: str, numbers: Mapping[str, Any]) -> None:
        """Other numbers of an obstacle; a scalar may be a sequence of one."""
        self._check(name)
        obstacle = self.obstacles[name]
        known = obstacle.numbers
        for key in numbers:
            if key not in known:
                raise unknown_name(f"number of a {obstacle.kind}", key, known)
        plain = {key: value[0] if np.ndim(known[key]) == 0 else value for key, value in numbers.items()}
        self._put(replace(obstacle, **plain))

    def remove(self, name: str) -> None:
        """Take an obstacle away."""
        self._check(name)
        self.obstacles = {n: o for n, o in self.obstacles.items() if n != name}
        self.shapes = {n: s for n, s in self.shapes.items() if n != name}

    def _put(self, obstacle: Obstacle) -> None:
        shape = obstacle.data()  # of a kind that cannot be drawn it is an error: then nothing has changed
        self.obstacles = {**self.obstacles, obstacle.name: obstacle}
        self.shapes = {**self.shapes, obstacle.name: shape}

    def _check(self, name: str) -> None:
        if name not in self.obstacles:
            raise unknown_name("obstacle", name, self.obstacles)


def arrange(
    detector: Detector, old: Mapping[str, Obstacle], obstacles: Iterable[Obstacle]
) -> dict[str, Obstacle]:
    """A detector's obstacles, so far the `old` ones, become these; returns them by name."""
    new = {o.name: o for o in obstacles}
    for name in old.keys() - new.keys():
        detector.remove(name)
    for name, obstacle in new.items():
        if name not in old:
            detector.add(obstacle)
        elif obstacle is not old[name]:
            detector.replace(obstacle)
    return new
