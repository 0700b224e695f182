"""The authors' two tissues, from a user's copy of their meshes (Fig. 7): an arch of skin over a soft organ.

The meshes and the facts of their scene are public, in the examples of the authors' group (docs/studies.md);
together they have the 2313 coordinates of Table 12. The paper controls three components of a force on the
skin, the public scene one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Samples, Surroundings
from pliant.errors import InputError
from pliant.interactions import Combined, PointForce, Position
from pliant.laws import Bounded, Known, Target
from pliant.materials import Hooke
from pliant.mesh import Mesh, read
from pliant.robot import Robot, Row
from pliant.robots.scene import Paper, Scene, through
from pliant.static import static
from pliant.studies.setup import Setup

SKIN, ORGAN = ("tissue_skin.vtk", 245), ("tissue_sphere.vtk", 526)  # files, and their nodes
YOUNG, POISSON, MASS = 180e3, 0.3, 0.03  # [Pa], –, [kg] of each
ENDS = np.array([[[-0.1, -0.005, -0.03], [-0.09, 0.005, 0.03]], [[0.09, -0.005, -0.03], [0.1, 0.005, 0.03]]])
HILUM = np.array([[[0.0, 0.05, -0.02], [0.01, 0.07, 0.02]]])  # boxes of fixed nodes [m]
PRESSED = np.array([[0.072, 0.068, -0.002], [0.07, 0.07, 0.002], [0.07, 0.07, 0.0]])  # on the skin [m]
EFFECTOR = (0.04, 0.03, 0.01)  # on the organ [m]
PUSH = 4.5  # [N]: 90 mN for a step of 20 ms, in the units of that code
DIAGONAL = np.sqrt(0.5)
INWARDS, ALONG, ACROSS = (-DIAGONAL, -DIAGONAL, 0.0), (DIAGONAL, -DIAGONAL, 0.0), (0.0, 0.0, 1.0)
FORCES = ("force", "force x", "force y")
GRAVITY = (0.0, -9.18, 0.0)  # [m/s²], as it is there
SPACING, ALARM = 0.01, 0.002  # [m] between samples of the organ's skin; how near counts as a possible contact
WAY = ((1, 0, 0), (2, 0.5, 0.5), (3, 0, 1), (4, -0.5, 0.5), (3, 0, -1), (2, 0.5, -0.5), (1, 0, 0))  # [N]
GOAL = (0.04, 0.03)  # the first one of the public scene, x and y [m]


def folder_of_tissues(setup: Setup) -> Path | None:
    """The user's folder, if both meshes are in it."""
    return setup.data if all(setup.file(name) is not None for name, _ in (SKIN, ORGAN)) else None


def mesh(path: Path, nodes: int) -> Mesh:
    """A mesh of the folder [m]; InputError if it is another one."""
    shape = read(path, unit="mm")
    if len(shape.nodes) != nodes:
        raise InputError(str(path), expected=f"the authors' {nodes} nodes", got=f"{len(shape.nodes)} nodes")
    return shape


def tissues(folder: Path) -> Robot:
    """Both tissues, with the rows of `two_bodies`.

    "force" presses the skin inwards, "force x" and "force y" pull it along its arch and across it; "tip" is
    the place of the organ's point.
    """
    skin, organ = (_body(folder, *which) for which in ((*SKIN, ENDS), (*ORGAN, HILUM)))
    pressed = skin.points(PRESSED, outside="nearest")
    along = lambda direction: Combined(PointForce(pressed, direction=direction), np.full((3, 1), 1.0 / 3.0))
    rows = {
        "force": Row(along(INWARDS), Bounded(effort=(0.0, PUSH))),
        "force x": Row(along(ALONG), Bounded(effort=(-PUSH, PUSH))),
        "force y": Row(along(ACROSS), Bounded(effort=(-PUSH, PUSH))),
        "tip": Row(Position(organ.points([EFFECTOR])), Target(value=EFFECTOR)),
    }
    return Robot([skin, organ], rows, gravity=GRAVITY, name="tissues", surroundings=_meeting(skin, organ))


def tissues_scene(folder: Path) -> Scene:
    """The organ's point goes through the equilibria under the forces of WAY: 8 mm inwards and back."""
    robot, places, state = tissues(folder), [], None
    for forces in WAY:
        found = static(robot, pressing(forces), state=state)
        state = found.state
        places.append(found.displacement["tip"])
    return Scene(
        name="two bodies",
        robot=robot,
        path=through(places),
        element="tetrahedra, 4 nodes",
        start=pressing(WAY[0]),
        paper=Paper(contacts=16, dofs=2313, compliance=10.458, programs=0.123),
    )


def pressing(forces: Sequence[float]) -> dict[str, Known]:
    """The laws that impose three components of the force [N]."""
    return {name: Known(effort=float(force)) for name, force in zip(FORCES, forces, strict=True)}


def _body(folder: Path, name: str, nodes: int, boxes: np.ndarray) -> Solid:
    """A tissue of linear tetrahedra, fixed at its nodes inside boxes."""
    shape = mesh(folder / name, nodes)
    inside = lambda x: np.any([((x >= low) & (x <= high)).all(axis=1) for low, high in boxes], axis=0)
    return Solid(
        shape, Hooke(young=YOUNG, poisson=POISSON), density=MASS / shape.volume, fixed=inside, order=1
    )


def _meeting(skin: Solid, organ: Solid) -> Surroundings:
    """Contact of points of the organ with the skin, which needs a sample to be touched at all."""
    samples = [
        Samples.on(skin, skin.mesh.surface.patch(np.array([0])), spacing=1.0),
        Samples.on(organ, spacing=SPACING),
    ]
    pairs = [(organ.mesh.surface, skin.mesh.surface)]
    return Surroundings(samples=samples, self_contact=pairs, between_bodies=False, alarm=ALARM)
