"""How a robot comes to rest: it counts steps that come no nearer, settles in equilibrium, and stays there.

While steps come no nearer, ρ falls at first, so that redundant efforts go to where they cost least, and grows
then (see `line_search`). Where the efforts do not change any more, or after so many steps, the equilibrium of
the commands is found to the last digit and the robot rests: the same command until something changes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import jumps, near_equilibrium
from pliant.inverse.policy.certificates import (
    IN_EQUILIBRIUM,
    REACHED,
    at_target,
    of_rest,
    of_waiting,
    of_walk,
)
from pliant.inverse.policy.line_search import RESTART, Attempt
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, GoingBack, Resting, Settling
from pliant.inverse.policy.scouting import may_scout, send
from pliant.inverse.policy.trail import Guide, Trail
from pliant.newton import Tolerance
from pliant.result import Result

NEARER = 1e-2  # of the distance from the target: less is not nearer …
AT_LEAST_NEARER = 2e-3  # … unless it is more than this share of the length
EXACTLY = 1e-4  # of the length: at a target that is so near, there is no nearer
AT_SPEED_LIMIT = 0.99  # of the motion in a period that a speed limit allows
CALM = 2e-5  # of the largest effort: a change in a step that is none
LEAST_IDLE, MOST_IDLE = 15, 40  # steps that come no nearer before a robot rests: if calm, in any case
STEPS_BACK = 4  # poses of the trail that a robot goes back where it would buckle
ITERATIONS = 80  # towards the equilibrium in which a robot rests …
FEW_ITERATIONS = 40  # … or from which it goes on
SAME = 1e-6  # of the length: a robot that moves by less has only exchanged efforts that lock each other
SETTLED = 3  # times that a robot may find that it was not in equilibrium when it was about to rest


def counted(model: Model, memory: Memory, taken: Attempt, still: bool) -> tuple[int, float]:
    """Steps that came no nearer to a target that stays, and the distance [m] they are counted from."""
    far = model.distance(memory.target, model.effector_delta(taken.move.pose))
    if not still or _hurries(model, taken):
        return 0, far
    length, nearest = model.robot.length, memory.nearest
    gain = min(NEARER * nearest, AT_LEAST_NEARER * length) if nearest < np.inf else 0.0
    nearer = far < nearest - gain and far > EXACTLY * length
    return (0, far) if nearer else (memory.idle + 1, nearest)


def _hurries(model: Model, taken: Attempt) -> bool:
    """Whether a drive went as fast as it may."""
    rows, reach = model.roles.actuators, model.roles.speed / model.settings.rate
    moved = np.abs(taken.move.pose.delta[rows] - taken.before.delta[rows])
    return bool((moved > AT_SPEED_LIMIT * reach).any())


def comes_to_rest(model: Model, memory: Memory, taken: Attempt) -> bool:
    """Whether a step was the last one: efforts do not change any more, or it has gone on for long."""
    if memory.idle < LEAST_IDLE:
        return False
    rows = model.roles.actuators
    before, after = taken.before.lam[rows], taken.move.pose.lam[rows]
    change = float(np.abs(after - before).max(initial=0.0))
    return memory.idle >= MOST_IDLE or change <= CALM * float(np.abs(after).max(initial=0.0))


def settle(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after some iterations towards the equilibrium of the commands, and what to say of them."""
    assert isinstance(memory.mode, Settling)
    progress, result = _sought(model, memory, memory.mode)
    if result is None:
        memory = memory.with_(mode=progress)
        return memory, of_waiting(model, memory, "reached" if at_target(model, memory) else "searching")
    if memory.mode.onwards:
        return _onwards(model, memory, result)
    if memory.scout:
        return _set_out(model, memory, result)
    before, pose, there = memory.pose, model.pose_of(result), at_target(model, memory)
    memory = memory.having_tried(settled=memory.tried.settled + 1)
    converged = result.certificate.converged
    if jumps(model, before, pose) or not (converged or there):  # contacts may rattle where it has arrived
        again = there or may_scout(model, memory)  # else it would only come here again, and rest no better
        return step_back(model, memory if again else memory.having_tried(brink=max(1, memory.tried.brink)))
    moved = model.motion(before, pose) > SAME * model.robot.length  # else its efforts are as good, and chosen
    if converged and moved:
        memory = memory.with_(pose=pose, decrement=result.certificate.decrement)
    memory = memory.with_(disturbed=False)
    if there and not at_target(model, memory) and memory.tried.settled < SETTLED:
        memory = memory.with_(mode=Following(), idle=0, nearest=np.inf)
        return memory, of_waiting(model, memory, "moving")
    if memory.tried.brink and may_scout(model, memory):
        return send(model, memory), of_waiting(model, memory, "looking for another way")
    certificate = of_rest(model, memory)
    return memory.with_(mode=Resting(certificate)), certificate


def may_settle(model: Model, memory: Memory) -> bool:
    """Whether a robot for which no step will do is to find its equilibrium first, and then to go on.

    Once in a place: it must have come nearer to the target since the last time.
    """
    length, far = model.robot.length, model.distance(memory.target, model.effector_delta(memory.pose))
    return memory.decrement > IN_EQUILIBRIUM * length and far < memory.tried.balanced - REACHED * length


def _onwards(model: Model, memory: Memory, result: Result) -> tuple[Memory, InverseCertificate]:
    """The memory of a robot that follows on from its equilibrium; from where it was if none is near."""
    pose = model.pose_of(result)
    found = result.certificate.converged and not jumps(model, memory.pose, pose)
    if found:
        length = max(RESTART, memory.step_length)
        memory = memory.with_(pose=pose, decrement=result.certificate.decrement, step_length=length)
    far = model.distance(memory.target, model.effector_delta(memory.pose))
    memory = memory.having_tried(balanced=far).with_(mode=Following())
    return memory, of_walk(model, memory, "moving" if found else "searching", moved=found)


def _set_out(model: Model, memory: Memory, result: Result) -> tuple[Memory, InverseCertificate]:
    """The memory of a scout that sets out from where statics led, however far that is; if anywhere."""
    memory = memory.with_(mode=Following())
    pose, decrement = model.pose_of(result), result.certificate.decrement
    if near_equilibrium(model, pose, decrement):
        trail = Trail((Guide.at(model, pose, decrement),), memory.trail.spacing)
        memory = memory.with_(pose=pose, decrement=decrement, trail=trail, disturbed=False)
    return memory, of_waiting(model, memory, "moving")


def _sought(model: Model, memory: Memory, progress: Settling) -> tuple[Settling, Result | None]:
    """How far the search with locked drives has come in this step, and its result; None: more to come.

    In its second half, anew, as if all that is touched were flat.
    """
    pose, iterations = memory.pose, max(1, model.left)
    most = FEW_ITERATIONS if progress.onwards else ITERATIONS
    half = most // 2
    stiff, spent = progress.spent < half, progress.spent + iterations
    begin = model.state(pose) if progress.state is None else progress.state
    exactly = Tolerance(iterations=iterations)  # as statics does: where a robot rests, it would stay
    result = model.equilibrium(model.commands(pose.lam, pose.delta), begin, exactly, stiff=stiff)
    if result.certificate.converged or spent >= most:
        return Settling(), result
    return replace(progress, state=None if stiff and spent >= half else result.state, spent=spent), None


def step_back(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The way back to poses that were stable; for the second time, to look for another way or rest there.

    One step more and the robot would buckle, drives locked or not.
    """
    memory = memory.having_tried(brink=memory.tried.brink + 1)
    if memory.tried.brink > 2 and may_scout(model, memory):
        return send(model, memory), of_waiting(model, memory, "looking for another way")
    if memory.tried.brink > 2 or memory.scout or not memory.trail.stable:
        certificate = of_rest(model, memory)
        return memory.with_(mode=Resting(certificate)), certificate
    path = memory.trail.back(STEPS_BACK)
    memory = memory.with_(mode=GoingBack(path))
    return memory, of_waiting(model, memory, "going back")
