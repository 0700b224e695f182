"""An elephant's trunk with eight cables, four to its middle and four to its tip."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.interactions import Cable
from pliant.laws import Bounded
from pliant.materials import library
from pliant.mesh import near_plane, trunk_cables
from pliant.mesh import trunk as trunk_mesh
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, tip


def trunk(
    *,
    length: float = 0.195,
    base_radius: float = 0.016,
    tip_radius: float = 0.007,
    discs: int = 8,
    thickness: float = 0.006,
    around: int = 8,
    size: float = 0.022,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    pull: float = 0.06,
    tension: float = 40.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, GRAVITY),
) -> Robot:
    """A tapered silicone trunk along z that hangs from its base at z = 0 (gravity points along +z).

    After the trunk of Coevoet et al., 'Optimization-based inverse model of soft robots with contact handling', RA-L 2017:
    eight cables, "cable 1" to "cable 4" up to the tip, towards +x, +y, −x and −y, and "cable 5" to "cable 8" up to the
    middle, between them (45°, 135° …). Each is pulled in by up to `pull` [m] with up to `tension` [N]. "tip" is the
    middle of the end face.
    """
    shape = {
        "length": length,
        "base_radius": base_radius,
        "tip_radius": tip_radius,
        "discs": discs,
        "thickness": thickness,
    }
    mesh = trunk_mesh(**shape, around=around, size=size, order=2)
    stuff = library[material]
    base = near_plane(mesh, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    body = Solid(mesh, stuff.hooke(poisson), density=stuff.density, fixed=base)
    paths = trunk_cables(4, **shape) + trunk_cables(4, reach=0.5, turn=np.pi / 4, **shape)
    drive = Bounded(effort=(0.0, tension), displacement=(0.0, pull))
    rows = {f"cable {n + 1}": Row(Cable(body.points(path)), drive) for n, path in enumerate(paths)}
    rows["tip"] = tip(body, (0.0, 0.0, length))
    return Robot(body, rows, gravity=gravity, name="trunk")
