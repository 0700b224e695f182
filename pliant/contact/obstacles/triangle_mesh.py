"""TriangleMesh: an obstacle of any shape, given by its closed surface."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from pliant.arrays import frozen
from pliant.contact.obstacles.checks import rotation_matrix, vector
from pliant.contact.obstacles.obstacle import Flag, Indices, Obstacle, Points
from pliant.contact.obstacles.solid_shape import SolidShape
from pliant.contact.obstacles.surfaces import Triangles


@dataclass(frozen=True, eq=False, repr=False)
class TriangleMesh(Obstacle):
    """The solid inside a closed surface: `vertices` (n, 3) [m], `triangles` (t, 3) of vertex indices.

    Corners run counter-clockwise seen from outside; a mesh that is all the other way round is turned.
    Vertices at the same place count as one, so a soup of triangles will do. inside=True makes it a
    container: gap > 0 within. The distance is exact; its sign comes from angle-weighted normals of faces,
    edges and vertices.
    """

    kind: ClassVar[str] = "mesh"
    primitive: ClassVar[bool] = True
    exact: ClassVar[bool] = False

    vertices: Points
    triangles: Indices
    inside: Flag = field(default=False, kw_only=True)
    _shape: SolidShape = field(init=False)
    _rotation: np.ndarray = field(init=False)
    _translation: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        shape = SolidShape.of(self.vertices, self.triangles)
        self._set(vertices=shape.vertices, triangles=shape.triangles)
        self._set(_shape=shape, _rotation=frozen(np.eye(3)), _translation=frozen(np.zeros(3)))

    @classmethod
    def of(cls, surface: Any, *, name: str = "", inside: bool = False) -> TriangleMesh:
        """From a surface with `nodes` and `triangles`, or a mesh that has one."""
        surface = getattr(surface, "surface", surface)
        return cls(surface.nodes, surface.triangles, name=name, inside=inside)

    def __repr__(self) -> str:
        sizes = f"{len(self.vertices)} vertices, {len(self.triangles)} triangles"
        return f"TriangleMesh({sizes}, name={self.name!r})"

    @property
    def convex(self) -> bool:
        """Whether the solid is convex; a container never counts as such."""
        return not self.inside and self._shape.convex

    def concave_piece(self, p: np.ndarray) -> np.ndarray:
        """One for all points in a convex container, none in others."""
        return np.full(len(p), 0 if self.inside and self._shape.convex else -1)

    def moved(self, *, rotation: Any = None, translation: Any = None) -> Self:
        """Moved rigidly, x → R x + t. Cheap: the tree of triangles stays where it was built."""
        R = rotation_matrix(rotation)
        t = np.zeros(3) if translation is None else vector(translation, "translation")
        other = copy.copy(self)
        other._set(vertices=frozen(self.vertices @ R.T + t))
        other._set(_rotation=frozen(R @ self._rotation), _translation=frozen(R @ self._translation + t))
        return other

    def _distance(self, p: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        limit = np.inf if self.inside else reach  # outside a container the gap is negative: never skipped
        gap, normal, _ = self._shape.distance(p, self._rotation, self._translation, limit)
        return (-gap, -normal) if self.inside else (gap, normal)

    @property
    def core(self) -> np.ndarray | None:
        """Its middle, or where that is outside one of its vertices."""
        if self.inside:
            return None
        return self.handle if self.distance(self.handle[None])[0][0] < 0.0 else self.vertices[0]

    @property
    def handle(self) -> np.ndarray:
        return np.mean(self.vertices, axis=0)

    @property
    def hollow(self) -> bool:
        return self.inside

    def surface(self, middle: np.ndarray, size: float) -> Triangles:
        return self.vertices, self.triangles
