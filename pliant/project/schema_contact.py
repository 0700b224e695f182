"""What a project file may say of the surroundings: obstacles, and how the robot touches them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pliant.project.kinds import (
    Count,
    Direction,
    Flag,
    Indices,
    NotNegative,
    Part,
    Places,
    Positive,
    Vector,
    Word,
    one_of,
    refused,
)
from pliant.project.schema_rows import AlongSpec


class Named(Part):
    """An obstacle."""

    kind: str


class Ball(Named):
    kind: Literal["sphere"]
    centre: Vector
    radius: Positive


class Rod(Named):
    kind: Literal["capsule", "cylinder"]
    start: Vector
    end: Vector
    radius: Positive


class Block(Named):
    kind: Literal["box"]
    centre: Vector
    size: tuple[Positive, Positive, Positive]
    rotation: tuple[Vector, Vector, Vector] | None = None
    rounding: NotNegative = 0.0


class Floor(Named):
    kind: Literal["plane"]
    point: Vector
    normal: Direction


class Tube(Named):
    kind: Literal["pipe"]
    path: Annotated[tuple[Vector, ...], Field(min_length=2)]
    radius: Positive
    open: tuple[Flag, Flag] = (True, True)


class Fork(Named):
    kind: Literal["forked pipe"]
    branches: Annotated[tuple[Annotated[tuple[Vector, ...], Field(min_length=2)], ...], Field(min_length=2)]
    radius: Positive | tuple[Positive, ...]
    open: Flag | tuple[tuple[Flag, Flag], ...] = True


class Shape(Named):
    kind: Literal["mesh"]
    vertices: Places
    triangles: Annotated[tuple[tuple[Count, Count, Count], ...], Field(min_length=4)]
    inside: Flag = False


ObstacleSpec = Annotated[Ball | Rod | Block | Floor | Tube | Fork | Shape, Field(discriminator="kind")]


class FacetsSpec(Part):
    """Facets of a body's skin, by number."""

    body: Word | None = None
    facets: Indices | None = None


class SamplesSpec(FacetsSpec):
    """Points of a body that contact looks at."""

    spacing: Positive | None = None
    mid_nodes: Flag = True
    points: Places | None = None
    along: AlongSpec | None = None
    radius: NotNegative | tuple[NotNegative, ...] | None = None

    @model_validator(mode="after")
    def _whole(self) -> SamplesSpec:
        one_of(self, ("points", "along"), least=0)
        if (self.points is None and self.along is None) != (self.radius is None):
            raise refused("points or along together with a radius")
        return self


class PairSpec(Part):
    """Two patches that may touch each other."""

    one: FacetsSpec
    other: FacetsSpec


class ContactSpec(Part):
    """How the robot touches what is around it, itself and its other bodies."""

    alarm: Positive | None = None
    margin: NotNegative | None = None
    friction: NotNegative | dict[str, NotNegative] = 0.0
    samples: tuple[SamplesSpec, ...] = ()
    itself: Flag | tuple[PairSpec, ...] = False
    between_bodies: Flag | tuple[tuple[Count, Count], ...] = True
