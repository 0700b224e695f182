"""What a project file may say of the surroundings: obstacles, and how the robot touches them."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Field, create_model, model_validator

from pliant.contact.obstacles import KINDS, Obstacle
from pliant.project.kinds import (
    Count,
    Direction,
    Flag,
    Indices,
    NotNegative,
    NotNegativeLength,
    Part,
    Place,
    Places,
    PositiveLength,
    Vector,
    Word,
    one_of,
    refused,
)
from pliant.project.schema_rows import AlongSpec

Path = Annotated[tuple[Place, ...], Field(min_length=2)]
Pair = tuple[Flag, Flag]
TYPES: dict[str, Any] = {  # of what a number of an obstacle may be, see `pliant.contact.obstacles.obstacle`
    "point": Place,
    "direction": Direction,
    "length": PositiveLength,
    "length or zero": NotNegativeLength,
    "lengths": tuple[PositiveLength, PositiveLength, PositiveLength],
    "radius of each": PositiveLength | tuple[PositiveLength, ...],
    "rotation": tuple[Vector, Vector, Vector] | None,
    "polyline": Path,
    "polylines": Annotated[tuple[Path, ...], Field(min_length=2)],
    "flag": Flag,
    "flags": Pair,
    "flags of each": Flag | tuple[Pair, ...],
    "points": Places,
    "indices": Annotated[tuple[tuple[Count, Count, Count], ...], Field(min_length=4)],
}


def obstacle_spec(made: type[Obstacle]) -> type[Part]:
    """The table of a kind of obstacle: its `kind` and its numbers, checked."""
    defaults = {f.name: ... if f.default is MISSING else f.default for f in fields(made)}
    values: dict[str, Any] = {
        name: (TYPES[word], defaults[name]) for name, word in made.number_kinds().items()
    }
    values["kind"] = (Literal[made.kind], ...)
    return create_model(f"{made.__name__}Spec", __base__=Part, **values)


if TYPE_CHECKING:  # which is made at run time
    ObstacleSpec = Any
else:
    _every = tuple(obstacle_spec(made) for made in KINDS.values())
    ObstacleSpec = Annotated[Union[_every], Field(discriminator="kind")]  # noqa: UP007


class FacetsSpec(Part):
    """Facets of a body's skin, by number."""

    body: Word | None = None
    facets: Indices | None = None


class SamplesSpec(FacetsSpec):
    """Points of a body that contact looks at."""

    spacing: PositiveLength | None = None
    mid_nodes: Flag = True
    points: Places | None = None
    along: AlongSpec | None = None
    radius: NotNegativeLength | tuple[NotNegativeLength, ...] | None = None

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

    alarm: PositiveLength | None = None
    margin: NotNegativeLength | None = None
    friction: NotNegative | dict[str, NotNegative] = 0.0
    samples: tuple[SamplesSpec, ...] = ()
    against_obstacles: tuple[SamplesSpec, ...] = ()
    itself: Flag | tuple[PairSpec, ...] = False
    between_bodies: Flag | tuple[tuple[Count, Count], ...] = True
