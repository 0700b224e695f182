"""What several robots of the gallery are built from."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.interactions import Cavity, Position
from pliant.laws import Bounded, Target
from pliant.mesh import Surface
from pliant.robot import Row

GRAVITY = 9.81  # [m/s²]


def cavity(body: Any, surface: Surface, **options: Any) -> Cavity:
    """The cavity of a body inside one of its closed inner surfaces, see `mesh.cavity_surfaces`."""
    nodes, local = np.unique(surface.triangles, return_inverse=True)
    return Cavity(body.node_points(nodes), local.reshape(-1, 3), **options)


def tip(body: Any, position: Any) -> Row:
    """The effector: the position of the material point that is at `position` (3,) [m] at rest."""
    return Row(Position(body.points([position])), Target(value=tuple(position)))


def pressure_row(chamber: Cavity, limit: float, *, suction: float = 0.0) -> Row:
    """A chamber as an actuator, its pressure between −suction and limit [Pa]."""
    return Row(chamber, Bounded(effort=(-suction, limit)))
