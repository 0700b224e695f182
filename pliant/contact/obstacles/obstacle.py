"""What an obstacle is: a signed distance for contact, and how it is written, drawn and moved.

A kind of obstacle is one class, and everything that deals with obstacles asks that class:

    kind                  its name in project files, recordings and messages
    its dataclass fields  its numbers; their annotations (Point, Length …) say what a file may hold
    surface               triangles, for pictures
    handle                the point by which it is moved
    offer, of_size        how a person adds one in the studio, for kinds that can be added there

A new kind is a file in this folder and a line of the table `KINDS` in its `__init__.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_type_hints

import numpy as np

from pliant.arrays import frozen_view
from pliant.contact.obstacles.checks import rotation_matrix, vector
from pliant.contact.obstacles.surfaces import Triangles, nothing
from pliant.errors import InputError

INF = float("inf")
DECIMALS = 7  # of coordinates in plain data: 0.1 µm
WITHOUT_END = 1.0  # [m]: how much of an obstacle without an end is drawn, where nobody says how much
SHARE_OF_ROUNDING = 0.05  # of the smallest radius: the step of the differences for a curvature

# What a field of an obstacle is. `pliant.project.schema_contact` has a type for each of these words.
Point = Annotated[Any, "point"]  # (3,) [m]
Direction = Annotated[Any, "direction"]  # (3,), not zero
Length = Annotated[float, "length"]  # [m], positive
LengthOrZero = Annotated[float, "length or zero"]  # [m]
Lengths = Annotated[Any, "lengths"]  # three [m], positive
RadiusOfEach = Annotated[Any, "radius of each"]  # [m], one for all or one for each
Rotation = Annotated[Any, "rotation"]  # (3, 3) matrix, or a scipy Rotation
Polyline = Annotated[Any, "polyline"]  # (n, 3) [m], two points or more
Polylines = Annotated[Any, "polylines"]  # two or more
Flag = Annotated[bool, "flag"]
Flags = Annotated[tuple[bool, bool], "flags"]  # of the first and the last end
FlagsOfEach = Annotated[Any, "flags of each"]  # one for all, or a pair for each
Points = Annotated[Any, "points"]  # (n, 3) [m]
Indices = Annotated[Any, "indices"]  # (t, 3) of points


class Offer(NamedTuple):
    """How the studio offers a kind: the word on its button, and where it is put by the tip."""

    word: str
    where: str = "beside"  # or "below"


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Something rigid that a robot may touch.

    It is known by its `name` when it moves: the moved one replaces it.

    A kind of obstacle implements `_distance` and `_moved`, and says whether the gap is a convex function of
    the point: then a linearised gap is never too large. Concave ones need a margin or a second iteration.
    To be drawn, recorded and written it has a `kind`, a `handle` and a `surface`; see the module.
    """

    kind: ClassVar[str] = ""
    offer: ClassVar[Offer | None] = None
    primitive: ClassVar[bool] = False  # whether the studio's page can draw it from its numbers alone
    exact: ClassVar[bool] = True  # whether `distance` is so beyond its reach
    bounded: ClassVar[bool] = True  # whether it has an end; if not, its surface is a part of it

    name: str = field(default="", kw_only=True)

    # Contact

    @property
    def convex(self) -> bool:
        """Whether the linearised gap is on the safe side."""
        return True

    @property
    def roundness(self) -> float:
        """Smallest radius [m] of what bulges towards the robot; inf where it is flat or hollow."""
        return INF

    @property
    def bulges(self) -> bool:
        """Whether any of it bulges towards the robot: something round, an edge or a corner."""
        return True

    def round_at(self, p: np.ndarray, radius: float) -> np.ndarray:
        """Whether it is flat, hollow or round by at least `radius` [m] near points (P, 3) [m]: no edges."""
        return np.full(len(p), not self.bulges)

    def concave_piece(self, p: np.ndarray) -> np.ndarray:
        """The number (P,) of a concave function that is the gap at each of the points, −1 for none.

        The gap is nowhere below such a function: between points with the same one it is no smaller than at
        the nearest of them. It is asked of obstacles whose gap is not convex.
        """
        return np.full(len(p), -1)

    @property
    def core(self) -> np.ndarray | None:
        """A point (3,) [m] deep inside, where a body may have closed round it; None where none can."""
        return None

    def distance(self, p: Any, reach: float = INF) -> tuple[np.ndarray, np.ndarray]:
        """Gap (P,) [m] of points (P, 3) [m], negative where they penetrate, and its gradient (P, 3), unit.

        Beyond `reach` the gap may be a lower bound that still exceeds reach, if that saves time.
        """
        p = np.asarray(p, float)
        if p.ndim != 2 or p.shape[1] != 3:
            raise InputError("points", expected="shape (P, 3)", got=f"shape {p.shape}")
        return self._distance(frozen_view(p), float(reach))

    def curvature(self, p: np.ndarray, sharpest: float) -> np.ndarray:
        """∂²gap/∂p² (P, 3, 3) [1/m] at points (P, 3) [m], by differences.

        Edges count as rounded by `sharpest` [m].
        """
        step = SHARE_OF_ROUNDING * sharpest
        ends = np.concatenate([p + step * e for e in (*np.eye(3), *-np.eye(3))])
        normals = self.distance(ends)[1].reshape(2, 3, len(p), 3)
        C = np.transpose((normals[0] - normals[1]) / (2.0 * step), (1, 0, 2))
        C = 0.5 * (C + np.swapaxes(C, 1, 2))
        size = np.linalg.norm(C, axis=(1, 2))
        return C * np.minimum(1.0, 1.0 / np.maximum(sharpest * size, 1e-300))[:, None, None]

    def moved(self, *, rotation: Any = None, translation: Any = None) -> Self:
        """Moved rigidly, x → R x + t; the name stays. `rotation` is a (3, 3) matrix or a scipy Rotation."""
        t = np.zeros(3) if translation is None else vector(translation, "translation")
        return replace(self, **self._moved(rotation_matrix(rotation), t))

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError(f"{type(self).__name__}._distance")

    def _moved(self, R: np.ndarray, t: np.ndarray) -> dict[str, Any]:
        """The fields that a motion changes, with their new values."""
        raise NotImplementedError(f"{type(self).__name__}._moved")

    def _set(self, **values: Any) -> None:
        """Put checked values into the frozen fields."""
        for key, value in values.items():
            object.__setattr__(self, key, value)

    # Drawn and moved by hand

    @property
    def handle(self) -> np.ndarray:
        """The point (3,) [m] by which it is moved."""
        raise InputError("obstacle", expected="a kind that can be drawn", got=type(self).__name__)

    @property
    def hollow(self) -> bool:
        """Whether the robot is inside it: then it is looked through."""
        return False

    def surface(self, middle: np.ndarray, size: float) -> Triangles:
        """Its triangles, seen counter-clockwise from where the robot may be. Of one without an end, a part of
        `size` [m] about `middle` (3,) [m]. A kind that does not say its surface is not drawn.
        """
        return nothing()

    @classmethod
    def of_size(cls, place: np.ndarray, size: float, up: np.ndarray) -> Self:
        """One of about `size` [m] with its handle at a place (3,) [m], upright along a unit vector `up`."""
        raise NotImplementedError(f"{cls.__name__}.of_size")

    # Plain data

    @classmethod
    def number_kinds(cls) -> dict[str, str]:
        """What each of its numbers is, by name: the words in the annotations of its fields."""
        hints = get_type_hints(cls, include_extras=True)
        return {f.name: hints[f.name].__metadata__[0] for f in fields(cls) if f.init and f.name != "name"}

    @property
    def numbers(self) -> dict[str, Any]:
        """Its numbers by name as plain values: what a project file says of it."""
        return self._plain_numbers()

    def data(self) -> dict[str, Any]:
        """Plain data for viewers and recordings: its `kind`, its numbers, and `centre` (3,) [m], the handle.

        Kinds that the studio's page does not know are drawn there by their `vertices` and `triangles`.
        """
        data: dict[str, Any] = {"kind": self.kind, "centre": _plain(self.handle, DECIMALS)}
        data |= self._plain_numbers(DECIMALS)
        if self.hollow:
            data["inside"] = True
        if not self.primitive:
            vertices, triangles = self.surface(self.handle, WITHOUT_END)
            data |= {"vertices": _plain(vertices, DECIMALS), "triangles": _plain(triangles)}
        return data

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Obstacle:
        """The obstacle of which `data` was made."""
        return cls(**{name: data[name] for name in cls.number_kinds() if name in data})

    def _plain_numbers(self, decimals: int | None = None) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.number_kinds()}
        return {name: _plain(value, decimals) for name, value in values.items() if value is not None}


def _plain(value: Any, decimals: int | None = None) -> Any:
    """Arrays as lists, rounded to so many decimals if they are not to be exact."""
    if isinstance(value, np.ndarray):
        return (value if decimals is None else np.round(value, decimals)).tolist()
    return [_plain(v, decimals) for v in value] if isinstance(value, (list, tuple)) else value
