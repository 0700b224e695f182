"""What a project file may say of rows: cables, cavities, motors, sliders, forces, effectors, sensors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pliant.project.kinds import (
    Axes,
    Bound,
    Count,
    Direction,
    Flag,
    Indices,
    NotNegative,
    Number,
    Part,
    Places,
    Range,
    Vector,
    Word,
    one_of,
)

INF = float("inf")


class RowSpec(Part):
    """What every row may say: which body, which role, and the limits of an actuator."""

    body: Word | None = None
    role: Literal["actuator", "observed", "unknown"] = "actuator"
    effort: Range = (-INF, INF)
    displacement: Range = (-INF, INF)
    speed: Annotated[Bound, Field(gt=0)] = INF


class AlongSpec(Part):
    """Points of rods: arc lengths [m] along a branch, and an offset [m] along the section's y and z."""

    arc: Annotated[tuple[NotNegative, ...], Field(min_length=1)]
    offset: tuple[Number, Number] = (0.0, 0.0)
    branch: Count = 0


class PointsSpec(Part):
    """Material points: rest positions [m], places along rods, nodes, or the frame of a rigid region."""

    points: Places | None = None
    along: AlongSpec | None = None
    nodes: Indices | None = None
    region: Word | None = None
    outside: Literal["error", "nearest"] = "error"


class CableSpec(RowSpec):
    """Through material points, from an anchor, to an end."""

    through: Places | None = None
    along: AlongSpec | None = None
    anchor: Vector | None = None
    end: Vector | None = None
    outside: Literal["error", "nearest"] = "error"
    effort: Range = (0.0, INF)

    @model_validator(mode="after")
    def _one(self) -> CableSpec:
        one_of(self, ("through", "along"))
        return self


class CavitySpec(RowSpec):
    """The n-th inner surface of the body, or facets of its skin."""

    inner: Annotated[Count, Field(ge=1)] | None = None
    facets: Indices | None = None
    cap: Literal["flat"] | None = None
    liquid_density: NotNegative = 0.0
    level: Vector | None = None
    curved: Flag = True

    @model_validator(mode="after")
    def _one(self) -> CavitySpec:
        one_of(self, ("inner", "facets"))
        return self


class MotorSpec(RowSpec):
    """Turns a rigid region about an axis."""

    region: Word
    axis: Direction
    middle: Number = 0.0


class SliderSpec(RowSpec, PointsSpec):
    """Pushes a rigid region, or points, along a direction."""

    direction: Direction


class ForceSpec(RowSpec, PointsSpec):
    """Forces on points; `shared` makes one of them, the same on each."""

    direction: Direction | None = None
    shared: Flag = False


class ReadSpec(PointsSpec):
    """What effectors and sensors read."""

    body: Word | None = None
    kind: Literal["position", "centre of mass"] = "position"
    directions: Axes = "xyz"
    weight: NotNegative = 1.0


class EffectorSpec(ReadSpec):
    """A reading that should come to a target."""

    target: tuple[Number, ...] | None = None


class SensorSpec(ReadSpec):
    """A reading that is observed, or measured."""

    measured: Flag = False
