"""Where no step will do: the equilibrium with all drives locked.

It is sought over several steps, so that none takes long.
"""

from __future__ import annotations

import numpy as np

from pliant.inverse.model import Model, Pose
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import may_stay, near_equilibrium
from pliant.inverse.policy.certificates import of_recovery, of_waiting, unreached
from pliant.inverse.policy.line_search import RESTART
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, Recovering, Resting, Stuck
from pliant.newton import Tolerance
from pliant.result import Result

ITERATIONS = 80  # in all; in the second half, anew, as if all that is touched were flat
RESIDUAL = 1e-5  # of the loads: imbalance of a state that counts as an equilibrium
DECREMENT = 1e-6  # of the length: decrement of a state that counts as an equilibrium


def recover(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after some iterations towards the equilibrium with locked drives, and what to say of them.

    A robot that is stuck already gets one iteration only, until its target or an obstacle moves.
    """
    if memory.stuck:
        return _ended(model, memory, model.locked(memory.pose, _tolerance(1)))
    progress = memory.mode if isinstance(memory.mode, Recovering) else Recovering()
    iterations = max(1, model.settings.budget * 2 // 3)  # two for three linearisations of the budget
    progress, result = _sought(model, memory.pose, progress, iterations)
    if result is None:
        memory = memory.with_(mode=progress)
        return memory, of_waiting(model, memory, "recovering")
    return _ended(model, memory, result)


def _sought(
    model: Model, pose: Pose, progress: Recovering, iterations: int
) -> tuple[Recovering, Result | None]:
    """How far the search has come after some more iterations, and its result; None: more to come."""
    half = ITERATIONS // 2
    stiff, spent = progress.spent < half, progress.spent + iterations
    result = model.locked(pose, _tolerance(iterations), progress.state, stiff=stiff)
    if result.certificate.converged or spent >= ITERATIONS:
        return Recovering(), result
    return Recovering(None if stiff and spent >= half else result.state, spent), None


def _tolerance(iterations: int) -> Tolerance:
    return Tolerance(residual=RESIDUAL, length=DECREMENT, iterations=iterations)


def _ended(model: Model, memory: Memory, result: Result) -> tuple[Memory, InverseCertificate]:
    """The memory after a recovery, and what to say of it.

    The robot stands at the equilibrium that was found, or at a state that is near one; else where it was, at
    rest. One that had to recover before, for the same target, and whose step length is frozen, rests where it
    has come to.
    """
    converged, decrement = result.certificate.converged, result.certificate.decrement
    pose = _pose(model, result)
    moved = converged or near_equilibrium(model, memory.pose, pose, decrement)
    rests = not moved or (memory.recovered and memory.frozen)
    if moved:
        memory = memory.with_(
            pose=pose,
            stable_poses=(),
            decrement=decrement,
            step_length=RESTART if converged and not memory.recovered else memory.step_length,
            recovered=True,
        )
    status = "recovered" if converged else "stuck"
    if rests and may_stay(model, memory.pose, memory.decrement):
        status = unreached(model, memory.pose)
    certificate = of_recovery(model, memory, status, moved=moved)
    mode = Resting(certificate) if rests else Following() if converged else Stuck()
    return memory.with_(mode=mode), certificate


def _pose(model: Model, result: Result) -> Pose:
    """The pose of a state that statics found, with its contacts and their forces."""
    force = np.concatenate([result.contact_force, result.friction_force.ravel()])
    known = None if result.contacts is None else (result.contacts, force)
    return model.pose(result.q, np.array(result.state.effort), known)
