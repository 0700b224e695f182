"""How often a second the inverse model can step: every scene along its path, and a larger trunk."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pliant.bench.inverse import task
from pliant.inverse import Outcome
from pliant.io.table import Table
from pliant.robots import Scene, follow, scenes, trunk
from pliant.timing import Yardstick

PRODUCT = 0.125  # [s], a 1500 × 1500 product on the machine that rates are stated for
PACE = 5e-4  # [m] of the effector per step
STEPS = 300, 1000  # least and largest number of steps of a run
COLUMNS = (
    "case",
    "coordinates",
    "contacts",
    "linearisations",
    "ms",
    "steps/s",
    "÷ dgemm(1500)",
    "asked",
    "check",
)


def rates() -> list[Table]:
    """Medians over a run at half a millimetre a step.

    `asked` is 100 steps/s for scenes and 60 for a trunk of 6000 coordinates in linear tetrahedra, as ratios.
    """
    table = Table("Rate of the inverse model", COLUMNS)
    for name, make in scenes.items():
        scene = make()
        _add(table, name, scene.robot.ndof, follow(scene, steps=_steps(scene)), 100.0)
    for case in ("free", "against a sphere"):
        robot = trunk(kind="tet", size=0.0035, around=12)
        controller, path = task(robot, contact=case != "free")
        run = (controller.step({"tip": next(path)}) for _ in range(STEPS[0]))
        _add(table, f"trunk, linear tetrahedra, {case}", robot.ndof, run, 60.0)
    return [table]


def _steps(scene: Scene) -> int:
    """So many that the effector goes half a millimetre in each."""
    length = np.linalg.norm(np.diff(scene.path(1000), axis=0), axis=1).sum()
    return int(np.clip(length / PACE, *STEPS))


def _add(table: Table, case: str, ndof: int, run: Iterable[Outcome], rate: float) -> None:
    """Adds one row; the yardstick is measured during the run, so that drift of the machine cancels."""
    times, ratios, contacts, linearisations = [], [], [], []
    yardstick = Yardstick.measure()
    for k, out in enumerate(run):
        if k and k % 50 == 0:
            yardstick = Yardstick.measure()
        times.append(1e3 * out.timings["total"])
        ratios.append(yardstick.ratio(times[-1]))
        contacts.append(len(out.contacts))
        linearisations.append(out.certificate.linearisations)
    ratio, asked = float(np.median(ratios)), 1.0 / (rate * PRODUCT)
    table.add(
        case=case,
        coordinates=ndof,
        contacts=float(np.mean(contacts)),
        linearisations=float(np.mean(linearisations)),
        ms=float(np.median(times)),
        asked=asked,
        check=ratio <= asked,
        **{"steps/s": 1e3 / float(np.median(times)), "÷ dgemm(1500)": ratio},
    )
