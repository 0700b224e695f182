"""A step in time from one state to the next, with a certificate; halved where it would turn elements inside out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.dynamics.certificate import StepCertificate, imbalance, violation
from pliant.dynamics.conserve import conserving
from pliant.dynamics.implicit import (
    Ahead,
    Found,
    Model,
    Task,
    arrive,
    begin,
    elastic,
    moving,
    one_sided,
    start,
    stiffness,
)
from pliant.dynamics.motion import Motion
from pliant.dynamics.pressure import followed
from pliant.dynamics.schemes import SCHEMES
from pliant.dynamics.settling import settle
from pliant.result import UNSOLVED
from pliant.timing import Stopwatch

MAX_HALVINGS, FEW_HALVINGS = 6, 3  # where nothing else helps; where a step is only poor
TWO_HALVINGS = 2  # where contacts were led astray
ASTRAY, LOST = 0.01, 0.1  # decrements, as shares of the robot's length, of a poor step and of a worthless one
ROUGH = 0.03  # decrement, as a share of the motion in a step, from which on the past is no guide


@dataclass(frozen=True)
class Arrival:
    """Where a step led. `ahead` is what it knows of the next step, which begins there; `closed`: whether a contact has
    closed that the step knew nothing of."""

    motion: Motion
    contacts: Contacts | None
    force: np.ndarray  # (n,) normal, with friction (3n,) [N]
    certificate: StepCertificate
    ahead: Ahead
    closed: bool = False


def advance(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    ahead: Ahead | None = None,
    halvings: int = MAX_HALVINGS,
) -> Arrival | None:
    """The state after a step [s]; None if there is none.

    It is taken in parts where linearisations lead far astray or turn cells inside out: imposed displacements come gradually then.
    """
    whole = _by_scheme(model, now, conditions, step, work, ahead)
    if halvings <= MAX_HALVINGS - _parts(model, whole):
        return whole
    half = partial(advance, model, step=0.5 * step, work=work, halvings=halvings - 1)
    first = half(now, _halfway(model, now, conditions))
    second = None if first is None else half(first.motion, conditions, ahead=first.ahead)
    if first is None or second is None:
        return whole
    one, two = first.certificate, second.certificate
    parts, iterations = one.load_steps + two.load_steps, one.iterations + two.iterations
    return replace(second, certificate=replace(two, load_steps=parts, iterations=iterations))


def _parts(model: Model, found: Arrival | None) -> int:
    """How often a step that ended like this may be halved to do better."""
    if found is None:
        return MAX_HALVINGS
    certificate, length = found.certificate, model.robot.length
    if certificate.decrement > LOST * length or certificate.shift > 1.0:
        return MAX_HALVINGS
    poor = certificate.decrement > ASTRAY * length or certificate.shift > 0.0
    if poor or certificate.status in ("not converged", UNSOLVED["not converged"]):
        return FEW_HALVINGS
    diverged = found.contacts is not None and found.contacts.diverged(found.force)
    return TWO_HALVINGS if diverged else 0


def _by_scheme(
    model: Model, now: Motion, conditions: Conditions, step: float, work: Stopwatch, ahead: Ahead | None
) -> Arrival | None:
    """A step by the model's scheme, or by Euler's where that fails or the motion is not smooth."""
    args, plain = (now, conditions, step, work, ahead), SCHEMES["euler"]
    if model.scheme is plain:
        return _attempt(model, *args)
    if not (model.scheme.conserves and len(now.touching)):
        found = _attempt(model, *args)
        if found is not None and not _rough(model, conditions, step, found):
            return found
    return _attempt(replace(model, scheme=plain, conserve=False), *args)


def _rough(model: Model, conditions: Conditions, step: float, found: Arrival) -> bool:
    """Whether the scheme is at its end: a conserving one bounces off what it touches, one that looks back foresaw something else."""
    then, certificate = found.motion, found.certificate
    if model.scheme.conserves:
        return len(then.touching) > 0 or bool((one_sided(conditions) & (then.effort != 0.0)).any())
    way = step * model.robot.farthest(then.v)
    return model.scheme.predicts and (
        certificate.shift > 0 or certificate.decrement > max(ROUGH * way, model.tolerance)
    )


def _halfway(model: Model, now: Motion, conditions: Conditions) -> Conditions:
    """Laws in the middle of the step: imposed displacements are half reached."""
    bundle = model.robot.bundle
    moved = ~conditions.given & (conditions.compliance == 0.0)
    half = 0.5 * (bundle.delta(bundle.positions(now.q)) + conditions.imposed)
    return replace(conditions, imposed=np.where(moved, half, conditions.imposed))


def _attempt(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    ahead: Ahead | None,
    way: float | None = None,
) -> Arrival | None:
    """One step by the model's scheme; None where a linearisation is impossible.

    Contacts that the motion did not seem to close were left out: if one has closed, the step is taken again with all that are as near as
    the robot went.
    """
    task, z, lam = begin(model, now, conditions, step, way=way, ahead=ahead), now.internal, now.effort
    count, found = 0, None
    at, v, guess = work.timed("linearise", start, model, task, ahead)
    damped = None if at is None else work.timed("linearise", stiffness, model, at.q, z)
    before = _energy(model, task, ahead) if model.conserve else 0.0
    while at is not None and count < model.iterations:
        here = work.timed("linearise", moving, model, task, at, damped, v, guess, lam)
        if model.conserve:
            here = work.timed("linearise", conserving, model, task, here, at, before, lam, z)
        if not np.isfinite(here.view.r).all():
            return None
        found = settle(model, task, here, guess, work)
        if found is None:
            return None
        count, v, guess, lam = count + 1, found.v, found.v, found.lam[: len(lam)]
        if count == model.iterations or (count > 1 and found.motion < model.tolerance):
            break
        at = work.timed("linearise", elastic, model, task, found.q, lam, z)
    if at is None or found is None:
        return None
    motion = arrive(model, task, found, followed(model, found.q, z, step))
    arrival = work.timed("linearise", _conclude, model, task, damped, found, motion, count)
    if way is None and arrival is not None and arrival.closed:
        way = step * model.robot.farthest(motion.v)
        return _attempt(model, now, conditions, step, work, ahead, way=way)
    return arrival


def _energy(model: Model, task: Task, ahead: Ahead | None) -> float:
    """V at the beginning of the step [J]."""
    known = None if ahead is None else ahead.view
    at = known or elastic(model, task, task.now.q, task.now.effort, task.now.internal, tangent=False)
    return np.inf if at is None else at.energy


def _conclude(
    model: Model, task: Task, damped: np.ndarray | None, found: Found, motion: Motion, count: int
) -> Arrival | None:
    """The end of the step with its certificate; None if it is inadmissible."""
    robot, stage, z, rows = model.robot, task.stage, motion.internal, len(motion.effort)
    once = model.viscosity.present or model.scheme.predicts  # no later step is linearised there as it is now
    where = motion.q if stage.reach == stage.step else found.q  # the same numbers, which nobody changes
    if not np.isfinite(found.motion):
        return None
    contacts, force = model.look(motion.q, motion.v, task.step), np.zeros(0)  # while q is at hand
    there = end = elastic(model, task, where, motion.effort, z, tangent=not once)
    if stage.reach != stage.step:
        end = elastic(model, task, motion.q, motion.effort, z, tangent=False)
    if there is None or end is None:
        return None
    closed = False
    if contacts is not None:
        assert found.contacts is not None
        force, alike = found.lam[rows:], contacts.same_pairs(found.contacts)
        if not alike:
            closed = bool(((contacts.gap < -model.tolerance) & (contacts.matched(found.contacts) < 0)).any())
        if not alike or contacts.frictional:  # tangents turn
            force = contacts.carried_forces(found.contacts, force, contacts.scalars)
    push = 0.0 if contacts is None else contacts.push(motion.q, force)
    left, scale = imbalance(model, task, there, damped, found, push)
    decrement = robot.farthest(found.condensed.factor.plain.solve(left))
    asked_once = model.iterations == 1
    status = "converged" if decrement <= model.tolerance else "linearised" if asked_once else "not converged"
    status = UNSOLVED.get(found.solver, status)
    violated = violation(model, task.conditions, end.delta, motion.effort, contacts, force)
    residual = float(np.linalg.norm(left)) / scale
    condensed = found.condensed
    certificate = StepCertificate(
        status,
        residual,
        decrement,
        violated,
        count,
        1,
        condensed.shift,
        condensed.negative,
        condensed.treatment,
        found.solver,
    )
    ahead = Ahead(None if once else end, contacts, task.step, model.detector.version)
    return Arrival(motion, contacts, force, certificate, ahead, closed)
