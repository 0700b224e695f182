"""Obstacles: rigid things a robot may touch, each by its signed distance; `obstacle.py` says what one is."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.contact.obstacles.box import Box
from pliant.contact.obstacles.cylinder import Cylinder
from pliant.contact.obstacles.obstacle import Obstacle
from pliant.contact.obstacles.pipe import ForkedPipe, Pipe
from pliant.contact.obstacles.plane import HalfSpace, Plane
from pliant.contact.obstacles.sphere import Capsule, Sphere
from pliant.contact.obstacles.surfaces import Triangles
from pliant.contact.obstacles.triangle_mesh import TriangleMesh
from pliant.errors import unknown_name

# Every kind of obstacle that files, recordings, pictures and the studio know, in the order of its buttons.
KINDS: dict[str, type[Obstacle]] = {
    made.kind: made for made in (Sphere, Box, Cylinder, Plane, Capsule, Pipe, ForkedPipe, TriangleMesh)
}


def obstacle_of(data: Mapping[str, Any]) -> Obstacle:
    """The obstacle of which plain data was made, see `Obstacle.data`."""
    if data["kind"] not in KINDS:
        raise unknown_name("obstacle", data["kind"], KINDS)
    return KINDS[data["kind"]].of_data(data)


def surface_of(data: Mapping[str, Any], middle: np.ndarray, size: float) -> Triangles:
    """The triangles of an obstacle from its plain data, also of a kind that this version does not know.

    `middle` and `size` as of `Obstacle.surface`.
    """
    if data["kind"] not in KINDS and "triangles" in data:
        vertices, triangles = np.array(data["vertices"], float), np.array(data["triangles"], int)
        return vertices.reshape(-1, 3), triangles.reshape(-1, 3)
    return obstacle_of(data).surface(middle, size)


__all__ = [
    "KINDS",
    "Box",
    "Capsule",
    "Cylinder",
    "ForkedPipe",
    "HalfSpace",
    "Obstacle",
    "Pipe",
    "Plane",
    "Sphere",
    "TriangleMesh",
    "obstacle_of",
    "surface_of",
]
