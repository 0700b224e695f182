"""A fibre-reinforced bender: a bladder that threads keep from swelling, and from lengthening on one side."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Rigid, Solid
from pliant.bodies.fibres import Fibres, braid, straight
from pliant.materials import library
from pliant.mesh import cavity_surfaces
from pliant.robot import Robot
from pliant.robots.muscle import ROUNDING, bladder
from pliant.robots.parts import GRAVITY, cavity, pressure_row, tip


def fibre_bender(
    *,
    length: float = 0.12,
    radius: float = 0.008,
    wall: float = 0.002,
    end: float = 0.006,
    pitch: float = 0.004,
    layer: float = 1.0,
    threads: int = 5,
    stiffness: float = 2e3,
    prestretch: float = 1.01,
    around: int = 12,
    along: int = 20,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    pressure: float = 80e3,
    gravity: tuple[float, float, float] = (0.0, 0.0, GRAVITY),
) -> Robot:
    """A silicone tube that hangs along z from its base and curls towards +x when inflated.

    One thread of each hand is wound round it with `pitch` [m] per turn, so that it can hardly swell; on the
    side towards +x `threads` straight ones over `layer` [rad] keep their length. Each has the stiffness EA
    [N] and is stretched by `prestretch` when it is put on, as slack ones would come taut all at once; so the
    tube is a little bent at rest. After Polygerinos et al., 'Modeling of soft fiber-reinforced bending
    actuators', IEEE Trans. Robotics 2015, with a round bladder. Rows: "chamber", up to `pressure` [Pa];
    "tip", the middle of the free end.
    """
    mesh = bladder(length, radius, wall, end, (around, along))
    z, side = mesh.nodes[:, 2], np.linspace(-layer / 2, layer / 2, threads)
    wound = braid(radius, length - 2 * end, pitch=pitch, per_turn=around, start=(0.0, 0.0, end))
    kept = []
    for x, y in radius * np.column_stack([np.cos(side), np.sin(side)]):
        kept += straight((x, y, end), (x, y, length - end), points=along + 1)
    stuff = library[material]
    body = Solid(
        mesh,
        stuff.material(poisson),
        density=stuff.density,
        fixed=z < end + ROUNDING,
        rigid=Rigid(z > length - end - ROUNDING, name="end"),
        support_layers=False,
        fibres=Fibres([*wound, *kept], stiffness, prestretch=prestretch),
    )
    (inside,) = cavity_surfaces(body.mesh)
    rows = {
        "chamber": pressure_row(cavity(body, inside), pressure),
        "tip": tip(body, (0.0, 0.0, length)),
    }
    return Robot(body, rows, gravity=gravity, name="fibre bender")
