"""What is said of a step: its certificate, in the words of `InverseCertificate`."""

from __future__ import annotations

from pliant.inverse.attempt import Attempt
from pliant.inverse.limits import active_limits, within_limits
from pliant.inverse.memory import Memory
from pliant.inverse.model import Model, Pose
from pliant.inverse.outcome import InverseCertificate
from pliant.result import UNSOLVED

REACHED = 1e-3  # of the length
RESTS = 1e-6  # of the length: motion in a step that is none


def taken(model: Model, memory: Memory, found: Attempt) -> InverseCertificate:
    """Of a step that was taken."""
    pose, length = memory.pose, model.robot.length
    here = model.aims(pose)
    status = "reached" if model.distance(memory.target, here) < REACHED * length else "moving"
    behind = model.distance(found.goal, here) > 0.5 * model.settings.task_step * length
    rests = model.distance(model.aims(found.before), here) < RESTS * length
    if status == "moving" and (behind or rests or memory.frozen):
        status = unreached(model, pose)
    return of(model, pose, found, status)


def of(model: Model, pose: Pose, found: Attempt, status: str) -> InverseCertificate:
    """Of a step that ended at a pose after an attempt."""
    efforts = found.move.efforts
    return InverseCertificate(
        UNSOLVED.get(efforts.status, status),
        found.decrement,
        pose.depth,
        found.linearisations,
        found.halvings,
        found.move.shift,
        active_limits(model, pose),
        True,
        efforts.certificate,
        found.move.condensed.treatment,
    )


def waiting(model: Model, memory: Memory, status: str) -> InverseCertificate:
    """Of a robot that stays where it is while a way on is sought."""
    pose = memory.pose
    limits = active_limits(model, pose)
    return InverseCertificate(
        status, memory.decrement, pose.depth, 0, memory.failures, 0.0, limits, moved=False
    )


def unreached(model: Model, pose: Pose) -> str:
    """Why a robot does not come nearer: "stuck" outside its limits with no way in, "at its limits", or "out of reach"."""
    if not within_limits(model, pose):
        return "stuck"
    return "at its limits" if active_limits(model, pose) else "out of reach"
