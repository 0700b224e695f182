"""What is said of a step: its certificate, in the words of `InverseCertificate`."""

from __future__ import annotations

from dataclasses import replace

from pliant.inverse.limits import active_limits, within_limits
from pliant.inverse.model import Model
from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.acceptance import allowed_depth, stands_off
from pliant.inverse.policy.line_search import Attempt
from pliant.inverse.policy.memory import Memory
from pliant.result import STANDING_OFF, UNSOLVED

REACHED = 1e-3  # of the length: distance from a target that is reached
IN_EQUILIBRIUM = 1e-4  # of the length: decrement of a state that counts as reached …
SURELY = 1e-5  # … while the robot moves: near a brink the equilibrium is farther away than that tells

UNDER_WAY = ("moving", "going back", "recovered")  # said of steps on the way, wherever they end
WAITING = ("looking for another way", "searching")  # said of a robot that stays, if it can stay there


def at_target(model: Model, memory: Memory) -> bool:
    """Whether the effectors are at their targets, near equilibrium, and only what is touched pushes."""
    length, here = model.robot.length, model.effector_delta(memory.pose)
    near = model.distance(memory.target, here) < REACHED * length
    return near and memory.decrement < IN_EQUILIBRIUM * length and not stands_off(model, memory.pose)


def of_step(model: Model, memory: Memory, taken: Attempt) -> InverseCertificate:
    """Of a step that was taken."""
    efforts, there = taken.move.efforts, at_target(model, memory)
    status = "reached" if there and _has_come(model, memory) else "moving"
    if not there and memory.idle and _all_tried(model, memory):
        status = unreached(model, memory)
    return replace(
        of_walk(model, memory, UNSOLVED.get(efforts.status, status), moved=True),
        halvings=taken.failures,
        shift=taken.move.shift,
        solver=efforts.certificate,
        tangent=taken.move.condensed.treatment,
    )


def _has_come(model: Model, memory: Memory) -> bool:
    """Whether a robot that moves is in equilibrium, with all that pushes touched to the last.

    A gap that closes with a lever would move the effectors.
    """
    touches = memory.pose.standoff < IN_EQUILIBRIUM * model.robot.length
    return touches and memory.decrement < SURELY * model.robot.length


def _all_tried(model: Model, memory: Memory) -> bool:
    """Whether no scout will look for another way."""
    return memory.tried.all_ways or not model.settings.scouts or not len(model.roles.actuators)


def of_rest(model: Model, memory: Memory) -> InverseCertificate:
    """Of a robot that rests, at its target or short of it."""
    return of_waiting(model, memory, "reached" if at_target(model, memory) else unreached(model, memory))


def of_waiting(model: Model, memory: Memory, status: str) -> InverseCertificate:
    """Of a robot that stays where it is."""
    return of_walk(model, memory, status, moved=False)


def of_walk(model: Model, memory: Memory, status: str, *, moved: bool) -> InverseCertificate:
    """Of a robot that stands where its memory says; `moved`: elsewhere than before."""
    if status in WAITING and memory.pose.depth > allowed_depth(model):
        status = "stuck"
    if status in UNDER_WAY + WAITING and stands_off(model, memory.pose):
        status = STANDING_OFF
    return InverseCertificate(
        status=status,
        decrement=memory.decrement,
        penetration=memory.pose.depth,
        standoff=memory.pose.standoff,
        linearisations=0,
        halvings=memory.failures,
        shift=0.0,
        limits=active_limits(model, memory.pose),
        moved=moved,
    )


def unreached(model: Model, memory: Memory) -> str:
    """Why a robot does not come nearer.

    | word | |
    |---|---|
    | "about to buckle" | it went back from where it would have |
    | "stuck" | outside its limits |
    | "no way found from here" | a search ended for other reasons than that nothing leads nearer |
    | "at its limits", "out of reach" | the robot and scouts from elsewhere came no nearer |
    """
    if memory.tried.brink:
        return "about to buckle"
    if not within_limits(model, memory.pose):
        return "stuck"
    if memory.tried.doubt or not model.settings.scouts:
        return "no way found from here"
    return "at its limits" if active_limits(model, memory.pose) else "out of reach"
