"""One trajectory of a campaign: a robot driven step by step, and the snapshot of every posture.

By statics, each posture is an equilibrium. Where very many contacts open and close, Newton's method spends
most of its time on their active set; then the robot may creep: for each command a few steps in time, each
from rest, (M/h² + K) dq = r + Hᵀλ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.dynamics import Moment, Simulation
from pliant.errors import ConvergenceError, InputError
from pliant.laws import Known
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.plans import Plan
from pliant.reduction.snapshots import Snapshots
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import Budget, static

CREEP_TIME_STEP = 0.02  # [s]
# Of a step, which takes ten iterations. Limits may be far beyond what has equilibria, and to find that out
# costs all of it; no clock decides.
PATIENCE = Budget(iterations=60, seconds=3600.0)
STRAIGHT = 1e-6  # how far off a straight way a command on it may lie, of its length
STILL = 1e-7  # of the robot's length: a step that moves less has come to rest

Probe = Callable[[Result], Mapping[str, np.ndarray]]
Source = Robot | str | Callable[[], Robot]


def built(source: Source) -> Robot:
    """The robot itself, the one of that name in the gallery, or what a function returns."""
    if isinstance(source, Robot):
        return source
    if isinstance(source, str):
        from pliant.robots import entry

        return entry(source).build()
    robot = source() if callable(source) else source
    if not isinstance(robot, Robot):
        expected = "a Robot, a name of the gallery, or a function that builds one"
        raise InputError("robot", expected=expected, got=type(robot).__name__)
    return robot


def run(
    source: Source,
    plan: Plan,
    number: int,
    probe: Probe | None = None,
    creep: int = 0,
    after_step: Callable[[], object] | None = None,
) -> Snapshots:
    """Snapshots of one trajectory of a plan; `after_step` is called after every step.

    `creep` is the largest number of steps in time for each command, 0 for statics. A step without an
    equilibrium, or with one that is not finite, is left out and named; so is one whose way leads past it.
    """
    robot = built(source)
    mover = _Creeping(robot, creep) if creep else _Resting(robot)
    postures: list[Result | Moment] = []
    steps, skipped = [], []
    last, lost = np.zeros(len(plan.actuators)), None  # the last command in balance, and one that is not
    for step, command in enumerate(plan.trajectories[number]):
        place = f"trajectory {number + 1}, step {step + 1}"
        if lost is not None and _past(last, lost, command):
            skipped.append(f"{place}: its way leads past one without an equilibrium")
        else:
            try:
                postures.append(mover.to(plan.laws(command)))
                steps.append(step)
                last, lost = command, None
            except ConvergenceError as error:
                skipped.append(f"{place}: {str(error).split(':')[0]}")
                lost = command
        if after_step is not None:
            after_step()
    return _gathered(robot, mover.contacts, plan, number, postures, steps, skipped, probe).finite()


def _past(last: np.ndarray, lost: np.ndarray, command: np.ndarray) -> bool:
    """Whether the straight way from a command to another leads through a third."""
    way, part = command - last, lost - last
    share = part @ way / max(way @ way, np.finfo(float).tiny)
    aside = np.linalg.norm(part - share * way)
    return bool(0.0 < share <= 1.0 and aside <= STRAIGHT * np.linalg.norm(way))


class _Resting:
    """Equilibria, each from the one before."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.state = robot, None
        around = replace(robot.surroundings, areas=False)  # contact bases are made of single samples
        self.detector = None if around.empty(robot) else around.detector(robot)
        self.contacts = 0 if self.detector is None else self.detector.size

    def to(self, laws: Mapping[str, Known]) -> Result:
        result = static(self.robot, laws, state=self.state, detector=self.detector, budget=PATIENCE)
        self.state = result.state
        return result


class _Creeping:
    """Postures on the way to equilibria, starting from that without commands."""

    def __init__(self, robot: Robot, steps: int) -> None:
        self.robot, self.steps, self.still = robot, steps, STILL * robot.length
        robot = pointwise(robot)
        start = _stopped(static(robot).state)
        self.simulation = Simulation(robot, time_step=CREEP_TIME_STEP, scheme="euler", state=start)
        self.contacts = 0 if robot.surroundings.empty(robot) else self.simulation.detector.size

    def to(self, laws: Mapping[str, Known]) -> Moment:
        before = self.robot.positions(self.simulation.state.q)
        for _ in range(self.steps):
            moment = self.simulation.step(laws)
            self.simulation.state = _stopped(moment.state)
            after = self.robot.positions(moment.q)
            if np.abs(after - before).max() < self.still:
                break
            before = after
        return moment


def pointwise(robot: Robot) -> Robot:
    """The same robot with contacts of single samples, which contact bases are made of."""
    if not robot.surroundings.areas:
        return robot
    around = replace(robot.surroundings, areas=False)
    return Robot(robot.bodies, robot.rows, gravity=robot.gravity, name=robot.name, surroundings=around)


def _stopped(state: State) -> State:
    """The same place without speed."""
    return State(state.q, np.zeros(len(state.v)), state.effort, state.internal, state.gravity)


def _gathered(
    robot: Robot,
    contacts: int,
    plan: Plan,
    number: int,
    postures: list[Result | Moment],
    steps: list[int],
    skipped: list[str],
    probe: Probe | None,
) -> Snapshots:
    probed: list[Mapping[str, Any]] = [probe(result) for result in postures] if probe is not None else []
    names = probed[0] if probed else {}
    return Snapshots(
        Fingerprint.of(robot),
        plan.actuators,
        plan.drives,
        plan.trajectories[number][steps],
        np.array([result.q for result in postures]).reshape(-1, robot.nq),
        np.array([forces(result, contacts) for result in postures]).reshape(len(postures), contacts),
        np.full(len(steps), number),
        np.array(steps, int),
        {name: np.array([values[name] for values in probed]) for name in names},
        tuple(skipped),
    )


def forces(result: Result | Moment, size: int) -> np.ndarray:
    """Normal forces by contact index (size,) [N]."""
    if result.contacts is None:
        return np.zeros(size)
    contacts, force = result.contacts.on_samples(result.contact_force)
    return contacts.spread(force)
