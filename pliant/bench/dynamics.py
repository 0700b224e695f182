"""How long a step in time takes: the gallery's trunk swung by its cables, free and against a ball."""

from __future__ import annotations

import numpy as np

from pliant.contact import Sphere
from pliant.dynamics import KelvinVoigt, Rayleigh, Simulation
from pliant.io.table import Table
from pliant.laws import Known
from pliant.robots import trunk
from pliant.timing import paired

ASKED = 0.08  # of dgemm(1500): 100 Hz
WARMING_STEPS = 40  # before times are measured
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


def dynamics() -> list[Table]:
    """Milliseconds for a step of 10 ms; midpoint iterates to its tolerance."""
    columns = (
        "what",
        "coordinates",
        "contacts at most",
        "linearisations",
        "ms",
        "÷ dgemm(1500)",
        "asked",
        "check",
    )
    table = Table("One step in time of the trunk, one thread", columns)
    for name, options in CASES.items():
        swing = Swing(**options)
        for _ in range(WARMING_STEPS):
            swing()
        ms, ratio = paired(swing)
        moment, asked = swing.moment, None if name == "midpoint" else ASKED
        table.add(
            what=name,
            coordinates=swing.sim.robot.ndof,
            linearisations=moment.certificate.iterations,
            ms=ms,
            asked=asked,
            check=None if asked is None else ratio <= asked,
            **{"÷ dgemm(1500)": ratio, "contacts at most": swing.contacts},
        )
    return [table]
