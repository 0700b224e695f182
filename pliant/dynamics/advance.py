"""A step in time from one state to the next, with a certificate.

Where a step ends far from what its scheme asks for, it is taken in two halves, and these again; where a
scheme is at its end (an impact, a motion that its past did not predict), the step is Euler's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.contact.detect.surfaces import depth_bound
from pliant.dynamics.certificate import StepCertificate, imbalance, violation
from pliant.dynamics.implicit import (
    Handover,
    StageSolution,
    Task,
    arrive,
    begin,
    elastic,
    moving,
    rayleigh_stiffness,
    solve,
    start,
)
from pliant.dynamics.model import Model, one_sided
from pliant.dynamics.motion import Motion
from pliant.dynamics.pressure import followed
from pliant.dynamics.schemes.euler import EULER
from pliant.result import TOO_DEEP, UNSOLVED
from pliant.timing import Stopwatch

MOST_HALVINGS = 6  # of a step that there is none of, or that is worthless
HALVINGS_IF_POOR = 3  # of a step that is only poor
HALVINGS_IF_DIVERGED = 2  # of a step whose contacts have diverged
POOR_DECREMENT = 0.01  # of the robot's length: decrement of a poor step
WORTHLESS_DECREMENT = 0.1  # of the robot's length: decrement of a worthless step
WORTHLESS_SHIFT = 1.0  # of the mean diagonal of K̃: shift of a worthless step
UNPREDICTED_DECREMENT = 0.03  # of the motion in a step: from here on the past is no guide


@dataclass(frozen=True)
class Arrival:
    """Where a step led: the motion, the contacts there with their forces, and the certificate."""

    motion: Motion
    contacts: Contacts | None
    force: np.ndarray  # (n,) normal, with friction (3n,) [N]
    certificate: StepCertificate
    handover: Handover  # to the next step, which begins there
    closed: bool = False  # whether a contact has closed that the step did not know


def advance(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None = None,
    halved: int = 0,
) -> Arrival | None:
    """The state after a step [s]; None if there is none. `halved`: how often it has been already.

    It is taken in halves where linearisations diverge or turn cells inside out: imposed displacements come
    gradually then.
    """
    arrival = _by_scheme(model, now, conditions, step, work, handover)
    if halved >= _halvings(model, arrival):
        return arrival
    half = partial(advance, model, step=0.5 * step, work=work, halved=halved + 1)
    first = half(now, _halfway(model, now, conditions))
    second = None if first is None else half(first.motion, conditions, handover=first.handover)
    if first is None or second is None:
        return arrival
    one, two = first.certificate, second.certificate
    parts, iterations = one.load_steps + two.load_steps, one.iterations + two.iterations
    return replace(second, certificate=replace(two, load_steps=parts, iterations=iterations))


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


def _halfway(model: Model, now: Motion, conditions: Conditions) -> Conditions:
    """Laws in the middle of the step: imposed displacements are half reached."""
    bundle = model.robot.bundle
    moved = ~conditions.given & (conditions.compliance == 0.0)
    half = 0.5 * (bundle.delta(bundle.positions(now.q)) + conditions.imposed)
    return replace(conditions, imposed=np.where(moved, half, conditions.imposed))


# The scheme.


def _by_scheme(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None,
) -> Arrival | None:
    """A step by the model's scheme, or by Euler's where that fails or the motion is not smooth."""
    given = now, conditions, step, work, handover
    if model.scheme is EULER:
        return _attempt(model, *given)
    if not (model.scheme.conserves and len(now.touching)):
        arrival = _attempt(model, *given)
        if arrival is not None and _smooth(model, conditions, step, arrival):
            return arrival
    return _attempt(replace(model, scheme=EULER), *given)


def _smooth(model: Model, conditions: Conditions, step: float, arrival: Arrival) -> bool:
    """Whether the motion of a step is one that the scheme is made for.

    A scheme that conserves energy bounces off what it touches; one that predicts needs a motion that its past
    tells of.
    """
    then, certificate = arrival.motion, arrival.certificate
    if model.scheme.conserves:
        taut = one_sided(conditions) & (then.effort != 0.0)
        return not len(then.touching) and not taut.any()
    if not model.scheme.predicts:
        return True
    moved = step * model.robot.farthest(then.v)
    allowed = max(UNPREDICTED_DECREMENT * moved, model.tolerance)
    return not (certificate.shift > 0 or certificate.decrement > allowed)


# One step.


def _attempt(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None,
    travel: float | None = None,
) -> Arrival | None:
    """One step by the model's scheme; None where a linearisation is impossible.

    Contacts that the motion did not seem to close were left out: if one has closed, the step is taken again
    with all that are as near as the robot went.
    """
    task = begin(model, now, conditions, step, travel=travel, handover=handover)
    z, lam, correct = now.internal, now.effort, model.scheme.correct
    count, solved = 0, None
    at, v, guess = work.timed("linearise", start, model, task, handover)
    K_rayleigh = None if at is None else work.timed("linearise", rayleigh_stiffness, model, at.q, z)
    energy = 0.0 if correct is None else _energy(model, task, handover)
    while at is not None and count < model.iterations:
        here = work.timed("linearise", moving, model, task, at, K_rayleigh, v, guess, lam, solved)
        if correct is not None:
            here = work.timed("linearise", correct, model, task, here, at, energy, lam, z)
        if not np.isfinite(here.view.r).all():
            return None
        solved = solve(model, task, here, guess, work)
        if solved is None:
            return None
        count, v, guess, lam = count + 1, solved.v, solved.v, solved.lam[: len(lam)]
        if count == model.iterations or (count > 1 and solved.motion < model.tolerance):
            break
        at = work.timed("linearise", elastic, model, task, solved.q, lam, z)
    if at is None or solved is None:
        return None
    motion = arrive(model, task, solved, followed(model, solved.q, z, step))
    arrival = work.timed("linearise", _conclude, model, task, K_rayleigh, solved, motion, count)
    if travel is None and arrival is not None and arrival.closed:
        travel = step * model.robot.farthest(motion.v)
        return _attempt(model, now, conditions, step, work, handover, travel)
    return arrival


def _energy(model: Model, task: Task, handover: Handover | None) -> float:
    """V at the beginning of the step [J]."""
    known = None if handover is None else handover.view
    at = known or elastic(model, task, task.now.q, task.now.effort, task.now.internal, tangent=False)
    return np.inf if at is None else at.energy


def _conclude(
    model: Model,
    task: Task,
    K_rayleigh: np.ndarray | None,
    solved: StageSolution,
    motion: Motion,
    iterations: int,
) -> Arrival | None:
    """The end of the step with its certificate; None if it is inadmissible."""
    robot, stage, z, rows = model.robot, task.stage, motion.internal, len(motion.effort)
    if not np.isfinite(solved.motion):
        return None
    once = model.viscosity.present or model.scheme.predicts  # no later step is linearised there as it is now
    where = motion.q if stage.reach == stage.step else solved.q  # the same numbers, which nobody changes
    contacts = model.contacts(motion.q, motion.v, task.step, motion.touching)  # while q is at hand
    force = np.zeros(0)
    there = end = elastic(model, task, where, motion.effort, z, tangent=not once)
    if stage.reach != stage.step:
        end = elastic(model, task, motion.q, motion.effort, z, tangent=False)
    if there is None or end is None:
        return None
    closed = False
    if contacts is not None:
        assert solved.contacts is not None
        force, alike = solved.lam[rows:], contacts.same_pairs(solved.contacts)
        if not alike:
            unknown = contacts.matched(solved.contacts) < 0
            closed = bool(((contacts.gap < -model.tolerance) & unknown).any())
        if not alike or contacts.frictional:  # tangents turn
            force = contacts.carried_forces(solved.contacts, force, contacts.scalars)
    push = 0.0 if contacts is None else contacts.push(motion.q, force)
    left, scale = imbalance(model, task, there, K_rayleigh, solved, push)
    condensed = solved.condensed
    decrement = robot.farthest(condensed.factor.plain.solve(left))
    linearised = "linearised" if model.iterations == 1 else "not converged"
    status = "converged" if decrement <= model.tolerance else linearised
    depth = 0.0 if contacts is None else model.detector.depth(motion.q, contacts)
    if depth > depth_bound(robot.length) and status != "not converged":
        status = TOO_DEEP
    certificate = StepCertificate(
        status=UNSOLVED.get(solved.solver, status),
        residual=float(np.linalg.norm(left)) / scale,
        decrement=decrement,
        constraint=violation(model, task.conditions, end.delta, motion.effort, contacts, force),
        iterations=iterations,
        load_steps=1,
        shift=condensed.shift,
        negative=condensed.negative,
        tangent=condensed.treatment,
        solver=solved.solver,
        penetration=depth,
    )
    handover = Handover(None if once else end, contacts, task.step, model.detector.version)
    return Arrival(motion, contacts, force, certificate, handover, closed)
