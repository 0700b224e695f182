"""Does a mesh fit its purpose? How fast the robot is on this machine, and what its mesh costs in accuracy."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from platform import node
from time import perf_counter, process_time

import numpy as np

from pliant.compliance import compliance
from pliant.contact import Sphere
from pliant.errors import FileError, InputError
from pliant.files import reading
from pliant.inverse import Inverse
from pliant.project.mesh_error import discretisation_error
from pliant.project.project import Project
from pliant.project.reduced import place_of
from pliant.robot import Robot
from pliant.stage import RowFacts
from pliant.state import State
from pliant.units import number

LIVELY = 25.0  # [Hz]: slower than this, dragging a target is no pleasure
ACCURATE = 0.02  # of a motion
STEPS, WARM = 7, 3  # of the inverse model that are timed, and before them
PACE = 5e-3  # of the length: how far its target moves in a step, at most
WITHIN = 0.5  # of the efforts' limits: where the timed steps end
PATIENCE = 3.0  # [s] that the steps of one measurement take; two are made at least
BALL = 0.08  # of the length: the radius of what it is pressed against
STEEPNESS = 4.0  # the time of a step goes with about this power of 1/size


@dataclass(frozen=True)
class Fit:
    """Nodes, coordinates, steps of the inverse model a second, and the error of a typical motion.

    `rate` is without contact, `touching` pressed against a ball. `error` is a share of the motion, None where
    it is not known; `reason` says why.
    """

    nodes: int
    coordinates: int
    rate: float
    touching: float
    error: float | None
    reason: str = ""

    @property
    def slowest(self) -> float:
        """The lower of its rates."""
        return min(self.rate, self.touching)

    @property
    def advice(self) -> str:
        """What follows from these figures."""
        if self.rate != self.rate:
            return "An actuator and an effector are needed to tell."
        slow, rough = self.slowest < LIVELY, self.error is not None and self.error > ACCURATE
        if slow and rough:
            return "Slow and inaccurate: make a finer mesh, and `pliant reduce` a fast model of it."
        if slow:
            longer = f"edges about {_coarser(self.slowest):.2g} times as long"
            return f"Slow: `pliant reduce` makes a fast model of it; {longer} bring {LIVELY:g} Hz, too."
        if rough:
            return "Finer: halve the edges (size), and reduce it where it is too slow then."
        return "It fits." if self.error is not None else "Fast enough; how accurate it is, is not known."

    def __str__(self) -> str:
        error = percent(self.error) if self.error is not None else f"not known ({self.reason})"
        pace = f"about {number(self.rate, 2)} Hz here, {number(self.touching, 2)} Hz in contact"
        pace = pace if self.rate == self.rate else "its rate is not known"
        return (
            f"{self.nodes} nodes, {self.coordinates} coordinates: {pace}; error of its mesh {error}. "
            f"{self.advice}"
        )


def percent(share: float) -> str:
    """A share as a person would print an estimate of it: "3.4 %", "140 %"."""
    return f"{number(100 * share, 2)} %"


def kept(project: Project) -> Fit:
    """The figures of a project, measured once on this machine and kept beside its file."""
    try:
        with reading(_place(project), "figures of a project", "a file that pliant wrote") as file:
            return Fit(**json.loads(file.read_text(encoding="utf-8")))
    except (FileError, TypeError):  # none yet, or of another version
        found = fit(project)
        keep(project, found)
        return found


def keep(project: Project, found: Fit) -> None:
    """Write the figures of a project beside its file; where nothing can be written they are measured anew."""
    place = _place(project)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(asdict(found)), encoding="utf-8")


def _place(project: Project) -> Path:
    return place_of(project, f" fit on {node()}.json")


def _coarser(rate: float) -> float:
    """How many times longer edges reach LIVELY."""
    return (LIVELY / rate) ** (1.0 / STEEPNESS)


def fit(project: Project) -> Fit:
    """The figures of a project on this machine; some seconds."""
    robot = project.robot
    nodes = sum(len(body.mesh.nodes) for body in robot.bodies)
    error, reason = None, ""
    try:
        error = discretisation_error(project)
    except InputError as refusal:
        reason = f"expected {refusal.expected}, got {refusal.got}"
    return Fit(nodes, robot.ndof, *rates(robot), error, reason)


def motions(robot: Robot, state: State | None = None) -> np.ndarray:
    """How effectors move at rest, or at a state, by a unit effort of each actuator alone.

    W_eaᵀ (actuators, effectors' rows).

    Efforts, because they have a limit: a cable pulls at points, and the body yields around a point the more,
    the finer its mesh is. Imposed lengths would mix that in.
    """
    W, effectors = compliance(robot, state), robot.by_role("effector")
    parts = [[W.block(row, name) for row in effectors] for name in robot.by_role("actuator")]
    return np.concatenate([np.concatenate(part).T for part in parts])


def rates(robot: Robot) -> tuple[float, float]:
    """Steps of the inverse model a second [Hz] on this machine: free, and pressed against a ball.

    Its targets move as they can, within half of its actuators' limits; then a ball lies in the way of
    what moves most. The time of a step is what passes, or the processors' if that is less: other programs
    do not count. A robot without actuators or effectors has no rates: nan.
    """
    if not (robot.by_role("actuator") and robot.by_role("effector")):
        return float("nan"), float("nan")
    controller = Inverse(robot)
    moves = motions(robot, controller.state)
    first = int(np.argmax(np.linalg.norm(moves, axis=1)))
    far = max(float(np.linalg.norm(moves[first])), np.finfo(float).tiny)
    reach = WITHIN * far * _largest_efforts(robot)[first]
    stride = moves[first] / far * min(PACE * robot.length, reach / (2 * (WARM + STEPS)))
    before = robot.positions(controller.state.q)
    free = _timed(controller, stride)
    now = robot.positions(controller.state.q)
    controller.detector.add(_in_the_way(now, now - before, robot.length))
    return free, _timed(controller, stride)


def _largest_efforts(robot: Robot) -> np.ndarray:
    """How large the effort of each row of the actuators may become, as in `motions`; inf without a limit."""
    facts = [RowFacts.of(robot, name) for name in robot.by_role("actuator")]
    return np.concatenate([np.full(of.size, np.abs(of.effort).max()) for of in facts])


def _in_the_way(nodes: np.ndarray, moved: np.ndarray, length: float) -> Sphere:
    """A ball that comes from where the node (k, 3) that moved most goes, as far as the body lets it."""
    first = int(np.argmax(np.linalg.norm(moved, axis=1)))
    along = moved[first] / max(float(np.linalg.norm(moved[first])), np.finfo(float).tiny)
    arm = nodes - nodes[first]
    ahead = arm @ along
    clear = (BALL + 0.5 * PACE) * length
    beside = clear**2 - np.sum((arm - ahead[:, None] * along) ** 2, axis=1)
    near = beside >= 0.0
    way = float((ahead[near] + np.sqrt(beside[near])).max())
    return Sphere(nodes[first] + way * along, BALL * length)


def _timed(controller: Inverse, stride: np.ndarray) -> float:
    """Steps a second while all targets move by a stride (effectors' rows,) from where their effectors are."""
    rows = {name: controller.robot.named(name) for name in controller.targets}
    start, times = {name: controller.pose.delta[row] for name, row in rows.items()}, []
    ends = np.cumsum([len(place) for place in start.values()])
    ways = np.split(stride, ends[:-1])
    for step in range(WARM + STEPS):
        targets = {name: start[name] + (step + 1) * way for name, way in zip(rows, ways, strict=True)}
        begin, spent = perf_counter(), process_time()
        controller.step(targets)
        times.append(min(perf_counter() - begin, process_time() - spent))
        if step > 0 and sum(times) > PATIENCE:
            break
    return 1.0 / float(np.median(times[min(WARM, len(times) // 2) :]))
