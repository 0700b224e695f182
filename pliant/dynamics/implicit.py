"""One implicit step in time: the static step with other matrices.

The stage of a scheme (see `schemes`), linearised at a velocity v, in the motion u = s dv that is left to the end of the step:

    K̃ u = r̃ + Hᵀλ,       K̃ = (M/h + D + h K)/s,       r̃ = r − c − D v + M(v* − v)/h
    δ⁺  = δ_free + W λ,   W = H K̃⁻¹ Hᵀ

For backward Euler this is A = M + hD + h²K, A dv = h r + … + h Hᵀλ and W = h² H A⁻¹ Hᵀ, divided by h²: forces stay in newtons,
and everything that works on K, r and H (condensation, contact, the inverse model) works on K̃, r̃ and H. The first linearisation
is made where the step begins, at the v that leads there, so that the tangent of one step is where the last one ended.

A step from top to bottom is  begin → start → moving → settle (see `settling`) → arrive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.algebra import Factor, NotPositiveDefinite
from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.dynamics.model import Model, one_sided
from pliant.dynamics.motion import Motion, Past, pushes
from pliant.dynamics.schemes import Stage
from pliant.step import (
    Linear,
    Workspace,
    condense,
    factorise,
    factorise_shifted,
    linearise,
)

TURNS = 3  # fixed-point iterations on the gyroscopic forces, which make no symmetric tangent
ROUNDING = 1e-15  # of the largest force: what is no change of them


@dataclass(frozen=True)
class Task:
    """One step: from where, with what laws, how long [s], and the contacts at its beginning, see `Model.look` for `way`.

    `allowance` (n,) is what the gaps of these contacts may be at the end, ≤ 0 [m]; others must not be below zero.
    """

    now: Motion
    conditions: Conditions
    step: float
    stage: Stage
    contacts: Contacts | None
    allowance: np.ndarray
    way: float | None


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
    """The step as its solved rows see it: δ⁺ = delta + W λ; `shift`: what K̃'s diagonal was raised by, relative to its mean."""

    W: np.ndarray
    delta: np.ndarray
    shift: float


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


def begin(
    model: Model, now: Motion, conditions: Conditions, step: float, *, way: float | None = None
) -> Task:
    """The step to be taken from `now`; `way`: see `Model.look`."""
    contacts, allowance = model.look(now.q, now.v, step, way=way), np.zeros(0)
    if contacts is not None:
        allowance = np.minimum(contacts.gap + model.recovery * step, 0.0)
    return Task(now, conditions, step, model.scheme.begin(now, step), contacts, allowance, way)


def elastic(
    model: Model, task: Task, q: np.ndarray, lam: np.ndarray, z: np.ndarray, *, tangent: bool = True
) -> Linear | None:
    """The robot at q with the viscous stress of this step, or None where q is inadmissible."""
    viscous = model.viscosity.overstress(task.stage)
    return linearise(model.robot, q, lam, z, model.robot.gravity, tangent=tangent, viscous=viscous)


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
    K = np.zeros((len(robot.pattern.rows), 3, 3))
    for n, body in enumerate(robot.bodies):
        own = body.linearise(q[robot.q_spans[n]], robot.gravity, z[robot.z_spans[n]], clamp=True)[2]
        if own is None:
            return None
        K[robot.body_placement[robot.block_spans[n]]] = own
    return K


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
    stage, inertia = task.stage, model.inertia
    assert at.K is not None
    pose = inertia.pose(task.now.q, stage.shift + stage.step * guess)
    M, h, s = inertia.mass(pose), stage.step, stage.reach
    K = inertia.tangent(M, at.K, damped, h, s)
    r = at.r + inertia.product(M, stage.v - v) / h - inertia.damping_force(M, damped, v)
    linear, conditions = replace(at, r=r, K=K), task.conditions
    begins = guess is task.now.v and (at.q is task.now.q or np.array_equal(at.q, task.now.q))
    contacts = task.contacts if begins else model.look(at.q, guess, task.step, way=task.way)
    if contacts is not None:
        linear, conditions, pushing = _touching(task, linear, contacts, conditions)
        lam = np.concatenate([lam, pushing])
    if s != h:
        linear, conditions = _to_the_end(linear, conditions, v, stage)
    return Moving(v, pose, linear, conditions, contacts, lam)


def _touching(
    task: Task, linear: Linear, contacts: Contacts, conditions: Conditions
) -> tuple[Linear, Conditions, np.ndarray]:
    """The linearised step with rows of contacts below, their laws, and their forces [N] to start from; K̃ is added to in place."""
    assert task.contacts is not None and linear.K is not None
    stage = task.stage
    rows = contacts.scalars
    pushing = task.now.carried(contacts, rows)
    normal, scale = pushing[: len(contacts)], stage.step / stage.reach
    curved = contacts.stiffen(linear.K, linear.H, normal, linear.q, scale=scale)
    linear = linear.with_contacts(contacts, task.now.q, *curved)
    same = contacts is task.contacts
    allowed = task.allowance if same else contacts.carried(task.contacts, task.allowance)
    return linear, conditions.with_contacts(contacts.friction, allowed, rows), pushing


def _to_the_end(
    linear: Linear, conditions: Conditions, v: np.ndarray, stage: Stage
) -> tuple[Linear, Conditions]:
    """δ at the end of the step instead of at the stage; springs still act at the stage, where energy balances."""
    theta, ahead = stage.step / stage.reach, linear.delta + linear.H.dot((stage.reach - stage.step) * v)
    spring = conditions.compliance > 0
    rest = np.where(spring, ahead + (conditions.imposed - linear.delta) / theta, conditions.imposed)
    compliance = conditions.compliance / theta
    return replace(linear, delta=ahead), replace(conditions, imposed=rest, compliance=compliance)


def factorised(
    model: Model, task: Task, here: Moving, guess: np.ndarray, work: Workspace
) -> tuple[Factor, float, Linear]:
    """The factor of K̃, what its diagonal was raised by, and the linearised step with the gyroscopic forces in r̃."""
    assert here.linear.K is not None
    shift = 0.0
    try:
        factor = work.timed(
            "factorise", factorise, model.robot, here.linear.K, work, turning=here.linear.turning
        )
    except NotPositiveDefinite:  # buckling faster than the step: the certificate says so
        factor, shift = work.timed("factorise", factorise_shifted, model.robot, here.linear.K, work)
    # Gyroscopic forces are small: what low-rank changes of K would do to them is smaller still.
    return factor, shift, work.timed("condense", _turning, model, task, here, work.factor or factor, guess)


def condensed(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Workspace) -> Condensed:
    """Factorise and condense: δ⁺ = δ_free + W λ of the rows that are solved for, given efforts included."""
    factor, shift, linear = factorised(model, task, here, guess, work)
    rows, delta = work.timed("condense", condense, factor, linear, here.conditions)
    return Condensed(rows.W, delta, shift)


def _turning(model: Model, task: Task, here: Moving, factor: Factor, guess: np.ndarray) -> Linear:
    """With gyroscopic forces in r̃, at the velocity that they lead to themselves."""
    conditions, r, v, c = here.conditions, here.linear.r, guess, np.zeros(0)
    given = here.linear.H.transpose_dot(np.where(conditions.given, conditions.effort, 0.0))
    nothing = ROUNDING * float(np.abs(r).max(initial=0.0))
    for turn in range(TURNS):
        if turn > 0:
            v = here.v + factor.solve(r - c + given) / task.stage.reach
        before, c = c, model.inertia.gyroscopic(here.pose, v)
        if c is None:
            return here.linear
        if float(np.abs(c - before if turn > 0 else c).max(initial=0.0)) <= nothing:
            break
    return replace(here.linear, r=r - c)


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
