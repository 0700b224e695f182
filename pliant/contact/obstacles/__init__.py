"""Obstacles: rigid things a robot may touch, each by its signed distance."""

from pliant.contact.obstacles.box import Box
from pliant.contact.obstacles.cylinder import Cylinder
from pliant.contact.obstacles.obstacle import Obstacle
from pliant.contact.obstacles.pipe import ForkedPipe, Pipe
from pliant.contact.obstacles.plane import HalfSpace, Plane
from pliant.contact.obstacles.sphere import Capsule, Sphere
from pliant.contact.obstacles.triangle_mesh import TriangleMesh

__all__ = [
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
]
