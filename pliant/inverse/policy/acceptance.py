"""Which states will do: near enough to equilibrium, not too deep inside an obstacle, within their limits."""

from __future__ import annotations

from pliant.inverse.limits import within_limits
from pliant.inverse.model import Model, Pose

DIVERGED = 5e-2  # of the length: decrement after which another linearisation will not help
SHALLOW = 1e-4  # [m] that anything may be deep, however small the robot is
EMERGING = 0.7  # a robot that was too deep may end this share as deep


def diverged(model: Model, decrement: float) -> bool:
    """Whether a linearisation led so far from equilibrium that another one from there will not help."""
    return decrement > DIVERGED * model.robot.length


def fails(model: Model, before: Pose, pose: Pose, decrement: float) -> bool:
    """Whether a step from the pose `before` must not end at a pose: too far from equilibrium, or too deep.

    A robot that was too deep must come out.
    """
    deepest = max(_allowed_depth(model), EMERGING * before.depth)
    return decrement > _allowed_decrement(model) or pose.depth > deepest


def near_equilibrium(model: Model, before: Pose, pose: Pose, decrement: float) -> bool:
    """Whether a recovery may end at a pose where it has not converged: no deeper than `before`."""
    deepest = max(_allowed_depth(model), before.depth)
    return decrement <= _allowed_decrement(model) and pose.depth <= deepest


def may_stay(model: Model, pose: Pose, decrement: float) -> bool:
    """Whether a robot may stay where it is for good."""
    shallow = pose.depth <= _allowed_depth(model)
    return shallow and decrement <= _allowed_decrement(model) and within_limits(model, pose)


def _allowed_depth(model: Model) -> float:
    """How deep the deepest collision sample may end inside an obstacle [m]."""
    return max(SHALLOW, model.settings.penetration * model.robot.length)


def _allowed_decrement(model: Model) -> float:
    """How far from equilibrium a state that will do may be [m]."""
    return model.settings.worst_decrement * model.robot.length
