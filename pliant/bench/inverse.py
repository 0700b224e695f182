"""A whole step of the inverse model on a trunk that follows a circle, free and against a sphere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import numpy as np

from pliant.contact import Sphere
from pliant.inverse import Inverse, Settings
from pliant.io.table import Table
from pliant.robot import Robot
from pliant.timing import paired

PACE = 0.0025  # of the length per step: half a millimetre for a trunk of 0.2 m


def inverse(robot: Robot, limits: tuple[float, float]) -> Table:
    """Time of a step with one linearisation; `limits` are the ratios asked for, free and in contact."""
    columns = ("case", "coordinates", "contacts", "active", "error", "ms", "÷ dgemm(1500)", "asked", "check")
    table = Table("One step of the inverse model", columns)
    for case, asked in zip(("free", "against a sphere"), limits, strict=True):
        controller, path = task(robot, contact=case != "free", settings=Settings(linearisations=1))
        action = lambda controller=controller, path=path: controller.step({"tip": next(path)})
        ms, ratio = paired(action)
        out = action()
        table.add(
            case=case,
            coordinates=robot.ndof,
            contacts=len(out.contacts),
            active=int((out.contact_force > 0).sum()),
            error=f"{1e3 * np.linalg.norm(out.error['tip']):.3f} mm",
            ms=ms,
            asked=asked,
            check=ratio <= asked,
            **{"÷ dgemm(1500)": ratio},
        )
    return table


def task(
    robot: Robot,
    *,
    contact: bool,
    settings: Settings = Settings(),  # noqa: B008  (frozen)
) -> tuple[Inverse, Iterator[np.ndarray]]:
    """A trunk's controller at the beginning of a path, perhaps against a sphere; and the path, endlessly."""
    rest = robot.bundle.delta(robot.bundle.positions(robot.rest.q))[robot.named("tip")]
    beside = Sphere(_beside(robot, rest), 0.08 * rest[2], name="ball")
    controller = Inverse(robot, [beside] if contact else [], settings=settings)
    return controller, cycle(_path(controller, rest))


def _beside(robot: Robot, tip: np.ndarray) -> np.ndarray:
    """Centre of a sphere that the bent trunk leans on, at a third of its height, a little pressed at rest."""
    x = robot.positions(robot.rest.q)
    ring = x[np.abs(x[:, 2] - tip[2] / 3) < 0.05 * tip[2]]
    return np.array([np.abs(ring[:, 0]).max() + 0.07 * tip[2], 0.0, tip[2] / 3])


def _path(controller: Inverse, tip: np.ndarray) -> list[np.ndarray]:
    """To and fro on an arc about the sphere's side, after going there."""
    length = float(tip[2])
    place = lambda a: np.array([0.25 * length * np.cos(a), 0.25 * length * np.sin(a), 0.88 * length])
    for share in np.linspace(0.01, 1.0, 100):
        controller.step({"tip": tip + share * (place(0.0) - tip)})
    angles = np.arange(0.0, 0.5, PACE / 0.25)
    there = [place(a) for a in np.concatenate([angles, angles[::-1], -angles, -angles[::-1]])]
    return there
