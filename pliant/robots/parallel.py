"""A parallel soft robot, four legs with a cable each, and eight layouts of markers and forces on it."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Rigid, Solid
from pliant.interactions import Cable
from pliant.laws import Bounded
from pliant.materials import Hooke
from pliant.mesh import Mesh, box, join
from pliant.robot import Robot, Row
from pliant.robots.parts import tip
from pliant.sensing.layout import Layout

REACH, WIDTH, THICKNESS, RISE, FOOT = 0.07, 0.02, 0.009, 0.05, 0.008  # [m]
FORCE = 0.4  # [N], as applied in the paper: one up, one down


def parallel(
    *,
    reach: float = REACH,
    width: float = WIDTH,
    thickness: float = THICKNESS,
    rise: float = RISE,
    foot: float = FOOT,
    cells: tuple[int, int, int] = (16, 4, 3),
    order: int = 1,
    young: float = 300e3,
    poisson: float = 0.45,
    density: float = 1080.0,
    tension: float = 15.0,
    insert: float = 0.0,
    cable_points: int = 14,
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Robot:
    """Four silicone legs at right angles that rise from fixed feet to a square hub at the height `rise` [m].

    After the cable-driven parallel soft robot of Zhang, Dequidt and Duriez, 'Vision-based sensing of external
    forces acting on soft robots using finite element method', RA-L 2018: 4080 linear tetrahedra (theirs
    4147), 300 kPa, four cables; the paper gives no sizes. `order=2` replaces them by curved quadratic ones,
    which do not lock; `cells` are along a leg, across it and through its thickness. With an `insert` [m], the
    cables end in a rigid square of that half width in the hub; an end that pulls on one point of the body
    sinks in the deeper the finer the mesh.

    Cable n runs inside leg n, near its upper side, from the foot to the middle of the hub: pulled, it draws
    the hub towards its foot. Rows: "cable 1" to "cable 4", up to `tension` [N]; "tip", the middle of the
    hub's upper side. `pliant.robots.parallel_layouts` are places for markers and forces on it.
    """
    mesh = _cross(reach, width, thickness, rise, foot, cells, order)
    hard = lambda x: np.abs(x[:, :2]).max(axis=1) <= insert * (1 + 1e-9)
    body = Solid(
        mesh,
        Hooke(young=young, poisson=poisson),
        density=density,
        fixed=lambda x: np.abs(x[:, :2]).max(axis=1) >= reach - foot - 1e-9,
        order=order,
        rigid=Rigid(nodes=hard, name="insert") if insert else (),
    )
    rows = {}
    for n in range(4):
        along = np.linspace(reach - foot / 2, 0.0, cable_points)
        path = _lifted(_turned(along, 0.0, 0.3 * thickness, n), width, rise, reach - foot)
        rows[f"cable {n + 1}"] = Row(
            Cable(body.points(path, outside="nearest")), Bounded(effort=(0.0, tension))
        )
    rows["tip"] = tip(body, (0.0, 0.0, rise + thickness / 2))
    return Robot(body, rows, gravity=gravity, name="parallel")


def _cross(
    reach: float, width: float, thickness: float, rise: float, foot: float, cells: tuple, order: int
) -> Mesh:
    along, across, layers = cells
    half, low = width / 2, -thickness / 2
    hub = box(
        (width, width, thickness), cells=(across, across, layers), kind="hex", origin=(-half, -half, low)
    )
    leg = box(
        (reach - half, width, thickness), cells=(along, across, layers), kind="hex", origin=(half, -half, low)
    )
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    legs = [leg.transformed(rotation=np.linalg.matrix_power(quarter, n)) for n in range(4)]
    flat = join([hub, *legs], weld=1e-6 * width)
    flat = flat.tetrahedra().quadratic() if order == 2 else flat  # bent with its mid nodes
    return flat.with_nodes(_lifted(flat.nodes, width, rise, reach - foot)).tetrahedra()


def _turned(along: np.ndarray, aside: float, above: float, leg: int) -> np.ndarray:
    """Points of the flat cross (n, 3), `along` leg 0 … 3 from its axis."""
    x, y = np.cos(np.pi / 2 * leg), np.sin(np.pi / 2 * leg)
    along = np.atleast_1d(along)
    return np.column_stack([along * x - aside * y, along * y + aside * x, np.full(len(along), above)])


def _lifted(flat: np.ndarray, width: float, rise: float, end: float) -> np.ndarray:
    """The flat cross bent upwards: level at the hub and beyond `end`, a cosine between."""
    along, hub = np.abs(flat[:, :2]).max(axis=1), width / 2
    share = np.clip((along - hub) / (end - hub), 0.0, 1.0)
    slope = -rise * np.pi / 2 * np.sin(np.pi * share) / (end - hub)
    axis = np.where(np.abs(flat[:, :1]) >= np.abs(flat[:, 1:2]), [1.0, 0.0], [0.0, 1.0])
    axis = axis * np.sign(flat[:, :2])
    normal = np.column_stack([-slope[:, None] * axis, np.ones(len(flat))]) / np.hypot(1.0, slope)[:, None]
    height = np.column_stack([flat[:, :2], rise * (1.0 + np.cos(np.pi * share)) / 2])
    return height + flat[:, 2:] * normal


def on_legs(places: list[tuple[int, float, float]]) -> np.ndarray:
    """Points (n, 3) [m] of the upper side, from (leg, mm along it from the robot's axis, mm aside)."""
    flat = np.concatenate(
        [_turned(np.array([1e-3 * a]), 1e-3 * b, 0.4999 * THICKNESS, leg) for leg, a, b in places]
    )
    return _lifted(flat, WIDTH, RISE, REACH - FOOT)


def _layouts() -> dict[str, Layout]:
    """Layouts r1 to r8.

    r1 to r4 have the same twelve markers, and two, three, four and six candidates; r5 to r8 have the same
    three candidates, and twelve markers spread, eight of them, six near the forces, and four close together
    on one leg.
    """
    hub = [(0, 7.0, 7.0), (1, 7.0, 7.0), (2, 7.0, 7.0), (3, 7.0, 7.0)]
    upper, lower = [(n, 20.0, 5.0) for n in range(4)], [(n, 34.0, -5.0) for n in range(4)]
    spread, loaded = [*hub, *upper, *lower], [(0, 26.0, 0.0), (2, 26.0, 0.0)]
    more = [(0, 0.0, 0.0), (1, 26.0, 0.0), (3, 26.0, 0.0), (0, 40.0, 0.0)]
    here = [(0, 30.0, 3.0), (2, 22.0, -3.0), (1, 30.0, 0.0)]
    near = [(0, 24.0, 6.0), (0, 36.0, -4.0), (2, 18.0, 4.0), (2, 30.0, 0.0), (1, 25.0, -5.0), (1, 35.0, 5.0)]
    pair = np.array([[0, 0, FORCE], [0, 0, -FORCE]])
    make = lambda markers, candidates: Layout(on_legs(markers), on_legs(candidates), (0, 1), pair)
    return {
        "r1": make(spread, loaded),
        "r2": make(spread, [*loaded, more[0]]),
        "r3": make(spread, [*loaded, *more[:2]]),
        "r4": make(spread, [*loaded, *more]),
        "r5": make(spread, here),
        "r6": make([*hub, *lower], here),
        "r7": make(near, here),
        "r8": make([(3, 14.0, 0.0), (3, 22.0, 6.0), (3, 22.0, -6.0), (3, 30.0, 0.0)], here),
    }


parallel_layouts = _layouts()
