"""One control step: what is tried, and in what order.

    aim       the targets given; those that moved let the policy begin anew
    look      where obstacles have moved, what was ruled out may work now
    rest      nothing leads on: nothing is done
    recover   all step lengths failed: seek the equilibrium with locked drives, some iterations in each step
    follow    a line search along the task, as long as the budget lasts
                an attempt will do   take it, and learn from it: step length, bias, inertia
                about to buckle      go back to a pose that was stable
                none yet             wait where the robot is

Everything here is a function of a model and a memory; neither is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate, Outcome, outcome
from pliant.inverse.policy.certificates import of_step, of_stepping_back, of_waiting
from pliant.inverse.policy.line_search import RESTART, Attempt, exhausted, next_step_length, search
from pliant.inverse.policy.memory import FROZEN, Memory
from pliant.inverse.policy.modes import Following, Recovering, Resting, Searching, when_obstacle_moves
from pliant.inverse.policy.recovery import recover
from pliant.inverse.policy.targets import aimed

STEPS_BACK = 4  # that a robot goes back when it would buckle
SAME_GOAL = 1e-6  # of the length: distance between two goals that are one
FARTHEST_BIAS = 2e-2  # of the length: how far the goal may lie beyond the target
BIAS_RATE = 0.5  # of what is missed, added to the bias in each step
REACHED_EXACTLY = 1e-4  # of the length: a target that is so near leaves nothing to do
LARGEST_INERTIA = 100.0  # times the usual ρ
INERTIA_GROWTH = 1.25  # of its factor in a step, while nothing is left to do
INERTIA_DECAY = 0.25  # of its factor in a step, afterwards

Decision = tuple[Memory, InverseCertificate]


def advance(model: Model, memory: Memory, targets: Mapping[str, Any] | None = None) -> tuple[Memory, Outcome]:
    """The memory after one control step towards the targets, and its outcome; targets not named stay.

    Called again with the same model, memory and targets, and the obstacles where they were, it gives the same
    result.
    """
    begin = perf_counter()
    model.work.clear()
    memory, still = aimed(model, memory, targets)
    memory, certificate = _decided(model, _looked(model, memory), still)
    spent = {**model.work.timings, "total": perf_counter() - begin}
    return memory, outcome(model, memory.pose, memory.target, certificate, spent)


def _looked(model: Model, memory: Memory) -> Memory:
    """The memory at the same pose among obstacles that may have moved."""
    pose = model.refreshed(memory.pose)
    if pose is memory.pose:
        return memory
    step_length = max(memory.step_length, RESTART)
    return memory.with_(pose=pose, mode=when_obstacle_moves(memory.mode), step_length=step_length)


def _decided(model: Model, memory: Memory, still: bool) -> Decision:
    """What the robot does in its mode; `still`: its targets stay where they were."""
    match memory.mode:
        case Resting(certificate):
            return memory, certificate
        case Recovering():
            return recover(model, memory)
        case Searching() if exhausted(model, memory):
            return recover(model, memory)
        case _:
            return _followed(model, memory, still)


def _followed(model: Model, memory: Memory, still: bool) -> Decision:
    """A step that will do, or the way back from buckling; else the robot waits, or recovers if it may."""
    memory, taken = search(model, memory)
    if taken is None:
        if memory.stuck or (model.settings.exhaustive and exhausted(model, memory)):
            return recover(model, memory)
        return memory, of_waiting(model, memory, "searching")
    if not taken.stable and memory.stable_poses and not memory.stepped_back:
        return _stepped_back(model, memory, taken)
    memory = _taken(model, memory, taken, still)
    return memory, of_step(model, memory, taken)


def _stepped_back(model: Model, memory: Memory, taken: Attempt) -> Decision:
    """The way back to a stable pose, where the goal freezes.

    One step more and the robot would buckle, drives locked or not.
    """
    pose = model.refreshed(memory.stable_poses[0])
    memory = memory.with_(
        pose=pose,
        mode=Following(),
        goal=model.effector_delta(pose),
        step_length=0.5 * FROZEN,
        stable_poses=(),
        stepped_back=True,
    )
    return memory, of_stepping_back(model, pose, taken)


def _taken(model: Model, memory: Memory, taken: Attempt, still: bool) -> Memory:
    """The memory at the pose that was reached, with what the step has taught."""
    return memory.with_(
        pose=taken.move.pose,
        decrement=taken.decrement,
        goal=taken.goal,
        mode=Following(),
        recovered=memory.recovered and taken.failures > 0,
        stable_poses=(*memory.stable_poses, taken.before)[-STEPS_BACK:] if taken.stable else (),
        bias=_bias(model, memory, taken),
        inertia_factor=_inertia_factor(model, memory, taken, still),
        step_length=next_step_length(model, memory, taken),
    )


def _bias(model: Model, memory: Memory, taken: Attempt) -> np.ndarray:
    """How far ε keeps the effectors back: by so much the goal lies beyond a target that is near.

    It is the multiplier of the target.
    """
    length, bias = model.robot.length, memory.bias
    missed = memory.target - model.effector_delta(taken.move.pose)
    if model.distance(missed, 0.0) > FARTHEST_BIAS * length:
        return 0.0 * missed
    if model.distance(taken.goal, memory.target + bias) < SAME_GOAL * length:
        return model.clipped(bias + BIAS_RATE * missed, FARTHEST_BIAS * length)
    return bias


def _inertia_factor(model: Model, memory: Memory, taken: Attempt, still: bool) -> float:
    """How much more ρ there is from now on.

    More and more while nothing is left to do, soon the usual afterwards.
    """
    missed = model.distance(memory.target - model.effector_delta(taken.move.pose), 0.0)
    if still and missed < REACHED_EXACTLY * model.robot.length:
        return min(INERTIA_GROWTH * memory.inertia_factor, LARGEST_INERTIA)
    return max(INERTIA_DECAY * memory.inertia_factor, 1.0)
