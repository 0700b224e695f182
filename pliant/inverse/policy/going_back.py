"""The way back along poses that were passed: one equilibrium after another, never a jump.

A pose that is near and still an equilibrium is taken as it was. Else, among obstacles that have moved, under
other laws, or where it is farther than a step may go, its commands are imposed on all drives, or a share of
the way to them, and the robot goes to the equilibrium that it finds from where it stands. Where there is
none, or something is inside the robot to which it cannot yield, poses are taken as they were, in equilibrium
or not, and the robot recovers (`recovery.py`) at the end, or at the first that is clear of all obstacles.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import FARTHEST, diverged, jumps, near_equilibrium
from pliant.inverse.policy.certificates import of_waiting, of_walk
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, GoingBack, Mode, Recovering, Settling
from pliant.inverse.policy.recovery import recover
from pliant.inverse.policy.trail import Guide
from pliant.inverse.pose import Pose
from pliant.newton import Tolerance
from pliant.state import State

STRIDE = 0.5  # of how far a node may move in a step: what a step of the way back goes for
CLEAR = 1e-2  # of the length: depth of what a robot can still yield to
ITERATIONS = 15  # of an attempt, over as many steps as it takes
FAILURES = 6  # attempts at one pose; every other as if all that is touched were flat, then half as far
RESIDUAL = 1e-5  # of the loads: imbalance of a state that counts as an equilibrium
DECREMENT = 1e-6  # of the length: decrement of a state that counts as an equilibrium


def go_back(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after a step along the path of its mode, and what to say of it."""
    mode, before = memory.mode, memory.pose
    assert isinstance(mode, GoingBack)
    if mode.blindly:
        return _retreated(model, memory, _from_here(model, before, mode.path))
    path = mode.path if mode.parts else _from_here(model, before, mode.path)
    parts = mode.parts or _parts(model, before, path[0])
    pose, decrement, state, iterations = _sought(model, before, path[0], parts, mode)
    found = pose.view is not None and near_equilibrium(model, pose, decrement)
    if not found and mode.spent + iterations < ITERATIONS and not diverged(model, decrement):
        progress = replace(mode, path=path, parts=parts, state=state, spent=mode.spent + iterations)
        return memory.with_(mode=progress), of_waiting(model, memory, "going back")
    if memory.disturbed and (not found or jumps(model, before, pose)):
        return recover(model, memory.with_(mode=Recovering()))
    if not found or jumps(model, before, pose):
        return _failed(model, memory, path, parts)
    left, parts = (path, parts - 1) if parts > 1 else (path[1:], 0)
    if not left and path[0].far(model.robot.positions(pose.q)) > _stride(model):
        memory = memory.having_tried(doubt=True)  # these commands have led elsewhere
    memory = memory.with_(
        pose=pose,
        decrement=decrement,
        trail=memory.trail.passed(model, pose, decrement),
        mode=_onwards(memory, left, parts),
        disturbed=False,
        idle=0,
        nearest=np.inf,
        step_length=1.0,
        bias=0.0 * memory.bias,
    )
    return memory, of_walk(model, memory, "going back", moved=True)


def _onwards(memory: Memory, path: tuple[Guide, ...], parts: int) -> Mode:
    """What follows a step that was taken; failures count until the pose that they were on the way to."""
    mode = memory.mode
    assert isinstance(mode, GoingBack)
    if path:
        return GoingBack(path, parts, mode.failures if parts else 0)
    return Settling() if memory.tried.brink > 1 else Following()


def _retreated(model: Model, memory: Memory, path: tuple[Guide, ...]) -> tuple[Memory, InverseCertificate]:
    """The memory one stride on along poses as they were, whatever is there now.

    Clear of it, or at the end, it recovers, unless the last pose is known to be an equilibrium.
    """
    model.spent.linearisations += 1
    pose, arrived = _towards(model, memory.pose, path[0])
    left = path[1:] if arrived else path
    mode = memory.mode
    assert isinstance(mode, GoingBack)
    clear = mode.until_clear and not pose.swallowed and pose.depth <= CLEAR * model.robot.length
    over = clear or not left
    decrement = path[0].decrement if arrived and path[0].version == model.detector.version else np.inf
    there = over and near_equilibrium(model, pose, decrement)
    memory = memory.with_(
        pose=pose,
        decrement=decrement,
        trail=memory.trail.passed(model, pose, path[0].decrement),
        mode=Following() if there else Recovering() if over else replace(mode, path=left),
        disturbed=not there,
        idle=0,
        nearest=np.inf,
        step_length=1.0,
        bias=0.0 * memory.bias,
    )
    return memory, of_walk(model, memory, "backing out" if mode.until_clear else "going back", moved=True)


def _towards(model: Model, pose: Pose, guide: Guide) -> tuple[Pose, bool]:
    """A pose one stride nearer to that of a guide, and whether it is the guide's."""
    far, stride = guide.far(model.robot.positions(pose.q)), _stride(model)
    if far <= stride:
        return guide.pose(model), True
    share, robot = stride / far, model.robot
    q = robot.retract(pose.q, share * robot.difference(pose.q, guide.q))
    lam, contacts = pose.lam + share * (guide.lam - pose.lam), (pose.contacts, pose.force)
    return model.pose(q, lam, contacts, internal=guide.internal), False


def _sought(
    model: Model, pose: Pose, guide: Guide, parts: int, mode: GoingBack
) -> tuple[Pose, float, State, int]:
    """The next pose on the way, its decrement [m], its state, and how many iterations it took.

    A pose that is near and an equilibrium still is taken as it was.
    """
    near = guide.far(model.robot.positions(pose.q)) <= _stride(model)
    if parts == 1 and near and guide.version == model.detector.version and not mode.failures:
        model.spent.linearisations += 1
        there = guide.pose(model)
        return there, guide.decrement, model.state(there), 1
    here = model.commands(pose.lam, pose.delta)
    command = here + (model.commands(guide.lam, guide.delta) - here) / parts
    begin, iterations = mode.state or model.state(pose), max(1, model.left)
    within = Tolerance(residual=RESIDUAL, length=DECREMENT, iterations=iterations)
    result = model.equilibrium(command, begin, within, stiff=mode.failures % 2 == 0)
    return model.pose_of(result), result.certificate.decrement, result.state, iterations


def _failed(
    model: Model, memory: Memory, path: tuple[Guide, ...], parts: int
) -> tuple[Memory, InverseCertificate]:
    """No equilibrium was found on the way: half as far in the next step, and at last without any."""
    mode = memory.mode
    assert isinstance(mode, GoingBack)
    if mode.failures + 1 < FAILURES:
        parts = 2 * parts if mode.failures % 2 else parts
        again = GoingBack(path, parts, mode.failures + 1)
        memory = memory.with_(mode=again)
        return memory, of_waiting(model, memory, "going back")
    memory = memory.having_tried(doubt=True).with_(mode=GoingBack(path, blindly=True))
    return memory, of_waiting(model, memory, "going back")


def _from_here(model: Model, pose: Pose, path: tuple[Guide, ...]) -> tuple[Guide, ...]:
    """The path less what lies within one stride of the robot, but for the last of these poses."""
    nodes, stride, first = model.robot.positions(pose.q), _stride(model), 0
    while first + 1 < len(path) and path[first + 1].far(nodes) < stride:
        first += 1
    return path[first:]


def _parts(model: Model, pose: Pose, guide: Guide) -> int:
    """In how many steps to go to a pose: none goes farther than a stride, nor faster than the drives may."""
    far = guide.far(model.robot.positions(pose.q))
    way = model.commands(guide.lam, guide.delta) - model.commands(pose.lam, pose.delta)
    slowest = float((np.abs(way) * model.settings.rate / model.roles.speed).max(initial=0.0))
    return max(1, math.ceil(far / _stride(model)), math.ceil(slowest))


def _stride(model: Model) -> float:
    """[m]"""
    return STRIDE * FARTHEST * model.settings.task_step * model.robot.length
