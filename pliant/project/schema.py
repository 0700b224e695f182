"""What a project file may say, as pydantic models. SI units, or text with a unit.

A table of the file is a model, its keys the fields; docs/project-files.md explains them to people.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from pliant.project.kinds import Acceleration, Number, Part, Version, Word, one_of, refused
from pliant.project.schema_bodies import BodySpec
from pliant.project.schema_contact import ContactSpec, ObstacleSpec
from pliant.project.schema_hardware import HardwareSpec
from pliant.project.schema_parts import JointSpec, ThingSpec, TravelSpec, TurnSpec
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


Said = Number | Word | tuple[Number | Word, ...]  # text has a unit, which the row must fit


class CommandSpec(Part):
    """An effort or a displacement, or a word for one of them that fits the row."""

    effort: Said | None = None
    displacement: Said | None = None
    tension: Said | None = None
    force: Said | None = None
    pressure: Said | None = None
    torque: Said | None = None
    length: Said | None = None
    volume: Said | None = None
    angle: Said | None = None

    @model_validator(mode="after")
    def _one(self) -> CommandSpec:
        one_of(self, tuple(type(self).model_fields))
        return self

    @property
    def said(self) -> tuple[str, Any]:
        """The word and its value."""
        return next((name, value) for name, value in self if value is not None)


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
    gravity: Acceleration = (0.0, 0.0, -9.81)
    bodies: tuple[BodySpec, ...] = ()
    things: dict[str, ThingSpec] = Field(default_factory=dict)
    joints: dict[str, JointSpec] = Field(default_factory=dict)
    turns: dict[str, TurnSpec] = Field(default_factory=dict)
    travels: dict[str, TravelSpec] = Field(default_factory=dict)
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

    @model_validator(mode="after")
    def _some(self) -> ProjectSpec:
        if not self.bodies and not self.things:
            raise refused("bodies, or things")
        return self


GROUPS = (
    "joints",
    "turns",
    "travels",
    "cables",
    "cavities",
    "motors",
    "sliders",
    "forces",
    "effectors",
    "sensors",
)
