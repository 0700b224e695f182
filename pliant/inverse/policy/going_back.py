"""The way back along poses that were passed: one equilibrium after another, never a jump.

A step imposes commands on all drives, those of the next pose or a share of the way to them, and solves for
the equilibrium. Where the pose is still an equilibrium as it was, it begins there and has little to do; among
obstacles that have moved it begins where the robot is, and goes wherever these commands lead now.
"""

from __future__ import annotations

import numpy as np

from pliant.inverse.model import Model, Pose
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import FARTHEST, jumps, may_stay, near_equilibrium
from pliant.inverse.policy.certificates import of_waiting, of_walk
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, GoingBack, Resting
from pliant.inverse.policy.recovery import tolerance
from pliant.inverse.policy.trail import Guide
from pliant.state import State

STRIDE = 0.5  # of how far a node may move in a step: what a step of the way back goes for
FAILURES = 8  # attempts at one pose; every other as if all that is touched were flat, then half as far


def go_back(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after a step along the path of its mode, and what to say of it."""
    mode = memory.mode
    assert isinstance(mode, GoingBack)
    path, before = _from_here(model, memory.pose, mode.path), memory.pose
    stiff, share = mode.failures % 2 == 0, 0.5 ** (mode.failures // 2)
    command, whole = _command(model, before, path[0], share)
    begin = _begin(model, before, path[0], whole)
    result = model.equilibrium(command, begin, tolerance(max(1, model.left)), stiff=stiff)
    pose, decrement = model.pose_of(result), result.certificate.decrement
    found = pose.view is not None and near_equilibrium(model, before, pose, decrement)
    if not found or (jumps(model, before, pose) and not memory.disturbed):
        return _failed(model, memory, path, mode)
    left = path[1:] if whole else path
    goes_on = bool(left) and not mode.until_found
    memory = memory.with_(
        pose=pose,
        decrement=decrement,
        trail=memory.trail.passed(model, pose),
        mode=GoingBack(left, 0) if goes_on else Following(),
        disturbed=False,
        idle=0,
        nearest=np.inf,
        step_length=1.0,
        bias=0.0 * memory.bias,
    )
    return memory, of_walk(model, memory, "going back", moved=True)


def _failed(
    model: Model, memory: Memory, path: tuple[Guide, ...], mode: GoingBack
) -> tuple[Memory, InverseCertificate]:
    """No equilibrium was found on the way: half as far in the next step, and at last no further."""
    if mode.failures + 1 < FAILURES:
        memory = memory.with_(mode=GoingBack(path, mode.failures + 1, mode.until_found))
        return memory, of_waiting(model, memory, "going back")
    memory = memory.having_tried(doubt=True)
    if may_stay(model, memory.pose, memory.decrement) and not memory.disturbed:
        return memory.with_(mode=Following()), of_waiting(model, memory, "going back")
    certificate = of_waiting(model, memory, "stuck")
    return memory.with_(mode=Resting(certificate)), certificate


def _from_here(model: Model, pose: Pose, path: tuple[Guide, ...]) -> tuple[Guide, ...]:
    """The path less what lies within one stride of the robot, but for the last of these poses."""
    nodes, stride = model.robot.positions(pose.q), STRIDE * FARTHEST * _task_step(model)
    first = 0
    while first + 1 < len(path) and path[first + 1].far(nodes) < stride:
        first += 1
    return path[first:]


def _command(model: Model, pose: Pose, guide: Guide, share: float) -> tuple[np.ndarray, bool]:
    """The next commands (na,) on the way to those of a pose, and whether they are these.

    No farther than a stride and than the speed limits allow.
    """
    here = model.commands(pose.lam, pose.delta)
    way = model.commands(guide.lam, guide.delta) - here
    far = guide.far(model.robot.positions(pose.q))
    share *= min(1.0, STRIDE * FARTHEST * _task_step(model) / max(far, 1e-300))
    reach, size = model.roles.speed / model.settings.rate, np.abs(way)
    share = min(
        share, float(np.min(np.divide(reach, size, out=np.ones_like(size), where=size > 0.0), initial=1.0))
    )
    return here + share * way, share >= 1.0


def _begin(model: Model, pose: Pose, guide: Guide, whole: bool) -> State:
    """Where to begin: at the pose that was passed, if it is an equilibrium still; else where the robot is."""
    if not whole or guide.version != model.detector.version:
        return model.state(pose)
    return State(guide.q, np.zeros(model.robot.ndof), guide.lam, model.internal, model.gravity)


def _task_step(model: Model) -> float:
    """[m]"""
    return model.settings.task_step * model.robot.length
