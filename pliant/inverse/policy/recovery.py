"""Where something has pushed the robot out of equilibrium: the equilibrium with all drives locked.

It is sought over several steps, so that none takes long.
"""

from __future__ import annotations

from typing import TypeVar

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import may_stay, near_equilibrium
from pliant.inverse.policy.certificates import of_waiting, of_walk, unreached
from pliant.inverse.policy.line_search import RESTART
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, GoingBack, Recovering, Resting, Settling, Stuck
from pliant.newton import Tolerance
from pliant.result import Result

ITERATIONS = 80  # in all; in the second half, anew, as if all that is touched were flat
RESIDUAL = 1e-5  # of the loads: imbalance of a state that counts as an equilibrium
DECREMENT = 1e-6  # of the length: decrement of a state that counts as an equilibrium

Progress = TypeVar("Progress", Recovering, Settling)


def recover(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after some iterations towards the equilibrium with locked drives, and what to say of them.

    A robot that is stuck already gets one iteration only, until its target or an obstacle moves.
    """
    if memory.stuck:
        command = model.commands(memory.pose.lam, memory.pose.delta)
        return _ended(model, memory, model.equilibrium(command, model.state(memory.pose), tolerance(1)))
    progress = memory.mode if isinstance(memory.mode, Recovering) else Recovering()
    progress, result = sought(model, memory, progress)
    if result is None:
        memory = memory.with_(mode=progress)
        return memory, of_waiting(model, memory, "recovering")
    return _ended(model, memory, result)


def sought(model: Model, memory: Memory, progress: Progress) -> tuple[Progress, Result | None]:
    """How far a search with locked drives has come in this step, and its result; None: more to come."""
    pose, half, iterations = memory.pose, ITERATIONS // 2, max(1, model.left)
    stiff, spent = progress.spent < half, progress.spent + iterations
    begin = model.state(pose) if progress.state is None else progress.state
    command = model.commands(pose.lam, pose.delta)
    exactly = Tolerance(iterations=iterations)  # as statics does: where a robot rests, it would stay
    within = exactly if isinstance(progress, Settling) else tolerance(iterations)
    result = model.equilibrium(command, begin, within, stiff=stiff)
    if result.certificate.converged or spent >= ITERATIONS:
        return type(progress)(), result
    return type(progress)(None if stiff and spent >= half else result.state, spent), None


def tolerance(iterations: int) -> Tolerance:
    """Of a state that counts as an equilibrium, sought in so many iterations."""
    return Tolerance(residual=RESIDUAL, length=DECREMENT, iterations=iterations)


def _ended(model: Model, memory: Memory, result: Result) -> tuple[Memory, InverseCertificate]:
    """The memory after a recovery, and what to say of it.

    The robot stands at the equilibrium that was found, or at a state that is near one. Else it is where it
    was: it goes back along its trail until an equilibrium is found, or has done so and rests.
    """
    converged, decrement, pose = (
        result.certificate.converged,
        result.certificate.decrement,
        model.pose_of(result),
    )
    if converged or near_equilibrium(model, memory.pose, pose, decrement):
        trail = memory.trail.passed(model, pose, decrement) if converged else memory.trail
        memory = memory.with_(
            pose=pose,
            trail=trail,
            decrement=decrement,
            step_length=max(RESTART, memory.step_length) if converged else memory.step_length,
            mode=Following() if converged else Stuck(),
            disturbed=not converged,
        )
        return memory, of_walk(model, memory, "recovered" if converged else "stuck", moved=True)
    if not memory.scout and not memory.tried.doubt and len(memory.trail.guides) > 1:
        memory = memory.having_tried(doubt=True).with_(mode=GoingBack(memory.trail.back(), until_found=True))
        return memory, of_waiting(model, memory, "going back")
    stays = may_stay(model, memory.pose, memory.decrement)
    certificate = of_waiting(model, memory, unreached(model, memory) if stays else "stuck")
    return memory.with_(mode=Resting(certificate)), certificate
