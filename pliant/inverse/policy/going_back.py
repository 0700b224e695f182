"""The way back along poses that were passed: one equilibrium after another, never a jump.

A pose that is near and still an equilibrium is taken as it was. Else, among obstacles that have moved, under
other laws, or where it is farther than a step may go, the robot walks to its commands in parts (`walk`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pliant.inverse.model import Model, Pose
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import FARTHEST, may_stay
from pliant.inverse.policy.certificates import of_waiting, of_walk
from pliant.inverse.policy.memory import SCOUTS, Memory
from pliant.inverse.policy.modes import Following, GoingBack, Resting
from pliant.inverse.policy.trail import Guide
from pliant.inverse.policy.walk import Found, Part, walked

STRIDE = 0.5  # of how far a node may move in a step: what a step of the way back goes for


def go_back(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after a step along the path of its mode, and what to say of it."""
    mode, before = memory.mode, memory.pose
    assert isinstance(mode, GoingBack)
    path = mode.path if mode.part.state or mode.part.share < 1.0 else from_here(model, before, mode.path)
    gone, found = _part_gone(model, before, path[0], mode.part)
    if gone is None:
        return _failed(model, memory)
    if found is None:
        memory = memory.with_(mode=replace(mode, path=path, part=gone))
        return memory, of_waiting(model, memory, "going back")
    left, part = (path[1:], Part()) if gone.share == 1.0 else (path, gone.after)
    if not left and path[0].far(model.robot.positions(found.pose.q)) > stride(model):
        memory = memory.having_tried(doubt=True, scouts=SCOUTS)  # these commands have led elsewhere
    memory = memory.with_(
        pose=found.pose,
        decrement=found.decrement,
        trail=memory.trail.passed(model, found.pose, found.decrement),
        mode=GoingBack(left, part) if left else Following(),
        disturbed=memory.disturbed and bool(left),
        idle=0,
        nearest=np.inf,
        step_length=1.0,
        bias=0.0 * memory.bias,
    )
    return memory, of_walk(model, memory, "snapped" if found.snaps else "going back", moved=True)


def _part_gone(model: Model, pose: Pose, guide: Guide, part: Part) -> tuple[Part | None, Found | None]:
    """The part of the way to a pose that was gone, and where that led, see `walked`.

    A pose that is near and an equilibrium still is taken as it was.
    """
    fresh, near = part == Part(), guide.far(model.robot.positions(pose.q)) <= stride(model)
    if fresh and near and guide.version == model.detector.version:
        model.spent.linearisations += 1
        return part, Found(guide.pose(model), guide.decrement)
    if part.state is None:
        part = replace(part, share=min(part.share, 1.0 / _parts(model, pose, guide)))
    return walked(model, pose, model.commands(guide.lam, guide.delta), part)


def _failed(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """No equilibrium was found on the way: no further."""
    memory = memory.having_tried(doubt=True, scouts=SCOUTS)
    if may_stay(model, memory.pose, memory.decrement) and not memory.disturbed:
        return memory.with_(mode=Following()), of_waiting(model, memory, "going back")
    certificate = of_waiting(model, memory, "stuck")
    return memory.with_(mode=Resting(certificate)), certificate


def from_here(model: Model, pose: Pose, path: tuple[Guide, ...]) -> tuple[Guide, ...]:
    """The path less what lies within one stride of the robot, but for the last of these poses."""
    nodes, near, first = model.robot.positions(pose.q), stride(model), 0
    while first + 1 < len(path) and path[first + 1].far(nodes) < near:
        first += 1
    return path[first:]


def _parts(model: Model, pose: Pose, guide: Guide) -> int:
    """In how many steps to go to a pose: none goes farther than a stride, nor faster than the drives may."""
    far = guide.far(model.robot.positions(pose.q))
    way = model.commands(guide.lam, guide.delta) - model.commands(pose.lam, pose.delta)
    slowest = float((np.abs(way) * model.settings.rate / model.roles.speed).max(initial=0.0))
    return max(1, math.ceil(far / stride(model)), math.ceil(slowest))


def stride(model: Model) -> float:
    """How far [m] a step of the way back goes."""
    return STRIDE * FARTHEST * model.settings.task_step * model.robot.length
