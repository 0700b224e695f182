"""What a linearisation of a large body costs: quadratic tetrahedra, two cables and a tip."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant import threads
from pliant.algebra import factorise
from pliant.algebra.cholesky import CholeskySymbolic
from pliant.bodies import Solid
from pliant.core.view import View, linearise
from pliant.interactions import Cable, Position
from pliant.io.table import Table
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import box, near_plane
from pliant.robot import Robot, Row
from pliant.timing import milliseconds, paired

SIZE = (0.1, 0.02, 0.02)  # [m]
TENSION = 0.2  # [N] of the cables
# Cells along and across, and what two threads are asked for: ÷ dgemm(1500) on one thread, and Hz.
CASES = (
    ((10, 3, 3), None, None),
    ((16, 4, 4), 0.11, 70.0),
    ((20, 6, 6), 0.40, 20.0),
    ((30, 8, 8), None, None),
)
SAME = 1e-9  # of the length: how far motions with one thread and with more may differ
COLUMNS = (
    "coordinates",
    "order",
    "G operations",
    "threads",
    "linearise",
    "factorise",
    "condense",
    "ms",
    "Hz",
    "÷ dgemm(1500)",
    "asked",
    "asked Hz",
    "difference",
    "check",
)


def bar(cells: tuple[int, int, int]) -> Robot:
    """A clamped bar of quadratic tetrahedra with a cable on either side, and its tip."""
    mesh = box(SIZE, cells=cells, kind="tet")
    clamp = near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = Solid(mesh, Hooke(young=3e5, poisson=0.45), density=1100, fixed=clamp)
    middle = mesh.nodes.min(0) + 0.5 * np.ptp(mesh.nodes, axis=0)
    along = np.linspace(0.05, 0.95, 13) * SIZE[0]
    rows = {}
    for name, side in (("left", -0.008), ("right", 0.008)):
        path = np.column_stack([along, np.full(13, middle[1] + side), np.full(13, middle[2])])
        rows[name] = Row(Cable(body.points(path)), Bounded(effort=(0, 40)))
    rows["tip"] = Row(Position(body.points([[mesh.nodes[:, 0].max(), middle[1], middle[2]]])), Target())
    return Robot(body, rows, gravity=(0, 0, -9.81), name="bar")


def large() -> list[Table]:
    """Linearise, factorise and condense, with one thread and with two; `difference`: of the free motion."""
    table = Table("One linearisation of a large body, quadratic tetrahedra, times in ms", COLUMNS)
    allowed = threads.threads()
    try:
        for cells, ratio, rate in CASES:
            robot = bar(cells)
            threads.limit(1)
            alone = _motion(robot)
            for count in (1, 2):
                threads.limit(count)
                _add(table, robot, count, alone, *((ratio, rate) if count == 2 else (None, None)))
    finally:
        threads.limit(allowed)
    table.notes.append(
        f"asked of two threads; difference: from one thread, of the length, at most {SAME:g}. "
        "dgemm(1500) has one thread."
    )
    return [table]


def _add(
    table: Table, robot: Robot, count: int, alone: np.ndarray, asked: float | None, rate: float | None
) -> None:
    symbolic, view = robot.symbolic, _view(robot)
    assert isinstance(symbolic, CholeskySymbolic) and view.K is not None
    K, load = view.K, view.residual()
    factor = factorise(symbolic, K)
    ms, ratio = paired(lambda: _motion(robot), budget=1.0)
    difference = float(np.abs(_motion(robot) - alone).max()) / SIZE[0]
    good = difference <= SAME
    if asked is not None and rate is not None:
        good = good and ratio <= asked and 1e3 / ms >= rate
    cells: dict[str, Any] = {
        "G operations": symbolic.flops / 1e9,
        "÷ dgemm(1500)": ratio,
        "asked Hz": rate,
    }
    table.add(
        coordinates=robot.ndof,
        order=symbolic.ordering,
        threads=count,
        linearise=milliseconds(lambda: _view(robot)),
        factorise=milliseconds(lambda: factorise(symbolic, K)),
        condense=milliseconds(lambda: factor.condense(view.H, load)),
        ms=ms,
        Hz=1e3 / ms,
        asked=asked,
        difference=difference,
        check=good,
        **cells,
    )


def _view(robot: Robot) -> View:
    """The bar at rest under tension."""
    lam = np.zeros(robot.bundle.rows)
    for name in robot.by_role("actuator"):
        lam[robot.named(name)] = TENSION
    view = linearise(robot, robot.rest.q, lam, robot.rest.internal, robot.gravity)
    assert view is not None
    return view


def _motion(robot: Robot) -> np.ndarray:
    """δ⁺ of the rows under their tension (m,): linearised, factorised and condensed."""
    view = _view(robot)
    assert view.K is not None
    condensed = factorise(robot.symbolic, view.K).condense(view.H, view.r)
    return condensed.motion + condensed.W @ view.lam
