"""One implicit step in time: the static step with other matrices.

The stage of a scheme (see `schemes`), linearised at a velocity v, in the motion u = s dv that is left to the
end of the step:

    K̃ u = r̃ + Hᵀλ,       K̃ = (M/h + D + h K)/s,       r̃ = r − c − D v + M(v* − v)/h
    δ⁺  = δ_free + W λ,   W = H K̃⁻¹ Hᵀ

For backward Euler this is A = M + hD + h²K, A dv = h r + … + h Hᵀλ and W = h² H A⁻¹ Hᵀ, divided by h²: forces
stay in newtons, and everything that works on K, r and H (condensation, contact, the inverse model) works on
K̃, r̃ and H. The first linearisation is made where the step begins, at the v that leads there, so that the
tangent of one step is where the last one ended.

A step from top to bottom is  begin → start → moving → solve → arrive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pliant.algebra import Factor
from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.core.chambers import flowed, flowing
from pliant.core.sliding import scaled
from pliant.core.step import balance, recover
from pliant.core.tangent import CLAMPED, EXACT, FLAT, SHIFTED, Condensed, condense, condensed
from pliant.core.view import View, linearise
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion, Past, pushes
from pliant.dynamics.schemes.scheme import Stage
from pliant.timing import Stopwatch

LADDER, CLAMPED_LADDER = (EXACT, FLAT), (EXACT, SHIFTED)  # of K̃; then of K̃ with K clamped
GYROSCOPIC_ITERATIONS = 3  # of a fixed-point iteration: these forces have no symmetric tangent
GYROSCOPIC_CHANGE = 1e-15  # of the largest force: a smaller change of the gyroscopic forces is rounding
FEW_CONTACTS = 32  # up to so many rows of contacts are all solved for
CLEARANCE = (
    0.1  # of the fastest contact's motion in a step: nearer ones may touch though they seem to stay open
)


@dataclass(frozen=True)
class Task:
    """One step: from where, with what laws, how long [s], and the contacts at its beginning.

    `delta`: δ of the rows at its beginning. `travel`: see `Model.contacts`. `allowance` (n,) is what the gaps
    of these contacts may be at the end, ≤ 0 [m]; others must not be below zero.
    """

    now: Motion
    delta: np.ndarray
    conditions: Conditions
    step: float
    stage: Stage
    contacts: Contacts | None
    allowance: np.ndarray
    travel: float | None


@dataclass(frozen=True)
class Handover:
    """What the end of a step knows of the beginning of the next one, which saves looking twice.

    `delta`: δ of the rows. `view`: the robot linearised there; None if the next step is linearised in another
    way. `contacts`: those
    that a motion of the same length [s] is about to close, among obstacles of this version.
    """

    delta: np.ndarray
    view: View | None
    contacts: Contacts | None
    step: float
    version: int


@dataclass(frozen=True)
class Moving:
    """The step linearised at the stage's velocity v.

    `view` holds K̃, r̃ (without c), H, δ at the end and λ to start from.
    """

    v: np.ndarray
    pose: np.ndarray  # coordinates that M and c are taken at
    M: np.ndarray
    K_rayleigh: np.ndarray | None
    view: View
    conditions: Conditions


@dataclass(frozen=True)
class StageSolution:
    """Where a linearisation puts the stage: q and v, λ of all rows and contacts, and how they were found."""

    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    contacts: Contacts | None
    condensed: Condensed
    motion: float  # largest coordinate of u [m]
    solver: str  # its word for the efforts: "solved", "infeasible" or "not converged"


def begin(
    model: Model,
    now: Motion,
    conditions: Conditions,
    step: float,
    *,
    travel: float | None = None,
    handover: Handover | None = None,
) -> Task:
    """The step to be taken from `now`.

    `travel`: see `Model.contacts`. `handover`: what the last step knew of this one.
    """
    allowance = np.zeros(0)
    alike = handover is not None and (handover.step, handover.version) == (step, model.detector.version)
    if travel is None and handover is not None and alike:
        contacts = handover.contacts
    else:
        contacts = model.contacts(now.q, now.v, step, now.touching, travel=travel)
    if contacts is not None:
        allowance = np.minimum(contacts.gap + model.recovery * step, 0.0)
    bundle = model.robot.bundle
    delta = bundle.delta(bundle.positions(now.q)) if handover is None else handover.delta
    return Task(now, delta, conditions, step, model.scheme.stage(now, step), contacts, allowance, travel)


def elastic(
    model: Model,
    task: Task,
    q: np.ndarray,
    lam: np.ndarray,
    z: np.ndarray,
    *,
    tangent: bool = True,
    clamp: bool = False,
) -> View | None:
    """The robot at q with the viscous stress of this step, or None where q is inadmissible."""
    robot, viscous = model.robot, model.viscosity.overstress(task.stage)
    return linearise(robot, q, lam, z, robot.gravity, tangent=tangent, clamp=clamp, viscous=viscous)


def start(model: Model, task: Task, handover: Handover | None) -> tuple[View | None, np.ndarray, np.ndarray]:
    """The first linearisation, the stage's velocity there, and the velocity that inertia is taken at.

    `handover` is what the last step knew of this one.
    """
    now, stage = task.now, task.stage
    if stage.guess is not None:
        q = model.robot.retract(now.q, stage.shift + stage.step * stage.guess)
        at = elastic(model, task, q, now.effort, now.internal)
        if at is not None:
            return at, stage.guess, stage.guess
    known = None if handover is None else handover.view
    at = known or elastic(model, task, now.q, now.effort, now.internal)
    return at, -stage.shift / stage.step, now.v


def rayleigh_stiffness(model: Model, q: np.ndarray, z: np.ndarray) -> np.ndarray | None:
    """K of Rayleigh's damping, on the pattern (nb, 3, 3); None without β.

    It is that of the bodies alone, without terms that make it indefinite.
    """
    if not model.inertia.has_beta:
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
    K_rayleigh: np.ndarray | None,
    v: np.ndarray,
    guess: np.ndarray,
    lam: np.ndarray,
    solved: StageSolution | None = None,
) -> Moving:
    """The step linearised at v, from the robot linearised there.

    `guess` is the velocity that inertia is taken at, `K_rayleigh` the `rayleigh_stiffness` of D throughout
    the step; `solved` the linearisation before, if this is not the first.
    """
    stage, inertia = task.stage, model.inertia
    assert at.K is not None
    pose = inertia.pose(task.now.q, stage.shift + stage.step * guess)
    M, h, s = inertia.mass(pose), stage.step, stage.reach
    K = inertia.tangent(M, at.K, K_rayleigh, h, s)
    r = at.r + inertia.product(M, stage.v - v) / h - inertia.damping_force(M, K_rayleigh, v)
    view = replace(at, r=r, K=K, lam=lam)
    conditions = scaled(model.robot, task.conditions, at.q, task.now.internal, at.delta)
    if model.robot.bundle.lined:
        passed = task.step * stage.step / stage.reach
        conditions = flowing(model.robot, conditions, task.now.internal, task.delta, at.delta, passed)
    begins = guess is task.now.v and (at.q is task.now.q or np.array_equal(at.q, task.now.q))
    contacts = task.contacts
    # Where nothing is near as the step begins, nothing is looked for on its way: its end is looked at, and
    # the step is taken again where something is met.
    if not begins and (solved is not None or contacts is None or len(contacts)):
        pushing = task.now.touching if solved is None else pushes(solved.contacts, solved.lam[len(lam) :])[0]
        contacts = model.contacts(at.q, guess, task.step, pushing, travel=task.travel)
    if contacts is not None:
        view, conditions = _touching(model, task, view, contacts, conditions)
    if s != h:
        view, conditions = _to_the_end(view, conditions, v, stage)
    return Moving(v, pose, M, K_rayleigh, view, conditions)


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
    """δ at the end of the step instead of at the stage.

    Springs still act at the stage, where energy balances.
    """
    theta, end = stage.step / stage.reach, view.delta + view.H.dot((stage.reach - stage.step) * v)
    spring = conditions.compliance > 0
    rest = np.where(spring, end + (conditions.imposed - view.delta) / theta, conditions.imposed)
    compliance = conditions.compliance / theta
    return replace(view, delta=end), replace(conditions, imposed=rest, compliance=compliance)


def condensed_step(
    model: Model, task: Task, here: Moving, guess: np.ndarray, conditions: Conditions, work: Stopwatch
) -> Condensed | None:
    """δ⁺ = δ_free + W λ of the rows that are solved for; None where no tangent is of use.

    Efforts that are given and gyroscopic forces are in r̃. What buckles faster than the step, or seems to
    where the past has led astray, has no definite K̃: K is clamped then, and K̃ shifted if that is not enough.
    """
    gyroscopic = partial(_with_gyroscopic_forces, model, task, here, guess=guess)
    found = condensed(model.scene, here.view, conditions, LADDER, work, gyroscopic)
    if found is not None:
        return found
    view = work.timed("linearise", _clamped, model, task, here)
    found = condensed(model.scene, view, conditions, CLAMPED_LADDER, work, gyroscopic)
    return replace(found, treatment=CLAMPED) if found is not None and found.shift == 0.0 else found


def _clamped(model: Model, task: Task, here: Moving) -> View:
    """The linearised step without terms of K that can make it indefinite, contact stiffness among them."""
    at, stage = here.view.at, task.stage
    clamped = elastic(model, task, at.q, at.effort, at.internal, clamp=True)
    assert clamped is not None and clamped.K is not None  # it has been linearised there
    K = model.inertia.tangent(here.M, clamped.K, here.K_rayleigh, stage.step, stage.reach)
    return replace(here.view, K=K, flat=None, change=None)


def _with_gyroscopic_forces(
    model: Model, task: Task, here: Moving, view: View, factor: Factor, *, guess: np.ndarray
) -> View:
    """The view with gyroscopic forces in r̃, at the velocity that they lead to themselves.

    They are small: what changes of K by low rank would do to them is smaller still.
    """
    conditions, r, c = here.conditions, view.r, model.inertia.gyroscopic(here.pose, guess)
    if c is None:
        return view
    given = view.H.transpose_dot(np.where(conditions.given, conditions.effort, 0.0))
    rounding, change = GYROSCOPIC_CHANGE * float(np.abs(r).max(initial=0.0)), c
    for _ in range(GYROSCOPIC_ITERATIONS - 1):
        if float(np.abs(change).max(initial=0.0)) <= rounding:
            break
        v = here.v + factor.plain.solve(r - c + given) / task.stage.reach
        before, c = c, model.inertia.gyroscopic(here.pose, v)
        if c is None:
            return view
        change = c - before
    return replace(view, r=r - c)


def solve(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Stopwatch) -> StageSolution | None:
    """The velocity and the efforts of the linearised step; None where no tangent is of use.

    Very many contacts may be near, and few push. Those that seem to stay open are given no force, and the
    step is solved again with each of them that would be penetrated, until there is none: what solves the laws
    of some contacts and keeps the others open solves those of all.
    """
    conditions, staying_open = here.conditions, _staying_open(task, here)
    active = _without(conditions, staying_open)
    system = condensed_step(model, task, here, guess, active, work)
    if system is None:
        return None
    gaps = slice(len(task.now.effort), len(task.now.effort) + len(staying_open))
    while True:
        solution = work.timed("solve", balance, system, active)
        u, lam = work.timed("recover", recover, model.scene, system, active, solution)
        if not staying_open.any():
            break
        closed = staying_open & (system.view.delta + system.view.H.dot(u) < conditions.imposed)[gaps]
        if not closed.any():
            break
        staying_open = staying_open & ~closed
        active = _without(conditions, staying_open)
        view = replace(system.view, lam=lam)  # what the solver begins from
        treated = view, system.factor, system.treatment, system.shift
        system = work.timed("condense", condense, active, *treated)
    v = here.v + u / task.stage.reach
    q = model.robot.retract(task.now.q, task.stage.shift + task.stage.step * v)
    q.flags.writeable = False  # so that states share it
    motion = model.robot.farthest(u)
    return StageSolution(q, v, lam, here.view.contacts, system, motion, solution.status)


def _staying_open(task: Task, here: Moving) -> np.ndarray:
    """Which contacts (n,) do not push, and stay clear at the velocity at hand; none where they are few."""
    rows, view = len(task.now.effort), here.view
    contacts = 0 if view.contacts is None else len(view.contacts)
    if len(view.delta) <= rows + FEW_CONTACTS:
        return np.zeros(contacts, bool)
    gaps = slice(rows, rows + contacts)
    motion = view.H.dot(task.step * task.now.v)
    predicted = view.delta + motion - here.conditions.imposed
    clear = CLEARANCE * np.abs(motion[gaps]).max(initial=0.0)
    return (view.lam[gaps] == 0.0) & (np.minimum(predicted, view.delta)[gaps] > clear)


def _without(conditions: Conditions, staying_open: np.ndarray) -> Conditions:
    """The laws with no force of contacts (n,) that stay open, whose rows are the last; nor any friction."""
    n, m, mu = len(staying_open), len(conditions.given), conditions.friction
    if not staying_open.any():
        return conditions
    given, rows = conditions.given.copy(), m - 3 * n if conditions.frictional else m - n
    given[rows : rows + n] |= staying_open
    if conditions.frictional:
        mu = mu[~staying_open]
        given[rows + n :] |= np.repeat(staying_open, 2) | (not mu.any())
    return replace(conditions, given=given, friction=mu)


def arrive(model: Model, task: Task, solved: StageSolution, z: np.ndarray) -> Motion:
    """The state at the end of the step, with internal variables z."""
    now, stage, rows = task.now, task.stage, len(task.now.effort)
    increment = stage.shift + stage.reach * solved.v
    q = solved.q if stage.reach == stage.step else model.robot.retract(now.q, increment)
    v = now.v + stage.reach / stage.step * (solved.v - now.v)
    memory = model.viscosity.after(now.memory, stage, solved.q, z) if model.viscosity.present else now.memory
    if (bundle := model.robot.bundle).lined:
        begun, end = (bundle.delta(bundle.positions(x)) for x in (now.q, q))
        z = flowed(model.robot, task.conditions, z, begun, end, solved.lam[:rows], task.step)
    z = model.robot.arrived(q, z, now.internal)
    touching, push = pushes(solved.contacts, solved.lam[rows:])
    # A cable that comes taut is an impact, as a contact that closes is.
    changed = task.conditions.one_sided & ((now.effort != 0.0) != (solved.lam[:rows] != 0.0))
    smooth = np.array_equal(touching, now.touching) and not changed.any()
    return Motion(
        q=q,
        v=v,
        effort=solved.lam[:rows],
        internal=z,
        gravity=model.robot.gravity,
        t=now.t + task.step,
        memory=memory,
        past=Past(task.step, now.v, now.memory, increment, now.command) if smooth else None,
        touching=touching,
        push=push,
        command=task.conditions.commanded,
    )
