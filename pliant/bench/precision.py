"""Rate against discretisation error: both kinds of elements, full and reduced; and how good the estimate is.

Errors are those of small motions from rest by unit efforts (`pliant.project.fit.motions`), of meshes against
the finest one; rates those of the inverse model without contact, from the time that the processor spends on a
step, so that other programs do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.errors import PliantError
from pliant.interactions import Cable, PointForce
from pliant.io.table import Table
from pliant.laws import Bounded
from pliant.materials import Hooke
from pliant.mesh import (
    Mesh,
    bellows,
    box,
    cavity_surfaces,
    finger,
    finger_cable,
    near_plane,
    pneunet,
    trunk,
    trunk_cables,
)
from pliant.project.fit import motions, rates
from pliant.project.mesh_error import difference, estimated, field, volumes
from pliant.reduction.fast import fast
from pliant.robot import Robot, Row
from pliant.robots.parts import cavity, pressure_row, tip

ASKED = 0.02  # the error at which rates are compared
FACTOR = 2.0  # between an estimate and the error itself
GRAVITY = (0.0, 0.0, -9.81)  # [m/s²]
SIDE, THICK, RADIUS = 0.04, 0.004, 0.015  # [m] of the plate with a hole
SILICONE = Hooke(young=6e5, poisson=0.48)
Builder = Callable[[Mesh, int], Robot]


@dataclass(frozen=True)
class Shape:
    """A coarse mesh of linear tetrahedra, and the robot on a mesh with elements of an order."""

    mesh: Callable[[], Mesh]
    robot: Builder


def cabled(paths: list[Any], tip_at: Any, axis: int = 0) -> Builder:
    """A robot held at its lower end, with cables and an effector."""

    def build(mesh: Mesh, order: int) -> Robot:
        body = held(mesh, order, axis)
        drive = Bounded(effort=(0.0, 3.0))
        rows = {f"cable {k + 1}": Row(Cable(body.points(path)), drive) for k, path in enumerate(paths)}
        return Robot(body, {**rows, "tip": tip(body, tip_at)}, gravity=GRAVITY, name="cabled")

    return build


def inflated(tip_at: Any, axis: int = 0) -> Builder:
    """A robot held at its lower end, with its inner surface as a chamber, and an effector."""

    def build(mesh: Mesh, order: int) -> Robot:
        body = held(mesh, order, axis)
        (inside,) = cavity_surfaces(body.mesh)
        rows = {"chamber": pressure_row(cavity(body, inside), 1e4), "tip": tip(body, tip_at)}
        return Robot(body, rows, gravity=GRAVITY, name="inflated")

    return build


def pulled(mesh: Mesh, order: int) -> Robot:
    """The plate, held at y = 0 and pulled along y at its upper edge, and the end of that edge."""
    body = held(mesh, order, 1)
    at = [[x, SIDE, 0.5 * THICK] for x in (0.25 * SIDE, 0.5 * SIDE, 0.75 * SIDE)]
    pull = PointForce(body.points(at), direction=(0, 1, 0))
    force = Row(pull, Bounded(effort=(0.0, 0.5)))
    return Robot(body, {"pull": force, "tip": tip(body, (0.0, SIDE, 0.5 * THICK))}, name="plate")


def holed_plate() -> Mesh:
    """A quarter of a square plate (SIDE, SIDE, THICK) about a hole of RADIUS."""
    plain = box((1.0, 1.0, THICK), cells=(3, 4, 1), kind="tet")
    out, turn, z = plain.nodes.T
    angle = 0.5 * np.pi * turn
    ray = np.column_stack([np.cos(angle), np.sin(angle)])
    ray[np.abs(ray) < 1e-12] = 0.0
    rim, edge = RADIUS * ray, SIDE * ray / np.abs(ray).max(axis=1, keepdims=True)
    flat = rim + out[:, None] * (edge - rim)
    return Mesh(np.column_stack([flat, z]), plain.cells, plain.kind)


def held(mesh: Mesh, order: int, axis: int) -> Solid:
    """The body, fixed where an axis begins."""
    normal = np.eye(3)[axis]
    fixed = near_plane(mesh, mesh.nodes[:, axis].min() * normal, normal)
    return Solid(mesh, SILICONE, density=1080, fixed=fixed, order=order, support_layers=False)


TRUNK: dict[str, Any] = {"length": 0.08, "discs": 3}
SHAPES = {
    "notched finger": Shape(
        lambda: finger(0.03, notches=1, size=0.008),
        cabled([finger_cable(0.03, notches=1)], (0.03, 0.0075, 0.0075)),
    ),
    "PneuNet": Shape(lambda: pneunet(2), inflated((0.038, 0.008, 0.0015))),
    "bellows": Shape(
        lambda: bellows(0.02, convolutions=1, amplitude=0.0015, around=8, steps=3),
        inflated((0.0, 0.0, 0.02), axis=2),
    ),
    "trunk": Shape(
        lambda: trunk(**TRUNK, around=4, size=0.02),
        cabled([path * (0.7, 0.7, 1.0) for path in trunk_cables(4, **TRUNK)[:2]], (0, 0, 0.08), 2),
    ),
    "plate with a hole": Shape(holed_plate, pulled),
}


def errors(shape: Shape) -> tuple[float, float, float]:
    """Estimated error of the coarse mesh, that against a quarter of its edges, and that of the effector."""
    mesh = shape.mesh()
    coarse, fine, finest = (shape.robot(m, 2) for m in (mesh, mesh.refined(), mesh.refined().refined()))
    volume, found = volumes(coarse), field(coarse)
    return (
        estimated(found, field(fine, like=coarse), volume),
        difference(found, field(finest, like=coarse), volume),
        difference(motions(coarse), motions(finest)),
    )


# Rate against error


def bar_mesh(size: float, kind: str) -> Mesh:
    """A bar of 100 × 20 × 20 mm."""
    across = max(1, round(0.02 / size))
    return box((0.1, 0.02, 0.02), cells=(max(2, round(0.1 / size)), across, across), kind=kind)


ALONG = [[x, 0.01, 0.016] for x in np.linspace(0.0, 0.095, 9)]
ROBOTS: dict[str, tuple[Callable[[float, str], Mesh], Builder]] = {
    "bar": (bar_mesh, cabled([ALONG], (0.1, 0.01, 0.01))),
    "finger": (
        lambda size, kind: finger(size=size, kind=kind),
        cabled([finger_cable()], (0.1, 0.0075, 0.0075)),
    ),
    "PneuNet": (
        lambda size, kind: pneunet(3, size=size, kind=kind),
        inflated((0.05, 0.008, 0.0015)),
    ),
}
KINDS = {"hexahedra": ("hex", 1), "quadratic tetrahedra": ("tet", 2)}
SIZES = (0.010, 0.007, 0.005, 0.0037)  # [m] of the edges
FINEST = 0.0025  # [m]: of the mesh, of quadratic tetrahedra, that errors are measured against


def precision(only: str = "", sizes: tuple[float, ...] = SIZES, finest: float = FINEST) -> list[Table]:
    """Hz and errors of three robots, full and reduced, Hz at 2 %; and estimates against the errors."""
    table = Table(
        "Rate against discretisation error",
        ("robot", "elements", "edges mm", "nodes", "error %", "Hz", "Hz reduced", "reduced error %"),
    )
    best = Table("Hz at 2 %", ("robot", "elements", "Hz full", "Hz reduced"))
    for name in [name for name in ROBOTS if only in name]:
        mesh, build = ROBOTS[name]
        truth = motions(build(mesh(finest, "tet"), 2))
        for elements, (kind, order) in KINDS.items():
            _add(table, best, name, elements, [build(mesh(s, kind), order) for s in sizes], sizes, truth)
    table.notes.append(
        f"Errors of small motions, against quadratic tetrahedra of {1e3 * finest:g} mm; Hz from CPU time, "
        "inverse model without contact; reduced error: of large held-out motions against the full model."
    )
    return [table, best, estimates(only)]


def _add(
    table: Table,
    best: Table,
    name: str,
    elements: str,
    robots: list[Robot],
    sizes: tuple[float, ...],
    truth: np.ndarray,
) -> None:
    found, hertz, quick = [], [], float("nan")
    for robot, size in zip(robots, sizes, strict=True):
        found.append(difference(motions(robot), truth))
        hertz.append(rates(robot)[0])
        cells: dict[str, Any] = {"edges mm": 1e3 * size, "error %": 100 * found[-1], "Hz": hertz[-1]}
        good_enough = found[-1] <= ASKED and quick != quick
        if good_enough or (size == sizes[-1] and quick != quick):
            try:
                made = fast(robot)
                speed = rates(made.robot)[0]
                quick = speed if good_enough else quick
                cells |= {"Hz reduced": speed, "reduced error %": 100 * made.share}
            except PliantError as error:
                table.notes.append(f"{name}, {elements}: {error}")
        table.add(robot=name, elements=elements, nodes=len(robot.bodies[0].mesh.nodes), **cells)
    full = at_error(np.array(found), np.array(hertz))
    best.add(robot=name, elements=elements, **{"Hz full": full, "Hz reduced": quick})


def at_error(found: np.ndarray, rates: np.ndarray, asked: float = ASKED) -> float:
    """The rate at an error, between meshes by powers; the best of those that meet it, nan if none does."""
    good = np.flatnonzero(found <= asked)
    if not len(good):
        return float("nan")
    first = int(good[0])
    if first == 0:
        return float(rates[0])
    share = np.log(asked / found[first]) / np.log(found[first - 1] / found[first])
    return float(np.exp(np.log(rates[first]) + share * np.log(rates[first - 1] / rates[first])))


def estimates(only: str = "") -> Table:
    """The estimated error of five shapes, and errors against a mesh of a quarter of the edges."""
    columns = ("shape", "estimated %", "error %", "ratio", "effector's error %", "ratio to it", "check")
    table = Table("Estimated discretisation error", columns)
    for name in [name for name in SHAPES if only in name]:
        guess, true, of_effector = errors(SHAPES[name])
        ratios = guess / true, guess / of_effector
        table.add(
            shape=name,
            ratio=ratios[0],
            check=all(1.0 / FACTOR <= ratio <= FACTOR for ratio in ratios),
            **{
                "estimated %": 100 * guess,
                "error %": 100 * true,
                "effector's error %": 100 * of_effector,
                "ratio to it": ratios[1],
            },
        )
    table.notes.append("Error: the mean of the body's motion, as a share of it; what is estimated.")
    return table
