"""The hyper-reduced trunk: error on held-out commands, and what a step costs on meshes of different size."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pliant.bench.golden import one_step
from pliant.io.table import Table
from pliant.reduction.campaign import collect
from pliant.reduction.held_out import held_out
from pliant.reduction.model import reduced_model
from pliant.reduction.plans import Plan
from pliant.reduction.snapshots import Snapshots
from pliant.reduction.symmetry import Symmetry, multiplied
from pliant.robot import Robot
from pliant.robots import trunk
from pliant.timing import Yardstick

MODES, CELLS = 54, 200
LONG, SHORT = 0.02, 0.006  # [m] how far cables to the tip and to the middle are pulled, at most
LARGEST_ERROR = 0.01  # of the stroke
TIMES_FASTER = 10.0  # asked of a reduced step, from 6000 nodes on
SAME_COST = 0.2  # relative difference of a reduced step on two meshes
COLUMNS = (
    "case",
    "nodes",
    "cells kept",
    "full ms",
    "reduced ms",
    "÷ dgemm(1500)",
    "times faster",
    "tip error, of the stroke",
    "check",
)


class Size(NamedTuple):
    """A mesh, and how many postures of two steps are learnt from and `held` out."""

    name: str
    around: int
    size: float
    learnt: int
    held: int


SIZES = (
    Size("gallery", 8, 0.009, 8, 12),
    Size("6000 nodes", 16, 0.0016, 8, 6),
    Size("20000 nodes", 24, 0.0008, 8, 3),
)


def reduced(sizes: tuple[Size, ...] = SIZES) -> list[Table]:
    """Error and cost of the trunk with eight cables on meshes of hexahedra, 54 modes and 200 cells on all.

    It takes minutes, most of them for snapshots of the largest mesh. A step is everything from q and the
    tensions to W and the free motion, as the real-time loop needs it; times are the shortest of many. Asked:
    an error below 1 % of the stroke and a step ten times faster (from 6000 nodes on), at the same cost within
    20 %.
    """
    table = Table("Hyper-reduced trunk", COLUMNS)
    costs = []
    for size in sizes:
        row, cost = _measured(size)
        table.add(**row)
        costs.append(cost)
    if len(costs) > 1:
        apart = costs[-1] / costs[-2] - 1.0
        table.add(
            case=f"{sizes[-1].name} against {sizes[-2].name}",
            check=abs(apart) <= SAME_COST,
            **{"reduced ms": f"{apart:+.1%}"},
        )
    return [table]


def _measured(size: Size) -> tuple[dict[str, Any], float]:
    robot = trunk(around=size.around, size=size.size)
    learnt = collect(robot, bending(robot, size.learnt, 0, learnt=True))
    held = collect(robot, bending(robot, size.held, 7, learnt=False))
    model = reduced_model(robot, symmetric(robot, learnt), modes=MODES, force_tolerance=1e-3, cells=CELLS)
    small = model.on(robot)
    errors = held_out(robot, small, held)
    full, cost = shortest(one_step(robot), 5), shortest(one_step(small), 1000)
    yardstick = Yardstick(shortest(_product(), 5))
    faster = full / cost
    good = errors.share <= LARGEST_ERROR and (faster >= TIMES_FASTER or size.name == "gallery")
    row = {
        "case": size.name,
        "nodes": len(robot.body.mesh.nodes),
        "cells kept": len(small.body.cells),
        "full ms": full,
        "reduced ms": cost,
        "÷ dgemm(1500)": yardstick.ratio(cost),
        "times faster": faster,
        "tip error, of the stroke": f"{errors.share:.2%} of {1e3 * errors.stroke:.0f} mm",
        "check": bool(good),
    }
    return row, cost


def bending(robot: Robot, postures: int, seed: int, *, learnt: bool) -> Plan:
    """Cables pulled to bend the trunk in any direction, opposite ones paid out; two steps for each posture.

    Cables to the tip and those to the middle bend it independently. Postures to learn from go to the ends of
    the reach, in one eighth of the circle, of which symmetry gives the rest; held-out ones are anywhere
    within.
    """
    from scipy.stats import qmc

    u = qmc.Halton(4, rng=seed).random(postures)
    far, near = np.sqrt(u[:, 0]), np.sqrt(u[:, 2])
    if learnt:
        far, near = np.minimum(u[:, 0] / 0.3, 1.0), np.minimum(u[:, 2] / 0.5, 1.0)
    turn, twist = (0.25 if learnt else 2.0) * np.pi * u[:, 1], 2.0 * np.pi * u[:, 3]
    angle = 0.5 * np.pi * np.arange(4)
    pulls = [
        LONG * far[:, None] * np.cos(turn[:, None] - angle),
        SHORT * near[:, None] * np.cos(twist[:, None] - angle - 0.25 * np.pi),
    ]
    names = tuple(f"cable {k + 1}" for k in range(8))
    ends = np.hstack(pulls)
    return Plan(names, ("displacement",) * 8, tuple(np.array([0.5, 1.0])[:, None] * end for end in ends))


def symmetric(robot: Robot, snapshots: Snapshots) -> Snapshots:
    """The snapshots, and their images under the trunk's quarter turns and mirrored quarter turns."""
    mirror = np.diag([1.0, -1.0, 1.0])
    turns = [_turn(k) @ m for m in (np.eye(3), mirror) for k in range(4)][1:]
    return multiplied(snapshots, [Symmetry.of(robot, S) for S in turns])


def _turn(quarters: int) -> np.ndarray:
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters]
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _product(size: int = 1500) -> Callable[[], object]:
    """The yardstick's product, to be timed like the steps."""
    a = np.random.default_rng(0).normal(size=(size, size))
    return lambda: a @ a


def shortest(action: Callable[[], object], repeats: int) -> float:
    """The shortest time of an action [ms]: what it costs on a machine with nothing else to do."""
    action()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return 1e3 * min(times)
