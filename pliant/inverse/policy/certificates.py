"""What is said of a step: its certificate, in the words of `InverseCertificate`."""

from __future__ import annotations

from pliant.inverse.limits import active_limits, within_limits
from pliant.inverse.model import Model, Pose
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.line_search import Attempt
from pliant.inverse.policy.memory import Memory
from pliant.result import UNSOLVED

REACHED = 1e-3  # of the length: distance from a target that is reached
BEHIND = 0.5  # of the task step: distance from its goal of a step that was kept back
NO_MOTION = 1e-6  # of the length: motion in a step that is none


def of_step(model: Model, memory: Memory, taken: Attempt) -> InverseCertificate:
    """Of a step that was taken."""
    pose, length = memory.pose, model.robot.length
    here = model.effector_delta(pose)
    status = "reached" if model.distance(memory.target, here) < REACHED * length else "moving"
    behind = model.distance(taken.goal, here) > BEHIND * model.settings.task_step * length
    still = model.distance(model.effector_delta(taken.before), here) < NO_MOTION * length
    if status == "moving" and (behind or still or memory.frozen):
        status = unreached(model, pose)
    return _after(model, pose, taken, status)


def of_stepping_back(model: Model, pose: Pose, taken: Attempt) -> InverseCertificate:
    """Of a step back to a stable pose: from where the robot was it would have buckled."""
    return _after(model, pose, taken, "about to buckle")


def of_waiting(model: Model, memory: Memory, status: str) -> InverseCertificate:
    """Of a robot that stays where it is while a way on is sought: "searching" or "recovering"."""
    return _without_attempt(model, memory, status, memory.failures, moved=False)


def of_recovery(model: Model, memory: Memory, status: str, *, moved: bool) -> InverseCertificate:
    """Of a recovery that has ended; `moved`: at another pose than where the robot was."""
    return _without_attempt(model, memory, status, model.settings.halvings, moved=moved)


def unreached(model: Model, pose: Pose) -> str:
    """Why a robot does not come nearer: "at its limits", "out of reach", or "stuck" outside its limits."""
    if not within_limits(model, pose):
        return "stuck"
    return "at its limits" if active_limits(model, pose) else "out of reach"


def _after(model: Model, pose: Pose, taken: Attempt, status: str) -> InverseCertificate:
    efforts = taken.move.efforts
    return InverseCertificate(
        status=UNSOLVED.get(efforts.status, status),
        decrement=taken.decrement,
        penetration=pose.depth,
        linearisations=taken.linearisations,
        halvings=taken.failures,
        shift=taken.move.shift,
        limits=active_limits(model, pose),
        moved=True,
        solver=efforts.certificate,
        tangent=taken.move.condensed.treatment,
    )


def _without_attempt(
    model: Model, memory: Memory, status: str, halvings: int, *, moved: bool
) -> InverseCertificate:
    return InverseCertificate(
        status=status,
        decrement=memory.decrement,
        penetration=memory.pose.depth,
        linearisations=0,
        halvings=halvings,
        shift=0.0,
        limits=active_limits(model, memory.pose),
        moved=moved,
    )
