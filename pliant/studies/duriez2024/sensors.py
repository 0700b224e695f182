"""Part 4: effectors and sensors on solids, beams and shells, against beam theory.

A strip of length L, width b and height h, clamped at x = 0 and made of rubber with ν = 0. Under a small
weight w per length across it

    deflection w x²(6L² − 4Lx + x²)/24EI      slope at the end wL³/6EI
    curvature w(L − x)²/2EI                   mean deflection wL⁴/20EI

hanging along it, it lengthens by ρgL²/2E; and a prop at a distance a carries w(6L² − 4La + a²)/8a.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pliant as pl
from pliant.bodies import Beam, Rectangle, Shell, Solid
from pliant.contact import Cylinder, Samples, Surroundings
from pliant.mesh.lines import line
from pliant.robot import Robot, Row
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.study import Findings

LENGTH, WIDTH, HEIGHT = 0.2, 0.01, 0.008  # [m]
YOUNG, DENSITY = 1e6, 1000.0
LAW = pl.Hooke(young=YOUNG, poisson=0.0)
GRAVITY = 0.02  # [m/s²]: it sags by 0.1 % of its length
LINE, EI = DENSITY * WIDTH * HEIGHT * GRAVITY, YOUNG * WIDTH * HEIGHT**3 / 12
CELLS = 16
THEORY = 0.01  # beam theory leaves out shear (0.5 % here) and corners
AXIS = np.array([0.0, WIDTH / 2, HEIGHT / 2])


@dataclass(frozen=True)
class Strip:
    """A body whose middle line starts at AXIS, and samples for contact."""

    body: Any
    samples: Samples
    end: Any  # points that tell how the end is turned

    def along(self, x: Any) -> np.ndarray:
        """(n, 3) on the middle line."""
        x = np.asarray(x, float)
        return AXIS + np.column_stack([x, 0 * x, 0 * x])


def solid() -> Strip:
    """Hexahedra."""
    mesh = pl.mesh.box((LENGTH, WIDTH, HEIGHT), cells=(CELLS, 1, 2), kind="hex")
    body = Solid(mesh, LAW, density=DENSITY, fixed=lambda x: x[:, 0] < 1e-9)
    face = body.node_points(lambda x: x[:, 0] > LENGTH - 1e-9)
    return Strip(body, Samples.on(body), face)


def beam() -> Strip:
    """A rod."""
    rods = line(AXIS, AXIS + np.array([LENGTH, 0, 0]), elements=CELLS)
    body = Beam(rods, Rectangle(WIDTH, HEIGHT), LAW, density=DENSITY, fixed=0)
    points, _ = body.centreline()
    skin = Samples.around(points, np.full(len(points), HEIGHT / 2))
    return Strip(body, skin, body.region_points(CELLS))


def shell() -> Strip:
    """A sheet."""
    sheet = pl.mesh.sheet((LENGTH, WIDTH), cells=(CELLS, 2))
    sheet = sheet.transformed(translation=(0, 0, HEIGHT / 2))
    body = Shell(sheet, LAW, HEIGHT, density=DENSITY, fixed=lambda x: x[:, 0] < 1e-9)
    every = body.node_points(np.arange(len(sheet.nodes)))
    tip = int(np.linalg.norm(sheet.nodes - AXIS - [LENGTH, 0, 0], axis=1).argmin())
    return Strip(body, Samples.around(every, np.full(len(every), HEIGHT / 2)), body.node_frame(tip))


STRIPS: dict[str, Callable[[], Strip]] = {"solid": solid, "beam": beam, "shell": shell}


def sensors(lab: Lab) -> Findings:
    """One table for each kind of body."""
    tables = []
    for kind, make in STRIPS.items():
        table = Compared(f"Sensors and effectors on a {kind}")
        strip = make()
        _bent(table, strip)
        _hanging(table, strip)
        _propped(table, strip)
        tables.append(table.table)
    return Findings("Effectors and sensors", TEXT, tables)


def _read(strip: Strip, rows: dict[str, Any], gravity: Any) -> tuple[dict[str, np.ndarray], Robot]:
    """δ of the rows in equilibrium, less their values at rest."""
    robot = pl.Robot(strip.body, {name: Row(i) for name, i in rows.items()}, gravity=gravity)
    result = pl.static(robot, tolerance=TIGHT)
    return {name: result.displacement[name] - i.value(i.rest) for name, i in rows.items()}, robot


def _bent(table: Compared, strip: Strip) -> None:
    """Weight across: where it is, how it is turned and curved."""
    body, L = strip.body, LENGTH
    deflection = lambda x: LINE * x**2 * (6 * L**2 - 4 * L * x + x**2) / (24 * EI)
    inner = np.linspace(0.25, 0.75, 5) * L
    middles = (np.arange(CELLS) + 0.5) / CELLS * L
    mean = pl.CentreOfMass(body.points(strip.along(middles)), np.ones(CELLS))
    rows = {
        "position": pl.Position(body.points(strip.along([L]))),
        "position, one direction": pl.Position(body.points(strip.along([L / 2])), directions=[(0, 0, -1)]),
        "orientation": pl.Orientation(strip.end),
        "barycentre": pl.Barycentre(body.points(strip.along(inner))),
        "centre of mass": mean,
        "curvature": pl.Curvature(body.points(strip.along(inner)), normal=(0, 1, 0)),
    }
    read, _ = _read(strip, rows, (0, 0, -GRAVITY))
    show = {"allowed": THEORY}
    table.add(
        "position",
        "deflection of the end, wL⁴/8EI",
        LINE * L**4 / (8 * EI),
        -read["position"][2],
        unit="m",
        **show,
    )
    table.add(
        "position, one direction",
        "deflection half-way",
        deflection(L / 2),
        read["position, one direction"],
        unit="m",
        **show,
    )
    slope = [0.0, LINE * L**3 / (6 * EI), 0.0]
    table.add("orientation", "slope of the end, wL³/6EI", slope, read["orientation"], unit="rad", **show)
    places = deflection(inner).mean()
    table.add(
        "barycentre", "mean deflection of five points", places, -read["barycentre"][2], unit="m", **show
    )
    table.add(
        "centre of mass",
        "mean deflection, wL⁴/20EI",
        LINE * L**4 / (20 * EI),
        -read["centre of mass"][2],
        unit="m",
        **show,
    )
    spacing = inner[1] - inner[0]  # a turn at a point is the mean of what is bent on both sides of it
    curved = LINE * ((L - inner[1:-1]) ** 2 + spacing**2 / 6) / (2 * EI)
    table.add("curvature", "w(L − x)²/2EI at three points", curved, read["curvature"], unit="1/m", **show)


def _hanging(table: Compared, strip: Strip) -> None:
    """Weight along: how much longer it is, and how much larger."""
    body, g = strip.body, 100 * GRAVITY
    longer = DENSITY * g * LENGTH**2 / (2 * YOUNG)
    ends = strip.along([0.0, LENGTH / 2, LENGTH])
    rows: dict[str, Any] = {"stretch": pl.Stretch(body.points(ends)), "cable": pl.Cable(body.points(ends))}
    closed = body.mesh.surface.closed
    if closed:
        rows["cavity"] = pl.Cavity.on(body, body.mesh.surface)
    read, _ = _read(strip, rows, (g, 0, 0))
    show = {"unit": "m", "allowed": THEORY}
    table.add(
        "stretch", "upper and lower half, 3 : 1", longer * np.array([0.75, 0.25]), read["stretch"], **show
    )
    table.add("cable length", "let out by ρgL²/2E", -longer, read["cable"], **show)
    if closed:
        grown = WIDTH * HEIGHT * longer
        table.add(
            "cavity volume", "of the whole body, bh ρgL²/2E", grown, read["cavity"], unit="m³", allowed=THEORY
        )
    else:
        _inflated(table)


def _inflated(table: Compared) -> None:
    """The volume within a sheet: a tube that is fixed along its axis widens as its hoops stretch."""
    radius, thickness, pressure = 0.05, 0.002, 50.0
    tube = pl.mesh.tube_sheet(radius, 0.1, around=48, along=8)
    fixed = np.zeros((len(tube.nodes), 6), bool)
    fixed[:, [2, 3, 4, 5]] = True  # neither along, nor any rotation: a slice of a long tube
    fixed[tube.nodes[:, 0] > radius - 1e-9, 1] = True
    fixed[tube.nodes[:, 1] > radius - 1e-9, 0] = True
    body = Shell(tube, LAW, thickness, fixed=fixed)
    robot = pl.Robot(body, {"air": Row(pl.Cavity.on(body, tube.surface, cap="flat"))})
    grown = pl.static(robot, {"air": pl.Known(effort=pressure)}, tolerance=TIGHT).displacement["air"]
    expected = 2 * np.pi * radius * 0.1 * pressure * radius**2 / (YOUNG * thickness)
    table.add("cavity volume", "of a tube, 2πRL pR²/Eh", expected, grown, unit="m³", allowed=2 * THEORY)


def _propped(table: Compared, strip: Strip) -> None:
    """A round bar across, just touching from below: the force in the contact, and where."""
    a, radius = 0.75 * LENGTH, 0.002
    bar = Cylinder((a, -WIDTH, -radius), (a, 2 * WIDTH, -radius), radius, name="prop")
    around = Surroundings([bar], samples=strip.samples)
    robot = pl.Robot(strip.body, gravity=(0, 0, -GRAVITY), surroundings=around)
    felt = pl.static(robot, tolerance=TIGHT).touch()
    carried = LINE * (6 * LENGTH**2 - 4 * LENGTH * a + a**2) / (8 * a)
    table.add(
        "contact force",
        "of a prop, w(6L² − 4La + a²)/8a",
        [0, 0, carried],
        felt.force,
        unit="N",
        allowed=2 * THEORY,
    )
    table.add("contact force", "where it acts", a, felt.place[0], unit="m", allowed=THEORY)


TEXT = (
    "The same strip as a solid, as a rod and as a sheet. What a sensor reads is compared with beam theory; "
    "a sensor under a `Target` law is an effector, under `Measured` a measurement, and nothing else changes."
)
