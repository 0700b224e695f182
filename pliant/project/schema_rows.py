"""What a project file may say of rows: cables, cavities, motors, sliders, forces, effectors, sensors."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from pliant.project.kinds import (
    Away,
    Axes,
    Bound,
    Count,
    Density,
    Direction,
    Flag,
    Indices,
    NotNegative,
    NotNegativeLength,
    NotNegativeTime,
    NotNegativeVolume,
    Number,
    Part,
    Place,
    Places,
    Positive,
    PositivePressure,
    Range,
    Word,
    in_unit,
    one_of,
    refused,
)

INF = float("inf")
WORDS = ("tension", "force", "pressure", "torque", "length", "volume", "angle")


class RowSpec(Part):
    """What every row may say: which body, which role, and the limits of an actuator.

    `sides` are the SI units of its displacement and its effort, `words` other names for these two.
    """

    sides: ClassVar[tuple[str, str]] = ("m", "N")
    words: ClassVar[tuple[str, str]] = ("length", "force")
    body: Word | None = None
    role: Literal["actuator", "observed", "unknown"] = "actuator"
    effort: Range = (-INF, INF)
    displacement: Range = (-INF, INF)
    speed: Annotated[Bound, Field(gt=0)] = INF

    @field_validator("effort", "displacement", "speed", *WORDS, mode="before", check_fields=False)
    @classmethod
    def _units(cls, value: Any, info: ValidationInfo) -> Any:
        unit, effort_unit = cls.sides
        side = dict(
            zip((*cls.words, "effort", "speed"), (unit, effort_unit, effort_unit, f"{unit}/s"), strict=True)
        )
        return in_unit(value, side.get(str(info.field_name), unit))

    @model_validator(mode="after")
    def _worded(self) -> RowSpec:
        for word, side in zip(self.words, ("displacement", "effort"), strict=True):
            if getattr(self, word) is not None and side in self.model_fields_set:
                raise refused(f"{side} or {word}, which mean the same here")
        return self

    def limits(self, side: str) -> tuple[float, float]:
        """The limits of "effort" or "displacement", by whichever name the file has them."""
        worded = getattr(self, self.words[side == "effort"])
        return getattr(self, side) if worded is None else worded


class AlongSpec(Part):
    """Points of rods: arc lengths [m] along a branch, and an offset [m] along the section's y and z."""

    arc: Annotated[tuple[NotNegativeLength, ...], Field(min_length=1)]
    offset: tuple[Away, Away] = (0.0, 0.0)
    branch: Count = 0


class PointsSpec(Part):
    """Material points: rest positions [m], places along rods, nodes, or the frame of a rigid region."""

    points: Places | None = None
    along: AlongSpec | None = None
    nodes: Indices | None = None
    region: Word | None = None
    outside: Literal["error", "nearest"] = "error"


class LagSpec(Part):
    """What a drive does with its commands, see `pliant.interactions.Drive`; in the units of its row."""

    lag: NotNegativeTime = 0.0
    rate: Positive | None = None
    backlash: NotNegative = 0.0
    limit: Positive | None = None


class CableSpec(RowSpec):
    """Through material points, from an anchor, to an end."""

    through: Places | None = None
    along: AlongSpec | None = None
    anchor: Place | None = None
    end: Place | None = None
    outside: Literal["error", "nearest"] = "error"
    friction: NotNegative = 0.0
    sheath: NotNegative = 0.0
    housing: NotNegative = 0.0
    pulled: Literal["first", "last"] = "first"
    stiffness: Positive | None = None
    slack: NotNegativeLength = 0.0
    drive: LagSpec | None = None
    effort: Range = (0.0, INF)
    tension: Range | None = None
    length: Range | None = None
    words: ClassVar[tuple[str, str]] = ("length", "tension")

    @model_validator(mode="after")
    def _one(self) -> CableSpec:
        one_of(self, ("through", "along"))
        return self


class LineSpec(Part):
    """What a chamber is filled through, see `pliant.pneumatics.Line`; conductances in m³/(s·Pa)."""

    volume: NotNegativeVolume = 0.0
    exponent: Annotated[Number, Field(ge=1, le=5 / 3)] | None = None
    bulk: PositivePressure | None = None
    conductance: Positive | None = None
    exhaust: Positive | None = None
    leak: Positive | None = None
    critical: Annotated[Number, Field(ge=0, lt=0.99)] = 0.3
    supply: PositivePressure | None = None
    lag: NotNegativeTime = 0.0
    delay: NotNegativeTime = 0.0
    syringe: NotNegativeVolume = 0.0

    @model_validator(mode="after")
    def _one(self) -> LineSpec:
        one_of(self, ("exponent", "bulk"), least=0)
        return self


class CavitySpec(RowSpec):
    """The n-th inner surface of the body, or facets of its skin."""

    inner: Annotated[Count, Field(ge=1)] | None = None
    facets: Indices | None = None
    cap: Literal["flat"] | None = None
    liquid_density: Density = 0.0
    level: Place | None = None
    curved: Flag = True
    line: LineSpec | None = None
    pressure: Range | None = None
    volume: Range | None = None
    sides: ClassVar[tuple[str, str]] = ("m³", "Pa")
    words: ClassVar[tuple[str, str]] = ("volume", "pressure")

    @model_validator(mode="after")
    def _one(self) -> CavitySpec:
        one_of(self, ("inner", "facets"))
        return self


class MotorSpec(RowSpec):
    """Turns a rigid region about an axis."""

    region: Word
    axis: Direction
    middle: Number = 0.0
    drive: LagSpec | None = None
    torque: Range | None = None
    angle: Range | None = None
    sides: ClassVar[tuple[str, str]] = ("rad", "N·m")
    words: ClassVar[tuple[str, str]] = ("angle", "torque")


class SliderSpec(RowSpec, PointsSpec):
    """Pushes a rigid region, or points, along a direction."""

    direction: Direction
    drive: LagSpec | None = None
    force: Range | None = None
    length: Range | None = None


class ForceSpec(RowSpec, PointsSpec):
    """Forces on points; `shared` makes one of them, the same on each."""

    direction: Direction | None = None
    shared: Flag = False
    force: Range | None = None
    length: Range | None = None


class ReadSpec(PointsSpec):
    """What effectors and sensors read."""

    body: Word | None = None
    kind: Literal["position", "centre of mass", "pose"] = "position"
    directions: Axes = "xyz"
    weight: NotNegative = 1.0


class EffectorSpec(ReadSpec):
    """A reading that should come to a target."""

    target: tuple[Away, ...] | None = None


class SensorSpec(ReadSpec):
    """A reading that is observed, or measured."""

    measured: Flag = False
