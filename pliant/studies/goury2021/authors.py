"""The authors' finger, from a user's copy of their mesh, with points on the sides of its joints.

The mesh and the facts of its scene are public, in the examples of the authors' group (docs/studies.md). The
paper prints neither; its collision model has 495 points, and ours is sampled to have about as many. The cable
runs to the tip and back, so that its 40 mm are 20 mm in each joint: there the joints only begin to touch. We
go on to 60 mm; at 65 mm the full model loses its stable equilibrium.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Samples, Surroundings
from pliant.errors import InputError
from pliant.interactions import Cable, Position
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import read
from pliant.robot import Robot, Row

FILE, CELLS = "finger.vtk", 389
BASE = 1e-3 * np.array([[-15.0, 0.0, 0.0], [5.0, 10.0, 15.0]])  # box of the fixed nodes [m]
YOUNG, POISSON, MASS = 6e5, 0.3, 0.075  # of the public scene [Pa, –, kg]
PULL = 0.06  # [m] of the whole cable
ANCHOR, HEIGHT, SIDES = (0.0, 0.0125, 0.0025), 12.5, (2.5, 12.5)  # [m], [mm], [mm]
GUIDES, ROUND_TIP = (17.5, 32.5, 47.5, 62.5, 77.5), ((83.5, 4.5), (85.5, 6.5), (85.5, 8.5), (83.5, 10.5))
TIP = (-0.103, 0.007, 0.007)
JOINTS = 1e-3 * np.array([-40.35, -70.69])  # valleys of the joints whose sides meet [m]
SPINE, END = 5.01e-3, -0.085  # [m]: sides of joints lie above it, and before it
VIEW = (-90.0, 80.0)  # [°] azimuth and elevation from which it is drawn
SPACING, ALARM = 1.4e-3, 1e-3  # [m]


def finger(path: Path, contact: bool = True) -> Robot:
    """The finger without weight, with its "cable", its "tip" and the sides of two joints that can touch."""
    mesh = read(path, unit="mm")
    if len(mesh.cells) != CELLS:
        raise InputError(
            str(path), expected=f"the authors' {CELLS} tetrahedra", got=f"{len(mesh.cells)} cells"
        )
    body = Solid(
        mesh,
        Hooke(young=YOUNG, poisson=POISSON),
        density=MASS / mesh.volume,
        fixed=lambda x: ((x >= BASE[0]) & (x <= BASE[1])).all(axis=1),
    )
    line = Cable(body.points(_guides(), outside="nearest"), anchor=ANCHOR)
    rows = {
        "cable": Row(line, Bounded(effort=(0.0, 80.0), displacement=(0.0, PULL))),
        "tip": Row(Position(body.points([TIP], outside="nearest")), Target(value=TIP)),
    }
    around = _sides_that_touch(body) if contact else Surroundings()
    return Robot(body, rows, gravity=(0.0, 0.0, 0.0), name="finger", surroundings=around)


def _guides() -> np.ndarray:
    """Points of the cable (14, 3) [m]: along one side, round the tip, and back along the other."""
    there = [(-x, HEIGHT, SIDES[0]) for x in GUIDES]
    back = [(-x, HEIGHT, SIDES[1]) for x in reversed(GUIDES)]
    return 1e-3 * np.array([*there, *((-x, HEIGHT, z) for x, z in ROUND_TIP), *back])


def _sides_that_touch(body: Solid) -> Surroundings:
    """Points on the sides of joints that look away from the tip, against the sides across."""
    surface = body.mesh.surface
    normal, centre = surface.normals[:: len(surface.triangles) // len(surface)], surface.centres
    sides = (centre[:, 1] > SPINE) & (centre[:, 0] > END) & (np.abs(normal[:, 2]) < 0.1)
    sides &= (np.abs(normal[:, 0]) > 0.3) & (normal[:, 1] > 0.1)
    near = np.abs(centre[:, 0, None] - JOINTS) < 0.009
    pairs = []
    for j in range(len(JOINTS)):
        of_joint = sides & near[:, j]
        pairs.append(
            (surface.patch(of_joint & (normal[:, 0] > 0)), surface.patch(of_joint & (normal[:, 0] < 0)))
        )
    looking = surface.patch(sides & near.any(axis=1) & (normal[:, 0] > 0))
    samples = Samples.on(body, looking, spacing=SPACING)
    return Surroundings(samples=samples, self_contact=pairs, alarm=ALARM)
