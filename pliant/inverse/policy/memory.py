"""What one control step leaves for the next: a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.arrays import read_only_view
from pliant.inverse.model import Model, Pose
from pliant.inverse.policy.modes import Following, Mode, Searching, Stuck, when_target_moves

FROZEN = 1e-2  # step length below which no step leads on, and the goal stays where it is


@dataclass(frozen=True)
class Memory:
    """Everything that one control step leaves for the next.

    It belongs to the model it was made with; its arrays are read-only. Values of effectors (target, goal …)
    are δ of their rows (ne,).
    """

    # Where the robot stands, and how far that is from equilibrium [m]; infinite before the first step.
    pose: Pose
    decrement: float
    # Where the effectors are asked to be.
    target: np.ndarray
    # The target when the policy last began anew: one that has gone far from it is another one.
    reference: np.ndarray
    # What the last step that was taken went for. It stays while the step length is frozen.
    goal: np.ndarray
    # How far the goal lies beyond a target that is near, because ε keeps the effectors back.
    bias: np.ndarray
    # What the robot is doing.
    mode: Mode = field(default_factory=Following)
    # Of the line search along the task: the share of the task step that worked last.
    step_length: float = 1.0
    # How much more ρ there is than usual. It grows while a target that was reached stays.
    inertia_factor: float = 1.0
    # Before each of the last steps, as long as the robot was stable there: the way back from buckling.
    stable_poses: tuple[Pose, ...] = ()
    # Whether the robot has stepped back from buckling for this target: once is enough.
    stepped_back: bool = False
    # Whether the robot had to recover for this target and has taken no full step since. If it has to again
    # and its step length is frozen, it rests.
    recovered: bool = False
    # The target for which efforts of another minimum led to a state that would not do. Near it, the solver
    # stays with the minimum at hand.
    failed_leap: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("target", "reference", "goal", "bias", "failed_leap"):
            array = getattr(self, name)
            object.__setattr__(self, name, None if array is None else read_only_view(array))

    @property
    def failures(self) -> int:
        """Attempts that would not do since the last step that was taken, while the robot waits."""
        return self.mode.failures if isinstance(self.mode, Searching) else 0

    @property
    def stuck(self) -> bool:
        """Whether no equilibrium was found in the last step."""
        return isinstance(self.mode, Stuck)

    @property
    def frozen(self) -> bool:
        """Whether the step length has become so small that the goal stays where it is."""
        return self.step_length < FROZEN

    def with_(self, **changes: Any) -> Memory:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def anew(self, step_length: float = 1.0) -> Memory:
        """For another target: whatever did not work may work now."""
        return self.with_(
            reference=self.target,
            step_length=step_length,
            mode=when_target_moves(self.mode),
            stepped_back=False,
            recovered=False,
        )


def begin(model: Model) -> Memory:
    """The memory before the first step: at the pose where the model starts, with the targets of the laws."""
    here, target = model.effector_delta(model.start), first_target(model, model.start)
    return Memory(model.start, np.inf, target, target, here, 0.0 * target)


def first_target(model: Model, pose: Pose) -> np.ndarray:
    """Targets of the laws (ne,); where they give none, the effectors stay where they are."""
    given = model.roles.target
    return np.where(np.isnan(given), model.effector_delta(pose), given)
