"""The approach to efforts that are far from those at hand: in parts, each an equilibrium.

A robot that comes no nearer reaches out for contacts that are farther away than usual (`scouting`). The
program may then find efforts that close such a gap, but too far off for one step. They are approached one
part of the way after another; once the contact is closed, the robot follows its target as ever.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.inverse.condensed import Aim
from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.certificates import REACHED, of_waiting, of_walk
from pliant.inverse.policy.line_search import Attempt, aim_of, leaps, tried_aim
from pliant.inverse.policy.memory import Memory
from pliant.inverse.policy.modes import PARTS, Approaching, Following

MOST_PARTS = 32  # then it is given up
FAR = 1e-6  # of the largest effort: efforts that are nearer are those at hand


def approach(model: Model, memory: Memory) -> Memory | None:
    """The memory of a robot that sets out for the efforts of another minimum; None if there is none."""
    if not memory.reach or not leaps(model, memory):
        return None
    move = model.move(memory.pose, memory.pose, aim_of(model, memory))
    if move is None:
        return None
    rows, ne = model.roles.actuators, len(model.roles.effectors)
    efforts = np.clip(move.efforts.effort[ne : ne + len(rows)], *model.roles.effort)
    far = np.abs(efforts - memory.pose.lam[rows]).max(initial=0.0) > FAR * np.abs(efforts).max(initial=0.0)
    if not far:
        return None
    return memory.with_(mode=Approaching(efforts, PARTS), failed_leap=memory.target)


def approached(model: Model, memory: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory after one part of the way, and what to say of it."""
    mode = memory.mode
    assert isinstance(mode, Approaching)
    here = memory.pose.lam[model.roles.actuators]
    next_efforts = here + (mode.efforts - here) / mode.parts
    aim: Aim = replace(aim_of(model, memory), effort=(next_efforts, next_efforts), starts=1)
    taken = tried_aim(model, memory, aim)
    if taken is None:
        parts = 2 * mode.parts
        given_up = parts > MOST_PARTS or mode.steps <= 1
        again = replace(mode, parts=parts, steps=mode.steps - 1)
        memory = memory.with_(mode=Following() if given_up else again)
        return memory, of_waiting(model, memory, "searching")
    if _leads_away(model, memory, taken):
        return memory.with_(mode=Following()), of_waiting(model, memory, "searching")
    further = replace(mode, parts=mode.parts - 1, steps=mode.steps - 1)
    memory = memory.with_(
        pose=taken.move.pose,
        decrement=taken.decrement,
        trail=memory.trail.left(model, taken.before, memory.decrement, stable=taken.stable),
        mode=further if min(mode.parts, mode.steps) > 1 else Following(),
        idle=0,
        nearest=np.inf,
        disturbed=False,
    )
    return memory, of_walk(model, memory, "moving", moved=True)


def _leads_away(model: Model, memory: Memory, taken: Attempt) -> bool:
    """Whether a robot is past its target, since the contact is closed; a scout may go anywhere."""
    far = lambda pose: model.distance(memory.target, model.effector_delta(pose))
    return not memory.scout and far(taken.move.pose) > far(memory.pose) + REACHED * model.robot.length
