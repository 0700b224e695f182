"""The form of what the page may say: numbers within bounds, short names, and the class of all messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from pliant.contact.obstacles import KINDS

if TYPE_CHECKING:
    from pliant.studio.desk import Desk
    from pliant.studio.server import Studio
    from pliant.studio.wire import Wire

OFFERED = tuple(kind for kind, made in KINDS.items() if made.offer)  # obstacles that the page may add


def _offered(kind: str) -> str:
    if kind not in OFFERED:
        raise PydanticCustomError("offered", "one of the obstacles that the studio offers")
    return kind


Name = Annotated[str, Field(min_length=1, max_length=80)]
Number = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Metre = Annotated[float, Field(ge=-100.0, le=100.0, allow_inf_nan=False)]
Newton = Annotated[float, Field(ge=-1e4, le=1e4, allow_inf_nan=False)]
Numbers = Annotated[list[Number], Field(min_length=1, max_length=24)]
Place = Annotated[list[Metre], Field(min_length=3, max_length=3)]
Force = Annotated[list[Newton], Field(min_length=3, max_length=3)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Offered = Annotated[Name, AfterValidator(_offered)]
Vertex = Annotated[int, Field(ge=0, le=2**31)]


class Message(BaseModel):
    """Base: nothing beyond the fields, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    per: ClassVar[str] = ""  # the field by which messages of this kind are told apart

    @property
    def key(self) -> tuple[str, ...]:
        """Messages with the same key replace each other while they wait."""
        return (type(self).__name__, getattr(self, self.per)) if self.per else (type(self).__name__,)

    def hear(self, studio: Studio, wire: Wire) -> None:
        """What the server does with it, said on a connection; most are commands for the simulation."""
        studio.command(wire, self)

    def apply(self, desk: Desk) -> None:
        """What the simulation does with it; nothing, if it is for the server."""
