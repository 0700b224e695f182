"""What the page may say about a robot of one's own: one class for each edit, see `pliant.studio.workshop`."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pliant.studio.form import Message, Name, Number, Place

if TYPE_CHECKING:
    from pliant.project import Project
    from pliant.studio.desk import Desk
    from pliant.studio.draft import Document
    from pliant.studio.server import Studio
    from pliant.studio.wire import Wire

New = Annotated[str, Field(max_length=80)]  # "" for a new one, which gets a name
Edge = Annotated[float, Field(gt=0.0, le=10.0, allow_inf_nan=False)]
Path = Annotated[list[Place], Field(min_length=2, max_length=40)]


class Edit(Message):
    """Base: a change of the document, after which the robot is made anew."""

    @property
    def key(self) -> tuple[str, ...]:
        """None takes the place of another that waits."""
        return (type(self).__name__, self.model_dump_json())

    def apply(self, desk: Desk) -> None:
        desk.workshop.edit(self.change)

    def change(self, document: Document, project: Project) -> None:
        """Change a document, with the project that was made of the last one."""


class Upload(Edit):
    """A piece of an STL or STEP part, in base64, that begins at a byte; pieces come in order.

    With the last one, that ends at `total`, a robot of this name is begun. `unit` of an STL part, "" to have
    it guessed; `size` [m] of the edges of the mesh, 0 for a twentieth of the part.
    """

    do: Literal["upload"]
    name: Name
    kind: Literal["stl", "step"]
    at: Annotated[int, Field(ge=0, le=2**40)]
    total: Annotated[int, Field(gt=0, le=2**40)]
    data: Annotated[str, Field(max_length=3900, pattern=r"^[A-Za-z0-9+/]*={0,2}$")]
    unit: Literal["", "mm", "cm", "m", "in"]
    size: Annotated[float, Field(ge=0.0, le=10.0, allow_inf_nan=False)]

    @property
    def content(self) -> bytes:
        """The bytes; none where it is not base64, so that the part does not arrive whole."""
        try:
            return b64decode(self.data, validate=True)
        except ValueError:
            return b""

    def hear(self, studio: Studio, wire: Wire) -> None:
        studio.receive(wire, self)


@dataclass(frozen=True)
class Begin:
    """A part that has arrived: the server's command to the simulation, not a message of the page."""

    name: str
    kind: str
    content: bytes
    unit: str
    size: float

    @property
    def key(self) -> tuple[str, ...]:
        """The newest part is begun."""
        return ("Begin",)

    def apply(self, desk: Desk) -> None:
        desk.workshop.begin(self.name, self.kind, self.content, self.unit, self.size)


class Remesh(Edit):
    """The part meshed again with edges of another size [m]."""

    do: Literal["remesh"]
    size: Edge

    def apply(self, desk: Desk) -> None:
        desk.workshop.remesh(self.size)


class Clamp(Edit):
    """The face at a point, or what is near it, is held."""

    do: Literal["clamp"]
    at: Place
    normal: Place

    def change(self, document: Document, project: Project) -> None:
        _draft().clamp(document, project, self.at, self.normal)


class CablePath(Edit):
    """A cable through places of the undeformed body."""

    do: Literal["cable"]
    name: New
    through: Path

    def change(self, document: Document, project: Project) -> None:
        _draft().cable(document, project, self.name, self.through)


class Chamber(Edit):
    """An inner surface becomes a chamber, or none any more."""

    do: Literal["chamber"]
    number: Annotated[int, Field(ge=1, le=1000)]
    on: bool

    def change(self, document: Document, project: Project) -> None:
        _draft().chamber(document, project, self.number, self.on)


class Effector(Edit):
    """A point of the undeformed body that gets a target."""

    do: Literal["effector"]
    name: New
    at: Place

    def change(self, document: Document, project: Project) -> None:
        _draft().effector(document, project, self.name, self.at)


class Material(Edit):
    """A silicone of the library."""

    do: Literal["material"]
    name: Name

    def change(self, document: Document, project: Project) -> None:
        _draft().material(document, project, self.name)


class Gravity(Edit):
    """Gravity [m/s²]."""

    do: Literal["gravity"]
    value: Place

    def change(self, document: Document, project: Project) -> None:
        _draft().gravity(document, project, self.value)


class Limit(Edit):
    """The largest effort of an actuator."""

    do: Literal["limit"]
    name: Name
    value: Number

    def change(self, document: Document, project: Project) -> None:
        _draft().limit(document, project, self.name, self.value)


class Forget(Edit):
    """A row taken away."""

    do: Literal["forget"]
    name: Name

    def change(self, document: Document, project: Project) -> None:
        _draft().forget(document, project, self.name)


class Fast(Edit):
    """Make a reduced model that runs in the robot's place; or stop making it."""

    do: Literal["fast"]
    on: bool

    def apply(self, desk: Desk) -> None:
        desk.workshop.fasten() if self.on else desk.workshop.leave()


class Undo(Edit):
    """The robot before the last edit."""

    do: Literal["undo"]

    def apply(self, desk: Desk) -> None:
        desk.workshop.undo()


class Save(Edit):
    """A project file in the studio's folder, with the obstacles and targets as they are now."""

    do: Literal["save"]
    name: Name

    def apply(self, desk: Desk) -> None:
        desk.save(self.name)


class Open(Edit):
    """One of the projects in the studio's folder."""

    do: Literal["open"]
    name: Name

    def apply(self, desk: Desk) -> None:
        desk.workshop.open(self.name)


def _draft() -> Any:
    """Read when it is needed: it brings the readers of project files along."""
    from pliant.studio import draft

    return draft
