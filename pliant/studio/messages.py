"""What the page may say: one class for each message, with its form and what is done with it.

Every message has a fixed form: numbers within bounds and short names, never a path or code. The page sends it
as JSON, and `do` says which it is. A new one is a class here, and a line of the table in docs/studio.md;
`parse` knows every class of this file and of `pliant.studio.edits`. Messages for the simulation have
`apply(desk)`, which runs in its thread, see `pliant.studio.desk`; those for the server itself have a `hear`
of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import Field, TypeAdapter

from pliant.studio import edits
from pliant.studio.form import Force, Message, Name, Numbers, Offered, Place, Share, Vertex

if TYPE_CHECKING:
    from pliant.studio.desk import Desk
    from pliant.studio.server import Studio
    from pliant.studio.wire import Wire

# For the server


class Ack(Message):
    """A frame has arrived at a page that shows it."""

    do: Literal["ack"]
    serial: Annotated[int, Field(ge=0, le=2**53)]

    def hear(self, studio: Studio, wire: Wire) -> None:
        studio.acknowledge(wire, self.serial)


class Look(Message):
    """Which quantity this viewer colours the skin by; "" for none that the simulation computes."""

    do: Literal["look"]
    field: Literal["", "displacement", "strain", "stress"]

    def hear(self, studio: Studio, wire: Wire) -> None:
        studio.look(wire, self.field)


class Control(Message):
    """Take or give back control."""

    do: Literal["control"]
    take: bool

    def hear(self, studio: Studio, wire: Wire) -> None:
        studio.hand_over(wire, self.take)


# For the simulation


class Aim(Message):
    """A target."""

    do: Literal["aim"]
    row: Name
    value: Numbers
    per: ClassVar[str] = "row"

    def apply(self, desk: Desk) -> None:
        desk.session.aim(self.row, self.value)


class Drive(Message):
    """A command to an actuator."""

    do: Literal["drive"]
    row: Name
    kind: Literal["effort", "displacement"]
    value: Numbers
    per: ClassVar[str] = "row"

    def apply(self, desk: Desk) -> None:
        desk.session.drive(self.row, **{self.kind: self.value})


class Mode(Message):
    """Inverse, forward or dynamic."""

    do: Literal["mode"]
    mode: Literal["inverse", "forward", "dynamic"]

    def apply(self, desk: Desk) -> None:
        desk.session.switch(self.mode)


class Play(Message):
    """Run or pause."""

    do: Literal["play"]
    on: bool

    def apply(self, desk: Desk) -> None:
        desk.playing = self.on


class Step(Message):
    """One step while paused."""

    do: Literal["step"]

    def apply(self, desk: Desk) -> None:
        desk.playing = False
        desk.single = True


class Reset(Message):
    """Back to the beginning."""

    do: Literal["reset"]

    def apply(self, desk: Desk) -> None:
        desk.reset()


class Speed(Message):
    """How fast steps follow each other, 1 for the session's period."""

    do: Literal["speed"]
    value: Annotated[float, Field(ge=0.05, le=4.0, allow_inf_nan=False)]

    def apply(self, desk: Desk) -> None:
        desk.speed = self.value


class Add(Message):
    """An obstacle of a kind that the studio offers, its handle there, about as large as `size` [m]."""

    do: Literal["add"]
    kind: Offered
    at: Place
    size: Annotated[float, Field(gt=0.0, le=10.0, allow_inf_nan=False)]

    def apply(self, desk: Desk) -> None:
        desk.add_obstacle(self.kind, self.at, self.size)


class Move(Message):
    """An obstacle elsewhere."""

    do: Literal["move"]
    name: Name
    at: Place
    per: ClassVar[str] = "name"

    def apply(self, desk: Desk) -> None:
        desk.session.move(self.name, self.at)


class Remove(Message):
    """An obstacle taken away."""

    do: Literal["remove"]
    name: Name
    per: ClassVar[str] = "name"

    def apply(self, desk: Desk) -> None:
        desk.session.remove(self.name)


class Form(Message):
    """Numbers of an obstacle, such as its radius or its three sizes [m]."""

    do: Literal["form"]
    name: Name
    numbers: Annotated[dict[Name, Numbers], Field(min_length=1, max_length=4)]

    def apply(self, desk: Desk) -> None:
        desk.session.form(self.name, **self.numbers)


class Cut(Message):
    """An actuator lost, or mended."""

    do: Literal["cut"]
    row: Name
    on: bool
    per: ClassVar[str] = "row"

    def apply(self, desk: Desk) -> None:
        (desk.session.lose if self.on else desk.session.mend)(self.row)


class Push(Message):
    """A hand on the skin: three vertices, their weights, and a force [N]; a force of zero lets go."""

    do: Literal["push"]
    vertices: Annotated[list[Vertex], Field(min_length=3, max_length=3)]
    weights: Annotated[list[Share], Field(min_length=3, max_length=3)]
    force: Force

    def apply(self, desk: Desk) -> None:
        desk.session.pull(self.vertices, self.weights, self.force)


class Probe(Message):
    """A point of the skin that is read: three vertices and their weights, or none to read no more."""

    do: Literal["probe"]
    vertices: Annotated[list[Vertex], Field(max_length=3)]
    weights: Annotated[list[Share], Field(max_length=3)]

    def apply(self, desk: Desk) -> None:
        desk.read(self.vertices, self.weights)


class Choose(Message):
    """Another robot of the gallery."""

    do: Literal["robot"]
    name: Name

    def apply(self, desk: Desk) -> None:
        desk.choose(self.name)


class Record(Message):
    """Start or stop recording."""

    do: Literal["record"]
    on: bool

    def apply(self, desk: Desk) -> None:
        desk.start_recording() if self.on else desk.stop_recording()


# Every message, by what its `do` says.
MESSAGES: dict[str, type[Message]] = {
    made.model_fields["do"].annotation.__args__[0]: made  # type: ignore[union-attr]
    for made in (*Message.__subclasses__(), *edits.Edit.__subclasses__())
    if made is not edits.Edit
}
_every: Any = Annotated[Union[tuple(MESSAGES.values())], Field(discriminator="do")]  # noqa: UP007
_adapter: TypeAdapter[Message] = TypeAdapter(_every)


def parse(text: str | bytes) -> Message:
    """The message in a text, or a pydantic ValidationError."""
    return _adapter.validate_json(text)
