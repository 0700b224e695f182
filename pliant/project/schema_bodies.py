"""What a project file may say of bodies: meshes, materials, what is fixed, what is rigid."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from pliant.project.kinds import (
    Angle,
    Axes,
    Bound,
    Count,
    Density,
    Direction,
    Flag,
    Indices,
    LengthBound,
    NotNegative,
    NotNegativeLength,
    Order,
    Part,
    Place,
    Positive,
    PositiveForce,
    PositiveLength,
    Sign,
    Word,
    one_of,
    refused,
)


class PlaneSpec(Part):
    """Nodes within `tolerance` [m] of a plane."""

    point: Place
    normal: Direction
    tolerance: PositiveLength | None = None


Corner = tuple[LengthBound, LengthBound, LengthBound]


class BoxSpec(Part):
    """Nodes in a box."""

    low: Corner
    high: Corner


class SphereSpec(Part):
    """Nodes in a ball."""

    centre: Place
    radius: PositiveLength


class CylinderSpec(Part):
    """Nodes in a cylinder."""

    start: Place
    end: Place
    radius: PositiveLength


class SelectionSpec(Part):
    """Some nodes of a mesh, by one rule; `axes` holds some directions only."""

    nodes: Indices | None = None
    plane: PlaneSpec | None = None
    box: BoxSpec | None = None
    sphere: SphereSpec | None = None
    cylinder: CylinderSpec | None = None
    region: Count | None = None
    axes: Axes = "xyz"

    @model_validator(mode="after")
    def _one(self) -> SelectionSpec:
        one_of(self, ("nodes", "plane", "box", "sphere", "cylinder", "region"))
        return self


# Bodies


class HingeSpec(Part):
    """A joint that turns."""

    axis: Direction
    centre: Place


class RigidSpec(Part):
    """Nodes that move as one."""

    name: Word
    where: Annotated[tuple[SelectionSpec, ...], Field(min_length=1)]
    centre: Place | None = None
    hinge: HingeSpec | None = None
    slide: Direction | None = None
    ball: Place | None = None

    @model_validator(mode="after")
    def _joint(self) -> RigidSpec:
        one_of(self, ("hinge", "slide", "ball"), least=0)
        return self


class SofteningSpec(Part):
    """How a material softens with what it has been through, see `materials.Mullins`."""

    r: Annotated[Bound, Field(gt=1)]
    m: NotNegative
    beta: NotNegative = 0.0


class MaterialSpec(Part):
    """A silicone of the library, or a law and its numbers; of one region of the mesh, or of all."""

    model_config = ConfigDict(extra="allow", frozen=True)
    library: Word | None = None
    law: Word | None = None
    large_strain: Flag = False  # of the library: its rubber instead of Hooke's law
    region: Count | None = None
    density: Density | None = None
    softening: SofteningSpec | None = None

    @model_validator(mode="after")
    def _one(self) -> MaterialSpec:
        one_of(self, ("library", "law"))
        return self

    @property
    def numbers(self) -> dict[str, Any]:
        """The parameters of the law."""
        return dict(self.model_extra or {})


class SectionSpec(Part):
    """The cross-section of a rod: round, or a rectangle."""

    radius: PositiveLength | None = None
    inner: NotNegativeLength = 0.0
    width: PositiveLength | None = None
    height: PositiveLength | None = None

    @model_validator(mode="after")
    def _one(self) -> SectionSpec:
        if (self.radius is None) == (self.width is None) or (self.width is None) != (self.height is None):
            raise refused("radius, or width and height")
        return self


ThreadCount = Annotated[Count, Field(ge=1, le=1000)]
Around = Annotated[Count, Field(ge=3, le=1000)]


class WoundSpec(Part):
    """Threads round an axis."""

    radius: PositiveLength
    length: PositiveLength
    count: ThreadCount = 1
    per_turn: Around = 24
    start: Place = (0.0, 0.0, 0.0)
    axis: Direction = (0.0, 0.0, 1.0)
    phase: Angle = 0.0


class BraidSpec(WoundSpec):
    """Helices of both hands."""

    angle: Annotated[Angle, Field(gt=0, lt=1.5707)] | None = None
    pitch: PositiveLength | None = None

    @model_validator(mode="after")
    def _one(self) -> BraidSpec:
        one_of(self, ("angle", "pitch"))
        return self


class HelixSpec(BraidSpec):
    """Helices of one hand."""

    hand: Sign = 1


class StraightSpec(Part):
    """Straight threads side by side."""

    start: Place
    end: Place
    count: ThreadCount = 1
    across: Place | None = None
    points: Annotated[Count, Field(ge=2, le=10_000)] = 20


class FibresSpec(Part):
    """Threads that are glued to a body: how they are wound, or the points of each."""

    helix: HelixSpec | None = None
    braid: BraidSpec | None = None
    rings: WoundSpec | None = None
    straight: StraightSpec | None = None
    paths: (
        Annotated[tuple[Annotated[tuple[Place, ...], Field(min_length=2)], ...], Field(min_length=1)] | None
    ) = None
    stiffness: PositiveForce
    prestretch: Positive = 1.0
    tension_only: Flag = True

    @model_validator(mode="after")
    def _one(self) -> FibresSpec:
        one_of(self, ("helix", "braid", "rings", "straight", "paths"))
        return self


class BodySpec(Part):
    """A solid of a mesh file, or rods."""

    name: Word = "body"
    mesh: Word | None = None
    unit: Word | None = None
    size: PositiveLength | None = None
    merge: Flag | Positive | None = None
    order: Order = 2
    support_layers: Flag = True
    materials: Annotated[tuple[MaterialSpec, ...], Field(min_length=1)]
    fixed: tuple[SelectionSpec, ...] = ()
    rigid: tuple[RigidSpec, ...] = ()
    fibres: tuple[FibresSpec, ...] = ()
    path: Annotated[tuple[Place, ...], Field(min_length=2)] | None = None
    elements: Annotated[Count, Field(ge=1, le=10_000)] = 10
    up: Direction | None = None
    section: SectionSpec | None = None
    lines: Word | None = None
    model: Literal["reissner", "kirchhoff"] = "reissner"

    @model_validator(mode="after")
    def _whole(self) -> BodySpec:
        one_of(self, ("path", "lines"), least=0)
        if not self.rods and self.mesh is None:
            raise refused("a mesh, a path or lines")
        if self.path is not None and self.section is None:
            raise refused("a section for the rods of the path")
        if self.rods and self.fibres:
            raise refused("no fibres on rods: they are glued to solids")
        return self

    @property
    def rods(self) -> bool:
        """Whether it is made of rods."""
        return self.path is not None or self.lines is not None
