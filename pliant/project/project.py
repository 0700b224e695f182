"""A project: a robot in a TOML file, with its meshes next to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import FileError, InputError, unknown_name
from pliant.files import reading
from pliant.laws import Known
from pliant.project.around import surroundings_of
from pliant.project.build import body_of
from pliant.project.command import command_of
from pliant.project.fault import Source
from pliant.project.parts import thing_of
from pliant.project.rows import Bodies, rows_of
from pliant.project.schema import ProjectSpec
from pliant.project.wiring import channels_of, devices_of
from pliant.robot import Robot

if TYPE_CHECKING:
    from pliant.robots import Entry


@dataclass(frozen=True, eq=False)
class Project:
    """What a file says, and the robot it makes. `spec` holds the values as they stand in the file."""

    source: Source
    spec: ProjectSpec
    robot: Robot

    @cached_property
    def laws(self) -> dict[str, Known]:
        """The commands of its demonstration."""
        said = self.spec.demonstration.commands
        return {name: command_of(self.robot, name, *said[name].said) for name in said}

    def devices(self, ports: Mapping[str, str] | None = None) -> list[Any]:
        """The devices of its [hardware] table, for `pliant.hardware.Loop`; none is opened.

        `ports` are serial ports by device, instead of those of the file.
        """
        return devices_of(self, ports)

    def refined(self, order: int | None = None) -> Robot:
        """The same robot with every tetrahedron cut into eight; of another `order` if it is given.

        Nodes and facets that the file names by number are others then: such a file is refused, and so are
        rods and hexahedra.
        """
        numbered = _numbered(self.spec.model_dump())
        if numbered or any(body.mesh is None or body.lines is not None for body in self.spec.bodies):
            got = f"{numbered} by number" if numbered else "rods"
            expected = "solids of tetrahedra, and places instead of numbers of nodes and facets"
            raise InputError(f"refined {self.source.path.name}", expected=expected, got=got)
        spec = self.spec
        if order is not None:
            bodies = [body.model_copy(update={"order": order}) for body in spec.bodies]
            spec = spec.model_copy(update={"bodies": tuple(bodies)})
        return _robot(self.source, spec, refine=True)

    def entry(self) -> Entry:
        """As an entry of the gallery: what `pliant run` and `pliant view` take."""
        from pliant.robots import Entry

        said = self.spec.demonstration
        effectors = self.robot.by_role("effector")
        effector = said.effector or (effectors[0] if effectors else next(iter(self.robot.rows), ""))
        return Entry(lambda: self.robot, self.laws, self.spec.summary or self.spec.name, said.view, effector)


def load(path: str | Path) -> Project:
    """Read a project file. What is wrong in it is a FileError that names the file, the line and the key."""
    with reading(path, "project file", "a TOML file, text in UTF-8") as file:
        raw = file.read_bytes()
    return of_text(file, _text(file, raw))


def of_text(path: str | Path, text: str) -> Project:
    """What `load` would return if this text stood in a file there."""
    from pydantic import ValidationError

    source = Source(Path(path), text.replace("\r\n", "\n"))
    try:
        spec = ProjectSpec.model_validate(source.parsed())
    except ValidationError as error:
        raise source.rejected(error) from error
    robot = _robot(source, spec)
    project = Project(source, spec, robot)
    _check(project)
    return project


def _text(path: Path, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        what = f"{path.name}, line {line}, the file"
        raise FileError(what, expected="UTF-8 text", got="other bytes") from error


def _robot(source: Source, spec: ProjectSpec, refine: bool = False) -> Robot:
    named: dict[str, Any] = {}
    for k, said in enumerate(spec.bodies):
        if said.name in named:
            raise source.fault(("bodies", k, "name"), expected="a name of its own", got=repr(said.name))
        named[said.name] = body_of(source, said, k, refine)
    for name, thing in spec.things.items():
        if name in named:
            raise source.fault(("things", name), expected="a name of its own", got=repr(name))
        named[name] = thing_of(source, name, thing)
    bodies = Bodies(source, named)
    rows = rows_of(source, spec, bodies)
    around = surroundings_of(source, spec, bodies)
    with source.at("bodies" if spec.bodies else "things"):
        robot = Robot(list(named.values()), rows, gravity=spec.gravity, name=spec.name, surroundings=around)
    with source.at("contact"):
        robot.surroundings.detector(robot)
    return robot


def _numbered(said: Any) -> str:
    """The first of the keys "nodes" and "facets" that has a value somewhere in a file; "" if none."""
    if isinstance(said, dict):
        own = [key for key in ("nodes", "facets") if said.get(key) is not None]
        return own[0] if own else next(filter(None, map(_numbered, said.values())), "")
    return next(filter(None, map(_numbered, said)), "") if isinstance(said, (list, tuple)) else ""


def _check(project: Project) -> None:
    """What the demonstration and the hardware name must be there."""
    source, robot, spec = project.source, project.robot, project.spec
    for name, said in spec.demonstration.commands.items():
        with source.at("demonstration", "commands", name):
            robot.named(name)
        with source.at("demonstration", "commands", name, said.said[0]):
            law, action = command_of(robot, name, *said.said), robot.rows[name].interaction
            law.check(action.size, action.effort_range, name)
    effector = spec.demonstration.effector
    if effector is not None:
        with source.at("demonstration", "effector"):
            robot.named(effector)
    if spec.hardware is None:
        return
    actuators = robot.by_role("actuator")
    for name, channel in spec.hardware.channels.items():
        here = ("hardware", "channels", name)
        with source.at(*here):
            if name not in actuators:
                raise unknown_name("actuator", name, actuators)
        with source.at(*here, "device"):
            if channel.device not in spec.hardware.devices:
                raise unknown_name("device", channel.device, spec.hardware.devices)
    for name in spec.hardware.devices:
        if not channels_of(project, name):
            raise source.fault(("hardware", "devices", name), expected="a channel on it", got="none")
    devices_of(project)
