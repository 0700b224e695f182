"""What a project file may say of robots of several parts: things, joints, and drives on joints."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from pliant.project.kinds import (
    Count,
    Density,
    Direction,
    Flag,
    Number,
    Part,
    Place,
    Positive,
    PositiveLength,
    Word,
    one_of,
    refused,
)
from pliant.project.schema_bodies import MaterialSpec
from pliant.project.schema_rows import Range, RowSpec

SHAPES = ("box", "sphere", "cylinder", "mesh")
Moments = tuple[Positive, Positive, Positive]


class ThingSpec(Part):
    """A rigid body, or a soft one if it has a material: loose unless joints hold it, or fixed."""

    box: tuple[PositiveLength, PositiveLength, PositiveLength] | None = None
    sphere: PositiveLength | None = None
    cylinder: tuple[PositiveLength, PositiveLength] | None = None
    mesh: Word | None = None
    unit: Word | None = None
    cells: Annotated[Count, Field(ge=1, le=40)] | None = None
    at: Place | None = None
    turn: tuple[Number, Number, Number] = (0.0, 0.0, 0.0)
    density: Density | None = None
    mass: Positive | None = None
    centre: Place | None = None
    inertia: Moments | None = None
    fixed: Flag = False
    material: MaterialSpec | None = None

    @model_validator(mode="after")
    def _whole(self) -> ThingSpec:
        one_of(self, SHAPES)
        if self.cells is not None and self.box is None and self.sphere is None:
            raise refused("cells of a box or a sphere only")
        if self.material is None:
            one_of(self, ("density", "mass"))
        elif self.density is not None or self.mass is not None or self.centre or self.inertia or self.fixed:
            raise refused("the density of a soft thing in its material, and no mass, centre or inertia")
        return self


class FrameSpec(Part):
    """A frame of a part: of a thing, a rigid region or a node of a rod; without a body, one of the world."""

    body: Word | None = None
    region: Word | None = None
    node: Count | None = None
    at: Place | None = None
    axis: Direction | None = None
    axes: tuple[Direction, Direction, Direction] | None = None

    @model_validator(mode="after")
    def _one(self) -> FrameSpec:
        one_of(self, ("region", "node"), least=0)
        one_of(self, ("axis", "axes"), least=0)
        if self.body is None and (self.at is None or self.region is not None or self.node is not None):
            raise refused("a body, or a place of the world by at")
        return self


class JointSpec(Part):
    """A joint between two frames; the world's stays where it is."""

    kind: Literal["weld", "hinge", "slider", "ball"]
    between: tuple[FrameSpec, FrameSpec]


class DriveSpec(RowSpec):
    """What drives, or reads, a joint."""

    joint: Word


class TurnSpec(DriveSpec):
    """The angle of a hinge."""

    torque: Range | None = None
    angle: Range | None = None
    sides: ClassVar[tuple[str, str]] = ("rad", "N·m")
    words: ClassVar[tuple[str, str]] = ("angle", "torque")


class TravelSpec(DriveSpec):
    """The stroke of a slider."""

    force: Range | None = None
    length: Range | None = None
