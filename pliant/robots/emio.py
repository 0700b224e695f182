"""Emio: a platform on four soft legs that motors bend."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Beam, Hinge, Rectangle, Rigid, RigidBody
from pliant.contact import Surroundings
from pliant.interactions import Motor, Position
from pliant.joints import Frame, weld
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import line, tube_sheet
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY

UP = np.array([0.0, 0.0, 1.0])
PLATFORM = -0.154  # [m]: where its centre is drawn
THICKNESS = 0.004  # [m] of the platform
ABOVE = 0.003  # [m]: where legs meet the platform, above its centre


def emio(
    *,
    radius: float = 0.1,
    drum: float = 0.022,
    free: float = 0.007,
    length: float = 0.2024,
    rim: float = 0.010,
    width: float = 0.010,
    thickness: float = 0.005,
    elements: int = 12,
    young: float = 35e6,
    poisson: float = 0.45,
    density: float = 1220.0,
    platform: float = 0.0053,
    limit: float = np.pi / 2,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """Four straight legs of TPU on motors, bent into a rigid platform.

    After Emio of the Compliance Robotics lab, from its public sizes: motors at `radius` [m], 90° apart, with
    horizontal axes along the circle; legs `width` × `thickness` [m], straight when free, that leave their
    motor's drum downwards, `drum` [m] outside its axis, and meet the platform of mass `platform` [kg]
    horizontally at `rim` [m] from its centre. `length` [m] of a leg is flexible below the drum's clamp, and
    `free` [m] more at the drum, which measurements of the real robot suggest. Heights are along z, as of the
    other robots here; the public ones are along y.

    The legs are drawn as they are free, hanging straight from their motors; their welds to the platform bend
    them in, see `pliant.assemble`. Rows: "motor 1" to "motor 4", by their angle, outwards positive, up to
    `limit` [rad] either way; "weld 1" to "weld 4"; "platform", its centre. The sections are so slender that
    contact is left out.
    """
    sheet = tube_sheet(1.4 * rim, THICKNESS, around=24, along=1, caps=True)
    middle = PLATFORM * UP
    plate = RigidBody(sheet.transformed(translation=middle - 0.5 * THICKNESS * UP), mass=platform)
    legs, rows = [], {}
    for n in range(4):
        out = np.array([np.cos(np.pi / 2 * n), np.sin(np.pi / 2 * n), 0.0])
        about = np.cross(out, UP)  # turning about it brings what hangs down outwards
        axis, start = radius * out, (radius + drum) * out
        end = start - (free + length) * UP
        leg = Beam(
            line(start, end, elements=elements, up=about),
            Rectangle(thickness, width),
            Hooke(young=young, poisson=poisson),
            density=density,
            rigid=Rigid([0], name="base", joint=Hinge(axis=about.tolist(), centre=axis.tolist())),
        )
        at = middle + ABOVE * UP + rim * out
        tip = Frame(leg, elements, at=end, axes=np.column_stack([-UP, about, np.cross(-UP, about)]))
        hole = Frame(plate, at=at, axes=np.column_stack([-out, about, np.cross(-out, about)]))
        rows[f"motor {n + 1}"] = Row(
            Motor(leg.region_points("base"), about), Bounded(displacement=(-limit, limit))
        )
        rows[f"weld {n + 1}"] = weld(hole, tip)
        legs.append(leg)
    rows["platform"] = Row(Position(plate.points([middle])), Target(value=tuple(middle)))
    around = Surroundings(between_bodies=False)
    return Robot([*legs, plate], rows, gravity=gravity, name="emio", surroundings=around)
