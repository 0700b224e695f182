"""The control policy: what a step tries, in what order, and what it remembers.

    aim       the targets given; those that moved let the policy begin anew
    look      where obstacles have moved, what was ruled out may work now
    rest      nothing leads on: nothing is done
    recover   all step lengths failed: seek the equilibrium with locked drives, some iterations in each step
    follow    a line search along the task: attempts with shorter and shorter steps until one will do, as long as the budget lasts
                found             take it, and learn from it: step length, bias, inertia
                about to buckle   go back to a pose that was stable
                not yet           wait where the robot is

`memory` says which modes this leads through. Everything here is a function of a model and a memory; neither is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from pliant.inverse import verdict
from pliant.inverse.attempt import Attempt, attempt, clipped, leaps
from pliant.inverse.memory import FROZEN, Following, Memory, Recovering, Resting, Searching
from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate, Outcome, outcome
from pliant.inverse.recovery import AFTERWARDS, recover
from pliant.inverse.targets import aimed

BACK = 4  # steps that a robot goes back when it would buckle
NOTHING = 1e-6  # of the length: a hope of progress, or a distance between two goals, that is none
FARTHEST_BIAS = 2e-2  # of the length: how far the goal may lie beyond the target
THERE = 1e-4  # of the length: nothing left to do
LARGEST_INERTIA = 100.0  # times the usual ρ

Decision = tuple[Memory, InverseCertificate]


def advance(model: Model, memory: Memory, targets: Mapping[str, Any] | None = None) -> tuple[Memory, Outcome]:
    """The memory after one control step towards the targets, and its outcome; targets not named stay.

    Called again with the same model, memory and targets, and the obstacles where they were, it gives the same result.
    """
    begin = perf_counter()
    model.work.clear()
    memory, still = aimed(model, memory, targets)
    memory, certificate = _decided(model, _looked(model, memory), still)
    spent = {**model.work.timings, "total": perf_counter() - begin}
    return memory, outcome(model, memory.pose, memory.target, certificate, spent)


def _looked(model: Model, memory: Memory) -> Memory:
    """The memory at the same pose among obstacles that may have moved: if so, perhaps there is a way now."""
    pose = model.again(memory.pose)
    if pose is memory.pose:
        return memory
    mode = memory.mode if isinstance(memory.mode, Searching) else Following()
    return memory.with_(pose=pose, mode=mode, step_length=max(memory.step_length, AFTERWARDS))


def _decided(model: Model, memory: Memory, still: bool) -> Decision:
    """What the robot does in its mode; `still`: its targets stay where they were."""
    match memory.mode:
        case Resting(certificate):
            return memory, certificate
        case Recovering():
            return recover(model, memory)
        case Searching() if _exhausted(model, memory):
            return recover(model, memory)
        case _:
            return _followed(model, memory, still)


def _exhausted(model: Model, memory: Memory) -> bool:
    """Whether all step lengths were tried."""
    return memory.failures > model.settings.halvings


# Following.


def _followed(model: Model, memory: Memory, still: bool) -> Decision:
    """A step that was found, or the way back from buckling; else the robot waits, or recovers at once if it may."""
    memory, found = _searched(model, memory)
    if found is None:
        if memory.stuck or (model.settings.patient and _exhausted(model, memory)):
            return recover(model, memory)
        return memory, verdict.waiting(model, memory, "searching")
    if not found.stable and memory.stable_poses and not memory.stepped_back:
        return _stepped_back(model, memory, found)
    memory = _taken(model, memory, found, still)
    return memory, verdict.taken(model, memory, found)


def _searched(model: Model, memory: Memory) -> tuple[Memory, Attempt | None]:
    """The line search: an attempt that will do, or None if none did within the budget of linearisations.

    Each failure halves the step length, or where efforts of another minimum were tried, keeps the solver to the minimum at hand. A robot
    that is stuck makes one attempt.
    """
    left = model.settings.budget
    while True:
        found, spent = attempt(model, memory)
        if found is not None:
            return memory, found
        if leaps(model, memory):
            memory = memory.with_(failed_leap=memory.target)
        else:
            memory = memory.with_(step_length=0.5 * memory.step_length)
        left -= spent
        if memory.stuck:
            return memory, None
        memory = memory.with_(mode=Searching(memory.failures + 1))
        if _exhausted(model, memory) or left < model.settings.linearisations:
            return memory, None


def _stepped_back(model: Model, memory: Memory, found: Attempt) -> Decision:
    """One step more and the robot would buckle, drives locked or not: back to a pose that was stable, where the goal freezes."""
    pose = model.again(memory.stable_poses[0])
    memory = memory.with_(
        pose=pose,
        mode=Following(),
        goal=model.aims(pose),
        step_length=0.5 * FROZEN,
        stable_poses=(),
        stepped_back=True,
    )
    return memory, verdict.of(model, pose, found, "about to buckle")


def _taken(model: Model, memory: Memory, found: Attempt, still: bool) -> Memory:
    """The memory at the pose that was found, with what the step has taught."""
    full = found.halvings == 0
    return memory.with_(
        pose=found.move.pose,
        decrement=found.decrement,
        goal=found.goal,
        mode=Following(),
        recovered=memory.recovered and not full,
        stable_poses=(*memory.stable_poses, found.before)[-BACK:] if found.stable else (),
        bias=_bias(model, memory, found),
        inertia_factor=_inertia_factor(model, memory, found, still),
        step_length=_step_length(model, memory, found) if full and not memory.frozen else memory.step_length,
    )


# What a step teaches.


def _step_length(model: Model, memory: Memory, found: Attempt) -> float:
    """The next step length: less where the effectors did not come nearer as the linear model had predicted, else more."""
    away = lambda delta: model.distance(memory.target, delta)
    here = away(model.aims(found.before))
    hoped = here - away(found.predicted)
    if hoped < NOTHING * model.robot.length:
        return min(1.0, memory.step_length)
    came = here - away(model.aims(found.move.pose))
    gain = 0.5 if came < 0.25 * hoped else 1.5 if came > 0.75 * hoped else 1.0
    return min(1.0, memory.step_length * gain)


def _bias(model: Model, memory: Memory, found: Attempt) -> np.ndarray:
    """How far ε keeps the effectors back: by so much the goal lies beyond a target that is near (its multiplier)."""
    length, bias = model.robot.length, memory.bias
    miss = memory.target - model.aims(found.move.pose)
    if model.distance(miss, 0.0) > FARTHEST_BIAS * length:
        return 0.0 * miss
    if model.distance(found.goal, memory.target + bias) < NOTHING * length:
        return clipped(model, bias + 0.5 * miss, FARTHEST_BIAS * length)
    return bias


def _inertia_factor(model: Model, memory: Memory, found: Attempt, still: bool) -> float:
    """How much more ρ there is from now on: more and more while nothing is left to do, soon the usual again afterwards."""
    left = model.distance(memory.target - model.aims(found.move.pose), 0.0)
    factor = memory.inertia_factor
    if still and left < THERE * model.robot.length:
        return min(1.25 * factor, LARGEST_INERTIA)
    return max(0.25 * factor, 1.0)
