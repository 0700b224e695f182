"""One step in time by one scheme, with a certificate: begin, linearise, solve, and again; conclude."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts, depth_bound
from pliant.core.view import View
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
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.dynamics.pressure import followed
from pliant.result import STANDING_OFF, TOO_DEEP, UNSOLVED
from pliant.timing import Stopwatch

MORE_ITERATIONS = 2  # of a step that one linearisation led elsewhere, or to what pushes and is not touched
CONSERVING = 1e-3  # of the tolerance: what steps that keep the energy are iterated to, so that they do


@dataclass(frozen=True)
class Arrival:
    """Where a step led: the motion, the contacts there with their forces, and the certificate."""

    motion: Motion
    contacts: Contacts | None
    force: np.ndarray  # (n,) normal, with friction (3n,) [N]
    certificate: StepCertificate
    handover: Handover  # to the next step, which begins there
    closed: bool = False  # whether a contact has closed that the step did not know
    work: float = 0.0  # [J] done by rows, contacts and Rayleigh's damping
    gain: float = 0.0  # what its linearisation did of work, see `Imbalance`


def attempt(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    work: Stopwatch,
    handover: Handover | None,
    travel: float | None = None,
    unsure: Callable[[Arrival], bool] | None = None,
) -> Arrival | None:
    """One step by the model's scheme; None where a linearisation is impossible.

    Contacts that the motion did not seem to close were left out: if one has closed, the step is taken again
    with all that are as near as the robot went. While the caller is `unsure` of its end, or a contact pushes
    there without a touch, it is linearised there once more, a few times at most.
    """
    task = begin(model, now, conditions, step, travel=travel, handover=handover)
    z, lam, (look, tolerance) = now.internal, now.effort, _looking(model, task)
    count, limit, solved = 0, model.iterations, None
    at, v, guess = work.timed("linearise", start, model, task, handover)
    K_rayleigh = None if at is None else work.timed("linearise", rayleigh_stiffness, model, at.q, z)
    if at is not None and model.scheme.correct is not None:
        at = work.timed("linearise", look, at.q, v, lam)
    while at is not None:
        here = work.timed("linearise", moving, model, task, at, K_rayleigh, v, guess, lam, solved)
        if not np.isfinite(here.view.r).all():
            return None
        solved = solve(model, task, here, guess, work)
        if solved is None:
            return None
        count, v, guess, lam = count + 1, solved.v, solved.v, solved.lam[: len(lam)]
        if count == limit or (count > 1 and solved.motion < tolerance):
            motion = arrive(model, task, solved, followed(model, solved.q, z, step))
            args = (model, task, look, K_rayleigh, solved, motion, count)
            arrival = work.timed("linearise", _conclude, *args)
            if travel is None and arrival is not None and arrival.closed:
                travel = step * model.robot.farthest(motion.v)
                return attempt(model, now, conditions, step, work, handover, travel, unsure)
            if arrival is None or count >= model.iterations + MORE_ITERATIONS:
                return arrival
            standing_off = arrival.certificate.status == STANDING_OFF
            if not standing_off and (unsure is None or not unsure(arrival)):
                return arrival
            limit = count + 1
        at = work.timed("linearise", look, solved.q, v, lam)
    return None


def _looking(model: Model, task: Task) -> tuple[Callable[..., View | None], float]:
    """What looks at the robot at q with the stage's velocity v and efforts λ, and when to stop [m]."""
    if model.scheme.correct is not None:
        return model.scheme.correct(model, task), CONSERVING * model.tolerance

    def look(q: np.ndarray, v: np.ndarray, lam: np.ndarray, *, tangent: bool = True) -> View | None:
        return elastic(model, task, q, lam, task.now.internal, tangent=tangent)

    return look, model.tolerance


def _conclude(
    model: Model,
    task: Task,
    look: Callable[..., View | None],
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
    if model.scheme.correct is None:
        there = end = elastic(model, task, where, motion.effort, z, tangent=not once)
    else:
        there = end = look(where, solved.v, motion.effort, tangent=False)
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
    forces = imbalance(model, task, there, K_rayleigh, solved, push)
    condensed = solved.condensed
    decrement = robot.farthest(condensed.factor.plain.solve(forces.left))
    linearised = "linearised" if model.iterations == 1 else "not converged"
    status = "converged" if decrement <= model.tolerance else linearised
    depth = 0.0 if contacts is None else model.detector.depth(motion.q, contacts)
    standoff = 0.0 if contacts is None else contacts.standoff(force)
    if max(depth, standoff) > depth_bound(robot.length) and status != "not converged":
        status = TOO_DEEP if depth > depth_bound(robot.length) else STANDING_OFF
    certificate = StepCertificate(
        status=UNSOLVED.get(solved.solver, status),
        residual=float(np.sqrt(forces.left @ forces.left)) / forces.scale,
        decrement=decrement,
        constraint=violation(model, task.conditions, end.delta, motion.effort, contacts, force),
        iterations=iterations,
        load_steps=1,
        shift=condensed.shift,
        negative=condensed.negative,
        tangent=condensed.treatment,
        solver=solved.solver,
        penetration=depth,
        standoff=standoff,
        scheme=model.scheme.name,
    )
    handover = Handover(end.delta, None if once else end, contacts, task.step, model.detector.version)
    moved = stage.shift + stage.reach * solved.v
    given = push - forces.damping
    done = float(given @ moved) if np.ndim(given) else 0.0
    if rows:
        done += float(motion.effort @ (end.delta - task.delta))
    return Arrival(motion, contacts, force, certificate, handover, closed, done, forces.gain)
