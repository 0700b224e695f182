"""The kinds of values in a project file: numbers, vectors, ranges. SI, or text with a unit: "20 mm"."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import AfterValidator, AllowInfNan, BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

from pliant.errors import InputError
from pliant.units import parse

FARTHEST = 1e9  # squares of what is farther away would overflow


def refused(expected: str) -> PydanticCustomError:
    """The error of a value that is not what was expected."""
    return PydanticCustomError("refused", expected)  # type: ignore[arg-type]  # any text will do


def _no_nan(value: float) -> float:
    if math.isnan(value):
        raise refused("a number")
    return value


def _ordered(value: tuple[float, float]) -> tuple[float, float]:
    if not value[0] <= value[1]:
        raise refused("[low, high] with low ≤ high")
    return value


def _directed(value: tuple[float, float, float]) -> tuple[float, float, float]:
    if not any(value):
        raise refused("a vector with a direction")
    return value


def _axes(value: str) -> str:
    if not value or set(value) - set("xyz") or len(set(value)) < len(value):
        raise refused("some of x, y and z")
    return value


def _chosen(*values: int) -> AfterValidator:
    """One of these; unlike `Literal`, a strict integer that is checked by this does not take true for 1."""

    def check(value: int) -> int:
        if value not in values:
            raise refused(" or ".join(map(str, values)))
        return value

    return AfterValidator(check)


def in_unit(value: Any, unit: str) -> Any:
    """`value` with all text in it ("20 mm") as numbers in an SI unit; other values stay as they are."""
    if isinstance(value, (list, tuple)):
        return [in_unit(one, unit) for one in value]
    if not isinstance(value, str):
        return value
    try:
        return parse(value, unit, "value")
    except InputError as error:
        raise refused(error.expected) from None


def _in(unit: str) -> BeforeValidator:
    return BeforeValidator(lambda value: in_unit(value, unit))


class Part(BaseModel):
    """A table of the file: no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_of(what: Any, names: tuple[str, ...], *, least: int = 1) -> None:
    """Refuse a table that does not have exactly one of these keys; with least=0 it may have none."""
    given = [name for name in names if getattr(what, name) is not None]
    if not least <= len(given) <= 1:
        raise refused(f"one of {', '.join(names)}" if least else f"at most one of {', '.join(names)}")


Word = Annotated[str, Strict(), Field(min_length=1)]
Axes = Annotated[str, Strict(), AfterValidator(_axes)]
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(ge=0)]
Number = Annotated[float, Strict(), AllowInfNan(False)]
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Bound = Annotated[float, Strict(), AfterValidator(_no_nan)]
LengthBound = Annotated[Bound, _in("m")]
Range = Annotated[tuple[Bound, Bound], AfterValidator(_ordered)]
PositiveLength = Annotated[Positive, _in("m")]
NotNegativeLength = Annotated[NotNegative, _in("m")]
NotNegativeVolume = Annotated[NotNegative, _in("m³")]
PositiveForce = Annotated[Positive, _in("N")]
Angle = Annotated[Number, _in("rad")]
PositivePressure = Annotated[Positive, _in("Pa")]
NotNegativeTime = Annotated[NotNegative, _in("s")]
Density = Annotated[NotNegative, _in("kg/m³")]
Coordinate = Annotated[Number, Field(ge=-FARTHEST, le=FARTHEST)]
Vector = tuple[Coordinate, Coordinate, Coordinate]
Acceleration = Annotated[Vector, _in("m/s²")]
Away = Annotated[Coordinate, _in("m")]
Place = tuple[Away, Away, Away]
Direction = Annotated[Vector, AfterValidator(_directed)]
Places = Annotated[tuple[Place, ...], Field(min_length=1)]
Indices = Annotated[tuple[Count, ...], Field(min_length=1)]
Version = Annotated[int, Strict(), _chosen(1)]
Order = Annotated[int, Strict(), _chosen(1, 2)]
Sign = Annotated[int, Strict(), _chosen(1, -1)]
