"""How long a step in time takes: a trunk that swings, a finger that folds onto itself, a small rod."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.contact import Sphere
from pliant.dynamics import KelvinVoigt, Rayleigh, Simulation
from pliant.io.table import Table
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots import folding_finger, rod, trunk
from pliant.timing import paired

ASKED = 0.08  # of dgemm(1500): 100 Hz
WARMING_STEPS = 40  # before times are measured
ASKED_OF_FOLD = 0.03  # of dgemm(1500), of the finger that touches itself with friction
FOLD_PULL, FOLD_TIME = 0.036, 2.0  # [m] of cable, in [s]; it is held then
FOLD_WARMING, FOLD_FRICTION = 170, 0.08  # steps, after which joints touch while the last ones close
ASKED_OF_ROD = 0.002  # of dgemm(1500), of a rod of 96 coordinates: what is left there are calls of Python
ROD_ELEMENTS, ROD_TENSION = 15, 0.05  # –, [N]
BALL = Sphere((0.03, 0.0, 0.17), 0.02)
CASES = {
    "bdf2, the default": {},
    "bdf2, Rayleigh": {"damping": Rayleigh(mass=1.0, stiffness=0.01)},
    "bdf2, Kelvin–Voigt": {"damping": KelvinVoigt(0.01)},
    "bdf2, against a ball": {"obstacles": [BALL], "damping": KelvinVoigt(0.01)},
    "euler": {"scheme": "euler"},
    "euler, against a ball": {"scheme": "euler", "obstacles": [BALL], "damping": KelvinVoigt(0.01)},
    "midpoint": {"scheme": "midpoint"},
}


class Swing:
    """Cables pulled to and fro, 10 ms a step."""

    def __init__(self, **options) -> None:
        self.sim, self.contacts = Simulation(trunk(), time_step=0.01, **options), 0

    def __call__(self) -> None:
        t = self.sim.t + self.sim.time_step
        pull = lambda size, speed: Known(displacement=size * np.sin(speed * t) ** 2)
        self.moment = self.sim.step({"cable 1": pull(0.015, 2.0), "cable 6": pull(0.004, 3.0)})
        if self.moment.contacts is not None:
            self.contacts = max(self.contacts, len(self.moment.contacts))


class Fold:
    """The folding finger's joints closed by its cable, 10 ms a step; without friction where that is zero."""

    def __init__(self, friction: float) -> None:
        finger = folding_finger()
        around = replace(finger.surroundings, friction=friction)
        robot = Robot(finger.bodies, finger.rows, gravity=finger.gravity, surroundings=around)
        self.sim, self.contacts = Simulation(robot, time_step=0.01), 0

    def __call__(self) -> None:
        pull = FOLD_PULL * min(1.0, (self.sim.t + self.sim.time_step) / FOLD_TIME)
        self.moment = self.sim.step({"cable": Known(displacement=pull)})
        if self.moment.contacts is not None:
            self.contacts = max(self.contacts, len(self.moment.contacts))


class Bend:
    """A rod bent to and fro by a cable, 10 ms a step, with nothing round it."""

    def __init__(self) -> None:
        piped = rod(elements=ROD_ELEMENTS)
        robot = Robot(piped.bodies, piped.rows, gravity=piped.gravity)
        self.sim, self.contacts = Simulation(robot, time_step=0.01), 0

    def __call__(self) -> None:
        t = self.sim.t + self.sim.time_step
        pull = Known(effort=ROD_TENSION * np.sin(2.0 * t) ** 2)
        self.moment = self.sim.step({"cable 1": pull, "insertion": Known(displacement=0.0)})


def python_calls(action: Callable[[], object]) -> int:
    """How many functions written in Python an action calls."""
    count = 0

    def called(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def dynamics() -> list[Table]:
    """Milliseconds for a step of 10 ms; midpoint iterates to its tolerance."""
    swings = {name: (Swing(**options), WARMING_STEPS) for name, options in CASES.items()}
    folds = {f"finger on itself, μ = {mu:g}": (Fold(mu), FOLD_WARMING) for mu in (0.0, FOLD_FRICTION)}
    asked = dict.fromkeys(swings, ASKED) | {"midpoint": None}
    asked |= dict(zip(folds, (None, ASKED_OF_FOLD), strict=True)) | {"rod": ASKED_OF_ROD}
    columns = (
        "what",
        "coordinates",
        "contacts at most",
        "linearisations",
        "Python calls",
        "ms",
        "÷ dgemm(1500)",
        "asked",
        "check",
    )
    table = Table("One step in time of a trunk, a folding finger and a rod, one thread", columns)
    for name, (action, warming) in (swings | folds | {"rod": (Bend(), WARMING_STEPS)}).items():
        for _ in range(warming):
            action()
        ms, ratio = paired(action)
        limit = asked[name]
        table.add(
            what=name,
            coordinates=action.sim.robot.ndof,
            linearisations=action.moment.certificate.iterations,
            ms=ms,
            asked=limit,
            check=None if limit is None else ratio <= limit,
            **{
                "÷ dgemm(1500)": ratio,
                "contacts at most": action.contacts,
                "Python calls": python_calls(action),
            },
        )
    return [table]
