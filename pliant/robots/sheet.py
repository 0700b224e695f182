"""A soft sheet fixed at its four corners, and eight layouts of markers and candidate forces on it."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.interactions import PointForce
from pliant.laws import Bounded
from pliant.materials import Hooke
from pliant.mesh import box
from pliant.robot import Robot, Row
from pliant.robots.parts import tip
from pliant.sensing.layout import Layout

SIZE, THICKNESS, CORNER = 0.11, 0.004, 0.01  # [m]
FORCE = 0.4  # [N], as applied in the paper: one up, one down


def sheet(
    *,
    size: float = SIZE,
    thickness: float = THICKNESS,
    corner: float = CORNER,
    cells: tuple[int, int] = (22, 2),
    order: int = 1,
    young: float = 300e3,
    poisson: float = 0.45,
    density: float = 1080.0,
    force: float = 3.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Robot:
    """A square silicone sheet in the plane z = 0, its four corners fixed over squares of `corner` [m].

    After the soft sheet of Zhang, Dequidt and Duriez, 'Vision-based sensing of external forces acting on soft
    robots using finite element method', RA-L 2018: 4840 linear tetrahedra (theirs 4923), 300 kPa; the paper
    gives no sizes. `order=2` replaces them by quadratic ones, which do not lock; `cells` are along a side and
    across the thickness (multiples of 11 meet the edges of the clamps). It lies on a table while it is
    calibrated: no weight by default.

    Rows: "load", a force across its middle, up to `force` [N]; "tip", the middle of its upper side.
    `pliant.robots.sheet_layouts` are places for markers and forces on it.
    """
    along, across = cells
    mesh = box(
        (size, size, thickness), cells=(along, along, across), origin=(-size / 2, -size / 2, -thickness / 2)
    )
    inside = size / 2 - corner * (1 + 1e-9)
    body = Solid(
        mesh,
        Hooke(young=young, poisson=poisson),
        density=density,
        fixed=lambda x: (np.abs(x[:, :2]) >= inside).all(axis=1),
        order=order,
    )
    middle = (0.0, 0.0, thickness / 2)
    rows = {
        "load": Row(PointForce(body.points([middle]), direction=(0, 0, 1)), Bounded(effort=(-force, force))),
        "tip": tip(body, middle),
    }
    return Robot(body, rows, gravity=gravity, name="sheet")


def _on_top(places: list[tuple[float, float]]) -> np.ndarray:
    """Points of the upper side (n, 3) [m], from millimetres."""
    plane = 1e-3 * np.array(places, float)
    return np.column_stack([plane, np.full(len(plane), THICKNESS / 2)])


def _layouts() -> dict[str, Layout]:
    """Layouts s1 to s8.

    s1 to s4 have the same twelve markers, and two, three, four and six candidates, ever closer; s5 to s8 have
    the same three candidates, and twelve markers spread, eight of them, six near the forces, and four close
    together far away.
    """
    ring = [(-36, 36), (0, 40), (36, 36), (40, 0), (36, -36), (0, -40), (-36, -36), (-40, 0)]
    inner = [(-16, 16), (16, 16), (16, -16), (-16, -16)]
    spread, loaded = ring + inner, [(-24.0, 0.0), (24.0, 0.0)]
    more = [(0.0, 24.0), (0.0, -24.0), (-12.0, 10.0), (12.0, -10.0)]
    here = [(-24.0, 4.0), (24.0, -4.0), (0.0, 20.0)]
    pair = np.array([[0, 0, FORCE], [0, 0, -FORCE]])
    make = lambda markers, candidates: Layout(_on_top(markers), _on_top(candidates), (0, 1), pair)
    return {
        "s1": make(spread, loaded),
        "s2": make(spread, [*loaded, more[0]]),
        "s3": make(spread, [*loaded, *more[:2]]),
        "s4": make(spread, [*loaded, *more]),
        "s5": make(spread, here),
        "s6": make(ring, here),
        "s7": make([(-30, 10), (-18, -4), (30, 4), (18, -10), (-8, 26), (8, 14)], here),
        "s8": make([(34, 34), (40, 34), (34, 40), (40, 40)], here),
    }


sheet_layouts = _layouts()
