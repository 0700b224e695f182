"""One control step: what is tried, and in what order.

    later     where materials remember it, time has passed: the forces are others now
    aim       the targets given; those that moved let the policy begin anew
    look      where obstacles have moved, what was ruled out may work now
    rest      nothing leads on: the same command
    go back   one pose further on a way that was gone before, by the robot or by a scout
    approach  efforts far from those at hand, which close a gap, one part of the way after another
    scout     the robot waits while a scout looks for another way, as long as the budget lasts
    settle    the robot waits while the equilibrium is found in which it will rest
    recover   disturbed, and no step would do: creep to the equilibrium with locked drives
    follow    a line search along the task, as long as the budget lasts
                an attempt will do   take it, and learn from it: step length, bias, whether it came nearer
                about to buckle      go back to poses that were stable
                disturbed, and none  recover
                none yet             wait where the robot is
                none at all          a dead end: recover, scout or settle

Everything here is a function of a model and a memory; neither is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate, Outcome, outcome
from pliant.inverse.policy.acceptance import near_equilibrium
from pliant.inverse.policy.approach import approach, approached
from pliant.inverse.policy.certificates import REACHED, of_rest, of_step, of_waiting
from pliant.inverse.policy.going_back import go_back
from pliant.inverse.policy.line_search import RESTART, Attempt, exhausted, next_step_length, search
from pliant.inverse.policy.memory import Memory, Tried
from pliant.inverse.policy.modes import (
    Approaching,
    Following,
    GoingBack,
    Recovering,
    Resting,
    Scouting,
    Searching,
    Settling,
    when_obstacle_moves,
)
from pliant.inverse.policy.recovery import recover
from pliant.inverse.policy.rest import comes_to_rest, counted, may_settle, settle, step_back
from pliant.inverse.policy.scouting import IDLE, may_scout, reaching_out, scouted, send
from pliant.inverse.policy.targets import aimed
from pliant.inverse.pose import Pose

SAME_GOAL = 1e-6  # of the length: distance between two goals that are one
FARTHEST_BIAS = 2e-2  # of the length: how far the goal may lie beyond the target
NEAR = 0.1  # of the length: a target that is missed by no more is worth efforts that cost much
LESS_THRIFT, LEAST_THRIFT = 0.5, 1e-3  # factor of ε in a step that comes no nearer to it, and in all
CHANGED_FORCE = 1e-6  # of the forces: what relaxes less leaves a robot at rest
BIAS_RATE = 0.5  # of what is missed, added to the bias in each step

Decision = tuple[Memory, InverseCertificate]


def advance(model: Model, memory: Memory, targets: Mapping[str, Any] | None = None) -> tuple[Memory, Outcome]:
    """The memory after one control step towards the targets, and its outcome; targets not named stay.

    Called again with the same model, memory and targets, and the obstacles where they were, it gives the same
    result.
    """
    begin = perf_counter()
    model.spent.clear()
    memory, still = aimed(model, memory, targets)
    model, memory = _later(model, memory)
    before = memory.pose.internal
    memory, certificate = _decided(model, _looked(model, memory), still)
    memory = _arrived(model, memory, before)
    spent = model.spent
    certificate = replace(certificate, linearisations=spent.linearisations, pivots=spent.pivots)
    timings = {**model.work.timings, "total": perf_counter() - begin}
    return memory, outcome(model, memory.pose, memory.target, certificate, timings)


def _later(model: Model, memory: Memory) -> tuple[Model, Memory]:
    """The model and the memory at the same pose when dt has passed, if materials remember that.

    A robot that rests wakes where this has changed the forces on it.
    """
    if model.dt is None:
        return model, memory
    before, model = memory.pose, model.later(memory.passing, memory.pose)
    known = before.contacts, before.force
    pose = model.pose(before.q, before.lam, known, internal=before.internal)
    memory = memory.with_(pose=pose, passing=model.passing)
    if isinstance(memory.mode, Resting) and _unbalanced(before, pose):
        memory = memory.with_(mode=Following())
    return model, memory


def _arrived(model: Model, memory: Memory, before: np.ndarray) -> Memory:
    """The memory with what materials that soften have been through, in this pose and `before`.

    Poses out of balance, on which it creeps or searches, are no places that the robot has been to.
    """
    if not model.robot.softens:
        return memory
    pose = memory.pose
    been = pose.view is not None and near_equilibrium(model, pose, memory.decrement)
    pose = model.arrived(pose, before, been=been)
    if np.array_equal(pose.internal, before):
        return memory.with_(pose=pose)
    return memory.with_(pose=pose, trail=memory.trail.softened(model, pose.internal))


def _unbalanced(before: Pose, pose: Pose) -> bool:
    """Whether forces at the same place are others now."""
    if before.view is None or pose.view is None:
        return False
    change = np.linalg.norm(pose.view.r - before.view.r)
    return bool(change > CHANGED_FORCE * np.linalg.norm(before.view.r))


def _looked(model: Model, memory: Memory) -> Memory:
    """The memory at the same pose among obstacles that may have moved."""
    pose = model.refreshed(memory.pose)
    if pose is memory.pose:
        return memory
    return memory.with_(
        pose=pose,
        mode=when_obstacle_moves(memory.mode),
        step_length=max(memory.step_length, RESTART),
        disturbed=True,
        idle=0,
        nearest=np.inf,
        reach=0.0,
        tried=Tried(),
    )


def _decided(model: Model, memory: Memory, still: bool) -> Decision:
    """What the robot does in its mode; `still`: its targets stay where they were."""
    match memory.mode:
        case Resting(certificate):
            return memory, replace(certificate, moved=False)
        case GoingBack():
            return go_back(model, memory)
        case Approaching():
            return approached(model, memory)
        case Scouting():
            return scouted(model, memory, _decided)
        case Settling():
            return settle(model, memory)
        case Recovering():
            return recover(model, memory)
        case Searching() if exhausted(model, memory):
            return _dead_end(model, memory)
        case _:
            return _followed(model, memory, still)


def _followed(model: Model, memory: Memory, still: bool) -> Decision:
    """A step that will do, or the way back from buckling; else the robot waits, or has come to a dead end."""
    memory, taken = search(model, memory)
    if taken is None:
        if memory.disturbed:
            memory = memory.with_(mode=Recovering())
            waiting = memory, of_waiting(model, memory, "recovering")
            return recover(model, memory) if model.left > 0 else waiting
        if exhausted(model, memory) and model.left > 0:
            return _dead_end(model, memory)
        return memory, of_waiting(model, memory, "searching")
    if not taken.stable and memory.trail.stable and not memory.disturbed:
        return step_back(model, memory)
    memory = _taken(model, memory, taken, still)
    certificate = of_step(model, memory, taken)
    if memory.idle >= IDLE and may_scout(model, memory):
        wider = reaching_out(model, memory)
        memory = send(model, memory) if wider is None else approach(model, wider) or wider
    elif comes_to_rest(model, memory, taken):
        memory = memory.with_(mode=Settling())
    return memory, certificate


def _dead_end(model: Model, memory: Memory) -> Decision:
    """All step lengths failed.

    A robot that was disturbed recovers, one that is not quite in equilibrium goes there first; others look
    for another way or rest.
    """
    if memory.disturbed or not near_equilibrium(model, memory.pose, memory.decrement):
        return recover(model, memory)
    if may_settle(model, memory):
        return memory.with_(mode=Settling(onwards=True)), of_waiting(model, memory, "searching")
    memory = memory.having_tried(doubt=True)
    if memory.scout:
        certificate = of_rest(model, memory)
        return memory.with_(mode=Resting(certificate)), certificate
    if may_scout(model, memory):
        return send(model, memory), of_waiting(model, memory, "looking for another way")
    return memory.with_(mode=Settling()), of_waiting(model, memory, "searching")


def _taken(model: Model, memory: Memory, taken: Attempt, still: bool) -> Memory:
    """The memory at the pose that was reached, with what the step has taught."""
    idle, nearest = counted(model, memory, taken, still)
    return memory.with_(
        pose=taken.move.pose,
        decrement=taken.decrement,
        mode=Following(),
        trail=memory.trail.left(model, taken.before, memory.decrement, stable=taken.stable),
        bias=_bias(model, memory, taken),
        thrift=_thrift(model, memory, taken, idle),
        step_length=next_step_length(model, memory, taken, still),
        idle=idle,
        nearest=nearest,
        disturbed=False,
    )


def _thrift(model: Model, memory: Memory, taken: Attempt, idle: int) -> float:
    """The share of ε after a step: less where it keeps the effectors from a target that is near.

    Against each other, actuators may move the effectors a little for much effort.
    """
    length, missed = model.robot.length, memory.target - model.effector_delta(taken.move.pose)
    if idle and REACHED * length < model.distance(missed, 0.0) < NEAR * length:
        return max(LESS_THRIFT * memory.thrift, LEAST_THRIFT)
    return memory.thrift


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
