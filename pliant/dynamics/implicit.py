"""One implicit step in time: the static step with other matrices.

The stage of a scheme (see `schemes`), linearised at a velocity v, in the motion u = s dv that is left to the end of the step:

    K̃ u = r̃ + Hᵀλ,       K̃ = (M/h + D + h K)/s,       r̃ = r − c − D v + M(v* − v)/h
    δ⁺  = δ_free + W λ,   W = H K̃⁻¹ Hᵀ

For backward Euler this is A = M + hD + h²K, A dv = h r + … + h Hᵀλ and W = h² H A⁻¹ Hᵀ, divided by h²: forces stay in newtons,
and everything that works on K, r and H (condensation, contact, the inverse model) works on K̃, r̃ and H. The first linearisation
is made where the step begins, at the v that leads there, so that the tangent of one step is where the last one ended.

A step from top to bottom is  begin → start → moving → condensed → (any solver of matrices) → settled → arrive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.algebra import Factor, NotPositiveDefinite, SparseRows
from pliant.contact import Contacts
from pliant.dynamics.model import Model, one_sided
from pliant.dynamics.motion import Motion, Past, pushes
from pliant.dynamics.schemes import Stage
from pliant.robot import Conditions
from pliant.step import (
    Linear,
    Workspace,
    condense,
    factorise,
    factorise_shifted,
    linearise,
    recover,
    solve,
)

TURNS = 3  # fixed-point iterations on the gyroscopic forces, which make no symmetric tangent


@dataclass(frozen=True)
class Task:
    """One step: from where, with what laws, how long [s], and the contacts at its beginning.

    `allowance` (by contact index) is what gaps may be at the end, ≤ 0 [m].
    """

    now: Motion
    conditions: Conditions
    step: float
    stage: Stage
    contacts: Contacts | None
    allowance: np.ndarray


@dataclass(frozen=True)
class Moving:
    """The step linearised at the stage's velocity v: K̃, r̃ (without c), H and δ at the end in `linear`.

    `extra` (ndof,) [N] is what r̃ contains beyond the module's formula.
    """

    v: np.ndarray
    pose: np.ndarray  # coordinates that M and c are taken at
    linear: Linear
    conditions: Conditions
    contacts: Contacts | None
    start: np.ndarray  # (m,) λ to start from
    extra: np.ndarray | float = 0.0


@dataclass(frozen=True)
class Condensed:
    """The step as its rows see it: δ⁺ = delta + W λ of the solved rows, their H, and the motion u without them.

    `factor` is that of K̃; `shift` what its diagonal was raised by, relative to its mean.
    """

    factor: Factor
    shift: float
    H: SparseRows
    W: np.ndarray
    delta: np.ndarray
    free: np.ndarray


@dataclass(frozen=True)
class Found:
    """What a linearisation led to: where the stage stands and its velocity, λ of all rows and contacts, how it was found."""

    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    contacts: Contacts | None
    push: np.ndarray  # (ndof,) [N] of the contacts, and what else r̃ contained
    factor: Factor
    motion: float  # largest coordinate of u [m]
    shift: float


def begin(model: Model, now: Motion, conditions: Conditions, step: float, *, falling: bool = True) -> Task:
    """The step to be taken from `now`; `falling`: see `Model.look`."""
    contacts, allowance = model.look(now.q, now.v, step, falling=falling), np.zeros(0)
    if contacts is not None:
        allowance = contacts.spread(np.minimum(contacts.gap + model.recovery * step, 0.0))
    return Task(now, conditions, step, model.scheme.begin(now, step), contacts, allowance)


def elastic(
    model: Model, task: Task, q: np.ndarray, lam: np.ndarray, z: np.ndarray, *, tangent: bool = True
) -> Linear | None:
    """The robot at q with the viscous stress of this step, or None where q is inadmissible."""
    return linearise(model.viscosity.stressed(task.stage), q, lam, z, model.robot.gravity, tangent=tangent)


def start(model: Model, task: Task, ahead: Linear | None) -> tuple[Linear | None, np.ndarray, np.ndarray]:
    """The first linearisation, the stage's velocity there, and the one that inertia is taken at.

    `ahead` is the robot linearised where the step begins, if it is known.
    """
    now, stage = task.now, task.stage
    if stage.guess is not None:
        q = model.robot.retract(now.q, stage.shift + stage.step * stage.guess)
        at = elastic(model, task, q, now.effort, now.internal)
        if at is not None:
            return at, stage.guess, stage.guess
    at = ahead or elastic(model, task, now.q, now.effort, now.internal)
    return at, -stage.shift / stage.step, now.v


def stiffness(model: Model, q: np.ndarray, z: np.ndarray) -> np.ndarray | None:
    """K of Rayleigh's damping, on the pattern: of the bodies alone, without terms that make it indefinite; None without β."""
    if not model.inertia.stiff:
        return None
    robot = model.robot
    at = linearise(robot, q, np.zeros(robot.bundle.rows), z, robot.gravity, clamp=True)
    if at is None or at.K is None:
        return None
    for n, body in enumerate(robot.bodies):
        if hasattr(body, "elastic_stiffness"):  # clamped, a rod has the geometric stiffness of forces to come
            at.K[robot.body_placement[robot.block_spans[n]]] = body.elastic_stiffness(q[robot.q_spans[n]])
    return at.K


def moving(
    model: Model,
    task: Task,
    at: Linear,
    damped: np.ndarray | None,
    v: np.ndarray,
    guess: np.ndarray,
    lam: np.ndarray,
) -> Moving:
    """The step linearised at v, from the robot linearised there; `guess` is the velocity that inertia is taken at.

    `damped` is the `stiffness` that Rayleigh's D has throughout the step.
    """
    robot, stage, inertia = model.robot, task.stage, model.inertia
    assert at.K is not None
    pose = robot.retract(task.now.q, stage.shift + stage.step * guess)
    M, h, s = inertia.mass(pose), stage.step, stage.reach
    K = (1.0 / h + inertia.alpha) / s * M + h / s * at.K
    if damped is not None:
        K += inertia.beta / s * damped
    r = at.r + inertia.product(M, stage.v - v) / h - inertia.damping_force(M, damped, v)
    linear, conditions = replace(at, r=r, K=K), task.conditions
    begins = np.array_equal(at.q, task.now.q) and guess is task.now.v
    contacts = task.contacts if begins else model.look(at.q, guess, task.step)
    if contacts is not None:
        linear = linear.with_contacts(contacts, task.now.q)
        rows = len(linear.delta) - len(at.delta)
        conditions = conditions.with_contacts(contacts.friction, task.allowance[contacts.index], rows)
        pushing = task.now.carried(contacts, rows)
        lam, yielding = np.concatenate([lam, pushing]), contacts.yielding(pushing, at.q)
        if yielding is not None:
            linear = replace(linear, turning=(yielding[0], s / h * yielding[1]))
    if s != h:
        linear, conditions = _to_the_end(linear, conditions, v, stage)
    return Moving(v, pose, linear, conditions, contacts, lam)


def _to_the_end(
    linear: Linear, conditions: Conditions, v: np.ndarray, stage: Stage
) -> tuple[Linear, Conditions]:
    """δ at the end of the step instead of at the stage; springs still act at the stage, where energy balances."""
    theta, ahead = stage.step / stage.reach, linear.delta + linear.H.dot((stage.reach - stage.step) * v)
    spring = conditions.compliance > 0
    rest = np.where(spring, ahead + (conditions.imposed - linear.delta) / theta, conditions.imposed)
    compliance = conditions.compliance / theta
    return replace(linear, delta=ahead), replace(conditions, imposed=rest, compliance=compliance)


def condensed(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Workspace) -> Condensed:
    """Factorise and condense: δ⁺ = δ_free + W λ of the rows that are solved for, given efforts included."""
    assert here.linear.K is not None
    shift = 0.0
    try:
        factor = work.timed(
            "factorise", factorise, model.robot, here.linear.K, work, turning=here.linear.turning
        )
    except NotPositiveDefinite:  # buckling faster than the step: the certificate says so
        factor, shift = work.timed("factorise", factorise_shifted, model.robot, here.linear.K, work)
    # Gyroscopic forces are small: what low-rank changes of K would do to them is smaller still.
    linear = work.timed("condense", _turning, model, task, here, work.factor or factor, guess)
    free, delta, W, H = work.timed("condense", condense, factor, linear, here.conditions)
    return Condensed(factor, shift, H, W, delta, free)


def settled(
    model: Model, task: Task, here: Moving, system: Condensed, effort: np.ndarray, work: Workspace
) -> Found:
    """Where the efforts of the solved rows lead."""
    u, lam = work.timed("recover", recover, system.factor, system.free, system.H, effort, here.conditions)
    v = here.v + u / task.stage.reach
    q = model.robot.retract(task.now.q, task.stage.shift + task.stage.step * v)
    contact = np.arange(len(lam)) >= len(task.now.effort)
    push = here.linear.H.transpose_dot(np.where(contact, lam, 0.0)) + here.extra
    motion = float(np.abs(model.robot.reach * u).max(initial=0.0))
    return Found(q, v, lam, here.contacts, push, system.factor, motion, system.shift)


def settle(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Workspace) -> Found:
    """Factorise, condense, solve, recover: the velocity and the efforts of the linearised step."""
    system = condensed(model, task, here, guess, work)
    effort = work.timed("solve", solve, system.W, system.delta, here.conditions, here.start)
    return settled(model, task, here, system, effort, work)


def _turning(model: Model, task: Task, here: Moving, factor: Factor, guess: np.ndarray) -> Linear:
    """With gyroscopic forces in r̃, at the velocity that they lead to themselves."""
    linear, conditions, v = here.linear, here.conditions, guess
    for _ in range(TURNS):
        c = model.inertia.gyroscopic(here.pose, v)
        if c is None:
            return here.linear
        linear = replace(here.linear, r=here.linear.r - c)
        given = linear.H.transpose_dot(np.where(conditions.given, conditions.effort, 0.0))
        v = here.v + factor.solve(linear.r + given) / task.stage.reach
    return linear


def arrive(model: Model, task: Task, found: Found, z: np.ndarray) -> Motion:
    """The state at the end of the step."""
    now, stage, rows = task.now, task.stage, len(task.now.effort)
    increment = stage.shift + stage.reach * found.v
    q = found.q if stage.reach == stage.step else model.robot.retract(now.q, increment)
    v = now.v + stage.reach / stage.step * (found.v - now.v)
    memory = model.viscosity.after(now.memory, stage, found.q, z) if model.viscosity.present else now.memory
    touching, push = pushes(found.contacts, found.lam[rows:])
    changed = one_sided(task.conditions) & ((now.effort != 0.0) != (found.lam[:rows] != 0.0))
    smooth = (
        np.array_equal(touching, now.touching) and not changed.any()
    )  # a cable that comes taut is an impact
    return Motion(
        q=q,
        v=v,
        effort=found.lam[:rows],
        internal=z,
        gravity=model.robot.gravity,
        t=now.t + task.step,
        memory=memory,
        past=Past(task.step, now.v, now.memory, increment) if smooth else None,
        touching=touching,
        push=push,
    )
