"""Where no step will do: the equilibrium with all drives locked, sought over several steps so that none takes long."""

from __future__ import annotations

import numpy as np

from pliant.inverse.attempt import allowed_depth
from pliant.inverse.limits import active_limits, within_limits
from pliant.inverse.memory import Following, Memory, Recovering, Resting, Stuck
from pliant.inverse.model import Model, Pose
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.verdict import unreached, waiting
from pliant.newton import Tolerance
from pliant.result import Result

ITERATIONS = 80  # in all; in the second half, anew, as if all that is touched were flat
AFTERWARDS = 0.25  # step length after a recovery


def recover(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after some iterations towards the equilibrium with locked drives, and what to say of them.

    A robot that is stuck already gets one iteration only, until its target or an obstacle moves.
    """
    if memory.stuck:
        return _ended(model, memory, model.locked(memory.pose, _tolerance(1)))
    progress = memory.mode if isinstance(memory.mode, Recovering) else Recovering()
    progress, found = _sought(model, memory.pose, progress, max(1, model.settings.budget * 2 // 3))
    if found is None:
        memory = memory.with_(mode=progress)
        return memory, waiting(model, memory, "recovering")
    return _ended(model, memory, found)


def _sought(
    model: Model, pose: Pose, progress: Recovering, iterations: int
) -> tuple[Recovering, Result | None]:
    """So many iterations more: how far the search has come, and what it found; None if there are more to come."""
    half = ITERATIONS // 2
    curved, spent = progress.spent < half, progress.spent + iterations
    found = model.locked(pose, _tolerance(iterations), progress.state, curved=curved)
    if found.certificate.converged or spent >= ITERATIONS:
        return Recovering(), found
    return Recovering(None if curved and spent >= half else found.state, spent), None


def _tolerance(iterations: int) -> Tolerance:
    return Tolerance(residual=1e-5, length=1e-6, iterations=iterations)


def _ended(model: Model, memory: Memory, found: Result) -> tuple[Memory, InverseCertificate]:
    """The memory at the equilibrium that was found, or at a state that is near one; else where the robot was, at rest.

    A robot that had to recover before, for the same target, and whose step length is frozen, rests where it has come to.
    """
    converged, decrement = found.certificate.converged, found.certificate.decrement
    there = _pose(model, found)
    near = decrement <= _worst(model) and there.depth <= max(allowed_depth(model), memory.pose.depth)
    moved = converged or near
    rests = not moved or (memory.recovered and memory.frozen)
    if moved:
        memory = memory.with_(
            pose=there,
            stable_poses=(),
            decrement=decrement,
            step_length=AFTERWARDS if converged and not memory.recovered else memory.step_length,
            recovered=True,
        )
    status = "recovered" if converged else "stuck"
    status = unreached(model, memory.pose) if rests and _sound(model, memory) else status
    certificate = _certificate(model, memory, status, moved=moved)
    mode = Resting(certificate) if rests else Following() if converged else Stuck()
    return memory.with_(mode=mode), certificate


def _pose(model: Model, found: Result) -> Pose:
    """The pose of a state that statics found, with its contacts and their forces."""
    force = np.concatenate([found.contact_force, found.friction_force.ravel()])
    known = None if found.contacts is None else (found.contacts, force)
    return model.pose(found.q, np.array(found.state.effort), known)


def _sound(model: Model, memory: Memory) -> bool:
    """Whether a robot may stay where it is: near equilibrium, not too deep inside an obstacle, within its limits."""
    pose = memory.pose
    return (
        pose.depth <= allowed_depth(model)
        and memory.decrement <= _worst(model)
        and within_limits(model, pose)
    )


def _worst(model: Model) -> float:
    """The largest decrement of a state that will do [m]."""
    return model.settings.worst_decrement * model.robot.length


def _certificate(model: Model, memory: Memory, status: str, *, moved: bool) -> InverseCertificate:
    pose, halvings = memory.pose, model.settings.halvings
    limits = active_limits(model, pose)
    return InverseCertificate(status, memory.decrement, pose.depth, 0, halvings, 0.0, limits, moved)
