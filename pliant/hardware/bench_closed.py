"""How wrong a model may be: a trunk of another stiffness, cable zero and cable path than its model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.bodies import Solid
from pliant.errors import ConvergenceError
from pliant.hardware.closed import ClosedLoop
from pliant.hardware.device import Reading
from pliant.io.table import Table
from pliant.laws import Known
from pliant.materials import Hooke
from pliant.robot import Robot, Row
from pliant.robots import trunk
from pliant.session import Session
from pliant.static import static

LEVELS = (
    (1.3, 1e-3),
    (1.5, 2e-3),
    (2.0, 1e-3),
    (2.0, 3e-3),
    (3.0, 3e-3),
)  # factor of Young's modulus, distance [m]
TARGETS, PERIODS, LAST = 6, 90, 20
WANTED = 5e-4  # [m], at the first level


def closed_bench(levels: Sequence[tuple[float, float]] = LEVELS) -> list[Table]:
    """Distance of the plant's tip from its target, open and closed loop, over random plants and targets."""
    columns = ("what", "open loop [mm]", "closed loop [mm]", "wanted [mm]", "check")
    table = Table("A plant that is not the model", columns)
    rng, model = np.random.default_rng(3), trunk(around=8, size=0.03, discs=5)
    for k, (factor, out) in enumerate(levels):
        open_, closed = zip(*(_trial(model, factor, out, rng) for _ in range(TARGETS)), strict=True)
        wanted = {"wanted [mm]": 1e3 * WANTED, "check": max(closed) < WANTED} if k == 0 else {}
        cells = {"open loop [mm]": _range(open_), "closed loop [mm]": _range(closed)}
        table.add(what=f"stiffness × or ÷ {factor:g}, cables {1e3 * out:g} mm out", **cells, **wanted)
    table.notes.append(
        f"Smallest, median and largest of {TARGETS}; closed loop: the worst of the last {LAST} periods."
    )
    return [table]


def _range(values: Sequence[float]) -> str:
    return " / ".join(f"{1e3 * v:.2f}" for v in np.quantile(values, (0.0, 0.5, 1.0)))


def _trial(model: Robot, factor: float, out: float, rng: np.random.Generator) -> tuple[float, float]:
    """Open and closed loop errors [m] of one random plant and target."""
    stiffer, zero = factor ** rng.choice([-1, 1]), out * rng.uniform(-1, 1, 8)
    zero *= out / np.abs(zero).max()
    aside = out * np.array([[np.cos(a), np.sin(a)] for a in rng.uniform(0, 2 * np.pi, 8)])
    angle, radius = rng.uniform(0, 2 * np.pi), rng.uniform(0.02, 0.06)
    target = np.array([radius * np.cos(angle), radius * np.sin(angle), 0.195 - 0.024 * (radius / 0.06) ** 2])
    plant = _plant(model, stiffer, aside)
    try:
        return _open(model, plant, zero, target), _closed(model, plant, zero, target)
    except ConvergenceError:  # the plant has no equilibrium under what it was told
        return np.inf, np.inf


def _plant(robot: Robot, stiffer: float, aside: np.ndarray) -> Robot:
    body, rows = robot.bodies[0], {}
    law = Hooke(stiffer * body.material.young, body.material.poisson)
    other = Solid(body.input_mesh, law, density=1080.0, fixed=body.fixed, order=1)
    for name, row in robot.rows.items():
        places = np.array(row.interaction.rest)
        if name.startswith("cable"):
            places[:, :2] += aside[int(name[6:]) - 1]
        kind = type(row.interaction)
        rows[name] = Row(kind(other.points(places, outside="nearest")), row.law)
    return Robot(other, rows, gravity=robot.gravity)


def _laws(frame, zero: np.ndarray) -> dict[str, Known]:
    return {name: Known(displacement=frame.command[name] + zero[k]) for k, name in enumerate(frame.command)}


def _closed(model: Robot, plant: Robot, zero: np.ndarray, target: np.ndarray) -> float:
    loop, state, far = ClosedLoop(Session(model)), None, []
    loop.aim("tip", target)
    for _ in range(PERIODS):
        result = static(plant, _laws(loop.step(), zero), state=state)
        state = result.state
        far.append(float(np.linalg.norm(result.displacement["tip"] - target)))
        loop.observe({"camera": Reading(0.0, {"tip": result.displacement["tip"]})})
    return max(far[-LAST:])


def _open(model: Robot, plant: Robot, zero: np.ndarray, target: np.ndarray) -> float:
    session = Session(model)
    session.aim("tip", target)
    for _ in range(50):
        frame = session.step()
    return float(np.linalg.norm(static(plant, _laws(frame, zero)).displacement["tip"] - target))
