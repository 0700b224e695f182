"""Scouts: where the robot comes no nearer, the model looks for another way before the robot moves.

A scout is a memory of its own, which begins at the first pose of the trail and follows the target by the same
policy, a few steps of it in each control step while the robot waits:

    0       straight on, unless the robot itself has just come from there
    1       straight on from where statics leads from the undeformed shape, if obstacles or laws have
            changed since the trail began
    2       from where all actuators have a quarter of their largest effort, if the target is near
    3, 4    from where one of those that are used least has half of it
    5, 6    by way of a detour to either side

Where the first pose of the trail is no equilibrium any more, because an obstacle stands there now, those from
2 on begin where statics led the scout before them.

If one comes nearer than the robot, the robot goes back along its trail and then along the scout's, pose by
pose. If none does, nothing that was tried brings it closer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import near_equilibrium, stands_off
from pliant.inverse.policy.certificates import REACHED, at_target, of_waiting
from pliant.inverse.policy.memory import SCOUTS, Memory
from pliant.inverse.policy.modes import (
    PARTS,
    Approaching,
    Following,
    GoingBack,
    Mode,
    Resting,
    Scouting,
    Settling,
)
from pliant.inverse.policy.trail import Guide, Trail

IDLE = 12  # steps without coming nearer after which it is not to be expected any more …
SCOUT_IDLE, LEG_IDLE = 6, 3  # … of a scout, at its last target, and on a detour
STEPS = 120  # of a scout, at most
WORTH = 5e-3  # of the length: what a scout must come nearer than the robot
STRAIGHT, UNDEFORMED = 0, 1  # scouts by number
NEAR = 0.1  # of the length: how far a target is, at most, for which actuators are set against each other
TENSED = range(2, 5)  # those that begin with actuators against each other: all of them, then one by one
TENSION, ALL_TENSION = 0.5, 0.25  # of their largest efforts
DETOURS = {5: 1.0, 6: -1.0}  # to which side of the straight way the others go
WIDER = 2.0  # factor of the search distance, where a robot comes no nearer …
WIDEST = 0.1  # … up to this share of the length
ASIDE = 0.25  # of the length: how far aside, at most

Step = Callable[[Model, Memory, bool], tuple[Memory, InverseCertificate]]


def may_scout(model: Model, memory: Memory) -> bool:
    """Whether there is a reason to send a scout, and one left to send for this target.

    There is none where the effectors are at their targets and efforts that relax have yet to settle.
    """
    left = model.settings.scouts and not memory.tried.all_ways and _next(model, memory) < SCOUTS
    far = model.distance(memory.target, model.effector_delta(memory.pose)) > REACHED * model.robot.length
    astray = far or memory.decrement == np.inf or stands_off(model, memory.pose)
    return left and not memory.scout and astray


def _next(model: Model, memory: Memory) -> int:
    """The number of the next scout that has something new to try; SCOUTS if none has."""
    first, tried = memory.trail.guides[0], memory.tried
    vain = {STRAIGHT: tried.fresh, UNDEFORMED: first.version == model.detector.version}
    vain |= {k: tension(model, memory, k) is None for k in TENSED}
    return next((k for k in range(tried.scouts, SCOUTS) if not vain.get(k, False)), SCOUTS)


def tension(model: Model, memory: Memory, number: int) -> np.ndarray | None:
    """Efforts (na,) with which this scout begins: of all actuators with a largest effort, or of one of them.

    None where there is none left, or where the target is far.
    """
    if model.distance(memory.target, model.effector_delta(memory.pose)) > NEAR * model.robot.length:
        return None
    most, used = model.roles.effort[1], np.abs(memory.pose.lam[model.roles.actuators])
    with_limits = np.flatnonzero(np.isfinite(most) & (most > 0.0))
    ordered = with_limits[np.argsort(used[with_limits] / most[with_limits], kind="stable")]
    groups = [(ordered, ALL_TENSION), *((one, TENSION) for one in ordered[:, None])]  # least used first
    if not len(ordered) or number - TENSED.start >= len(groups):
        return None
    chosen, share = groups[number - TENSED.start]
    efforts = np.clip(np.zeros(len(most)), *model.roles.effort)
    efforts[chosen] = share * most[chosen]
    return efforts


def send(model: Model, memory: Memory) -> Memory:
    """The memory with the next scout under way."""
    first = memory.tried.start or memory.trail.guides[0]
    memory = memory.having_tried(scouts=_next(model, memory))
    guide = Guide.undeformed(model) if memory.tried.scouts == UNDEFORMED else first
    conditions = model.roles.conditions
    lam = np.where(conditions.given, conditions.effort, guide.lam)
    legs = _legs(model, guide, memory)
    scout = Memory(
        pose=model.pose(guide.q, lam, internal=guide.internal),
        decrement=np.inf,
        target=legs[0],
        reference=legs[0],
        bias=0.0 * memory.target,
        trail=Trail((guide,), memory.trail.spacing),
        reach=memory.reach,
        mode=_mode(model, memory),
        scout=True,
    )
    return memory.with_(mode=Scouting(scout, legs[1:]))


def _mode(model: Model, memory: Memory) -> Mode:
    """What the next scout does at first."""
    number = memory.tried.scouts
    efforts = tension(model, memory, number) if number in TENSED else None
    if efforts is not None:
        return Approaching(efforts, PARTS)
    return Settling() if number == UNDEFORMED else Following()


def reaching_out(model: Model, memory: Memory) -> Memory | None:
    """The memory with a wider search for contacts, if that finds more of them; None if not.

    What is farther away than the alarm distance is no row of the program: where the effectors move through
    contacts only, as with two bodies that do not touch yet, it sees no way until such rows are added. Once
    for a target, and only where nothing is touched.
    """
    if memory.reach or memory.pose.force.any():
        return None
    reach, widest = max(memory.reach, model.detector.alarm), WIDEST * model.robot.length
    while reach < widest and model.detector.opponents:
        reach = min(WIDER * reach, widest)
        pose = model.searched(memory.pose, reach)
        if len(pose.contacts) > len(memory.pose.contacts):
            return memory.with_(pose=pose, reach=reach, thrift=1.0, idle=0, nearest=np.inf, failed_leap=None)
    return None


def _legs(model: Model, guide: Guide, memory: Memory) -> tuple[np.ndarray, ...]:
    """Targets (ne,) of the next scout, one after another."""
    sent = memory.tried.scouts
    if sent not in DETOURS:
        return (memory.target,)
    here, unit = guide.delta[model.roles.effectors], model.units
    way = (memory.target - here) / unit
    size = float(np.linalg.norm(way))
    along = way / max(size, 1e-300)
    if len(way) == 1:
        aside = -along
    else:
        axis = np.zeros(len(way))
        axis[np.argmin(np.abs(along))] = 1.0
        aside = axis - (axis @ along) * along
        aside /= np.linalg.norm(aside)
    size = min(size, ASIDE * model.robot.length)
    return here + unit * size * (0.5 * along + DETOURS[sent] * aside), memory.target


def scouted(model: Model, memory: Memory, step: Step) -> tuple[Memory, InverseCertificate]:
    """The memory after a scout has gone on for as long as the budget of a step lasts."""
    mode = memory.mode
    assert isinstance(mode, Scouting)
    scout, legs, steps, over = mode.scout, mode.legs, mode.steps, False
    while True:
        scout, _ = step(model, scout, True)
        steps, over = steps + 1, _over(model, scout, LEG_IDLE if legs else SCOUT_IDLE)
        if steps >= STEPS or (over and not legs) or model.left < 2:
            break
        if over:
            scout, legs = _next_leg(scout, legs)
    if over and legs:
        scout, legs, over = *_next_leg(scout, legs), False
    memory = memory.having_tried(waited=memory.tried.waited + 1)
    if over or steps >= STEPS or memory.tried.all_ways:
        return returned(model, memory, scout)
    memory = memory.with_(mode=Scouting(scout, legs, steps), idle=memory.idle + 1)
    return memory, of_waiting(model, memory, "looking for another way")


def _next_leg(scout: Memory, legs: tuple[np.ndarray, ...]) -> tuple[Memory, tuple[np.ndarray, ...]]:
    return scout.with_(target=legs[0], bias=0.0 * scout.bias, mode=Following()).anew(), legs[1:]


def _over(model: Model, scout: Memory, most_idle: int) -> bool:
    """Whether a scout has come to where it was sent, or comes no nearer."""
    return isinstance(scout.mode, Resting) or scout.idle >= most_idle or at_target(model, scout)


def returned(model: Model, memory: Memory, scout: Memory) -> tuple[Memory, InverseCertificate]:
    """The memory when a scout has come back: the next one sets out, or the robot goes a scout's way.

    Where one came nearer, but not to the target, those that set actuators against each other go first; a
    robot that is not in equilibrium leaves at once.
    """
    far = lambda m: model.distance(memory.target, model.effector_delta(m.pose))
    balanced = near_equilibrium(model, memory.pose, memory.decrement)
    lost = memory.disturbed and not balanced  # and no way to an equilibrium
    nearest, there = min(far(memory), memory.tried.led), at_target(model, scout)
    better = lost or far(scout) < nearest - WORTH * model.robot.length or there
    better = better and near_equilibrium(model, scout.pose, scout.decrement)
    set_out = scout.trail.guides[0]
    if memory.tried.scouts == UNDEFORMED and set_out.version == model.detector.version:
        memory = memory.having_tried(start=set_out)
    doubt = memory.tried.doubt or (scout.idle < SCOUT_IDLE and not scout.tried.brink)
    memory = memory.having_tried(scouts=memory.tried.scouts + 1, doubt=doubt and not better)
    if better:
        end = Guide.at(model, scout.pose, scout.decrement)
        found = replace(scout.trail, guides=(*scout.trail.guides, end))
        memory = memory.having_tried(found=found, led=far(scout))
    found, more = memory.tried.found, may_scout(model, memory) and not (better and there)
    if more and (found is None or (not lost and _next(model, memory) in TENSED)):
        return send(model, memory), of_waiting(model, memory, "looking for another way")
    if found is not None:
        return _going(model, memory, found, blindly=lost), of_waiting(model, memory, "going back")
    doubt = memory.tried.doubt or _given_up(model, memory)
    memory = memory.having_tried(scouts=SCOUTS, doubt=doubt)
    memory = memory.with_(mode=Settling() if balanced else Following())
    return memory, of_waiting(model, memory, "looking for another way")


def _going(model: Model, memory: Memory, found: Trail, *, blindly: bool) -> Memory:
    """The memory of a robot that goes the way of a scout."""
    near = memory.tried.led < NEAR * model.robot.length  # the rest of the way may be short
    memory = memory.having_tried(found=None, brink=0, waited=0 if near else memory.tried.waited)
    memory = memory.having_tried(doubt=_given_up(model, memory))
    return memory.with_(mode=GoingBack(memory.trail.by_way_of(found), blindly=blindly))


def _given_up(model: Model, memory: Memory) -> bool:
    """Whether scouts that have something new to try are not sent, because the robot has waited for long."""
    return memory.tried.all_ways and _next(model, memory) < SCOUTS
