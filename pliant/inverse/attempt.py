"""One attempt at a step: linearise and move towards one goal until the state reached is near enough to equilibrium.

The goal is the target, or a point on the way to it when it is far: the *task step* is limited, never dq, so that efforts and motion stay
consistent. Where a state will not do, the policy makes another attempt with a shorter step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.inverse.condensed import Aim
from pliant.inverse.limits import displacement_bounds, effort_bounds
from pliant.inverse.memory import FROZEN, Memory
from pliant.inverse.model import Model, Move, Pose

DIVERGED = 5e-2  # of the length: decrement after which another linearisation will not help
LEAP = 5e-2  # of the length: how far the target goes before another minimum is tried again
EMERGING = 0.7  # a robot that was too deep may end this share as deep


@dataclass(frozen=True)
class Attempt:
    """A move that will do: its goal, where the first linearisation expected the effectors, and how well it went."""

    move: Move
    before: Pose
    goal: np.ndarray
    predicted: np.ndarray
    decrement: float
    linearisations: int
    halvings: int  # attempts before this one that would not do
    stable: bool  # at the pose before, its drives locked


def attempt(model: Model, memory: Memory) -> tuple[Attempt | None, int]:
    """A move from the memory's pose, or None if the state it leads to will not do; and how many linearisations it took."""
    settings, length, before = model.settings, model.robot.length, memory.pose
    aim = _aim(model, memory)
    pose, move, decrement, count, predicted, stable = before, None, np.inf, 0, aim.goal, True
    while count < settings.linearisations and decrement > settings.decrement * length:
        move, count = model.move(pose, before, aim), count + 1
        if move is None:
            return None, count
        pose, decrement = move.pose, model.decrement(move)
        if decrement > DIVERGED * length:
            return None, count
        if count == 1:
            predicted, stable = move.predicted, move.stable
    if move is None or decrement > settings.worst_decrement * length:
        return None, count
    if pose.depth > max(allowed_depth(model), EMERGING * before.depth):
        return None, count
    return Attempt(move, before, aim.goal, predicted, decrement, count, memory.failures, stable), count


def _aim(model: Model, memory: Memory) -> Aim:
    """What the program of this attempt wants: its goal, bounds, ρ, and from how many starts it looks for a minimum."""
    settings, pose, share = model.settings, memory.pose, max(memory.step_length, FROZEN)
    rho = settings.inertia_in_contact if bool(pose.force.any()) else settings.inertia
    return Aim(
        _goal(model, memory),
        effort_bounds(model, pose, share),
        displacement_bounds(model, pose, share),
        memory.inertia_factor * rho,
        settings.starts if leaps(model, memory) else 1,
    )


def _goal(model: Model, memory: Memory) -> np.ndarray:
    """The target with its bias, or a point on the way to it; while the step length is frozen, the last goal.

    To go for the last goal keeps small biases from adding up to a drift.
    """
    here, far = model.aims(memory.pose), model.settings.task_step * model.robot.length
    if memory.frozen:
        return here + clipped(model, memory.goal - here, far)
    error = memory.target - here
    way = clipped(model, error, memory.step_length * far)
    return here + way + (memory.bias if way is error else 0.0)


def leaps(model: Model, memory: Memory) -> bool:
    """Whether efforts far from those at hand are tried.

    Contacts make several minima, and where another one lies the linear model may be no good: after a failure there, the solver stays with
    the minimum at hand until the target has gone on.
    """
    if not len(memory.pose.contacts) or model.settings.starts == 1:
        return False
    failed = memory.failed_leap
    return failed is None or model.distance(memory.target, failed) > LEAP * model.robot.length


def clipped(model: Model, error: np.ndarray, longest: float) -> np.ndarray:
    """The error, no longer than `longest` [m]; rows in other units count by what moves the body that far."""
    size = model.distance(error, 0.0)
    return error if size <= longest else error * (longest / size)


def allowed_depth(model: Model) -> float:
    """How deep the deepest collision sample may end inside an obstacle [m]."""
    return model.settings.penetration * model.robot.length
