"""A finger with notches and one cable, as in a cable-driven soft gripper."""

from __future__ import annotations

from pliant.bodies import Solid
from pliant.interactions import Cable
from pliant.laws import Bounded
from pliant.materials import library
from pliant.mesh import finger as finger_mesh
from pliant.mesh import finger_cable, near_plane
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, tip


def finger(
    *,
    length: float = 0.1,
    width: float = 0.015,
    height: float = 0.015,
    notches: int = 6,
    notch: float = 0.0065,
    depth: float = 0.009,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    size: float = 0.0055,
    pull: float = 0.02,
    tension: float = 30.0,
    gravity: tuple[float, float, float] = (GRAVITY, 0.0, 0.0),
) -> Robot:
    """A silicone finger along x with notches on its upper side, which curls up when its cable is pulled.

    After the cable-driven fingers of the soft-robotics literature (Goury et al. 2021 pull one by 40 mm, with
    the notches in contact; here they stay open). Fixed at x = 0. Rows: "cable", which runs through the blocks
    above the notches' ground and is pulled in by up to `pull` [m] with up to `tension` [N]; "tip", the middle
    of the end face.
    """
    mesh = finger_mesh(
        length, width=width, height=height, notches=notches, notch=notch, depth=depth, size=size
    )
    path = finger_cable(length, width=width, height=height, notches=notches, notch=notch)
    stuff = library[material]
    base = near_plane(mesh, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    body = Solid(mesh, stuff.hooke(poisson), density=stuff.density, fixed=base)
    drive = Bounded(effort=(0.0, tension), displacement=(0.0, pull))
    rows = {
        "cable": Row(Cable(body.points(path)), drive),
        "tip": tip(body, (length, width / 2, height / 2)),
    }
    return Robot(body, rows, gravity=gravity, name="finger")
