"""A step in time from one state to the next, by the model's scheme or by what takes its place.

Where a step ends far from what its scheme asks for, it is taken in two halves, and these again. Where a
motion is not smooth (an impact, a cable that comes taut, a command that jumps), a scheme of second order
gives way to Euler's, and the certificate says why. A step that is to keep the energy is halved before it
gives way.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from pliant.conditions import Conditions
from pliant.dynamics import smoothness
from pliant.dynamics.attempt import Arrival, attempt
from pliant.dynamics.implicit import Handover
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes import bdf2
from pliant.dynamics.schemes.euler import EULER
from pliant.dynamics.schemes.scheme import Scheme
from pliant.result import UNSOLVED
from pliant.timing import Stopwatch

MOST_HALVINGS = 6  # of a step that there is none of, or that is worthless
HALVINGS_IF_POOR = 3  # of a step that is only poor
HALVINGS_IF_DIVERGED = 2  # of a step whose contacts have diverged
POOR_DECREMENT = 0.01  # of the robot's length: decrement of a poor step
WORTHLESS_DECREMENT = 0.1  # of the robot's length: decrement of a worthless step
WORTHLESS_SHIFT = 1.0  # of the mean diagonal of K̃: shift of a worthless step

TOUCHES, TAUT = "something touches", "a cable or stop acts"
UNCONVERGED = "no step of its own converges"


def advance(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None = None,
) -> Arrival | None:
    """The state after a step [s]; None if there is none."""
    arrival = _advance(model, now, conditions, step, work, handover)
    if arrival is None and model.scheme.conserves:
        arrival = _advance(replace(model, scheme=EULER), now, conditions, step, work, handover)
        return _because(arrival, UNCONVERGED)
    return arrival


def _advance(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None = None,
    halved: int = 0,
) -> Arrival | None:
    """The state after a step that has been `halved` so often already.

    It is taken in halves where linearisations diverge or turn cells inside out: imposed displacements come
    gradually then.
    """
    arrival = _by_scheme(model, now, conditions, step, work, handover)
    if halved >= _halvings(model, arrival):
        return arrival
    half = partial(_advance, model, step=0.5 * step, work=work, halved=halved + 1)
    first = half(now, _part(model, now, conditions, 0.5))
    second = None if first is None else half(first.motion, conditions, handover=first.handover)
    if first is None or second is None:
        return arrival
    one, two = first.certificate, second.certificate
    both = replace(
        two,
        load_steps=one.load_steps + two.load_steps,
        iterations=one.iterations + two.iterations,
        scheme=two.scheme if one.fallback == "" else one.scheme,
        fallback=one.fallback or two.fallback,
    )
    return replace(second, certificate=both, work=first.work + second.work)


def _halvings(model: Model, arrival: Arrival | None) -> int:
    """How often a step that ended like this may be halved to do better."""
    if arrival is None:
        return MOST_HALVINGS
    certificate, length = arrival.certificate, model.robot.length
    if certificate.decrement > WORTHLESS_DECREMENT * length or certificate.shift > WORTHLESS_SHIFT:
        return MOST_HALVINGS
    poor = certificate.decrement > POOR_DECREMENT * length or certificate.shift > 0.0
    if poor or certificate.status in ("not converged", UNSOLVED["not converged"]):
        return HALVINGS_IF_POOR
    diverged = arrival.contacts is not None and arrival.contacts.diverged(arrival.force)
    return HALVINGS_IF_DIVERGED if diverged else 0


def _part(model: Model, now: Motion, conditions: Conditions, share: float) -> Conditions:
    """Laws within the step: imposed displacements are reached by this share."""
    bundle = model.robot.bundle
    moved = ~conditions.given & (conditions.compliance == 0.0) & ~conditions.lined
    part = (1.0 - share) * bundle.delta(bundle.positions(now.q)) + share * conditions.imposed
    return replace(conditions, imposed=np.where(moved, part, conditions.imposed))


# The scheme.


def _by_scheme(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None,
) -> Arrival | None:
    """A step by the model's scheme, or by what takes its place."""
    if model.scheme is EULER:
        return attempt(model, now, conditions, step, work, handover)
    choose = _conserving if model.scheme.conserves else _looking_back
    found, reason = choose(model, now, conditions, step, work, handover)
    if not reason:
        return found
    arrival = attempt(replace(model, scheme=EULER), now, conditions, step, work, handover)
    if found is not None and arrival is not None and _closer(found, arrival):
        return found
    return _because(arrival, reason)


def _closer(found: Arrival, arrival: Arrival) -> bool:
    """Whether a step that is not good ends nearer to what its scheme asks for than Euler's would."""
    mine, other = found.certificate, arrival.certificate
    return mine.shift <= other.shift and mine.decrement < other.decrement


def _because(arrival: Arrival | None, reason: str) -> Arrival | None:
    """The arrival, with why it was not by the simulation's own scheme, if it was not."""
    if arrival is None or not reason:
        return arrival
    return replace(arrival, certificate=replace(arrival.certificate, fallback=reason))


def _conserving(model: Model, now: Motion, conditions: Conditions, *given) -> tuple[Arrival | None, str]:
    """A step that keeps the energy, None where it does not converge; or why there is to be none.

    Nodes that touch would bounce for ever, and so would cables.
    """
    acting = conditions.one_sided
    if len(now.touching) or (acting & (now.effort != 0.0)).any():
        return None, TOUCHES if len(now.touching) else TAUT
    arrival = attempt(model, now, conditions, *given)
    if arrival is None:
        return None, ""
    then = arrival.motion
    if len(then.touching):
        return None, TOUCHES
    if (acting & (then.effort != 0.0)).any():
        return None, TAUT
    ends = arrival.certificate.status != "not converged"
    return (arrival if ends else None), ""


def _looking_back(
    model: Model, now: Motion, conditions: Conditions, step: float, *given
) -> tuple[Arrival | None, str]:
    """A step of second order, if there is one, and why there is to be none, if so."""
    reason = smoothness.broken(model, now, conditions, step)
    after = ""
    if reason in (smoothness.START, smoothness.COMMAND) and not len(now.touching):
        arrival, after = _two_stages(model, now, conditions, step, *given)
    elif reason:
        return None, reason
    else:
        rough = lambda there: smoothness.rough(model, now, conditions, step, there)
        unsure = None if len(now.touching) else lambda there: rough(there) in smoothness.UNCONVERGED
        arrival = attempt(model, now, conditions, step, *given, unsure=unsure)
    after = after or smoothness.rough(model, now, conditions, step, arrival)
    kept = arrival if after in ("", smoothness.ELSEWHERE) else None
    return _because(kept, reason), after


def _two_stages(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None,
) -> tuple[Arrival | None, str]:
    """A step of second order without a past, see `bdf2`; or None and why there is to be none."""
    by = lambda stage: replace(model, scheme=Scheme("two stages", stage, order=2, predicts=True))
    laws = _part(model, now, conditions, bdf2.GAMMA)
    first = attempt(by(EULER.stage), now, laws, bdf2.GAMMA * step, work, handover)
    if first is None or (reason := smoothness.changed(now, first.motion, conditions)):
        return None, smoothness.NOWHERE if first is None else reason
    last = attempt(by(bdf2.second(first.motion)), now, conditions, step, work, None)
    if last is None:
        return None, smoothness.NOWHERE
    count = first.certificate.iterations + last.certificate.iterations
    return replace(last, certificate=replace(last.certificate, iterations=count)), ""
