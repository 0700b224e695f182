"""Shapes of things, and the rows that measure them.

A thing is a body of the robot like any other, which no joint holds: rigid, or soft if it is given a material.
`at` is where the middle of its bounding box is, in x = R X + at with `turn` for R.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.bodies import RigidBody, Solid
from pliant.bodies.body import Body
from pliant.errors import InputError
from pliant.inputs import positive
from pliant.interactions import Joint, Position
from pliant.interactions.frame import Frame
from pliant.laws import Law, Observed
from pliant.materials.material import Material
from pliant.mesh import Mesh, Sheet
from pliant.mesh import box as box_mesh
from pliant.mesh import cylinder as cylinder_mesh
from pliant.robot import Row

ACROSS, MOST = 3, 12  # cells along the shortest side of a box, and along any
HEX = "hex"


def box(size: Sequence[float], *, cells: Sequence[int] | None = None, **stuff: Any) -> RigidBody | Solid:
    """A box with sides along its axes (3,) [m]; the rest is that of `shape`."""
    sides = np.array([positive(f"side {n} of a box", side, "m") for n, side in enumerate(size)])
    if len(sides) != 3:
        raise InputError("size of a box", expected="three sides [m]", got=f"{len(sides)}")
    wanted = np.ceil(ACROSS * sides / sides.min() - 1e-9).astype(int).clip(1, MOST).tolist()
    mesh = box_mesh(tuple(sides), cells=tuple(wanted if cells is None else cells), kind=HEX)
    return shape(mesh, **{"name": "box", **stuff})


def sphere(radius: float, *, cells: int = 6, **stuff: Any) -> RigidBody | Solid:
    """A ball of `radius` [m], of `cells`³ hexahedra; the rest is that of `shape`.

    Facets of a rigid one are curved: bodies that touch it meet a true sphere, to 1e-4 of `radius` with the
    six cells. Those of a soft one are flat, and so are both for obstacles.
    """
    radius = positive("radius of a sphere", radius, "m")
    soft = stuff.get("material") is not None
    return shape(_ball(radius, cells, order=1 if soft else 2), **{"name": "sphere", **stuff})


def cylinder(
    radius: float, length: float, *, around: int = 24, along: int = 3, **stuff: Any
) -> RigidBody | Solid:
    """A cylinder along its z axis, with `around` facets and `along` layers; the rest is that of `shape`."""
    radius, length = (
        positive("radius of a cylinder", radius, "m"),
        positive("length of a cylinder", length, "m"),
    )
    order = 1 if stuff.get("material") is not None else 2
    rings = max(1, around // 12)
    mesh = cylinder_mesh(radius, length, around=around, rings=rings, along=along, kind=HEX, order=order)
    return shape(mesh, **{"name": "cylinder", **stuff})


def shape(
    mesh: Mesh | Sheet,
    *,
    at: Any = (0.0, 0.0, 0.0),
    turn: Any = None,
    name: str = "thing",
    material: Material | None = None,
    **stuff: Any,
) -> RigidBody | Solid:
    """A thing of any closed shape: a volume mesh or, if it is rigid, a closed `Sheet`.

    at: (3,) [m]; turn: a rotation, a matrix (3, 3) or one of scipy; name: what the studio calls it. Rigid:
    `density` [kg/m³] or `mass` [kg], and the other options of `RigidBody`. Soft: `material`, and those of
    `Solid`.
    """
    if not isinstance(mesh, (Mesh, Sheet)):
        hint = "pl.mesh.read_sheet(file) reads one."
        raise InputError(
            "shape of a thing", expected="a Mesh or a closed Sheet", got=type(mesh).__name__, hint=hint
        )
    middle = 0.5 * (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0))
    placed = mesh.transformed(None, -middle).transformed(turn, at)
    if material is None:
        thing = RigidBody(placed, **stuff)
    elif isinstance(placed, Mesh):
        thing = Solid(placed, material, **stuff)
    else:
        hint = "pl.mesh.read(file, size=…) fills a surface with cells."
        raise InputError("shape of a soft thing", expected="a volume mesh", got="a Sheet", hint=hint)
    thing.name = name
    return thing


def pose(thing: Body, law: Law | None = None) -> Row:
    """The row of a rigid thing's pose: an effector with a `Target`, else a sensor.

    δ (6,) [m] is how far its centre of mass is from where it was drawn, and how it is turned, as a rotation
    vector times the `arm` of the row's interaction.
    """
    if not isinstance(thing, RigidBody):
        hint = "A soft thing has places: pl.Row(pl.Position(thing.points([x])))."
        raise InputError("pose of a thing", expected="a RigidBody", got=type(thing).__name__, hint=hint)
    at = thing.properties.centre
    return Row(Joint("weld", Frame.world(at), Frame(thing, at=at)), Observed() if law is None else law)


def place(thing: Body, law: Law | None = None) -> Row:
    """The row of where the middle of a thing is, (3,) [m]: an effector with a `Target`, else a sensor."""
    x = thing.mesh.nodes
    middle = (
        thing.properties.centre if isinstance(thing, RigidBody) else 0.5 * (x.min(axis=0) + x.max(axis=0))
    )
    return Row(Position(thing.points([middle])), Observed() if law is None else law)


def _ball(radius: float, cells: int, order: int) -> Mesh:
    """A cube of hexahedra whose shells are drawn out to spheres, with all nodes of an order."""
    cube = box_mesh((2.0, 2.0, 2.0), cells=(cells,) * 3, kind=HEX, order=order, origin=(-1.0, -1.0, -1.0))
    x = cube.nodes
    square = x[:, [1, 2, 0]] ** 2, x[:, [2, 0, 1]] ** 2
    return cube.with_nodes(
        radius * x * np.sqrt(1 - square[0] / 2 - square[1] / 2 + square[0] * square[1] / 3)
    )
