"""Grippers with something to hold: two cable fingers, and three pneumatic ones on a palm."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from pliant import things
from pliant.bodies import Prismatic, Rigid, Solid
from pliant.bodies.body import Body
from pliant.contact import Plane, Surroundings
from pliant.interactions import Cable, Slider
from pliant.laws import Bounded, Target
from pliant.materials import library
from pliant.mesh import cavity_surfaces, finger_cable, join, near_plane
from pliant.mesh import finger as finger_mesh
from pliant.mesh import pneunet as pneunet_mesh
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, cavity, pressure_row

PALM = 0.05  # [kg] of what the fingers are fixed to


def gripper(
    *,
    length: float = 0.08,
    width: float = 0.016,
    height: float = 0.014,
    notches: int = 5,
    notch: float = 0.006,
    depth: float = 0.008,
    size: float = 0.008,
    opening: float = 0.03,
    splay: float = 8.0,
    material: str = "dragon skin 30",
    poisson: float = 0.45,
    side: float = 0.03,
    mass: float = 0.02,
    friction: float = 0.6,
    thing: Body | None = None,
    pull: float = 0.02,
    tension: float = 30.0,
    lift: float = 0.06,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """Two cable fingers under a palm that goes up and down, and a loose box between them on a table.

    The fingers are those of the gallery's `finger`, with their notches inwards, `opening` [m] apart at the
    palm and splayed by that many degrees, so that they are upright when they meet the box. The palm slides
    along z. The box has this `side` [m] and `mass` [kg]; or give a `thing`, see `pliant.things`, that stands
    on the table, z = 0. `friction` is that of all surfaces.

    Rows: "cable 1" and "cable 2", pulled in by up to `pull` [m] with up to `tension` [N]; "lift", the height
    of the palm over where it was drawn, up to `lift` [m]; "object", where the thing's middle is.
    """
    shape = finger_mesh(
        length, width=width, height=height, notches=notches, notch=notch, depth=depth, size=size, kind="hex"
    )
    path = finger_cable(length, width=width, height=height, notches=notches, notch=notch)
    low = 0.3 * side  # [m]: height of the finger tips, as far as they are below the middle of the box
    base = np.array([0.0, 0.0, low + length * np.cos(np.radians(splay))])
    placed = [_hung(x, opening, splay, base, (width, height)) for x in (0.0, 180.0)]
    mesh = join([shape.transformed(R, t) for R, t in placed])
    ends = np.concatenate([near_plane(shape, (0, 0, 0), (1, 0, 0))] * 2)  # the nodes that the palm holds
    stuff = library[material]
    palm = Rigid(ends, name="palm", joint=Prismatic((0, 0, 1)), mass=PALM)
    fingers = Solid(mesh, stuff.hooke(poisson), density=stuff.density, rigid=palm)
    fingers.name = "fingers"
    drive = Bounded(effort=(0.0, tension), displacement=(0.0, pull))
    rows = {
        f"cable {n + 1}": Row(Cable(fingers.points(path @ R.T + t)), drive) for n, (R, t) in enumerate(placed)
    }
    held = things.box((side,) * 3, at=(0, 0, side / 2), mass=mass) if thing is None else thing
    return _grasping("gripper", fingers, rows, held, lift, friction, gravity)


def _hung(
    heading: float,
    opening: float,
    splay: float,
    base: np.ndarray,
    section: tuple[float, float],
    inner: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and translation of a finger along x, hung from the palm at a heading [°] round it.

    Its side at the height of `section` [m] faces the middle: its upper one, or with inner = −1 its lower one.
    """
    width, height = section
    turn = Rotation.from_euler("z", heading, degrees=True).as_matrix()
    down = Rotation.from_euler("y", 90.0 + splay, degrees=True).as_matrix()  # x down and outwards, z inwards
    R = turn @ down @ np.diag([1.0, inner, inner])
    return R, base + turn @ [-0.5 * opening, 0.0, 0.0] - R @ [0.0, 0.5 * width, height]


def _grasping(
    name: str,
    fingers: Solid,
    rows: dict[str, Row],
    held: Body,
    lift: float,
    friction: float,
    gravity: tuple[float, float, float],
) -> Robot:
    """Fingers on a palm that is lifted, a thing, and the table below."""
    rows["lift"] = Row(Slider(fingers.region_points("palm"), (0, 0, 1)), Bounded(displacement=(0.0, lift)))
    rows["object"] = things.place(held, Target())
    table = Plane((0, 0, 0), (0, 0, 1), name="table")
    around = Surroundings([table], friction=friction, alarm=0.004)
    return Robot([fingers, held], rows, gravity=gravity, name=name, surroundings=around)


def three_fingers(
    *,
    chambers: int = 3,
    chamber: float = 0.012,
    width: float = 0.016,
    height: float = 0.018,
    size: float = 0.012,
    circle: float = 0.022,
    splay: float = 4.0,
    poisson: float = 0.45,
    radius: float = 0.02,
    mass: float = 0.02,
    friction: float = 0.6,
    thing: Body | None = None,
    pressure: float = 40e3,
    lift: float = 0.06,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """Three pneumatic fingers under a palm that goes up and down, and a loose ball between them on a table.

    The fingers are those of the gallery's `pneunet`, of Hooke's law, 120° apart on a `circle` [m] round the
    palm's axis and splayed by that many degrees. The ball has this `radius` [m] and `mass` [kg]; or give a
    `thing`, see `pliant.things`, that stands on the table, z = 0. `friction` is that of all surfaces.

    Rows: "finger 1" to "finger 3", inflated with up to `pressure` [Pa]; "lift", the height of the palm over
    where it was drawn, up to `lift` [m]; "object", where the thing's middle is.
    """
    shape = pneunet_mesh(chambers, chamber=chamber, width=width, height=height, size=size, kind="hex")
    long = float(shape.nodes[:, 0].max())
    base = np.array([0.0, 0.0, 0.4 * radius + long * np.cos(np.radians(splay))])
    placed = [_hung(x, 2 * circle, splay, base, (width, 0.0), inner=-1.0) for x in (0.0, 120.0, 240.0)]
    mesh = join([shape.transformed(R, t) for R, t in placed])
    ends = np.concatenate([near_plane(shape, (0, 0, 0), (1, 0, 0))] * 3)
    soft, stiff = library["dragon skin 30"], library["smooth-sil 950"]
    fingers = Solid(
        mesh,
        {0: soft.hooke(poisson), 1: stiff.hooke(poisson)},
        density={0: soft.density, 1: stiff.density},
        rigid=Rigid(ends, name="palm", joint=Prismatic((0, 0, 1)), mass=PALM),
    )
    fingers.name = "fingers"
    rows = {
        f"finger {n + 1}": pressure_row(cavity(fingers, inside), pressure, suction=10e3)
        for n, inside in enumerate(cavity_surfaces(fingers.mesh))
    }
    ball = things.sphere(radius, at=(0, 0, radius), mass=mass, cells=5, name="ball")
    held = ball if thing is None else thing
    return _grasping("three_fingers", fingers, rows, held, lift, friction, gravity)
