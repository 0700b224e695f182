"""Surroundings: what a robot can touch, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pliant.contact.basis import ContactBasis
from pliant.contact.detect.detector import Detector
from pliant.contact.detect.reduced import ReducedDetector
from pliant.contact.detect.samples import Samples
from pliant.contact.obstacles import Obstacle
from pliant.mesh import Surface


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Obstacles around a robot, and how it touches them, itself and its other bodies; options of `Detector`.

    basis: contacts that it covers are reduced to its modes, see `ReducedDetector`. against_obstacles: where
    samples are for pairs of patches, and obstacles are not to be met by all of the skin.
    """

    obstacles: Sequence[Obstacle] = ()
    samples: Samples | Sequence[Samples] | None = None
    self_contact: bool | Sequence[tuple[Surface, Surface]] = False
    between_bodies: bool | Sequence[tuple[int, int]] = True
    alarm: float | None = None
    margin: float | None = None
    friction: float | Mapping[str, float] = 0.0
    areas: bool = True
    basis: ContactBasis | None = None
    against_obstacles: Samples | Sequence[Samples] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "obstacles", _several(self.obstacles))

    def empty(self, robot: Any) -> bool:
        """Whether there is nothing to touch, nor any option to be checked."""
        alone = len(robot.bodies) == 1 or self.between_bodies is False
        return alone and not (self.obstacles or self.self_contact or self.samples or self.friction)

    def detector(self, robot: Any, obstacles: Obstacle | Iterable[Obstacle] = ()) -> Detector:
        """The detector of a robot in these surroundings, with more obstacles."""
        kind = Detector if self.basis is None else partial(ReducedDetector, basis=self.basis)
        return kind(
            robot,
            (*self.obstacles, *_several(obstacles)),
            samples=self.samples,
            self_contact=self.self_contact,
            between_bodies=self.between_bodies,
            against_obstacles=self.against_obstacles,
            alarm=self.alarm,
            margin=self.margin,
            friction=self.friction,
            areas=self.areas,
        )


def _several(obstacles: Obstacle | Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    return (obstacles,) if isinstance(obstacles, Obstacle) else tuple(obstacles)
