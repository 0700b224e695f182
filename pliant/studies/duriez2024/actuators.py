"""Part 3: actuators against closed forms, with effort imposed and with displacement imposed.

Most hang on a straight rod of length L, clamped at one end: EA, GJ, EI and the shear stiffness GA are those
of its section.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.optimize import root_scalar

import pliant as pl
from pliant.bench.validation.pressure import lame_sphere, sphere
from pliant.bodies import Beam, Circle, Shell, Solid
from pliant.interactions import Attachment
from pliant.laws import Law
from pliant.mesh.lines import line
from pliant.robot import Robot, Row
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.study import Findings

LENGTH = 0.2  # [m]
SECTION, RUBBER = Circle(0.004), pl.Hooke(young=1e6, poisson=0.3)
EA, GA, _, GJ, EI, _ = SECTION.stiffness(RUBBER)


@dataclass(frozen=True)
class Case:
    """An actuator row, an effort, and its displacement by a closed form; other rows may have laws."""

    name: str
    formula: str
    robot: Robot
    effort: float
    displacement: float
    allowed: float
    laws: Mapping[str, Law] = field(default_factory=dict)


def rod(elements: int = 8) -> Beam:
    """Along x, clamped at the origin."""
    return Beam(line((0, 0, 0), (LENGTH, 0, 0), elements=elements), SECTION, RUBBER, fixed=0)


def driven(body: object, interaction: object) -> Robot:
    """A robot with one row, "drive"."""
    return pl.Robot(body, {"drive": Row(interaction)})  # pyright: ignore[reportArgumentType]


def cable(lab: Lab) -> Case:
    """A cable beside the axis bends the rod to an arc and shortens it."""
    body, offset, tension = rod(), 0.003, 1e-3
    via = body.at(np.linspace(0, LENGTH, 33), offset=(0, offset))
    expected = tension * LENGTH * (1 / EA + offset**2 / EI)
    formula = "δ = T L (1/EA + e²/EI)"
    return Case("cable", formula, driven(body, pl.Cable(via)), tension, expected, 2e-3)


def cavity(lab: Lab) -> Case:
    """A thick sphere (Lamé)."""
    inner, outer, law, pressure = 0.01, 0.02, pl.Hooke(young=1e5, poisson=0.4), 10.0
    robot = sphere(law, inner, outer, around=8 * lab.setting.fine, across=2)
    robot = pl.Robot(robot.bodies, {"drive": robot.rows["air"]})
    expected = pressure * lame_sphere(law.young, law.poisson, inner, outer)
    return Case("cavity, solid", "Lamé's thick sphere", robot, pressure, expected, 0.02 / lab.setting.fine)


def balloon(lab: Lab) -> Case:
    """A thin sphere."""
    radius, thickness, law, pressure = 0.05, 1e-3, pl.Hooke(young=1e6, poisson=0.3), 1.0
    sheet = pl.mesh.sphere_sheet(radius, cells=4 * lab.setting.fine)
    fixed = np.zeros((len(sheet.nodes), 3), bool)  # just enough to keep it in place
    fixed[sheet.nodes[:, 2].argmin()] = True
    fixed[sheet.nodes[:, 2].argmax(), :2] = True
    fixed[sheet.nodes[:, 0].argmax(), 1] = True
    body = Shell(sheet, law, thickness, fixed=fixed)
    swelling = pressure * radius**2 * (1 - law.poisson) / (2 * law.young * thickness)
    robot, expected = driven(body, pl.Cavity.on(body, sheet.surface)), 4 * np.pi * radius**2 * swelling
    return Case(
        "cavity, shell", "δ = 4πR² pR²(1 − ν)/2Eh", robot, pressure, expected, 0.05 / lab.setting.fine
    )


def motor(lab: Lab) -> Case:
    """Torque on the end of the rod."""
    body, torque = rod(), 1e-4
    robot = driven(body, pl.Motor(body.region_points(8), (1, 0, 0)))
    return Case("motor", "θ = τL/GJ", robot, torque, torque * LENGTH / GJ, 1e-6)


def slider(lab: Lab) -> Case:
    """The end of the rod, pulled along it."""
    body, force = rod(), 0.5
    robot = driven(body, pl.Slider(body.at([LENGTH]), (1, 0, 0)))
    return Case("slider", "δ = FL/EA", robot, force, force * LENGTH / EA, 1e-6)


def point_force(lab: Lab) -> Case:
    """The end of the rod, pushed across it."""
    body, force = rod(), 1e-5
    robot = driven(body, pl.PointForce(body.at([LENGTH]), direction=(0, 0, 1)))
    expected = force * (LENGTH**3 / (3 * EI) + LENGTH / GA)
    return Case("point force", "δ = PL³/3EI + PL/GA", robot, force, expected, 1e-5)


def surface_force(lab: Lab) -> Case:
    """A pull on the end face of a block of linear tetrahedra, whose facets carry the force."""
    side, young, force = 0.02, 1e5, 0.04
    mesh = pl.mesh.box((LENGTH, side, side), cells=(4, 1, 1))
    law = pl.Hooke(young=young, poisson=0.0)
    body = Solid(mesh, law, fixed=lambda x: x[:, 0] < 1e-9, order=1)
    face = body.mesh.surface.patch(lambda centre: centre[:, 0] > LENGTH - 1e-9)
    expected = force * LENGTH / (young * side**2)
    return Case(
        "surface force", "δ = FL/EA", driven(body, pl.SurfaceForce.on(body, face)), force, expected, 1e-9
    )


def magnet(lab: Lab) -> Case:
    """A magnet on the end of the rod, across the field: EI θ/L = |m||B| cos θ; δ is its alignment, sin θ."""
    body, strength = rod(), 5e-4
    balance = lambda angle: EI * angle / LENGTH - strength * np.cos(angle)
    turn = float(root_scalar(balance, bracket=(0.0, np.pi / 2), xtol=1e-14).root)
    across = pl.Magnet(body.region_points(8), moment=(1, 0, 0), field=(0, 0, 1), measure="alignment")
    formula = "EI θ/L = |m||B| cos θ,  δ = sin θ"
    return Case("magnet", formula, driven(body, across), strength, float(np.sin(turn)), 1e-6)


def combined(lab: Lab) -> Case:
    """Two struts on opposite sides pushed out together: the rod stays straight."""
    body, effort, offset = rod(), 0.02, 0.003
    pair = pl.Stretch([body.at([0.0, LENGTH], offset=(0, e)) for e in (offset, -offset)])
    # Four points, three segments; the one between the struts is left out.
    both = pl.Combined(pair, np.array([[1.0], [0.0], [1.0]]))
    return Case("combined", "δ = 4 FL/EA", driven(body, both), effort, 4 * effort * LENGTH / EA, 1e-6)


def springs_in_series(lab: Lab) -> Case:
    """The report's first figure: springs one behind the other, here rods glued end to end."""
    parts = [(Circle(0.004), 1.0), (Circle(0.003), 0.5), (Circle(0.002), 0.25)]
    bodies, start, softness, force = [], 0.0, 0.0, 0.1
    for section, share in parts:
        length = share * LENGTH
        rods = line((start, 0, 0), (start + length, 0, 0), elements=2)
        bodies.append(Beam(rods, section, RUBBER, fixed=0 if not bodies else None))
        start, softness = start + length, softness + length / section.stiffness(RUBBER)[0]
    ends = [(b.region_points(2), c.region_points(0)) for b, c in pairwise(bodies)]
    rows = {f"glue {k}": Row(Attachment(*pair)) for k, pair in enumerate(ends)}
    laws = {name: pl.Known(displacement=0.0) for name in rows}
    rows["drive"] = Row(pl.Slider(bodies[-1].region_points(2)[:1], (1, 0, 0)))
    apart = pl.contact.Surroundings(between_bodies=False)
    robot = pl.Robot(bodies, rows, surroundings=apart)
    return Case("springs in series", "1/k = 1/k₁ + 1/k₂ + 1/k₃", robot, force, force * softness, 1e-6, laws)


def rigid_half(lab: Lab) -> Case:
    """The outer half of a block is rigid: only the inner half stretches."""
    side, young, force = 0.02, 1e5, 0.04
    mesh = pl.mesh.box((LENGTH, side, side), cells=(4, 1, 1), kind="hex")
    stiff = pl.Rigid(lambda x: x[:, 0] > LENGTH / 2 - 1e-9, name="outer")
    law = pl.Hooke(young=young, poisson=0.0)
    body = Solid(mesh, law, fixed=lambda x: x[:, 0] < 1e-9, rigid=stiff)
    robot = driven(body, pl.Slider(body.region_points("outer")[:1], (1, 0, 0)))
    expected = force * LENGTH / 2 / (young * side**2)
    return Case("slider on a rigid region", "δ = F(L/2)/EA", robot, force, expected, 1e-9)


CASES: tuple[Callable[[Lab], Case], ...] = (
    cable,
    cavity,
    balloon,
    motor,
    slider,
    point_force,
    surface_force,
    magnet,
    combined,
    springs_in_series,
    rigid_half,
)


def actuators(lab: Lab) -> Findings:
    """Two rows for each: what an effort moves, and what effort a displacement takes."""
    table = Compared("Actuators against closed forms")
    for make in CASES:
        case = make(lab)
        drive = case.robot.rows["drive"].interaction
        pushed = _solved(case, pl.Known(effort=case.effort))
        moved = _solved(case, pl.Known(displacement=case.displacement))
        show = {"allowed": case.allowed}
        what = f"{case.formula}: effort imposed"
        table.add(case.name, what, case.displacement, pushed.displacement["drive"], unit=drive.unit, **show)
        what = "the same: displacement imposed"
        table.add(case.name, what, case.effort, moved.effort["drive"], unit=drive.effort_unit, **show)
    return Findings("Actuators", TEXT, [table.table])


def _solved(case: Case, law: Law):
    return pl.static(case.robot, {**case.laws, "drive": law}, tolerance=TIGHT)


TEXT = (
    "Where the answer is known on paper. Loads are small where a formula is of first order; the magnet and "
    "the motor go through finite rotations. Spheres are made of straight or quadratic cells and meet the "
    "formula as these are refined."
)
