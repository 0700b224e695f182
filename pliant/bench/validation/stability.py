"""Large bending, buckling and snap-through of rods, against published values and closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pliant.bodies.beams import Beam, Stiffness
from pliant.interactions import Motor, PointForce, Position
from pliant.io.table import Table
from pliant.laws import Known
from pliant.mesh.lines import curve, line
from pliant.robot import Robot, Row
from pliant.static import buckling, continuation, static

# The end of a 45° bend under a force across its plane (Bathe and Bolourchi 1979), as computed with eight
# geometrically exact beams by Simo and Vu-Quoc 1986: force, position.
BEND = {300.0: (58.84, 22.33, 40.08), 450.0: (52.32, 18.62, 48.39), 600.0: (47.23, 15.79, 53.37)}
GREENHILL = 7.8373  # ρgA L³/EI of a column that buckles under its weight


@dataclass(frozen=True)
class Case:
    """A figure beside the one that it should be: error, what is allowed, and what it cost."""

    what: str
    error: float
    allowed: float
    iterations: int | None
    seconds: float


def stability() -> Table:
    """Every case as a row."""
    columns = ("what", "error", "allowed", "iterations", "seconds", "check")
    table = Table("Bending, buckling and snap-through", columns)
    for case in (*bends(), *rolls(), *columns_(), *arches()):
        table.add(
            what=case.what,
            error=f"{case.error:+.3%}",
            allowed=case.allowed,
            iterations=case.iterations,
            seconds=f"{case.seconds:.2f}",
            check=bool(abs(case.error) <= case.allowed),
        )
    return table


def bends(elements: int = 8) -> Iterator[Case]:
    """Tip of the 45° bend of radius 100, E = 1e7, ν = 0, unit square, at a hundredth of its size.

    The torsion constant is that of the source, 1/6.
    """
    angle = np.linspace(0.0, np.pi / 4, elements + 1)
    path = np.column_stack([np.sin(angle), 1.0 - np.cos(angle), 0.0 * angle])
    beam = Beam(curve(path), Stiffness(EA=1e3, GA=5e2, EI=1e-1 / 12, GJ=5e-2 / 6), fixed=0)
    tip = beam.attached_points(elements, path[-1:])
    robot = Robot(beam, {"load": Row(PointForce(tip, direction=(0, 0, 1))), "tip": Row(Position(tip))})
    for force, published in BEND.items():
        begin = process_time()
        result = static(robot, {"load": Known(effort=1e-4 * force)})
        error = float(np.linalg.norm(100.0 * result.displacement["tip"] - published)) / (25.0 * np.pi)
        what = f"45° bend, P = {force:.0f}: tip, of the length"
        yield Case(what, error, 0.005, result.certificate.iterations, process_time() - begin)


def rolled(bound: str, elements: int = 16, torsion: float = 1.25) -> Robot:
    """A rod of length and EI one with a `Motor` at its end; GJ is `torsion`.

    bound: "plane": it stays in its plane; "shaft": it is free in space but for the axis of the motor, which
    keeps its direction; "nothing": a torque about an axis that nothing keeps.
    """
    fixed = np.zeros((elements + 1, 6), bool)
    fixed[:, [1, 3, 5]] = bound == "plane"
    fixed[-1, [3, 5]] |= bound == "shaft"
    fixed[0] = True
    straight = line((0, 0, 0), (1, 0, 0), elements=elements)
    rod = Beam(straight, Stiffness(EA=1e4, GJ=torsion, EI=1.0), fixed=fixed)
    ends = rod.attached_points(elements, [[1, 0, 0], [1.1, 0, 0]])
    rows = {"motor": Row(Motor(ends, (0, -1, 0), middle=np.pi)), "tip": Row(Position(ends))}
    return Robot(rod, rows, name="rod")


def leaves_its_plane(torsion: float) -> float:
    """The angle [rad] at which a rod rolled up by a shaft leaves its plane: tan(θ/2) = (1 − EI/GJ) θ/2.

    From the moment of Kirchhoff's rod, which is constant in space: the root between a half and a full turn,
    for GJ < EI. A rod with GJ = EI reaches the full turn.
    """
    from scipy.optimize import brentq

    ratio = 1.0 - 1.0 / torsion
    root: Any = brentq(lambda x: np.sin(x) - ratio * x * np.cos(x), 0.5 * np.pi + 1e-9, np.pi)
    return 2.0 * float(root)


def rolls() -> Iterator[Case]:
    """A rod rolled to a full circle, in its plane and free; and where it would leave its plane."""
    turn = 2.0 * np.pi
    for what, bound, law, how in (
        ("in the plane, by torque", "plane", Known(effort=turn), "leave"),
        ("free, by a shaft: torque", "shaft", Known(effort=0.9999 * turn), "leave"),
        ("free, by a shaft: angle", "shaft", Known(displacement=0.9999 * turn), "leave"),
        ("by a torque on a free end, unstable", "nothing", Known(effort=turn), "keep"),
    ):
        begin = process_time()
        result = static(rolled(bound), {"motor": law}, unstable=how)
        error = float(np.linalg.norm(result.displacement["tip"][:3]))
        yield Case(
            f"roll-up to a circle {what}: tip",
            error,
            1e-3,
            result.certificate.iterations,
            process_time() - begin,
        )
    for torsion in (0.5, 0.8):
        begin = process_time()
        found = buckling(rolled("shaft", torsion=torsion), {"motor": Known(effort=1.0)})
        what = f"rod rolled up by a shaft, GJ = {torsion} EI: angle at which it leaves its plane"
        error = found.factor / leaves_its_plane(torsion) - 1.0
        yield Case(what, error, 0.005, None, process_time() - begin)


def columns_(elements: int = 16) -> Iterator[Case]:
    """Euler's column clamped and free, and pinned by rows; Greenhill's under its weight: critical load."""
    section = Stiffness(EA=1e6, GJ=1.0, EI=1.0, mass=1.0)
    straight = line((0, 0, 0), (0, 0, 1), elements=elements)
    foot = np.zeros((elements + 1, 6), bool)
    foot[0] = True, True, True, False, False, True
    for name, fixed, exact in (
        ("clamped and free", 0, np.pi**2 / 4),
        ("pinned by rows", foot, np.pi**2),
        ("under its weight", 0, GREENHILL),
    ):
        rod = Beam(straight, section, fixed=fixed)
        top = rod.attached_points(elements, [[0, 0, 1]])
        rows = {"push": Row(PointForce(top, direction=(0, 0, -1)))}
        if fixed is foot:
            rows["pin"] = Row(
                Position(top, directions=[[1, 0, 0], [0, 1, 0]]), Known(displacement=[0.0, 0.0])
            )
        heavy = name == "under its weight"
        robot = Robot(rod, rows, gravity=(0, 0, -1.0 if heavy else 0.0))
        begin = process_time()
        found = buckling(robot, {} if heavy else {"push": Known(effort=1.0)})
        error = found.factor / exact - 1.0
        yield Case(f"column {name}: critical load", error, 0.005, None, process_time() - begin)


def arch(elements: int = 32, rise: float = 2.0) -> tuple[Robot, np.ndarray]:
    """A pinned arch z = h sin(πx), h = 2re, in its plane, and the efforts of the load sin(πx) per length.

    These are in units of EI π⁴ 2r, r² = EI/EA.
    """
    radius, x = 1e-3, np.linspace(0.0, 1.0, elements + 1)
    path = np.column_stack([x, 0.0 * x, 2.0 * radius * rise * np.sin(np.pi * x)])
    fixed = np.zeros((elements + 1, 6), bool)
    fixed[:, [1, 3, 5]] = True
    fixed[[0, -1], :3] = True
    rod = Beam(curve(path), Stiffness(EA=radius**-2, GJ=1.0, EI=1.0), fixed=fixed)
    inner = np.arange(1, elements)
    where = [rod.attached_points(int(n), path[n : n + 1]) for n in inner]
    robot = Robot(rod, {"load": Row(PointForce(where, direction=(0, 0, -1)))}, name="arch")
    return robot, np.pi**4 * 2.0 * radius * np.sin(np.pi * x[inner]) / elements


def arches() -> Iterator[Case]:
    """The shallow arch of rise e = 2 snaps at q = e ± 2 √((e² − 1)³/27) = 4 and 0 (Fung and Kaplan 1952)."""
    robot, unit = arch()
    begin = process_time()
    path = continuation(robot, {"load": Known(effort=5.0 * unit)})
    cost, its = process_time() - begin, sum(r.certificate.iterations for r in path.results)
    up, down = 5.0 * np.array(path.limits)
    yield Case("shallow arch: load at which it snaps through", up / 4.0 - 1.0, 0.005, its, cost)
    yield Case("shallow arch: load at which it snaps back, of the former", down / 4.0, 0.005, its, cost)
    begin = process_time()
    found = buckling(robot, {"load": Known(effort=unit)})
    what = f"shallow arch: {found.kind} by buckling"
    yield Case(what, found.factor / 4.0 - 1.0, 0.005, None, process_time() - begin)
