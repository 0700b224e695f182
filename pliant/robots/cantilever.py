"""A clamped bar: the first thing to try, and the one with an answer in every textbook."""

from __future__ import annotations

from pliant.bodies import Solid
from pliant.interactions import PointForce
from pliant.laws import Bounded
from pliant.materials import Hooke
from pliant.mesh import box, near_plane
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, tip


def cantilever(
    *,
    length: float = 0.1,
    width: float = 0.02,
    height: float = 0.02,
    young: float = 3e5,
    poisson: float = 0.45,
    density: float = 1100.0,
    cells: tuple[int, int, int] = (8, 2, 2),
    kind: str = "tet",
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A silicone bar along x, clamped at x = 0, that sags under its weight and carries a "load" at its tip.

    The dimensions are those of the usual comparison of finite elements for soft robots, 100 × 20 × 20 mm and
    300 kPa: its tip sinks by 13.38 mm under its weight alone. Rows: "load", a vertical force on the middle of
    the free end [N], and "tip", that point's position.
    """
    mesh = box(
        (length, width, height),
        cells=cells,
        kind=kind,
        origin=(0.0, -width / 2, -height / 2),
        grade=(1.35, 1.0, 1.0),
    )
    clamp = near_plane(mesh, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    body = Solid(mesh, Hooke(young=young, poisson=poisson), density=density, fixed=clamp)
    end = (length, 0.0, 0.0)
    rows = {
        "load": Row(PointForce(body.points([end]), direction=(0.0, 0.0, 1.0)), Bounded(effort=(-1.0, 1.0))),
        "tip": tip(body, end),
    }
    return Robot(body, rows, gravity=gravity, name="cantilever")
