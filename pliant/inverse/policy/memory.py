"""What one control step leaves for the next: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.arrays import read_only_view
from pliant.inverse.model import Model
from pliant.inverse.policy.modes import Following, Mode, Searching, when_target_moves
from pliant.inverse.policy.trail import Guide, Trail
from pliant.inverse.pose import Pose
from pliant.static.memory import Passing

SCOUTS = 7  # that are sent for one target, at most, see `scouting`
PATIENCE = 45  # steps in which a robot waits for scouts, at most, so that it rests before long


@dataclass(frozen=True)
class Tried:
    """What has been tried for this target, among these obstacles and under these laws.

    fresh: whether the robot set out for it from the beginning of its trail, as a scout would. scouts: how
    many have come back. doubt: whether a search ended for other reasons than that nothing led nearer. brink:
    how often the robot has gone back from where it would have buckled. settled: how often it was about to
    rest. retreated: whether it has gone back from obstacles that it could not yield to. waited: in how many
    steps the robot has waited for scouts. led: how near [m] to its target a scout's way has led. balanced:
    how near the robot was when it last looked for its equilibrium to go on from there. start: where statics
    led the scout that set out from the undeformed shape; those after it begin there. found: the trail of a
    scout that came nearer, which the robot will go if none comes to the target.
    """

    fresh: bool = False
    scouts: int = 0
    doubt: bool = False
    brink: int = 0
    settled: int = 0
    retreated: bool = False
    waited: int = 0
    led: float = np.inf
    balanced: float = np.inf
    start: Guide | None = None
    found: Trail | None = None

    @property
    def all_ways(self) -> bool:
        """Whether no scout is left to send."""
        return self.scouts >= SCOUTS or self.waited >= PATIENCE


@dataclass(frozen=True)
class Memory:
    """Everything that one control step leaves for the next.

    It belongs to the model it was made with; its arrays are read-only. Values of effectors (target, bias …)
    are δ of their rows (ne,).
    """

    # Where the robot stands, and how far that is from equilibrium [m]; infinite before the first step.
    pose: Pose
    decrement: float
    # Where the effectors are asked to be.
    target: np.ndarray
    # The target when the policy last began anew: one that has gone far from it is another one.
    reference: np.ndarray
    # How far the goal lies beyond a target that is near, because ε keeps the effectors back.
    bias: np.ndarray
    # The poses that were passed: the way back.
    trail: Trail
    # What the robot is doing.
    mode: Mode = field(default_factory=Following)
    # The share of ε: efforts that cost much are saved for targets that are not reached without them.
    thrift: float = 1.0
    # Of the line search along the task: the share of the task step that worked last.
    step_length: float = 1.0
    # Steps since the effectors last came nearer to a target that stays; and how near [m] they were then.
    idle: int = 0
    nearest: float = np.inf
    # How far [m] contacts are searched for, if that is more than usual: where the robot came no nearer to
    # this target, it looks for something to push against.
    reach: float = 0.0
    # What has been tried for this target.
    tried: Tried = Tried()
    # Whether an obstacle or a law has changed since the last step that was taken: the pose need not be an
    # equilibrium, and the robot may be pushed far in one step.
    disturbed: bool = True
    # Whether this is the memory of a scout, which gives up where a robot would send one.
    scout: bool = False
    # The time that passed in the last step, where materials remember it.
    passing: Passing | None = None
    # The target for which efforts of another minimum led to a state that would not do. Near it, the solver
    # stays with the minimum at hand.
    failed_leap: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("target", "reference", "bias", "failed_leap"):
            array = getattr(self, name)
            object.__setattr__(self, name, None if array is None else read_only_view(array))

    @property
    def failures(self) -> int:
        """Attempts that would not do since the last step that was taken, while the robot waits."""
        return self.mode.failures if isinstance(self.mode, Searching) else 0

    def with_(self, **changes: Any) -> Memory:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def having_tried(self, **changes: Any) -> Memory:
        """A copy with more that was tried."""
        return replace(self, tried=replace(self.tried, **changes))

    def anew(self, step_length: float = 1.0) -> Memory:
        """For another target: whatever did not work may work now."""
        return self.with_(
            reference=self.target,
            step_length=step_length,
            mode=when_target_moves(self.mode),
            thrift=1.0,
            idle=0,
            nearest=np.inf,
            reach=0.0,
            tried=Tried(fresh=len(self.trail.guides) == 1),
        )


def begin(model: Model) -> Memory:
    """The memory before the first step: at the pose where the model starts, with the targets of the laws."""
    target = first_target(model, model.start)
    trail = Trail.begun(model, model.start)
    return Memory(model.start, np.inf, target, target, 0.0 * target, trail, tried=Tried(fresh=True))


def first_target(model: Model, pose: Pose) -> np.ndarray:
    """Targets of the laws (ne,); where they give none, the effectors stay where they are."""
    given = model.roles.target
    return np.where(np.isnan(given), model.effector_delta(pose), given)
