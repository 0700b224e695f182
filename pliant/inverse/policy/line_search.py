"""The line search along the task: attempts with shorter and shorter steps until one will do.

The *task step* is limited, never dq, so that efforts and motion stay consistent: a step length s of 1 goes
for a goal that lies a full task step ahead on the way to the target. A shorter one also keeps the efforts
nearer to where they were,

    ρ(s) = ρ + ρ_d (1/2s − 1) for s < 1/2, and for s > 1, where the goal stays a task step ahead,  ρ(s) = ρ/s,

because redundant efforts may change a lot for a goal that is near. As s → 0 nothing changes at all, so that
from an equilibrium some step length will do; and s > 1 gets a robot on that ρ keeps back. An attempt
linearises and moves towards its goal until the state reached is near enough to equilibrium. Each that fails
shortens the step length; a step that was taken says how long the next may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.inverse.condensed import Aim
from pliant.inverse.limits import displacement_bounds, effort_bounds
from pliant.inverse.model import Model
from pliant.inverse.policy.acceptance import diverged, fails, jumps, stands_off, too_deep
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Searching
from pliant.inverse.pose import Move, Pose

RESTART = 0.25  # step length, at least, of a robot that did not get on and now may
SHORTER, LONGER = 0.5, 1.5  # factors of the step length after a step
SHORTEST, LONGEST = 1e-3, 1e3  # step lengths
SLOW = 0.3  # of the way to its goal: where no more is predicted, a step length above 1 may do better
AFTER_FAILURE = 0.4  # factor of the step length after a failed attempt
DAMPING = 1e-2  # ρ_d
POOR_GAIN = 0.25  # of the progress that was predicted: with less, the next step is shorter
GOOD_GAIN = 0.75  # of the progress that was predicted: with more, the next step is longer
RELAXING = 0.65  # factor of ρ in a step that comes no nearer: redundant efforts go to where they cost least …
RELAXED = 20  # … in so many steps, …
LEAST_INERTIA = 0.03  # … with no less of ρ than this; …
CALMING = 2.0  # … then ρ grows by this factor in each, until the efforts rest
TO_TOUCH = 2  # linearisations more, where something pushes that the robot does not touch, or it is too deep
SCOUT_PACE = 2.0  # task steps that a scout takes at a time
NO_PROGRESS = 1e-6  # of the length: less progress than this is none
LEAP_AGAIN = 5e-2  # of the length: so far on, the target lets efforts of another minimum be tried again


@dataclass(frozen=True)
class Attempt:
    """A move that will do, and how it came about."""

    move: Move
    before: Pose  # where the step began
    goal: np.ndarray  # δ of the effectors (ne,) that the step went for
    predicted: np.ndarray  # δ of the effectors (ne,) as the first linearisation predicted it
    decrement: float  # [m] how far the state reached is from equilibrium
    failures: int  # attempts before this one that would not do
    stable: bool  # whether the robot was, at the pose before, its drives locked


def search(model: Model, memory: Memory) -> tuple[Memory, Attempt | None]:
    """An attempt that will do, or None if none did within the budget of linearisations; and the memory then.

    Each failure shortens the step length, or where efforts of another minimum were tried, keeps the solver to
    the minimum at hand. A robot that was disturbed makes one attempt.
    """
    while True:
        taken = attempt(model, memory)
        if taken is not None:
            return memory, taken
        if leaps(model, memory):
            memory = memory.with_(failed_leap=memory.target)
        else:
            memory = memory.with_(step_length=max(AFTER_FAILURE * min(1.0, memory.step_length), SHORTEST))
        if memory.disturbed:
            return memory, None
        memory = memory.with_(mode=Searching(memory.failures + 1))
        if exhausted(model, memory) or model.left < model.settings.linearisations:
            return memory, None


def exhausted(model: Model, memory: Memory) -> bool:
    """Whether all step lengths were tried."""
    return memory.failures > model.settings.halvings


def attempt(model: Model, memory: Memory) -> Attempt | None:
    """A move from the memory's pose; None if the state it leads to will not do."""
    return tried_aim(model, memory, aim_of(model, memory))


def tried_aim(model: Model, memory: Memory, aim: Aim) -> Attempt | None:
    """The same with an aim of one's own."""
    settings, before = model.settings, memory.pose
    pose, move, decrement, count, predicted, stable = before, None, np.inf, 0, aim.goal, True
    exactly, few = _enough(model, memory), settings.linearisations
    astray = lambda: stands_off(model, pose) or (count > 0 and too_deep(model, before, pose))
    while (count < few and decrement > exactly) or (count < few + TO_TOUCH and astray()):
        if count and model.left <= 0:
            break
        move, count = model.move(pose, before, aim), count + 1
        aim = replace(aim, starts=1)  # what follows corrects the minimum that was chosen
        if move is None:
            return None
        pose, decrement = move.pose, model.decrement(move)
        if diverged(model, decrement):
            return None
        if count == 1:
            predicted, stable = move.predicted, move.stable
    if move is None or fails(model, before, pose, decrement):
        return None
    if jumps(model, before, pose):
        return None
    stable = stable or not model.buckles(before)  # contacts may support it where drives do not
    return Attempt(move, before, aim.goal, predicted, decrement, memory.failures, stable)


def _enough(model: Model, memory: Memory) -> float:
    """The decrement [m] after which an attempt does not linearise again; a scout only looks for a way."""
    settings = model.settings
    return (settings.worst_decrement if memory.scout else settings.decrement) * model.robot.length


def next_step_length(model: Model, memory: Memory, taken: Attempt, still: bool) -> float:
    """The step length after a step that was taken.

    Shorter where the effectors did not come nearer as was predicted, longer where they did; longer than 1
    where little was predicted and the target stays. After failures it stays the one that worked at last.
    """
    if taken.failures:
        return min(1.0, memory.step_length)
    distance, here = lambda delta: model.distance(memory.target, delta), model.effector_delta(taken.before)
    before = distance(here)
    predicted, asked = before - distance(taken.predicted), model.distance(taken.goal, here)
    if predicted < NO_PROGRESS * model.robot.length:
        return min(1.0, LONGER * memory.step_length)
    gain = before - distance(model.effector_delta(taken.move.pose))
    factor = SHORTER if gain < POOR_GAIN * predicted else LONGER if gain > GOOD_GAIN * predicted else 1.0
    longest = LONGEST if predicted < SLOW * asked else max(1.0, memory.step_length)
    longest = longest if still else 1.0
    return min(longest, memory.step_length * factor)


def leaps(model: Model, memory: Memory) -> bool:
    """Whether efforts far from those at hand are tried.

    Contacts make several minima, and where another one lies the linear model may be no good: after a failure
    there, the solver stays with the minimum at hand until the target has gone on.
    """
    if not len(memory.pose.contacts) or model.settings.starts == 1:
        return False
    failed = memory.failed_leap
    return failed is None or model.distance(memory.target, failed) > LEAP_AGAIN * model.robot.length


def aim_of(model: Model, memory: Memory) -> Aim:
    """What the program of this attempt wants."""
    settings, pose, share = model.settings, memory.pose, min(1.0, memory.step_length)
    rho = settings.inertia_in_contact if bool(pose.force.any()) else settings.inertia
    damping = DAMPING * max(0.0, SHORTER / share - 1.0)
    return Aim(
        goal=_goal(model, memory),
        effort=effort_bounds(model, pose, share),
        displacement=displacement_bounds(model, pose, share),
        inertia=rho * _inertia_factor(memory.idle) * share / memory.step_length + damping,
        energy=settings.energy * memory.thrift,
        starts=settings.starts if leaps(model, memory) else 1,
        reach=memory.reach,
        idle=memory.idle > 0,
    )


def _inertia_factor(idle: int) -> float:
    """How much of ρ there is after so many steps that came no nearer: less at first, then more and more."""
    least = max(RELAXING ** min(idle, RELAXED), LEAST_INERTIA)
    return least * CALMING ** max(idle - RELAXED, 0)


def _goal(model: Model, memory: Memory) -> np.ndarray:
    """The target with its bias, or a point on the way to it."""
    here, pace = model.effector_delta(memory.pose), SCOUT_PACE if memory.scout else 1.0
    error, task_step = memory.target - here, pace * model.settings.task_step * model.robot.length
    motion = model.clipped(error, min(1.0, memory.step_length) * task_step)
    return here + motion + (memory.bias if motion is error else 0.0)
