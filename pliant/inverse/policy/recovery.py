"""Where something has pushed the robot out of equilibrium: it creeps to that with all drives locked.

An obstacle that comes into the robot pushes it aside, step by step and never far in one. Where contacts
contradict each other with drives that do not move, the drives yield: they keep their efforts. Where that
leads nowhere, or an obstacle is so deep in a body that contacts would close the body round it, the robot goes
back along its trail, poses as they were, until one is clear of all obstacles; and from there it recovers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import (
    FARTHEST,
    allowed_decrement,
    allowed_depth,
    near_equilibrium,
    stands_off,
)
from pliant.inverse.policy.certificates import of_waiting, of_walk
from pliant.inverse.policy.line_search import RESTART
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, GoingBack, Recovering, Resting
from pliant.inverse.policy.scouting import may_scout, send
from pliant.inverse.policy.trail import Guide
from pliant.static.creep import Strides

ITERATIONS = 60  # in all; in the second half as if all that is touched were flat
STRIDE = 0.25  # of how far a node may move in a step: that of an iteration
WALKED = 0.75  # of how far a node may move in a step: beyond, no iteration follows


def recover(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after some iterations to the equilibrium with locked drives, and what to say of them."""
    mode, before = memory.mode if isinstance(memory.mode, Recovering) else Recovering(), memory.pose
    if before.swallowed or before.view is None:
        return retreat(model, memory)
    command = model.commands(before.lam, before.delta) if mode.command is None else mode.command
    stiff = mode.spent < ITERATIONS // 2 and not mode.flat
    strides, iterations = _strides(model), max(1, model.left)
    imposed = None if mode.yielding else command
    pose, decrement, spent = model.crept(imposed, before, iterations, strides, stiff=stiff)
    if spent == 0 and not mode.yielding:  # contacts contradict each other while all drives are locked
        memory = memory.with_(mode=replace(mode, command=command, yielding=True), disturbed=True)
        return memory, of_waiting(model, memory, "recovering")
    if pose.view is None or pose.swallowed or spent == 0:
        return retreat(model, memory)
    memory = memory.with_(pose=pose, decrement=decrement)
    touches = not stands_off(model, pose) or mode.spent + spent >= ITERATIONS // 2
    if near_equilibrium(model, pose, decrement) and touches:
        memory = memory.with_(
            trail=memory.trail.passed(model, pose, decrement),
            step_length=max(RESTART, memory.step_length),
            mode=Following(),
            disturbed=False,
        )
        return memory, of_walk(model, memory, "recovered", moved=True)
    too_deep = pose.depth > allowed_depth(model)
    if mode.spent + spent >= ITERATIONS or (decrement <= strides.enough and too_deep):  # it rests there
        return retreat(model, memory)
    flat = mode.flat or decrement == np.inf  # forces have run away
    mode = replace(mode, command=command, spent=mode.spent + spent, flat=flat)
    memory = memory.with_(mode=mode, disturbed=True)
    return memory, of_walk(model, memory, "recovering", moved=True)


def retreat(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The way back along the trail and on to the undeformed shape, poses as they were.

    Next time scouts look for an equilibrium to go to; without one it is stuck.
    """
    if memory.tried.retreated and may_scout(model, memory):
        return send(model, memory), of_waiting(model, memory, "stuck")
    if memory.scout or memory.tried.retreated:
        certificate = of_waiting(model, memory, "stuck")
        return memory.with_(mode=Resting(certificate), disturbed=True), certificate
    path = (*memory.trail.back(), Guide.undeformed(model))
    way = GoingBack(path, blindly=True, until_clear=True)
    memory = memory.having_tried(retreated=True).with_(mode=way, disturbed=True)
    return memory, of_waiting(model, memory, "backing out")


def _strides(model: Model) -> Strides:
    length = model.robot.length
    farthest = FARTHEST * model.settings.task_step * length
    return Strides(STRIDE * farthest, WALKED * farthest, allowed_decrement(model))
