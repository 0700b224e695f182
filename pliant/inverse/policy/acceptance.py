"""Which states will do: near enough to equilibrium, not too deep inside an obstacle, within their limits."""

from __future__ import annotations

from pliant.contact.contacts import DEEPEST
from pliant.inverse.limits import within_limits
from pliant.inverse.model import Model
from pliant.inverse.pose import Pose

DIVERGED = 0.3  # of the length: decrement after which another linearisation will not help
EMERGING = 0.7  # a robot that was too deep may end this share as deep
FARTHEST_PUSH = 3.0  # of the bound: from how far something may push a robot that slides along it
FARTHEST = 4.0  # task steps: how far a node may move in a step, unless something else has moved it


def diverged(model: Model, decrement: float) -> bool:
    """Whether a linearisation led so far from equilibrium that another one from there will not help."""
    return not decrement <= DIVERGED * model.robot.length


def fails(model: Model, before: Pose, pose: Pose, decrement: float) -> bool:
    """Whether a step from the pose `before` must not end at a pose.

    It is too far from equilibrium, too deep, or pushed from too far away.
    """
    touches = pose.standoff <= FARTHEST_PUSH * allowed_depth(model)
    return not (decrement <= allowed_decrement(model) and touches and not too_deep(model, before, pose))


def too_deep(model: Model, before: Pose, pose: Pose) -> bool:
    """Whether a step from the pose `before` ends too deep; a robot that was too deep must come out."""
    return pose.depth > max(allowed_depth(model), EMERGING * before.depth)


def stands_off(model: Model, pose: Pose) -> bool:
    """Whether something pushes the robot that it does not touch."""
    return pose.standoff > allowed_depth(model)


def jumps(model: Model, before: Pose, pose: Pose) -> bool:
    """Whether a step from the pose `before` goes farther than a robot may be seen to move in one."""
    return not model.motion(before, pose) <= FARTHEST * model.settings.task_step * model.robot.length


def near_equilibrium(model: Model, pose: Pose, decrement: float) -> bool:
    """Whether a search for an equilibrium may end at a pose where it has not converged."""
    return decrement <= allowed_decrement(model) and pose.depth <= allowed_depth(model)


def may_stay(model: Model, pose: Pose, decrement: float) -> bool:
    """Whether a robot may stay where it is for good."""
    return near_equilibrium(model, pose, decrement) and within_limits(model, pose)


def allowed_depth(model: Model) -> float:
    """How deep the deepest point may end inside anything [m]."""
    return max(DEEPEST, model.settings.penetration * model.robot.length)


def allowed_decrement(model: Model) -> float:
    """How far from equilibrium a state that will do may be [m]."""
    return model.settings.worst_decrement * model.robot.length
