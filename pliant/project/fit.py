"""Does a mesh fit its purpose? How fast the robot is on this machine, and what its mesh costs in accuracy."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from platform import node
from time import perf_counter, process_time

import numpy as np

from pliant.compliance import compliance
from pliant.errors import FileError, InputError
from pliant.files import reading
from pliant.inverse import Inverse
from pliant.project.project import Project
from pliant.project.reduced import place_of
from pliant.robot import Robot

LIVELY = 25.0  # [Hz]: slower than this, dragging a target is no pleasure
ACCURATE = 0.02  # of a motion
# Between two meshes of edges h and h/2 an error of order p falls by (1 − 2⁻ᵖ) of itself. Clamps and notches
# have p near 1, smooth bodies more: with p = 1.5 the estimate is within 1.5 times the error.
ORDER = 1.5
LARGEST = 20_000  # coordinates of a robot whose refinement, of some eight times as many, is solved here
STEPS, WARM = 7, 3  # of the inverse model that are timed, and before them
PACE = 2e-3  # of the length: how far its target moves in a step
STEEPNESS = 4.0  # the time of a step goes with about this power of 1/size


@dataclass(frozen=True)
class Fit:
    """Nodes, coordinates, steps of the inverse model a second, and the error of a typical motion.

    `error` is a share of the motion, None where it is not known; `reason` says why.
    """

    nodes: int
    coordinates: int
    rate: float
    error: float | None
    reason: str = ""

    @property
    def advice(self) -> str:
        """What follows from these figures."""
        if self.rate != self.rate:
            return "An actuator and an effector are needed to tell."
        slow, rough = self.rate < LIVELY, self.error is not None and self.error > ACCURATE
        if slow and rough:
            return "Slow and inaccurate: make a finer mesh and reduce it (docs/reduction.md)."
        if slow:
            return f"Coarser: edges about {_coarser(self.rate):.2g} times as long bring {LIVELY:g} Hz."
        if rough:
            return "Finer: halve the edges (size); where it is too slow then, reduce it (docs/reduction.md)."
        return "It fits." if self.error is not None else "Fast enough; how accurate it is, is not known."

    def __str__(self) -> str:
        error = f"{100 * self.error:.2g} %" if self.error is not None else f"not known ({self.reason})"
        pace = f"about {self.rate:.3g} Hz here" if self.rate == self.rate else "its rate is not known"
        return (
            f"{self.nodes} nodes, {self.coordinates} coordinates: {pace}; error of its mesh {error}. "
            f"{self.advice}"
        )


def kept(project: Project) -> Fit:
    """The figures of a project, measured once on this machine and kept beside its file."""
    place = place_of(project, f" fit on {node()}.json")
    try:
        with reading(place, "figures of a project", "a file that pliant wrote") as file:
            return Fit(**json.loads(file.read_text(encoding="utf-8")))
    except (FileError, TypeError):  # none yet, or of another version
        found = fit(project)
        with suppress(OSError):  # where nothing can be written it is measured each time
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(asdict(found)), encoding="utf-8")
        return found


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
    return Fit(nodes, robot.ndof, rate(robot), error, reason)


def motions(robot: Robot) -> np.ndarray:
    """How effectors move at rest by a unit effort of each actuator alone: W_eaᵀ (actuators, effectors' rows).

    Efforts, because they have a limit: a cable pulls at points, and the body yields around a point the more,
    the finer its mesh is. Imposed lengths would mix that in.
    """
    W, effectors = compliance(robot), robot.by_role("effector")
    parts = [[W.block(row, name) for row in effectors] for name in robot.by_role("actuator")]
    return np.concatenate([np.concatenate(part).T for part in parts])


def discretisation_error(project: Project) -> float:
    """The error of the motions of a project's mesh, from one of half its edges, see `estimated`."""
    robot = project.robot
    if not (robot.by_role("actuator") and robot.by_role("effector")):
        raise InputError("robot", expected="an actuator and an effector", got=list(robot.rows))
    if robot.ndof > LARGEST:
        raise InputError("robot", expected=f"at most {LARGEST} coordinates", got=robot.ndof)
    return estimated(motions(robot), motions(project.refined()))


def difference(coarse: np.ndarray, fine: np.ndarray) -> float:
    """The largest |fine − coarse| of a motion (actuators, rows), as a share of it."""
    size = np.linalg.norm(fine, axis=1)
    moving = size > 0
    if not moving.any():
        raise InputError("robot", expected="actuators that move its effectors at rest", got="none")
    return float((np.linalg.norm(fine - coarse, axis=1)[moving] / size[moving]).max())


def estimated(coarse: np.ndarray, fine: np.ndarray) -> float:
    """The largest error of `motions` on a mesh, as a share of each, from those on one of half its edges.

    |u − u_h| ≈ |u_h/2 − u_h| / (1 − 2⁻ᵖ). Errors of the shape itself are not in it: the finer mesh has the
    same facets.
    """
    return difference(coarse, fine) / (1.0 - 2.0**-ORDER)


def rate(robot: Robot) -> float:
    """Steps of the inverse model a second [Hz] on this machine, while its targets move as they can.

    The time of a step is what passes, or the processors' if that is less: other programs do not count. A
    robot without actuators or effectors has none: nan.
    """
    if not (robot.by_role("actuator") and robot.by_role("effector")):
        return float("nan")
    controller = Inverse(robot)
    start, moves = controller.target.copy(), motions(robot)
    along = moves[np.argmax(np.linalg.norm(moves, axis=1))]
    along = along / max(float(np.linalg.norm(along)), np.finfo(float).tiny)
    names, spans, times = list(controller.targets), {}, []
    place = 0
    for name in names:
        spans[name] = slice(place, place + len(controller.targets[name]))
        place = spans[name].stop
    for step in range(WARM + STEPS):
        goal = start + PACE * robot.length * (step + 1) * along
        begin, spent = perf_counter(), process_time()
        controller.step({name: goal[spans[name]] for name in names})
        times.append(min(perf_counter() - begin, process_time() - spent))
    return 1.0 / float(np.median(times[WARM:]))
