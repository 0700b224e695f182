"""The authors' parallel robot, from a user's copy of their mesh, with layouts of markers and forces on it.

The mesh and the facts of its scene are public, in the examples of the authors' group (docs/studies.md); the
paper has the same number of elements. It prints neither markers nor candidates, but shows some in its figures
and says that r1 to r4 share their markers, and r5 to r8 their candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from pliant.bodies import Solid
from pliant.errors import InputError
from pliant.interactions import Cable
from pliant.laws import Bounded
from pliant.materials import Hooke
from pliant.mesh import Mesh, read
from pliant.robot import Robot, Row
from pliant.robots.parts import tip
from pliant.sensing import Layout

FILE, CELLS = "diamond.vtk", 4147
TURN, LIFT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]), (0.0, 0.0, 0.035)  # [m]
FOOT = np.array([[-0.015, -0.015, -0.04], [0.015, 0.015, 0.01]])  # box of the fixed nodes [m]
PULLED, ANCHOR = (0.097, 0.045), (0.010, 0.030)  # radius and height of a cable's end on the body, and off it
TIP = (0.0, 0.0, 0.125)
POISSON, MASS = 0.45, 0.5  # of the public scene [kg]
FORCE = 0.4  # [N], one up, one down, as in the paper
LEGS = 4
Place = tuple[int, float, float, float]  # leg, then radius, height and distance aside [mm]


@cache
def mesh(path: Path) -> Mesh:
    """The robot's mesh in its rest pose [m]; InputError if it is another one."""
    shape = read(path, unit="mm")
    if len(shape.cells) != CELLS:
        raise InputError(
            str(path), expected=f"the paper's {CELLS} tetrahedra", got=f"{len(shape.cells)} cells"
        )
    return shape.transformed(rotation=TURN, translation=LIFT)


def robot(
    path: Path,
    *,
    young: float,
    order: int = 1,
    shift: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    heavier: float = 1.0,
) -> Robot:
    """Four legs on a foot, their elbows pulled inwards by "cable 1" to "cable 4"; "tip" on top.

    The cables' anchors are `shift` [m] higher; the body weighs `heavier` times its 0.5 kg.
    """
    shape = mesh(path)
    body = Solid(
        shape,
        Hooke(young=young, poisson=POISSON),
        density=heavier * MASS / shape.volume,
        fixed=lambda x: ((x >= FOOT[0]) & (x <= FOOT[1])).all(axis=1),
        order=order,
    )
    rows = {}
    for n in range(LEGS):
        end, (radius, height) = body.points([_at(n, *PULLED)], outside="nearest"), ANCHOR
        line = Cable(end, anchor=_at(n, radius, height + shift[n]))
        rows[f"cable {n + 1}"] = Row(line, Bounded(effort=(0.0, 15.0)))
    rows["tip"] = tip(body, TIP)
    return Robot(body, rows, gravity=gravity, name="parallel")


def _at(leg: int, radius: float, height: float, aside: float = 0.0) -> np.ndarray:
    """A position [m] on a leg, the first one along y, each a quarter turn after the one before."""
    turn = np.pi / 2 * (leg + 1)
    out, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    return np.array([*(radius * out + aside * across), height])


def on_skin(path: Path, places: Sequence[Place]) -> np.ndarray:
    """(n, 3) [m] the nodes of the skin nearest to places."""
    skin = mesh(path).nodes[np.unique(mesh(path).surface.triangles)]
    wanted = np.array([_at(leg, *(1e-3 * np.array([r, z, aside]))) for leg, r, z, aside in places])
    return skin[np.linalg.norm(skin[None] - wanted[:, None], axis=2).argmin(axis=1)]


UPPER = {20: 114, 35: 100, 40: 96, 45: 93, 55: 86, 65: 77, 75: 68, 90: 57}  # height of a leg's outside [mm]


def leg(n: int, radius: int, aside: float = 0.0) -> Place:
    """On the outside of the upper part of a leg."""
    return n, float(radius), float(UPPER[radius]), aside


def searched(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Nine markers and eight candidates for the search of places, as many as in the paper."""
    markers = [(0, 0.0, 125.0, 0.0), *(leg(n, r) for r in (20, 65) for n in range(LEGS))]
    candidates = [leg(n, r) for r in (40, 75) for n in range(LEGS)]
    return on_skin(path, markers), on_skin(path, candidates)


def layouts(path: Path) -> dict[str, Layout]:
    """Layouts r1 to r8: as those of our own robot, with as many markers and candidates on the same parts.

    r1 to r4 have the same twelve markers, and two, three, four and six candidates; r5 to r8 have the same
    three candidates, and twelve markers, eight of them, six near the forces, and four together on one leg.
    """
    hub, middle, elbows = ([leg(n, r) for n in range(LEGS)] for r in (20, 55, 90))
    loaded, top = [leg(0, 40), leg(2, 40)], (0, 0.0, 125.0, 0.0)
    more = [top, leg(1, 40), leg(3, 40), leg(0, 75)]
    here = [leg(0, 45), leg(2, 35), leg(1, 45)]
    near = [leg(0, 35, 4.0), leg(0, 55, -4.0), leg(2, 20), leg(2, 45), leg(1, 35, -4.0), leg(1, 55, 4.0)]
    apart = [leg(3, 20), leg(3, 35, 4.0), leg(3, 35, -4.0), leg(3, 55)]
    pair = np.array([[0.0, 0.0, FORCE], [0.0, 0.0, -FORCE]])
    make = lambda markers, candidates: Layout(on_skin(path, markers), on_skin(path, candidates), (0, 1), pair)
    spread = [*hub, *middle, *elbows]
    return {
        "r1": make(spread, loaded),
        "r2": make(spread, [*loaded, more[0]]),
        "r3": make(spread, [*loaded, *more[:2]]),
        "r4": make(spread, [*loaded, *more]),
        "r5": make(spread, here),
        "r6": make([*hub, *elbows], here),
        "r7": make(near, here),
        "r8": make(apart, here),
    }
