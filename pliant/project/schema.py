"""What a project file may say, as pydantic models. SI units; the mesh file alone may have a unit of its own.

A table of the file is a model, its keys the fields; docs/project-files.md explains them to people.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from pliant.project.kinds import Number, Part, Vector, Version, Word, one_of
from pliant.project.schema_bodies import BodySpec
from pliant.project.schema_contact import ContactSpec, ObstacleSpec
from pliant.project.schema_hardware import HardwareSpec
from pliant.project.schema_rows import (
    CableSpec,
    CavitySpec,
    EffectorSpec,
    ForceSpec,
    MotorSpec,
    SensorSpec,
    SliderSpec,
)

FORMAT = 1


class CommandSpec(Part):
    """An effort or a displacement."""

    effort: Number | tuple[Number, ...] | None = None
    displacement: Number | tuple[Number, ...] | None = None

    @model_validator(mode="after")
    def _one(self) -> CommandSpec:
        one_of(self, ("effort", "displacement"))
        return self


class DemonstrationSpec(Part):
    """Commands of `pliant run`, and where it is seen from, degrees."""

    commands: dict[str, CommandSpec] = Field(default_factory=dict)
    view: tuple[Number, Number] = (-60.0, 16.0)
    effector: Word | None = None


class ProjectSpec(Part):
    """The whole file."""

    format: Version
    name: Word
    summary: str = ""
    gravity: Vector = (0.0, 0.0, -9.81)
    bodies: Annotated[tuple[BodySpec, ...], Field(min_length=1)]
    cables: dict[str, CableSpec] = Field(default_factory=dict)
    cavities: dict[str, CavitySpec] = Field(default_factory=dict)
    motors: dict[str, MotorSpec] = Field(default_factory=dict)
    sliders: dict[str, SliderSpec] = Field(default_factory=dict)
    forces: dict[str, ForceSpec] = Field(default_factory=dict)
    effectors: dict[str, EffectorSpec] = Field(default_factory=dict)
    sensors: dict[str, SensorSpec] = Field(default_factory=dict)
    obstacles: dict[str, ObstacleSpec] = Field(default_factory=dict)
    contact: ContactSpec = ContactSpec()
    demonstration: DemonstrationSpec = DemonstrationSpec()
    hardware: HardwareSpec | None = None


GROUPS = ("cables", "cavities", "motors", "sliders", "forces", "effectors", "sensors")
