"""Newton's method on one set of loads: the step, iterated until the robot rests.

Full steps, halved only on inversion or blow-up. Contacts are detected anew at every iterate; their forces go along by index.
Where facets meet, normals jump, and detection may go to and fro for ever: after some iterations the pairs and their normals are
kept, and the equilibrium found counts if it does not penetrate.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pliant.algebra import NotPositiveDefinite
from pliant.conditions import Conditions
from pliant.contact import Contacts, Detector
from pliant.errors import InputError, is_number
from pliant.hold import Hold
from pliant.robot import Robot
from pliant.step import Linear, Workspace, linearise, step

MAX_HALVINGS = 8  # of one Newton step
FARTHEST = 4.0  # alarm distances that a step may go and that contacts are looked for in
KEEP_AFTER = 15  # full steps with pairs detected anew
DEEPEST = 1e-5  # of the robot's length: penetration that kept pairs may leave


@dataclass(frozen=True)
class Tolerance:
    """Relative force residual, and decrement and constraint violation relative to the robot's length."""

    residual: float = 1e-8
    length: float = 1e-9
    iterations: int = 50

    def __post_init__(self) -> None:
        for name in ("residual", "length", "iterations"):
            value = getattr(self, name)
            if not (is_number(value) and 0 < value < np.inf):
                raise InputError(f"Tolerance {name}", expected="a positive number", got=repr(value))
        if self.iterations != int(self.iterations):
            raise InputError("Tolerance iterations", expected="a whole number", got=self.iterations)


@dataclass(frozen=True)
class Iterate:
    """Where Newton stands: coordinates, efforts of the rows, contacts and their forces, and what the last step said."""

    q: np.ndarray
    lam: np.ndarray
    contacts: Contacts | None = None
    force: np.ndarray = field(
        default_factory=lambda: np.zeros(0)
    )  # (n,) normal, with friction (3n,): then along two tangents each
    predicted: np.ndarray | None = (
        None  # what the step to q was to bring to slender bodies, see `Robot.predict`
    )
    seen: np.ndarray | None = None  # coordinates at which the contacts were detected
    moved: float = 0.0  # largest motion in the last step [m]
    iterations: int = 0
    full: int = 0  # of these, those that were not shortened
    residual: float = np.inf
    decrement: float = np.inf
    constraint: float = np.inf
    shift: float = 0.0
    negative: int = 0
    converged: bool = False


@dataclass(frozen=True)
class Problem:
    """What is to be balanced: laws and gravity of this load step, and what stays the same from one to the next.

    `start` (nq,) is where slip counts from; `allowance` (detector.size,) ≤ 0 [m] what the gaps may be: below zero on the
    way out of an obstacle that the robot began in. `span` (m,) is δ of a row that moves as the body does: violations of
    lengths, volumes and angles become comparable. `weight` [N] is the scale of forces.
    """

    robot: Robot
    conditions: Conditions
    gravity: np.ndarray
    z: np.ndarray
    hold: Hold
    detector: Detector | None
    start: np.ndarray
    allowance: np.ndarray
    span: np.ndarray
    weight: float
    curved: bool = True  # whether K knows that pushes turn with the normals of obstacles


@dataclass(frozen=True)
class View:
    """The problem seen from an iterate: its linearisation, efforts, laws and spans, of contact rows too."""

    linear: Linear
    lam: np.ndarray
    conditions: Conditions
    span: np.ndarray
    contacts: Contacts | None
    seen: np.ndarray | None  # coordinates at which they were detected
    longest: float  # how far a step may go [m]: not past contacts that were not looked for


def newton(problem: Problem, guess: Iterate, tolerance: Tolerance, work: Workspace) -> Iterate:
    """The equilibrium, or the last iterate on the way to it."""
    given = problem.conditions
    now = replace(
        guess,
        lam=np.where(given.given, given.effort, guess.lam),
        iterations=0,
        full=0,
        moved=0.0,
        converged=False,
    )
    view = work.timed("linearise", _look, problem, now)
    scale = max(problem.weight, 1e-3 * _norm(view.linear.residual(view.lam)) if view else 0.0, 1e-12)
    for k in range(int(tolerance.iterations)):
        if view is None:
            return now
        try:
            move = step(problem.robot, view.linear, view.conditions, work, view.lam, problem.hold)
        except NotPositiveDefinite:
            return now
        decrement = problem.robot.farthest(move.dq)
        now = replace(now, iterations=k)
        now, view = _advance(problem, now, view, move.dq, move.lam, scale, work)
        if view is None:
            return replace(now, iterations=k + 1)
        load = max(scale, _norm(view.linear.H.transpose_dot(view.lam)))
        now = replace(
            now,
            iterations=k + 1,
            residual=_norm(view.linear.residual(view.lam)) / load,
            decrement=decrement,
            constraint=_violation(view),
            shift=move.shift,
            negative=move.negative,
        )
        if _converged(now, tolerance, problem.robot.length):
            return replace(now, converged=_clear(problem, now))
    return now


def _look(problem: Problem, now: Iterate) -> View | None:
    """None when the coordinates are inadmissible."""
    robot, detector = problem.robot, problem.detector
    linear = linearise(robot, now.q, now.lam, problem.z, problem.gravity, predicted=now.predicted)
    if linear is None or linear.K is None:
        return None
    problem.hold.stiffen(linear.K, linear.H)
    if detector is None:
        return View(linear, now.lam, problem.conditions, problem.span, None, None, 0.5 * robot.length)
    reach, seen = min(detector.reach(now.moved), FARTHEST * detector.alarm), now.q
    if now.contacts is None or now.seen is None:
        contacts = detector.detect(now.q, reach)
    elif now.full < KEEP_AFTER:
        contacts = detector.redetect(now.q, now.contacts, now.force[: len(now.contacts)], reach)
    else:
        contacts, seen = now.contacts.followed(now.seen, now.q), now.q
    flat, linear = linear.K, linear.with_contacts(contacts, problem.start)
    rows = len(linear.delta) - len(now.lam)
    force = np.zeros(rows) if now.contacts is None else contacts.carried_forces(now.contacts, now.force, rows)
    if problem.curved:
        bent, turning = detector.bent(flat, contacts, force[: len(contacts)], now.q, exact=True)
        linear = replace(linear, K=bent, turning=turning)
    conditions = problem.conditions.with_contacts(contacts.friction, problem.allowance[contacts.index], rows)
    span = np.concatenate([problem.span, np.full(rows, robot.length)])
    return View(linear, np.concatenate([now.lam, force]), conditions, span, contacts, seen, reach)


def _advance(problem, now, view, dq, lam, scale, work) -> tuple[Iterate, View | None]:
    """The step, shortened while it inverts elements or blows the residual up."""
    robot, rows = problem.robot, len(now.lam)
    before = _merit(view, scale)
    longest = robot.farthest(dq)
    fraction = min(1.0, view.longest / longest) if longest > 0 else 1.0
    candidate, trial = now, None
    for _ in range(MAX_HALVINGS):
        mixed = view.lam + fraction * (lam - view.lam)
        candidate = replace(
            now,
            q=robot.retract(now.q, fraction * dq),
            predicted=robot.predict(now.q, fraction * dq),
            lam=mixed[:rows],
            contacts=view.contacts,
            force=mixed[rows:],
            seen=view.seen,
            moved=fraction * longest,
            full=now.full + (fraction == 1.0),
        )
        trial = work.timed("linearise", _look, problem, candidate)
        if trial is not None:
            after = _merit(trial, scale)
            if np.isfinite(after) and after < 1e4 * max(before, 1.0):
                return candidate, trial
        fraction *= 0.5
    return candidate, trial


def _clear(problem: Problem, now: Iterate) -> bool:
    """Whether nothing penetrates that kept pairs did not know of."""
    if problem.detector is None or now.full <= KEEP_AFTER:
        return True
    found = problem.detector.detect(now.q)
    deepest = (found.gap - problem.allowance[found.index]).min(initial=0.0)
    return bool(deepest > -DEEPEST * problem.robot.length)


def _converged(now: Iterate, tolerance: Tolerance, length: float) -> bool:
    """Forces balance and the last step was small; or the step was next to nothing, where loads are too weak (or bodies too slender) for the first test."""
    if now.constraint > tolerance.length or not np.isfinite(now.residual):
        return False
    balanced = now.residual < tolerance.residual and now.decrement < 1e3 * tolerance.length * length
    return balanced or (now.shift == 0.0 and now.decrement < tolerance.length * length)


def _merit(view: View, scale: float) -> float:
    return _norm(view.linear.residual(view.lam)) / scale + _violation(view)


def _violation(view: View) -> float:
    """How far lo ≤ λ ≤ hi ⊥ gap is violated, as a share of δ's span: the gap where λ is inside, its wrong side at a bound."""
    c, lam = view.conditions, view.lam
    gap = view.linear.delta - c.imposed + c.compliance * lam
    bad = np.abs(gap)
    bad = np.where(lam <= c.low, np.maximum(-gap, 0.0), np.where(lam >= c.high, np.maximum(gap, 0.0), bad))
    if c.rough:
        bad[-2 * len(c.friction) :] = np.repeat(_sliding(view), 2)
    return float(np.max((bad / view.span)[~c.given], initial=0.0))


def _sliding(view: View) -> np.ndarray:
    """How far slip (n,) [m] is from Coulomb's law: none below the cone's edge, against the friction force on it."""
    mu, n = view.conditions.friction, len(view.conditions.friction)
    normal, force = view.lam[-3 * n : -2 * n], view.lam[-2 * n :].reshape(n, 2)
    slip = view.linear.delta[-2 * n :].reshape(n, 2)
    size = np.linalg.norm(force, axis=1)
    edge = (size > 0) & (size >= (1.0 - 1e-7) * mu * normal)
    against = np.where(edge[:, None], -force / np.where(size > 0, size, 1.0)[:, None], 0.0)
    along = np.maximum(np.einsum("ki,ki->k", slip, against), 0.0)
    bad = np.linalg.norm(slip - along[:, None] * against, axis=1)
    return np.where((normal > 0) & (mu > 0), bad, 0.0)


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))
