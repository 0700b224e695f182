"""A safety net for changes of the code: every robot and scene by every method, compared with an earlier run.

The first run into a folder records; later ones compare with it. What a method cannot do with a robot is
recorded too, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.dynamics import Rayleigh
from pliant.errors import InputError, PliantError
from pliant.inverse import MovingInverse
from pliant.io.table import Table
from pliant.robot import Robot
from pliant.robots import Entry, crawl, crawler, drive, follow, gallery, scenes
from pliant.sensing import ForceEstimator

STEPS = 50  # of every run
SAME = 1e-9  # of the robot's length, and of the largest effort
MARKERS = 8
MARKER_NOISE = 1e-4  # [m], stated to the estimator
FILE = "trace.npz"
COLUMNS = ("case", "steps", "same until", "q", "effort", "words differ", "check")

Moment = tuple[np.ndarray, np.ndarray, str]  # q (nq,), λ (m,), and the status in a word


@dataclass(frozen=True)
class Trace:
    """A run: q (n, nq), λ (m,) of the rows (n, m), status (n,), and the length [m] of the robot."""

    q: np.ndarray
    effort: np.ndarray
    status: np.ndarray
    length: float

    @classmethod
    def of(cls, robot: Robot, moments: Iterator[Moment]) -> Trace:
        """The first steps of a run, until it ends or cannot go on."""
        seen: list[Moment] = []
        try:
            seen += islice(moments, STEPS)
        except PliantError as error:
            none = np.full(robot.nq, np.nan), np.full(robot.bundle.rows, np.nan)
            seen.append((*none, type(error).__name__))
        q, effort, status = zip(*seen, strict=True)
        width = max(map(len, effort))  # sensing adds rows of its own
        return cls(
            np.array(q), np.array([np.resize(e, width) for e in effort]), np.array(status), robot.length
        )


def trace(folder: Path, only: str = "") -> list[Table]:
    """Record to a folder, or compare with what is there; `only`: cases whose name contains it."""
    path = Path(folder) / FILE
    known = _load(path) if path.exists() else None
    table = Table("Recorded" if known is None else f"Compared with {path}", COLUMNS)
    fresh = {}
    for name, make in cases().items():
        if only in name:
            fresh[name] = make()
            table.add(**_compared(name, fresh[name], None if known is None else known.get(name)))
    if known is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _save(path, fresh)
    return [table]


def cases() -> dict[str, Callable[[], Trace]]:
    """Every method on every robot of the gallery, the scenes, and the crawler."""
    made: dict[str, Callable[[], Trace]] = {}
    for name, entry in gallery.items():
        for method, run in METHODS.items():
            made[f"{method}: {name}"] = partial(_run, run, entry)
    for name, scene in scenes.items():
        made[f"scene: {name}"] = partial(_scene, scene)
    made["in time: crawler"] = _crawler
    return made


def _run(run: Callable[[Robot, Entry], Iterator[Moment]], entry: Entry) -> Trace:
    robot = entry.build()
    return Trace.of(robot, run(robot, entry))


def _scene(make: Callable) -> Trace:
    scene = make()
    run = follow(scene, steps=STEPS)
    return Trace.of(scene.robot, ((o.q, _efforts(o), o.certificate.status) for o in run))


def _crawler() -> Trace:
    robot = crawler()
    run = (m for m in crawl(robot))
    return Trace.of(robot, ((m.q, _efforts(m), m.certificate.status) for m in run))


# The methods, each on a robot and its demonstration.


def _statics(robot: Robot, entry: Entry) -> Iterator[Moment]:
    for result in drive(robot, entry.laws, steps=STEPS):
        yield result.q, _efforts(result), result.certificate.status


def _inverse(robot: Robot, entry: Entry) -> Iterator[Moment]:
    controller = pl.Inverse(robot)
    for target in _path(robot, entry):
        out = controller.step(targets={entry.effector: target})
        yield out.q, _efforts(out), out.certificate.status


def _moving(robot: Robot, entry: Entry) -> Iterator[Moment]:
    controller = MovingInverse(robot)
    for target in _path(robot, entry):
        out = controller.step(targets={entry.effector: target})
        yield out.q, _efforts(out), out.certificate.status


def _dynamics(robot: Robot, entry: Entry, scheme: str = "euler") -> Iterator[Moment]:
    simulation = pl.Simulation(robot, scheme=scheme, damping=Rayleigh(stiffness=0.01))
    for _ in range(STEPS):
        moment = simulation.step(entry.laws)
        yield moment.q, _efforts(moment), moment.certificate.status


def _sensing(robot: Robot, entry: Entry) -> Iterator[Moment]:
    """Estimates of a force at the last of the markers all over the robot, which show its demonstration."""
    nodes = robot.positions(robot.rest.q)
    places = nodes[np.linspace(0, len(nodes) - 1, MARKERS).astype(int)]
    estimator = ForceEstimator(robot, places, places[-1:], noise=MARKER_NOISE)
    bundle, markers = estimator.robot.bundle, estimator.robot.named("markers")
    for result in drive(robot, entry.laws, steps=STEPS):
        estimate = estimator.step(bundle.delta(bundle.positions(result.q))[markers])
        yield estimator.state.q, estimator.state.effort, estimate.certificate.status


METHODS: dict[str, Callable[[Robot, Entry], Iterator[Moment]]] = {
    "statics": _statics,
    "inverse": _inverse,
    "moving inverse": _moving,
    "in time": _dynamics,
    "in time, bdf2": partial(_dynamics, scheme="bdf2"),
    "in time, midpoint": partial(_dynamics, scheme="midpoint"),
    "sensing": _sensing,
}


def _path(robot: Robot, entry: Entry) -> np.ndarray:
    """Targets (n, m): to where the demonstration takes the effector in half the time, then back."""
    ends = [result.displacement[entry.effector] for result in drive(robot, entry.laws, steps=2)]
    share = np.minimum(np.linspace(0.0, 2.0, STEPS), np.linspace(2.0, 0.0, STEPS))
    return ends[0] + share[:, None] * (ends[-1] - ends[0])


def _efforts(result) -> np.ndarray:
    return np.concatenate([np.zeros(0), *result.effort.values()])


# Comparing.


def _compared(name: str, now: Trace, before: Trace | None) -> dict:
    row = {"case": name, "steps": len(now.status)}
    if before is None:
        return row
    if now.q.shape != before.q.shape or now.effort.shape != before.effort.shape:
        return {**row, "check": False}
    strongest = np.nanmax(np.abs(before.effort), initial=1e-300)
    q, effort = _largest(now.q - before.q) / now.length, _largest(now.effort - before.effort) / strongest
    differs = np.maximum(q, effort) > SAME
    until = int(np.argmax(differs)) if differs.any() else len(differs)
    other_words = int((now.status != before.status).sum())
    return {
        **row,
        "same until": until,
        "q": float(q.max()),
        "effort": float(effort.max()),
        "words differ": other_words,
        "check": until == len(differs) and other_words == 0,
    }


def _largest(difference: np.ndarray) -> np.ndarray:
    """The largest difference (n,) of each step (n, ·); what is missing in both runs is none."""
    return np.abs(np.nan_to_num(difference)).max(axis=1, initial=0.0)


def _save(path: Path, traces: dict[str, Trace]) -> None:
    arrays = {
        f"{n}/{k}": getattr(t, k) for n, t in traces.items() for k in ("q", "effort", "status", "length")
    }
    np.savez_compressed(path, **arrays)


def _load(path: Path) -> dict[str, Trace]:
    with np.load(path) as data:
        names = dict.fromkeys(key.rpartition("/")[0] for key in data.files)
        if not names:
            raise InputError(str(path), expected="recorded runs", got="none")
        part = lambda name, field: data[f"{name}/{field}"]
        return {
            n: Trace(part(n, "q"), part(n, "effort"), part(n, "status"), float(part(n, "length")))
            for n in names
        }
