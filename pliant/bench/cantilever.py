"""Error against cost on a cantilever: 100 × 20 × 20 mm, 300 kPa, 1100 kg/m³, under its own weight.

Reference deflections of the centre of the free end face are converged neo-Hookean values: −13.635, −13.38 and
−13.28 mm for Poisson ratios 0.3, 0.45 and 0.49. Cost is one static Newton step at the deflected state:
assembly, factorisation, solve.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.algebra import factorise
from pliant.bodies import Solid
from pliant.core.view import linearise
from pliant.errors import PliantWarning
from pliant.interactions import Position
from pliant.io.table import Table
from pliant.materials import Hooke
from pliant.mesh import Mesh, box, near_plane
from pliant.robot import Robot, Row
from pliant.static import static
from pliant.timing import Yardstick, milliseconds

SIZE = (0.1, 0.02, 0.02)  # [m]
YOUNG, DENSITY, GRAVITY = 3e5, 1100.0, 9.81
REFERENCE = {0.3: -13.635e-3, 0.45: -13.38e-3, 0.49: -13.28e-3}  # [m]


@dataclass(frozen=True)
class Variant:
    """An element, the meshes to try (cells along, across, up), and the order of a Solid."""

    name: str
    kind: str
    order: int
    cells: tuple[tuple[int, int, int], ...]
    goal: tuple[float, float] | None = None  # (|error|, cost) that one of the meshes must meet at every ν
    grade: float = 1.0


VARIANTS = (
    Variant(
        "tet10, split dilatation (default)",
        "tet",
        2,
        ((4, 2, 2), (6, 2, 2), (8, 2, 2), (12, 3, 3)),
        (0.01, 0.018),
        3.0,
    ),
    Variant(
        "hex8, incompatible modes (default)",
        "hex",
        1,
        ((8, 2, 2), (10, 2, 2), (12, 2, 2), (16, 4, 4)),
        (0.015, 0.003),
        10.0,
    ),
    Variant("hex20", "hex", 2, ((4, 2, 2), (8, 2, 2))),
    Variant("tet4 (comparison only)", "tet", 1, ((12, 3, 3), (20, 4, 4))),
)


def beam(variant: Variant, cells: tuple[int, int, int], poisson: float) -> Robot:
    """The cantilever, clamped at x = 0, with its tip as an observed row."""
    mesh: Mesh = box(SIZE, cells=cells, kind=variant.kind, grade=(variant.grade, 1.0, 1.0))
    if variant.kind == "hex" and variant.order == 2:
        mesh = mesh.quadratic()
    mesh = mesh.transformed(translation=-mesh.nodes.min(0) - np.array([0.0, SIZE[1] / 2, SIZE[2] / 2]))
    clamp = near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = Solid(mesh, Hooke(young=YOUNG, poisson=poisson), density=DENSITY, fixed=clamp, order=variant.order)
    tip = Position(body.points([[SIZE[0], 0.0, 0.0]]))
    return Robot(body, {"tip": Row(tip)}, gravity=(0, 0, -GRAVITY), name=variant.name)


def newton_step(robot: Robot, q: np.ndarray) -> Callable[[], np.ndarray]:
    """Assembly, factorisation and solve at q, as an action to time."""
    lam = np.zeros(robot.bundle.rows)

    def action():
        linear = linearise(robot, q, lam, robot.rest.internal, robot.gravity)
        assert linear is not None and linear.K is not None
        return factorise(robot.symbolic, linear.K).solve(linear.r)

    return action


def cantilever(*, timed: bool = True) -> list[Table]:
    """Every element, several meshes, three Poisson ratios; then whether the stated goals are met."""
    columns = (
        "element",
        "cells",
        "nodes",
        "error ν=0.3",
        "ν=0.45",
        "ν=0.49",
        "iterations",
        "ms",
        "÷ dgemm(1500)",
        "check",
    )
    table = Table("Cantilever under its own weight: tip error against the cost of one Newton step", columns)
    for variant in VARIANTS:
        met, yardstick = False, Yardstick.measure() if timed else None
        for cells in variant.cells:
            errors, iterations, robot, q = {}, [], None, np.zeros(0)
            for poisson, reference in REFERENCE.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", PliantWarning)  # tet4 is here because it is poor
                    robot = beam(variant, cells, poisson)
                result = static(robot)
                errors[poisson] = float(result.displacement["tip"][2]) / reference - 1.0
                iterations.append(result.certificate.iterations)
                q = result.q
            assert robot is not None
            ms = milliseconds(newton_step(robot, q), budget=0.4) if timed else float("nan")
            ratio = yardstick.ratio(ms) if yardstick is not None else 0.0
            worst = max(abs(e) for e in errors.values())
            met = met or (variant.goal is not None and worst <= variant.goal[0] and ratio <= variant.goal[1])
            table.add(
                element=variant.name,
                cells="×".join(map(str, cells)),
                nodes=len(robot.body.mesh.nodes),
                iterations=max(iterations),
                ms=ms,
                **{
                    "error ν=0.3": f"{errors[0.3]:+.2%}",
                    "ν=0.45": f"{errors[0.45]:+.2%}",
                    "ν=0.49": f"{errors[0.49]:+.2%}",
                },
                **{"÷ dgemm(1500)": ratio},
            )
        if variant.goal is not None:
            goal = f"within {variant.goal[0]:.1%} at ≤ {variant.goal[1]}, all ν"
            table.add(element=variant.name, cells=goal, check=met)
    return [table]
