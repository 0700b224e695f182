"""Rows of a robot from what a project file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant import things
from pliant.drive import Drive
from pliant.errors import unknown_name
from pliant.interactions import Cable, Cavity, CentreOfMass, Combined, Motor, PointForce, Position, Slider
from pliant.interactions.interaction import INF
from pliant.laws import Bounded, Law, Measured, Observed, Target, Unknown
from pliant.mesh import Surface, cavity_surfaces
from pliant.pneumatics import Gas, Line, Liquid, Orifice
from pliant.points import Points
from pliant.project.along import points_along
from pliant.project.fault import Source
from pliant.project.parts import drive_of, joint_of
from pliant.project.schema import GROUPS, ProjectSpec
from pliant.project.schema_parts import DriveSpec, JointSpec
from pliant.project.schema_rows import (
    CableSpec,
    CavitySpec,
    EffectorSpec,
    ForceSpec,
    LagSpec,
    LineSpec,
    MotorSpec,
    PointsSpec,
    ReadSpec,
    SensorSpec,
    SliderSpec,
)
from pliant.robot import Row

Here = tuple[str, ...]


@dataclass(frozen=True)
class Bodies:
    """The bodies of a file by name; a file with one need not name it."""

    source: Source
    named: Mapping[str, Any]

    def get(self, name: str | None, here: Sequence[Any]) -> Any:
        """The body of this name, for what stands at a path."""
        if name is None:
            if len(self.named) > 1:
                raise self.source.fault(
                    (*here, "body"), expected=f"one of {sorted(self.named)}", got="nothing"
                )
            return next(iter(self.named.values()))
        if name not in self.named:
            with self.source.at(*here, "body"):
                raise unknown_name("body", name, self.named)
        return self.named[name]


def rows_of(source: Source, spec: ProjectSpec, bodies: Bodies) -> dict[str, Row]:
    """All rows, in the order of the file."""
    rows: dict[str, tuple[int, Row]] = {}
    for group in GROUPS:
        for name, said in getattr(spec, group).items():
            here = (group, name)
            if name in rows:
                raise source.fault(here, expected="a name that no other row has", got=repr(name))
            if isinstance(said, JointSpec):
                rows[name] = source.line(*here), joint_of(source, said, bodies, here)
                continue
            if isinstance(said, DriveSpec):
                made = {joint: row for joint, (_, row) in rows.items()}
                interaction: Any = drive_of(source, said, made, here)
            else:
                interaction = _interaction(source, said, bodies.get(said.body, here), here)
            law = _law(said)
            with source.at(*here):
                law.check(interaction.size, interaction.effort_range, name)
            rows[name] = source.line(*here), Row(interaction, law)
    return {name: row for name, (_, row) in sorted(rows.items(), key=lambda item: item[1][0])}


def _law(said: Any) -> Law:
    if isinstance(said, EffectorSpec):
        return Target(said.target, said.weight)
    if isinstance(said, SensorSpec):
        return Measured(weight=said.weight) if said.measured else Observed()
    if said.role == "observed":
        return Observed()
    if said.role == "unknown":
        return Unknown(said.limits("effort"))
    return Bounded(said.limits("effort"), said.limits("displacement"), said.speed)


def _interaction(source: Source, said: Any, body: Any, here: Here) -> Any:
    match said:
        case CableSpec():
            points = _run(source, said, body, here)
            with source.at(*here):
                return Cable(
                    points,
                    anchor=said.anchor,
                    end=said.end,
                    friction=said.friction,
                    sheath=said.sheath,
                    housing=said.housing,
                    pulled=said.pulled,
                    stiffness=INF if said.stiffness is None else said.stiffness,
                    slack=said.slack,
                    drive=_drive(said.drive),
                )
        case CavitySpec():
            return _cavity(source, said, body, here)
        case MotorSpec():
            with source.at(*here, "region"):
                points = body.region_points(said.region)
            with source.at(*here):
                return Motor(points, said.axis, middle=said.middle, drive=_drive(said.drive))
        case SliderSpec():
            points = _points(source, said, body, here)
            points = points[:1] if said.region is not None else points  # at its centre
            with source.at(*here):
                return Slider(points, said.direction, drive=_drive(said.drive))
        case ForceSpec():
            return _force(source, said, body, here)
        case ReadSpec():
            return _reading(source, said, body, here)
    raise source.fault(here, expected="a row", got=type(said).__name__)


def _run(source: Source, said: CableSpec, body: Any, here: Here) -> Points:
    """Where a cable runs."""
    if said.along is not None:
        return points_along(source, said.along, body, (*here, "along"))
    return _located(source, body, said.through, said.outside, (*here, "through"))


def _force(source: Source, said: ForceSpec, body: Any, here: Here) -> Any:
    points = _points(source, said, body, here)
    with source.at(*here):
        force = PointForce(points, direction=said.direction)
        if not said.shared:
            return force
        axes = force.size // len(points)
        share = np.tile(np.eye(axes), (len(points), 1)) / len(points)
        return Combined(force, share)


def _reading(source: Source, said: ReadSpec, body: Any, here: Here) -> Any:
    if said.kind == "pose":
        with source.at(*here):
            return things.pose(body).interaction
    if said.kind == "position":
        points = _points(source, said, body, here)
        with source.at(*here):
            return Position(points, directions=said.directions)
    with source.at(*here):
        centre = CentreOfMass.of(body)
        if said.directions == "xyz":
            return centre
        return Combined(centre, np.eye(3)[:, ["xyz".index(axis) for axis in said.directions]])


def _points(source: Source, said: PointsSpec, body: Any, here: Here) -> Points:
    given = [name for name in ("points", "along", "nodes", "region") if getattr(said, name) is not None]
    if len(given) != 1:
        raise source.fault(
            (*here, "points"), expected="points, along, nodes or region", got=" and ".join(given) or "nothing"
        )
    if said.along is not None:
        return points_along(source, said.along, body, (*here, "along"))
    if said.points is not None:
        return _located(source, body, said.points, said.outside, (*here, "points"))
    with source.at(*here, given[0]):
        if said.nodes is not None:
            return body.node_points(np.array(said.nodes))
        return body.region_points(said.region)


def _located(source: Source, body: Any, places: Any, outside: str, here: Sequence[Any]) -> Points:
    """Points at rest positions; one outside the body is named by its own line."""
    try:
        return body.points(places, outside=outside)
    except ValueError:
        for k, place in enumerate(places):
            with source.at(*here, k):
                body.points([place], outside=outside)
    with source.at(*here):
        return body.points(places, outside=outside)


def _cavity(source: Source, said: CavitySpec, body: Any, here: Here) -> Cavity:
    surface = _surface(source, said, body, here)
    options: dict[str, Any] = {"cap": said.cap, "liquid_density": said.liquid_density, "level": said.level}
    if said.line is not None:
        with source.at(*here, "line"):
            options["line"] = _line(said.line)
    with source.at(*here):
        if said.curved:
            return Cavity.on(body, surface, **options)
        nodes, local = np.unique(surface.triangles, return_inverse=True)
        return Cavity(body.node_points(nodes), local.reshape(-1, 3), **options)


def _drive(said: LagSpec | None) -> Drive | None:
    if said is None:
        return None
    most = lambda value: INF if value is None else value
    return Drive(lag=said.lag, rate=most(said.rate), backlash=said.backlash, limit=most(said.limit))


def _line(said: LineSpec) -> Line:
    way = lambda conductance: None if conductance is None else Orifice(conductance, said.critical)
    return Line(
        Gas(said.exponent or 1.0) if said.bulk is None else Liquid(said.bulk),
        volume=said.volume,
        orifice=way(said.conductance),
        exhaust=way(said.exhaust),
        supply=INF if said.supply is None else said.supply,
        leak=way(said.leak),
        lag=said.lag,
        delay=said.delay,
        syringe=said.syringe,
    )


def _surface(source: Source, said: CavitySpec, body: Any, here: Here) -> Surface:
    if said.facets is not None:
        with source.at(*here, "facets"):
            return patch(source, body, said.facets, (*here, "facets"))
    inner = cavity_surfaces(body.mesh)
    if said.inner is None or said.inner > len(inner):
        raise source.fault(
            (*here, "inner"), expected=f"one of the body's {len(inner)} inner surfaces", got=said.inner
        )
    return inner[said.inner - 1]


def patch(source: Source, body: Any, facets: Sequence[int], here: Sequence[Any]) -> Surface:
    """Facets of the skin of a body, by number."""
    surface = body.mesh.surface
    if max(facets) >= len(surface.facets):
        raise source.fault(here, expected=f"facets below {len(surface.facets)}", got=max(facets))
    return surface.patch(np.array(facets))
