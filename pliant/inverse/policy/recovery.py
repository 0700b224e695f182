"""Where something has pushed the robot out of equilibrium: the walk to the one with all drives locked.

An obstacle that has come into the robot is let out of it part by part, an effort that a law has begun to
impose is led to its value. The robot moves with each part, no farther than in any other step, and says
"recovering" until the last one. Where it would have to jump, it snaps, and says so. Where no part is short
enough, as between two obstacles, it retreats along its trail until it can recover.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import may_stay
from pliant.inverse.policy.certificates import of_waiting, of_walk, unreached
from pliant.inverse.policy.going_back import from_here
from pliant.inverse.policy.line_search import RESTART
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import Following, Recovering, Resting, Retreating
from pliant.inverse.policy.walk import Found, Part, walked

STAYED = 1e-6  # of the length: motion of a robot that is where it was


def recover(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after a part of the walk, or some iterations of it, and what to say of them."""
    pose = memory.pose
    part = memory.mode.part if isinstance(memory.mode, Recovering) else Part()
    gone, found = walked(model, pose, model.commands(pose.lam, pose.delta), part)
    if gone is None:
        return _lost(model, memory)
    if found is None:
        memory = memory.with_(mode=Recovering(gone))
        return memory, of_waiting(model, memory, "recovering")
    return _recovered(model, memory, gone, found)


def _recovered(model: Model, memory: Memory, gone: Part, found: Found) -> tuple[Memory, InverseCertificate]:
    """The memory at the end of a part, and what to say of it."""
    over = gone.share == 1.0
    if over and not memory.disturbed and model.motion(memory.pose, found.pose) < STAYED * model.robot.length:
        return _lost(model, memory)  # it was in equilibrium, and yet no step will do
    memory = memory.with_(
        pose=found.pose,
        decrement=found.decrement,
        trail=memory.trail.passed(model, found.pose, found.decrement) if over else memory.trail,
        mode=Following() if over else Recovering(gone.after),
        step_length=max(RESTART, memory.step_length),
        disturbed=not over,
        idle=0,
        nearest=np.inf,
    )
    word = "snapped" if found.snaps else "recovered" if over else "recovering"
    return memory, of_walk(model, memory, word, moved=True)


def _lost(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """No equilibrium was found: the robot retreats along its trail, or has done so and rests.

    Where it began, with no effort, it may snap to the equilibrium that is found from the undeformed shape.
    """
    if not memory.scout and not memory.tried.doubt and len(memory.trail.guides) > 1:
        memory = memory.having_tried(doubt=True).with_(mode=Retreating(memory.trail.back()))
        return memory, of_waiting(model, memory, "going back")
    part = memory.mode.part if isinstance(memory.mode, Recovering) else Part()
    if memory.disturbed and len(memory.trail.guides) == 1 and not part.undeformed:
        memory = memory.with_(mode=Recovering(Part(yielding=True, undeformed=True)))
        return memory, of_waiting(model, memory, "recovering")
    stays = may_stay(model, memory.pose, memory.decrement)
    certificate = of_waiting(model, memory, unreached(model, memory) if stays else "stuck")
    return memory.with_(mode=Resting(certificate)), certificate


def retreat(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory one pose further back, as it was, or at the first one from which the robot recovers.

    What has come into the robot has made its state one that cannot be. Poses that were equilibria before lead
    to where the robot began, however deep they are; `certificate.penetration` says how deep.
    """
    mode = memory.mode
    assert isinstance(mode, Retreating)
    path = from_here(model, memory.pose, mode.path)
    model.spent.linearisations += 1
    guide, left = path[0], path[1:]
    memory = memory.with_(
        pose=guide.pose(model),
        decrement=guide.decrement,
        trail=replace(memory.trail, guides=memory.trail.guides[: len(left) + 1]),
        mode=Retreating(left) if left else Recovering(),
    )
    if left and model.left > 0:
        pose = memory.pose
        gone, found = walked(model, pose, model.commands(pose.lam, pose.delta), Part())
        if found is not None and not found.snaps and gone is not None:
            return _recovered(model, memory, gone, found)
    return memory, of_walk(model, memory, "going back", moved=True)
