"""Validation on fine meshes: orders of convergence, and problems with a closed form.

The tests run coarse versions.
"""

from __future__ import annotations

import warnings

import numpy as np

from pliant.bench.validation import bars, hertz, manufactured, motion, pressure
from pliant.bench.validation.elements import solid_elements
from pliant.bench.validation.shells import shell_values
from pliant.bench.validation.stability import stability
from pliant.errors import PliantWarning
from pliant.io.table import Table
from pliant.laws import Known
from pliant.materials import Hooke, Incompressible, NeoHookean
from pliant.robot import Robot
from pliant.static import static

YOUNG, SHEAR = 3e5, 1e5  # [Pa]
INNER, OUTER, THIN = 0.01, 0.02, 0.0105  # [m]


def validation() -> list[Table]:
    """All tables; some minutes."""
    still = [orders(), closed_forms(), solid_elements(), shell_values(), stability(), domes()]
    return [*still, motion.motion()]


def orders() -> Table:
    """Order of the L² error of displacements on manufactured solutions, one of them nearly incompressible."""
    columns = ("element", "solution", "cells", "errors", "order", "asked", "check")
    table = Table("Manufactured solutions in a cube: L² error of the displacement", columns)
    solutions = (
        ("Hooke, small strain, ν = 0.3", Hooke(YOUNG, 0.3, small_strain=True), "general"),
        ("neo-Hookean, ν = 0.3", NeoHookean(YOUNG, 0.3), "general"),
        ("Hooke, ν = 0.4999, volume kept", Hooke(YOUNG, 0.4999, small_strain=True), "swirl"),
        ("Hooke, ν = 0.49, volume not kept", Hooke(YOUNG, 0.49, small_strain=True), "general"),
    )
    cases = (
        ("tet4", "tet", 1, {}, (1.8, 1.8, None, None), (4, 8, 16)),
        ("hex8, incompatible modes or split", "hex", 1, {}, (1.8, 1.8, 1.8, None), (4, 8, 16)),
        ("tet10, split dilatation", "tet", 2, {}, (1.8, 1.8, 2.8, None), (3, 6, 10)),
        ("tet10, no split", "tet", 2, {"split": False}, (2.8, 2.8, None, 2.8), (3, 6, 10)),
    )
    for name, kind, order, options, asked, cells in cases:
        for (solution, material, field), least in zip(solutions, asked, strict=True):
            mesh = {"kind": kind, "order": order, **options}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PliantWarning)  # tet4 is here because it locks
                e = [manufactured.error(material, cells=n, field=field, **mesh) for n in cells]
            p = manufactured.rate(cells, e)
            table.add(
                element=name,
                solution=solution,
                cells=" ".join(map(str, cells)),
                errors=" ".join(f"{x:.2e}" for x in e),
                order=p,
                asked=least,
                check=None if least is None else p >= least,
            )
    table.notes.append(
        "Nothing is asked where an element locks, nor of the split under a body force of the order of the "
        "bulk modulus."
    )
    return table


def closed_forms() -> Table:
    """Pressure vessels, torsion and bending against their closed forms."""
    table = Table("Closed forms", ("what", "nodes", "error", "allowed", "check"))

    def add(what: str, nodes: int, error: float, allowed: float) -> None:
        table.add(
            what=what, nodes=nodes, error=f"{error:+.3%}", allowed=allowed, check=bool(abs(error) <= allowed)
        )

    _lame(add)
    _rubber(add)
    _balloon(add)
    for shape, cells in (("round", (16, 2, 16)), ("square", (6, 16))):
        error, nodes = bars.torsion(shape, cells=cells)
        add(f"torque of a {shape} bar, Saint-Venant", nodes, error, 0.01)
    for degrees in (90, 180, 300):
        strip = bars.Strip(0.002, 100, middle=np.pi)
        add(f"end torque: tip of a {degrees}° arc", *_error(strip, strip.arc(np.radians(degrees))), 0.01)
    strip = bars.Strip(0.002, 100)
    add("end force PL²/EI = 10: tip of the elastica", *_error(strip, strip.elastica(10.0)), 0.01)
    return table


def domes() -> Table:
    """A dome on a block of the same stuff against a solution of another code, see `hertz`."""
    columns = ("element", "facets across", "unknowns", "iterations", "CPU [s]", "error", "allowed", "check")
    table = Table("Hertz: force of a dome on a block", columns)
    for name, kind, order, cells, layers, allowed in (
        ("hex8", "hex", 1, 16, 8, 0.02),
        ("hex8", "hex", 1, 20, 10, 0.02),
        ("tet10", "tet", 2, 8, 3, None),
        ("tet10", "tet", 2, 12, 4, 0.02),
        ("tet4", "tet", 1, 20, 8, None),
    ):
        found = hertz.pressed(kind, order, cells, layers)
        error = found.force / hertz.REFERENCE - 1.0
        table.add(
            element=name,
            unknowns=found.unknowns,
            iterations=found.iterations,
            error=f"{error:+.2%}",
            allowed=allowed,
            check=None if allowed is None else bool(abs(error) <= allowed),
            **{"facets across": f"{found.across:.1f}", "CPU [s]": f"{found.seconds:.1f}"},
        )
    layers = hertz.layered() / hertz.REFERENCE - 1.0
    table.notes.append(f"Layers without end, in closed form: {layers:+.2%}.")
    return table


def _error(strip: bars.Strip, errors: tuple[float, float]) -> tuple[int, float]:
    """The number of nodes, and the error of the tip's position."""
    return len(strip.robot.body.mesh.nodes), errors[0]


def _lame(add) -> None:
    for poisson in (0.3, 0.49):
        material = Hooke(YOUNG, poisson, small_strain=True)
        vessels = (
            (pressure.sphere(material, INNER, OUTER, around=16, across=4), pressure.lame_sphere),
            (pressure.cylinder(material, INNER, OUTER, around=24, across=4, cuts=8), pressure.lame_cylinder),
        )
        for robot, exact in vessels:
            error = swelling(robot, 100.0) / exact(YOUNG, poisson, INNER, OUTER) - 1.0
            add(f"{robot.name} under pressure, Lamé, ν = {poisson}", len(robot.body.mesh.nodes), error, 0.01)


def swelling(robot: Robot, value: float) -> float:
    """δV/p [m³/Pa] of the chamber at a pressure [Pa]."""
    return float(static(robot, {"air": Known(effort=value)}).displacement["air"][0]) / value


def _rubber(add) -> None:
    stretches = (1.2, 1.5, 2.0)
    for material in (Incompressible(NeoHookean.from_shear(SHEAR)), NeoHookean(2 * SHEAR * 1.499, 0.499)):
        vessels = (
            (pressure.sphere(material, INNER, OUTER, around=16, across=3), pressure.rubber_sphere),
            (pressure.cylinder(material, INNER, OUTER, around=24, across=3), pressure.rubber_cylinder),
        )
        for robot, exact in vessels:
            pressures = [float(r.effort["air"][0]) for r in pressure.inflate(robot, stretches)]
            exacts = [exact(x, SHEAR, INNER, OUTER) for x in stretches]
            errors = [p / e - 1.0 for p, e in zip(pressures, exacts, strict=True)]
            what = f"{robot.name} of {type(material).__name__} to a stretch of 2"
            add(what, len(robot.body.mesh.nodes), max(errors, key=abs), 0.02)


def _balloon(add) -> None:
    robot = pressure.sphere(Incompressible(NeoHookean.from_shear(SHEAR)), INNER, THIN, around=16, across=1)
    rest = np.linalg.norm(robot.body.mesh.nodes, axis=1)
    middle = np.abs(rest - (INNER + THIN) / 2) < 1e-3 * (THIN - INNER)
    results = list(pressure.inflate(robot, np.linspace(1.3, 1.5, 6)))
    radii = [np.linalg.norm(r.positions[middle], axis=1) for r in results]
    stretch = [float(radius.mean() / rest[middle].mean()) for radius in radii]
    top = pressure.peak(np.array(stretch), np.array([r.effort["air"][0] for r in results]))
    what = "stretch of a thin balloon at its greatest pressure, 7^(1/6)"
    add(what, len(robot.body.mesh.nodes), top / pressure.THIN_PEAK - 1.0, 0.01)
