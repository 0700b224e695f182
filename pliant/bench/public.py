"""Whole steps of the inverse model on public scenes: a finger, a trunk, and two tissues that touch.

Their meshes and facts are those of the folder of `golden`; the tissues are left out where it lacks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from pliant.bench.inverse import task
from pliant.bodies import Solid
from pliant.contact import Surroundings
from pliant.interactions import Combined, PointForce, Position
from pliant.inverse import Inverse, Settings
from pliant.io.table import Table
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import read
from pliant.robot import Robot, Row
from pliant.timing import Yardstick

ONE = Settings(linearisations=1)
STEPS, WARMING_STEPS = 300, 20
FINGER_STEP, TISSUE_STEP = 1.0, 0.5  # [mm] of the tip
ASKED = {  # of dgemm(1500): the median, and the 99th of a hundred steps
    "finger": (0.005, None),
    "trunk": (0.018, None),
    "trunk and ball": (0.026, 0.06),
    "two tissues": (0.045, None),
}
TISSUES = ("tissue_skin.vtk", "tissue_sphere.vtk")
ENDS = np.array([[[-100, -5, -30], [-90, 5, 30]], [[90, -5, -30], [100, 5, 30]]])  # boxes of fixed nodes [mm]
HILUM = np.array([[[0, 50, -20], [10, 70, 20]]])
PRESSED, EFFECTOR = ((72, 68, -2), (70, 70, 2), (70, 70, 0)), (40, 30, 10)  # [mm]
DEEPEST = 8.0  # [mm] that the organ's point is pressed inwards
COLUMNS = (
    "scene",
    "coordinates",
    "contacts",
    "push",
    "linearisations",
    "÷ dgemm(1500)",
    "asked",
    "99 %",
    "asked of 99 %",
    "check",
)

Scene = tuple[Inverse, Iterator[np.ndarray]]


def public(finger: Robot, trunk: Robot, tips: np.ndarray, folder: Path) -> Table:
    """CPU time of steps along a path, one linearisation each; the finger's tip goes through tips (n, 3)."""
    scenes: dict[str, Scene] = {
        "finger": (Inverse(finger, settings=ONE), _to_and_fro(tips, 1e-3 * FINGER_STEP)),
        "trunk": task(trunk, contact=False, settings=ONE),
        "trunk and ball": task(trunk, contact=True, settings=ONE),
    }
    if all((folder / name).exists() for name in TISSUES):
        scenes["two tissues"] = _tissues(folder)
    table = Table("Whole steps of the inverse model on public scenes", COLUMNS)
    for name, (controller, path) in scenes.items():
        table.add(scene=name, **_measured(controller, path, *ASKED[name]))
    return table


def _measured(
    controller: Inverse, path: Iterator[np.ndarray], asked: float, of_99: float | None
) -> dict[str, Any]:
    ratios, contacts, push, linearisations = [], [], [], []
    yardstick = Yardstick.measure(clock=process_time)
    for k in range(WARMING_STEPS + STEPS):
        if k % 50 == 49:
            yardstick = Yardstick.measure(clock=process_time)
        begin = process_time()
        out = controller.step({"tip": next(path)})
        ratio = yardstick.ratio(1e3 * (process_time() - begin))
        if k < WARMING_STEPS:
            continue
        ratios.append(ratio)
        contacts.append(len(out.contacts))
        push.append(int((out.contact_force > 0.0).sum()))
        linearisations.append(out.certificate.linearisations)
    median, high = float(np.median(ratios)), float(np.quantile(ratios, 0.99))
    return {
        "coordinates": controller.robot.ndof,
        "contacts": float(np.mean(contacts)),
        "push": float(np.mean(push)),
        "linearisations": float(np.mean(linearisations)),
        "÷ dgemm(1500)": median,
        "asked": asked,
        "99 %": high,
        "asked of 99 %": of_99,
        "check": median <= asked and (of_99 is None or high <= of_99),
    }


def _to_and_fro(places: np.ndarray, step: float) -> Iterator[np.ndarray]:
    """Points through places (n, 3) and back, endlessly, a step [m] from one to the next."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    along = np.linspace(0.0, length[-1], 2 + int(length[-1] / step))
    there = np.column_stack([np.interp(along, length, places[:, c]) for c in range(3)])
    return cycle([*there, *there[-2:0:-1]])


def _tissues(folder: Path) -> Scene:
    """An arch of skin that a force presses onto an organ, a point of which goes to and fro."""
    skin, organ = (_tissue(folder / name, boxes) for name, boxes in zip(TISSUES, (ENDS, HILUM), strict=True))
    press = PointForce(skin.points(1e-3 * np.array(PRESSED, float), outside="nearest"), direction=(-1, -1, 0))
    place = 1e-3 * np.array(EFFECTOR, float)
    rows = {
        "force": Row(Combined(press, np.full((3, 1), 1.0 / 3.0)), Bounded(effort=(0.0, 4.5))),
        "tip": Row(Position(organ.points([place])), Target()),
    }
    around = Surroundings(alarm=5e-3)
    robot = Robot([skin, organ], rows, gravity=(0.0, -9.18, 0.0), name="tissues", surroundings=around)
    deepest = place - np.array([0.0, 1e-3 * DEEPEST, 0.0])
    return Inverse(robot, settings=ONE), _to_and_fro(np.array([place, deepest]), 1e-3 * TISSUE_STEP)


def _tissue(path: Path, boxes: np.ndarray) -> Solid:
    mesh = read(path, unit="mm")
    inside = lambda x: np.any([((x >= a) & (x <= b)).all(axis=1) for a, b in 1e-3 * boxes], axis=0)
    return Solid(mesh, Hooke(young=180e3, poisson=0.3), density=0.03 / mesh.volume, fixed=inside, order=1)
