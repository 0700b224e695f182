"""A walk: the inverse model follows a target that moves straight to a goal, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.contact import Obstacle
from pliant.errors import InputError
from pliant.inverse import Inverse, Settings
from pliant.robot import Robot
from pliant.state import State

TARGET_STRIDE = 0.01  # of the robot's length: how far the target moves in a step
PATIENCE = 40  # steps at the goal without coming nearer …
NEARER_SHARE = 0.02  # … by this share of the distance
LARGEST_LAG = 0.15  # of the robot's length: an effector further behind its target gets no further
TAUT_SHARE = 0.02  # of the largest tension: from here on a cable is not let out at all
MOST_STEPS = (20, 200)  # of a walk: per stride, and in addition
DEEPEST_START = 0.02  # of the robot's length: deeper than this in an obstacle, it cannot begin
NO_MOTION = 1e-5  # of the robot's length: motion in a step that is none


@dataclass(frozen=True, eq=False)
class Pose:
    """A place on the way: effectors (e,), commands (a,) and efforts (a,) of actuators, the state there."""

    effector: np.ndarray
    command: np.ndarray
    effort: np.ndarray
    state: State
    penetration: float


@dataclass(frozen=True, eq=False)
class Leg:
    """Poses from one place to another.

    `error` is how far the last effector is from the goal, `why` in words if it did not arrive.
    """

    poses: tuple[Pose, ...]
    error: float
    arrived: bool
    why: str = ""
    around: bool = False

    @property
    def length(self) -> float:
        """Length of the effectors' path, in their unit."""
        x = np.array([pose.effector for pose in self.poses])
        return float(np.linalg.norm(np.diff(x, axis=0), axis=1).sum())

    def then(self, other: Leg) -> Leg:
        """This leg and another from its end."""
        return Leg((*self.poses, *other.poses[1:]), other.error, other.arrived, other.why, True)


class Walker:
    """Walks of one robot among obstacles. Effectors are concatenated, in the order of its rows."""

    def __init__(
        self,
        robot: Robot,
        obstacles: Sequence[Obstacle] = (),
        *,
        settings: Settings | None = None,
        tolerance: float,
    ) -> None:
        self.robot, self.obstacles, self.tolerance = robot, tuple(obstacles), tolerance
        self.settings = replace(settings or Settings(), scouts=False)  # the planner looks for ways itself
        self.effectors, self.actuators = robot.by_role("effector"), robot.by_role("actuator")
        self.sizes = [robot.rows[name].interaction.size for name in self.effectors]
        rows = [robot.rows[name].interaction for name in self.actuators]
        self.one_sided = np.repeat([row.effort_range[0] == 0.0 for row in rows], [row.size for row in rows])
        self.steps = 0

    def split(self, effector: np.ndarray) -> dict[str, np.ndarray]:
        """Effectors by name."""
        parts = np.split(effector, np.cumsum(self.sizes)[:-1])
        return dict(zip(self.effectors, parts, strict=True))

    def joined(self, values: Mapping[str, Any]) -> np.ndarray:
        """Effectors one after another."""
        return np.concatenate([np.ravel(np.asarray(values[name], float)) for name in self.effectors])

    def start(self) -> Pose:
        """Where the robot rests."""
        inverse = Inverse(self.robot, self.obstacles, settings=self.settings)
        self.outside(inverse.state.q)
        here = self.robot.split(self.robot.bundle.delta(self.robot.bundle.positions(inverse.state.q)))
        return self._pose(inverse.step(targets={name: here[name] for name in self.effectors}))

    def outside(self, q: np.ndarray) -> None:
        """Refuse a place deep inside something: contact cannot push the robot out, no way leads from it."""
        detector = self.robot.surroundings.detector(self.robot, self.obstacles)
        for name, depth in detector.penetrations(q).items():
            if depth > DEEPEST_START * self.robot.length:
                got = f"some of it {1e3 * depth:.3g} mm inside"
                raise InputError(f"obstacle {name!r}", expected="the robot beside it at rest", got=got)

    def walk(self, pose: Pose, goal: np.ndarray) -> Leg:
        """The leg from a pose towards a goal (e,): until it arrives, or comes no nearer."""
        inverse = Inverse(self.robot, self.obstacles, state=pose.state, settings=self.settings)
        way = goal - pose.effector
        strides = max(1, int(np.ceil(np.linalg.norm(way) / (TARGET_STRIDE * self.robot.length))))
        poses, best, waited = [pose], np.inf, 0
        for k in range(1, MOST_STEPS[0] * strides + MOST_STEPS[1]):
            aim = pose.effector + min(k / strides, 1.0) * way
            out = inverse.step(targets=self.split(aim))
            self.steps += 1
            now = self._pose(out)
            moved = np.abs(now.effector - poses[-1].effector).max()
            moved = max(moved, np.abs(now.command - poses[-1].command).max(initial=0.0))
            if moved > NO_MOTION * self.robot.length:
                poses.append(now)
            far = float(np.linalg.norm(goal - now.effector))
            behind = float(np.linalg.norm(aim - now.effector))
            if k >= strides and far <= self.tolerance:
                return Leg(tuple(poses), far, True)
            waited = 0 if far < (1.0 - NEARER_SHARE) * best else waited + 1
            best = min(best, far)
            if waited >= PATIENCE or (behind > LARGEST_LAG * self.robot.length and waited > PATIENCE // 4):
                return Leg(tuple(poses), far, False, out.certificate.status)
        return Leg(tuple(poses), float(np.linalg.norm(goal - poses[-1].effector)), False, "too long")

    def _pose(self, out: Any) -> Pose:
        join = lambda values: np.concatenate([np.ravel(values[name]) for name in self.actuators])
        effort, stroke = join(out.effort), join(out.displacement)
        # Slack cables are let out as the model's commands do it, less the more they pull: no jumps.
        strongest = float(np.max(effort[self.one_sided], initial=0.0))
        taut = np.clip(effort / (TAUT_SHARE * strongest), 0.0, 1.0) if strongest > 0 else 0.0 * effort
        slack = self.settings.slack * self.robot.length * (1.0 - taut)
        command = stroke - np.where(self.one_sided, slack, 0.0)
        return Pose(self.joined(out.displacement), command, effort, out.state, out.certificate.penetration)
