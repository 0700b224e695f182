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
from functools import partial

import numpy as np

from pliant.algebra import Factor
from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.core.tangent import EXACT, FLAT, SHIFTED, Condensed, condensed
from pliant.core.view import View, linearise
from pliant.dynamics.model import Model, one_sided
from pliant.dynamics.motion import Motion, Past, pushes
from pliant.dynamics.schemes import Stage
from pliant.timing import Stopwatch

LADDER = (EXACT, FLAT, SHIFTED)  # buckling faster than the step: the certificate says so
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
class Ahead:
    """What the end of a step knows of the beginning of the next: the robot linearised there, None if the next step is linearised in another
    way; the contacts that a motion of the same length [s] is about to close; and of which version of the obstacles they are."""

    view: View | None
    contacts: Contacts | None
    step: float
    version: int


@dataclass(frozen=True)
class Moving:
    """The step linearised at the stage's velocity v: K̃, r̃ (without c), H, δ at the end and λ to start from in `view`.

    `extra` (ndof,) [N] is what r̃ contains beyond the module's formula.
    """

    v: np.ndarray
    pose: np.ndarray  # coordinates that M and c are taken at
    view: View
    conditions: Conditions
    extra: np.ndarray | float = 0.0


@dataclass(frozen=True)
class Found:
    """What a linearisation led to: where the stage stands and its velocity, λ of all rows and contacts, how it was found."""

    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    contacts: Contacts | None
    extra: np.ndarray | float  # (ndof,) [N] what r̃ contained beyond the module's formula
    condensed: Condensed
    motion: float  # largest coordinate of u [m]
    solver: str  # its word for the efforts: "solved", "infeasible" or "not converged"


def begin(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    *,
    way: float | None = None,
    ahead: Ahead | None = None,
) -> Task:
    """The step to be taken from `now`; `way`: see `Model.look`; `ahead`: what the last step knew of it."""
    allowance = np.zeros(0)
    if way is None and ahead is not None and (ahead.step, ahead.version) == (step, model.detector.version):
        contacts = ahead.contacts
    else:
        contacts = model.look(now.q, now.v, step, way=way)
    if contacts is not None:
        allowance = np.minimum(contacts.gap + model.recovery * step, 0.0)
    return Task(now, conditions, step, model.scheme.begin(now, step), contacts, allowance, way)


def elastic(
    model: Model, task: Task, q: np.ndarray, lam: np.ndarray, z: np.ndarray, *, tangent: bool = True
) -> View | None:
    """The robot at q with the viscous stress of this step, or None where q is inadmissible."""
    viscous = model.viscosity.overstress(task.stage)
    return linearise(model.robot, q, lam, z, model.robot.gravity, tangent=tangent, viscous=viscous)


def start(model: Model, task: Task, ahead: Ahead | None) -> tuple[View | None, np.ndarray, np.ndarray]:
    """The first linearisation, the stage's velocity there, and the one that inertia is taken at.

    `ahead` is what the last step knew of this one.
    """
    now, stage = task.now, task.stage
    if stage.guess is not None:
        q = model.robot.retract(now.q, stage.shift + stage.step * stage.guess)
        at = elastic(model, task, q, now.effort, now.internal)
        if at is not None:
            return at, stage.guess, stage.guess
    known = None if ahead is None else ahead.view
    at = known or elastic(model, task, now.q, now.effort, now.internal)
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
    at: View,
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
    view, conditions = replace(at, r=r, K=K, lam=lam), task.conditions
    begins = guess is task.now.v and (at.q is task.now.q or np.array_equal(at.q, task.now.q))
    contacts = task.contacts if begins else model.look(at.q, guess, task.step, way=task.way)
    if contacts is not None:
        view, conditions = _touching(model, task, view, contacts, conditions)
    if s != h:
        view, conditions = _to_the_end(view, conditions, v, stage)
    return Moving(v, pose, view, conditions)


def _touching(
    model: Model, task: Task, view: View, contacts: Contacts, conditions: Conditions
) -> tuple[View, Conditions]:
    """The linearised step with rows of contacts below and their stiffness in K̃, and their laws."""
    assert task.contacts is not None
    stage, rows = task.stage, contacts.scalars
    view = view.touching(contacts, task.now.carried(contacts, rows), task.now.q)
    view = view.stiffened(model.detector, share=stage.step / stage.reach)
    same = contacts is task.contacts
    allowed = task.allowance if same else contacts.carried(task.contacts, task.allowance)
    return view, conditions.with_contacts(contacts.friction, allowed, rows)


def _to_the_end(view: View, conditions: Conditions, v: np.ndarray, stage: Stage) -> tuple[View, Conditions]:
    """δ at the end of the step instead of at the stage; springs still act at the stage, where energy balances."""
    theta, ahead = stage.step / stage.reach, view.delta + view.H.dot((stage.reach - stage.step) * v)
    spring = conditions.compliance > 0
    rest = np.where(spring, ahead + (conditions.imposed - view.delta) / theta, conditions.imposed)
    compliance = conditions.compliance / theta
    return replace(view, delta=ahead), replace(conditions, imposed=rest, compliance=compliance)


def condensed_step(
    model: Model, task: Task, here: Moving, guess: np.ndarray, conditions: Conditions, work: Stopwatch
) -> Condensed | None:
    """δ⁺ = δ_free + W λ of the rows that are solved for, given efforts included, gyroscopic forces in r̃; None where there is none."""
    turning = partial(_turning, model, task, here, guess=guess)
    return condensed(model.scene, here.view, conditions, LADDER, work, turning)


def _turning(
    model: Model, task: Task, here: Moving, view: View, factor: Factor, *, guess: np.ndarray
) -> View:
    """With gyroscopic forces in r̃, at the velocity that they lead to themselves.

    They are small: what changes of K by low rank would do to them is smaller still.
    """
    conditions, r, v, c = here.conditions, view.r, guess, np.zeros(0)
    given = view.H.transpose_dot(np.where(conditions.given, conditions.effort, 0.0))
    nothing = ROUNDING * float(np.abs(r).max(initial=0.0))
    for turn in range(TURNS):
        if turn > 0:
            v = here.v + factor.plain.solve(r - c + given) / task.stage.reach
        before, c = c, model.inertia.gyroscopic(here.pose, v)
        if c is None:
            return view
        if float(np.abs(c - before if turn > 0 else c).max(initial=0.0)) <= nothing:
            break
    return replace(view, r=r - c)


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
