"""A McKibben muscle: a bladder in a braided sleeve that gets shorter and thicker under pressure."""

from __future__ import annotations

import math

from pliant.bodies import Rigid, Solid
from pliant.bodies.fibres import Fibres, braid
from pliant.interactions import PointForce
from pliant.laws import Bounded
from pliant.materials import library
from pliant.mesh import Mesh, bellows, cavity_surfaces
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, cavity, pressure_row, tip

ROUNDING = 1e-6  # [m]


def bladder(length: float, radius: float, wall: float, end: float, cells: tuple[int, int]) -> Mesh:
    """A round tube along z that is closed at both ends, of so many hexahedra around and along."""
    return bellows(
        length,
        radius=radius,
        amplitude=0.0,
        wall=wall,
        end=end,
        convolutions=1,
        around=cells[0],
        steps=cells[1],
        kind="hex",
    )


def muscle(
    *,
    length: float = 0.12,
    radius: float = 0.008,
    wall: float = 0.0012,
    end: float = 0.006,
    angle: float = math.radians(25.0),
    threads: int = 16,
    stiffness: float = 2e3,
    around: int = 16,
    along: int = 30,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    pressure: float = 150e3,
    load: float = 50.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A McKibben muscle that hangs from its upper end: a silicone tube in a braid glued to it.

    `threads` of each hand at `angle` [rad] from the axis, each of the stiffness EA [N]; after Chou and
    Hannaford, 'Measurement and modeling of McKibben pneumatic artificial muscles', IEEE Trans. Robotics and
    Automation 1996. Without wall and ends it pulls with π r² p (3(1 − ε)²/tan² α − 1/sin² α) at the
    contraction ε. Rows: "chamber", up to `pressure` [Pa]; "load", a force that pulls its lower end down, up
    to `load` [N]; "tip", the middle of the lower end.
    """
    mesh = bladder(length, radius, wall, end, (around, along))
    z, free = mesh.nodes[:, 2], length - 2 * end
    turns = free * math.tan(angle) / (2 * math.pi * radius)
    glued = max(around, round(along / turns))  # in every layer of cells: in between the wall would bulge
    sleeve = braid(radius, free, angle=angle, count=threads, per_turn=glued, start=(0.0, 0.0, end))
    stuff = library[material]
    body = Solid(
        mesh,
        stuff.material(poisson),
        density=stuff.density,
        fixed=z > length - end - ROUNDING,
        rigid=Rigid(z < end + ROUNDING, name="end"),
        support_layers=False,
        fibres=Fibres(sleeve, stiffness),
    )
    (inside,) = cavity_surfaces(body.mesh)
    foot = (0.0, 0.0, 0.0)
    hung = PointForce(body.points([foot]), direction=(0.0, 0.0, -1.0))
    rows = {
        "chamber": pressure_row(cavity(body, inside), pressure),
        "load": Row(hung, Bounded(effort=(0.0, load))),
        "tip": tip(body, foot),
    }
    return Robot(body, rows, gravity=gravity, name="muscle")
