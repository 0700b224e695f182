"""An elephant's trunk with eight cables, four to its middle and four to its tip."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.bodies import Prismatic, Rigid, Solid
from pliant.contact import Surroundings
from pliant.interactions import Cable, Slider, Stretch
from pliant.laws import Bounded, Elastic
from pliant.materials import library
from pliant.mesh import Mesh, near_plane, trunk_cables
from pliant.mesh import trunk as trunk_mesh
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, tip

AXIS = (0.0, 0.0, 1.0)


def trunk(
    *,
    length: float = 0.195,
    base_radius: float = 0.016,
    tip_radius: float = 0.007,
    discs: int = 9,
    thickness: float = 0.006,
    around: int = 8,
    size: float = 0.009,
    kind: str = "hex",
    order: int = 1,
    material: str = "dragon skin 30",
    poisson: float = 0.48,
    pull: float = 0.06,
    tension: float = 40.0,
    travel: float = 0.0,
    tubes: float = 0.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, GRAVITY),
    surroundings: Surroundings = Surroundings(),  # noqa: B008  (frozen)
) -> Robot:
    """A tapered silicone trunk along z that hangs from its base at z = 0 (gravity points along +z).

    After the trunk of Coevoet et al., 'Optimization-based inverse model of soft robots with contact
    handling', RA-L 2017: eight cables, "cable 1" to "cable 4" up to the tip, towards +x, +y, −x and −y, and
    "cable 5" to "cable 8" up to the middle, between them (45°, 135° …). Each is pulled in or paid out by up
    to `pull` [m], with up to `tension` [N]. "tip" is the middle of the end face. With `travel` [m] > 0 the
    base rides on a platform along z: "base", how far it moved, within ±travel. With `tubes` [N/m] > 0 each
    cable runs in a tube, "tube 1" to "tube 8": a spring of that stiffness from point to point of its path.
    """
    shape = {
        "length": length,
        "base_radius": base_radius,
        "tip_radius": tip_radius,
        "discs": discs,
        "thickness": thickness,
    }
    mesh = _mesh(shape, around=around, size=size, kind=kind, order=order)
    stuff = library[material]
    foot = near_plane(mesh, (0.0, 0.0, 0.0), AXIS)
    support: dict[str, Any] = {"fixed": foot}
    if travel > 0:
        support = {"rigid": Rigid(foot, name="base", joint=Prismatic(AXIS))}
    body = Solid(
        mesh, stuff.hooke(poisson), density=stuff.density, order=order, support_layers=False, **support
    )
    paths = trunk_cables(4, **shape) + trunk_cables(4, reach=0.5, turn=np.pi / 4, **shape)
    drive = Bounded(effort=(0.0, tension), displacement=(-pull, pull))
    rows = {f"cable {n + 1}": Row(Cable(body.points(path)), drive) for n, path in enumerate(paths)}
    if tubes > 0:
        for n, path in enumerate(paths):
            rows[f"tube {n + 1}"] = Row(Stretch(body.points(path)), Elastic(stiffness=tubes))
    if travel > 0:
        platform = Slider(body.region_points("base")[:1], AXIS)
        rows["base"] = Row(platform, Bounded(displacement=(-travel, travel)))
    rows["tip"] = tip(body, (0.0, 0.0, length))
    return Robot(body, rows, gravity=gravity, name="trunk", surroundings=surroundings)


def _mesh(shape: dict[str, Any], *, around: int, kind: str, order: int, size: float) -> Mesh:
    """The trunk's mesh, neither thinner nor thicker than the trunk.

    Straight sides cut the corners of a circle: the polygon's corners stand out as far as its sides stand in.
    """
    out = 1.0 if order == 2 else 2.0 / (1.0 + np.cos(np.pi / around))
    radii = {name: out * shape[name] for name in ("base_radius", "tip_radius")}
    return trunk_mesh(**{**shape, **radii}, around=around, size=size, kind=kind, order=order)
