"""Whether calibration is honest: intervals over draws of noise, with the right model and with wrong ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.bodies import Rigid, Solid
from pliant.dynamics import Prony
from pliant.errors import CalibrationError, PliantWarning
from pliant.interactions import Cable, Cavity, Drive, Slider
from pliant.io.table import Table
from pliant.laws import Bounded, Known, Law, Valve
from pliant.materials import Hooke
from pliant.mesh import box, cavity_surfaces, from_voxels
from pliant.pneumatics import Gas, Line, Orifice
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY
from pliant.sensing import Loop, Record, calibrate, instrumented
from pliant.sensing.replay import replay

COVERED = 0.85  # of intervals of 95 %, at least: over 40 draws chance alone goes down to 0.87
LEFT_OUT = 0.95  # of the draws with a wrong model: intervals that have the truth, or refusals
INF = float("inf")


def finger(
    young: float = 3e5,
    friction: float = 0.0,
    ratio: float = 0.0,
    time: float = 3.0,
    density: float = 1100.0,
    locking: bool = False,
) -> tuple[Robot, Any]:
    """A finger with a cable, and the creep of its material; `locking`: of linear tetrahedra."""
    shape = (0.1, 0.012, 0.012)
    mesh = box(shape, cells=(5, 1, 1)) if locking else box(shape, cells=(5, 1, 1), order=1)
    body = Solid(
        mesh, Hooke(young, 0.3), density=density, fixed=mesh.nodes[:, 0] < 1e-9, order=1 if locking else 2
    )
    path = np.column_stack([np.linspace(0.004, 0.098, 6), np.full(6, 0.006), np.full(6, 0.010)])
    cable = Cable(body.points(path), anchor=(-0.01, 0.006, 0.010), friction=friction)
    robot = Robot(body, {"cable": Row(cable, Bounded(effort=(0, 20)))}, gravity=(0, 0, -GRAVITY))
    return robot, Prony([(ratio, time)]) if ratio > 0.0 else None


def locked(**numbers: float) -> tuple[Robot, Any]:
    """The finger of a mesh that is much too stiff."""
    return finger(**numbers, locking=True)


def pusher(lag: float = 0.0, backlash: float = 0.0) -> Robot:
    """A bar whose end a drive pushes."""
    mesh = box((0.05, 0.01, 0.01), cells=(2, 1, 1), order=1)
    end = Rigid(mesh.nodes[:, 0] > 0.05 - 1e-9, name="end")
    bar = Solid(mesh, Hooke(1e5, 0.3), density=1100, fixed=mesh.nodes[:, 0] < 1e-9, rigid=[end])
    drive = Drive(lag=lag, backlash=backlash, limit=5.0)
    return Robot(bar, {"push": Row(Slider(bar.region_points("end")[:1], (1, 0, 0), drive=drive), Bounded())})


def chamber(conductance: float = 2e-10, leak: float = 0.0, young: float = 3e5) -> Robot:
    """A block with a void behind a tube and a valve."""
    mesh = from_voxels(np.pad(np.zeros((2, 1, 1), bool), 1, constant_values=True), 0.005)
    (void,) = cavity_surfaces(mesh)
    body = Solid(mesh, Hooke(young, 0.3), density=1100, fixed=mesh.nodes[:, 0] < 1e-9)
    line = Line(
        Gas(1.0),
        volume=2e-6,
        orifice=Orifice(conductance, critical=0.3),
        supply=1e5,
        leak=Orifice(leak) if leak else None,
    )
    return Robot(body, {"chamber": Row(Cavity.on(body, void, line=line), Bounded(effort=(0, 8e4)))})


def commands(row: str, values: Sequence[float], law: Callable[..., Law]) -> list[dict[str, Law]]:
    """Laws of one row, step by step."""
    return [{row: law(value)} for value in values]


@dataclass(frozen=True)
class Case:
    """A recording that is made with `truth`, and what a model is to find of it."""

    build: Callable[..., Any]
    truth: Mapping[str, float]
    start: Mapping[str, float]  # of what is fitted; what is not is left out of the model
    laws: Sequence[Mapping[str, Law]]
    markers: Sequence[Sequence[float]]
    noise: float
    timing: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    deviation: Mapping[str, float] = field(default_factory=dict)
    model: Callable[..., Any] | None = None

    def shown(self) -> list[np.ndarray]:
        """What the markers show without noise, step by step."""
        made = self.build(**self.truth)
        robot, damping = made if isinstance(made, tuple) else (made, None)
        robot = instrumented(robot, self.markers)
        blank = np.full((len(self.markers), 3), np.nan)
        loop = Loop([Record(blank, laws) for laws in self.laws], **self.timing)
        return [x.reshape(-1, 3) for x in replay(robot, damping, loop, {}, ["markers"], None)[0]]

    def fitted(self, shown: Sequence[np.ndarray], rng: np.random.Generator):
        """The calibration to one draw of noise; raises CalibrationError where it is refused."""
        steps = [
            Record(x + self.noise * rng.normal(size=x.shape), laws)
            for x, laws in zip(shown, self.laws, strict=True)
        ]
        return calibrate(
            self.model or self.build,
            [Loop(steps, **self.timing)],
            self.start,
            markers=self.markers,
            noise=self.noise,
            limits=self.limits,
            deviation=self.deviation,
        )


TOP = [[x, 0.006, 0.012] for x in (0.05, 0.075, 0.1)]
END = [[0.05, 0.005, 0.01]]
BLOCK = [[0.02, 0.0075, 0.015], [0.02, 0.015, 0.0075], [0.01, 0.0075, 0.015]]
PULLS = commands("cable", (0.5, 1.0, 1.5, 2.0, 1.5, 1.0, 0.5, 0.3, 1.0, 2.0), lambda v: Known(effort=v))
WEIGHT = commands("cable", (0.0,), lambda v: Known(effort=v))
HOLDS = commands("cable", 4 * (1.0,) + 4 * (2.0,) + 4 * (0.4,), lambda v: Known(effort=v))
PUSHES = commands("push", 6 * (1e-3,) + 6 * (-1e-3,) + 4 * (5e-4,), lambda v: Known(displacement=v))
VALVES = commands("chamber", 6 * (1.0,) + 2 * (0.0,) + 6 * (-1.0,), Valve)
RUBBED = {"young": 3e5, "friction": 0.25}
CREPT = {"young": 3e5, "ratio": 0.25, "time": 3.0}
LOOSE = {"lag": 0.05, "backlash": 4e-4}
LEAKED = {"conductance": 2e-10, "leak": 3e-11, "young": 3e5}
SECONDS, MOVING, FLOWING = {"dt": 1.0}, {"dt": 0.03, "time_step": 0.01}, {"dt": 0.04, "time_step": 0.02}
POSITIVE = (0.0, INF)

RIGHT = {
    "modulus by its weight": Case(finger, {"young": 3e5}, {"young": 2.5e5}, WEIGHT, TOP, 1e-4),
    "friction of a cable": Case(
        finger, RUBBED, {"young": 2.5e5, "friction": 0.1}, PULLS, TOP, 1e-4, limits={"friction": POSITIVE}
    ),
    "creep": Case(
        finger,
        CREPT,
        {"young": 2.5e5, "ratio": 0.1, "time": 2.0},
        HOLDS,
        TOP,
        1e-4,
        SECONDS,
        {"ratio": (0.01, 0.9), "time": (0.1, 100.0)},
    ),
    "lag and backlash of a drive": Case(
        pusher,
        LOOSE,
        {"lag": 0.03, "backlash": 2e-4},
        PUSHES,
        END,
        2e-5,
        MOVING,
        {"lag": POSITIVE, "backlash": POSITIVE},
    ),
    "valve": Case(
        chamber,
        {"conductance": 2e-10, "young": 3e5},
        {"conductance": 1.5e-10, "young": 2.5e5},
        VALVES,
        BLOCK,
        1e-5,
        FLOWING,
        {"conductance": (1e-11, 1e-9)},
    ),
}
KNOWN_DENSITY = {"density": 30.0}
WRONG = {
    "friction left out": Case(finger, RUBBED, {"young": 2.5e5}, PULLS, TOP, 1e-4),
    "friction left out, density free": Case(
        finger, RUBBED, {"young": 2.5e5, "density": 1100.0}, PULLS, TOP, 1e-4
    ),
    "friction left out, density known": Case(
        finger, RUBBED, {"young": 2.5e5, "density": 1100.0}, PULLS, TOP, 1e-4, deviation=KNOWN_DENSITY
    ),
    "creep left out": Case(finger, CREPT, {"young": 2.5e5}, HOLDS, TOP, 1e-4, SECONDS),
    "creep left out, density free": Case(
        finger, CREPT, {"young": 2.5e5, "density": 1100.0}, HOLDS, TOP, 1e-4, SECONDS
    ),
    "backlash left out": Case(pusher, LOOSE, {"lag": 0.03}, PUSHES, END, 2e-5, MOVING, {"lag": POSITIVE}),
    "lag left out": Case(
        pusher, LOOSE, {"backlash": 2e-4}, PUSHES, END, 2e-5, MOVING, {"backlash": POSITIVE}
    ),
    "leak left out": Case(
        chamber,
        LEAKED,
        {"conductance": 1.5e-10, "young": 2.5e5},
        VALVES,
        BLOCK,
        1e-5,
        FLOWING,
        {"conductance": (1e-11, 1e-9)},
    ),
    "mesh that locks, by its weight": Case(
        finger,
        {"young": 3e5},
        {"density": 1100.0},
        WEIGHT,
        TOP,
        1e-4,
        model=locked,
        deviation=KNOWN_DENSITY,
    ),
    "mesh that locks, by its weight, free": Case(
        finger,
        {"young": 3e5},
        {"density": 1100.0},
        WEIGHT,
        TOP,
        1e-4,
        model=locked,
    ),
    "mesh that locks, density free": Case(
        finger,
        {"young": 3e5},
        {"density": 1100.0},
        PULLS,
        TOP,
        1e-4,
        model=locked,
    ),
    "mesh that locks, density known": Case(
        finger,
        {"young": 3e5},
        {"density": 1100.0},
        PULLS,
        TOP,
        1e-4,
        model=locked,
        deviation=KNOWN_DENSITY,
    ),
}
TRUE_DENSITY = {"density": 1100.0}
HIDDEN = {"leak left out"}  # looks so much like another modulus and valve that no interval is claimed


def coverage(case: Case, draws: int, seed: int) -> tuple[float, int, float]:
    """(share of intervals that have the truth, refusals, mean widening) over draws of noise."""
    shown, rng = case.shown(), np.random.default_rng(seed)
    truth, inside, refused, wide = TRUE_DENSITY | dict(case.truth), [], 0, []
    for _ in range(draws):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PliantWarning)
                found = case.fitted(shown, rng)
        except CalibrationError:
            refused += 1
            continue
        wide.append(found.widening)
        for name in case.start:
            low, high = found.interval(name)
            inside.append(low <= truth[name] <= high)
    share = float(np.mean(inside)) if inside else float("nan")
    return share, refused, float(np.mean(wide)) if wide else float("nan")


def calibration(draws: int = 40, seed: int = 0, only: str = "") -> list[Table]:
    """Coverage of 95 % intervals by right models, and what wrong ones do: widen, or refuse."""
    out = []
    for title, cases, least in (("right", RIGHT, COVERED), ("wrong", WRONG, LEFT_OUT)):
        columns = ("case", "draws", "covered", "refused", "times as wide", "check")
        table = Table(f"Calibration with the {title} model", columns)
        for name, case in cases.items():
            if only in name:
                share, refused, wide = coverage(case, draws, seed)
                good = refused <= 0.05 * draws if title == "right" else True
                good = bool(good and (share >= least or refused == draws))
                row = {"covered": share, "refused": refused, "times as wide": wide}
                table.add(case=name, draws=draws, check=None if name in HIDDEN else good, **row)
        out.append(table)
    return out
