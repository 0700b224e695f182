"""A soft beam with two opposite cables, between two balls that reverse their effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Samples, Sphere, Surroundings
from pliant.interactions import Cable, Position
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import box, near_plane
from pliant.robot import Robot, Row

Ball = tuple[float, float, float]

FIGURE_2: Mapping[str, Any] = {  # two minima: pull the lower cable a little, or the upper one much
    "above": (0.65, 0.005, 0.6),
    "below": (0.45, 0.0025, 0.6),
    "tension": 500.0,
    "alarm": 0.0055,
}
FIGURE_3: Mapping[str, Any] = {  # the path to the global minimum leads through seven contact modes
    "above": (0.65, 0.003, 0.6),
    "below": (0.2, 0.002, 0.6),
    "tension": 2000.0,
    "alarm": 0.0045,
}
HEIGHT_2, HEIGHT_3 = -0.020, -0.060  # of the tip [m], the targets of both figures


def beam(
    *,
    length: float = 0.4,
    width: float = 0.04,
    cells: tuple[int, int, int] = (8, 4, 3),
    kind: str = "hex",
    young: float = 4.93e6,
    poisson: float = 0.45,
    density: float = 1100.0,
    reach: float = 0.3,
    off_axis: float = 0.4,
    tension: float = 500.0,
    above: Ball | None = FIGURE_3["above"],
    below: Ball | None = FIGURE_3["below"],
    aside: float = 0.002,
    alarm: float = FIGURE_3["alarm"],
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Robot:
    """A square rubber beam along x, fixed at x = 0, with a cable on either side of its axis and two balls.

    After the beam of Coevoet et al., 'Optimization-based inverse model of soft robots with contact handling',
    RA-L 2017, whose cables reverse their effect where it meets its obstacles: `beam(**FIGURE_2)` and
    `beam(**FIGURE_3)`. Both cables end at the share `reach` of the length, `off_axis` widths from the axis.
    Pulled alone, the upper one lifts the tip; with a ball above the beam further out than that, the beam
    turns about the ball and its tip goes down.

    `above` and `below` place a ball each: its position along the beam, its gap to the beam at rest, and its
    radius, all as shares of the length (None: no ball). Both stand a share `aside` off the beam's plane, so
    that contacts on its left and right do not begin at the same moment. `alarm`, the distance of a possible
    contact, is a share too. The beam lies on its side: no weight.

    Rows: "lower" and "upper", the cables, up to `tension` [N]; "tip", the height of the middle of the end
    face. Two opposite cables steer one coordinate.
    """
    half = width / 2
    mesh = box((length, width, width), cells=cells, kind=kind, origin=(0.0, -half, -half))
    clamp = near_plane(mesh, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    body = Solid(
        mesh, Hooke(young=young, poisson=poisson), density=density, fixed=clamp, support_layers=False
    )
    along = np.linspace(0.0, reach * length, 11)
    rows = {}
    for name, side in (("lower", -1.0), ("upper", 1.0)):
        path = np.column_stack([along, 0.0 * along, np.full_like(along, side * off_axis * width)])
        rows[name] = Row(Cable(body.points(path)), Bounded(effort=(0.0, tension)))
    rows["tip"] = Row(Position(body.points([[length, 0.0, 0.0]]), directions="z"), Target(value=(0.0,)))
    balls = [
        _ball(name, side, place, aside, length, half)
        for name, side, place in (("above", 1.0, above), ("below", -1.0, below))
        if place is not None
    ]
    samples = Samples.on(body, spacing=length / 40)
    surroundings = Surroundings(balls, samples=samples, alarm=alarm * length)
    return Robot(body, rows, gravity=gravity, name="beam", surroundings=surroundings)


def _ball(name: str, side: float, place: Sequence[float], aside: float, length: float, half: float) -> Sphere:
    along, gap, radius = (share * length for share in place)
    return Sphere((along, aside * length, side * (half + gap + radius)), radius, name=name)
