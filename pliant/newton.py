"""Newton's method on one set of loads: the step, iterated until the robot rests.

The line search takes full steps and halves them only where cells turn inside out or the residual blows up.
Contacts are detected anew at every iterate; their forces go along by index. Where facets meet, normals jump,
and detection may alternate for ever: after some iterations the pairs and their normals are kept, and the
equilibrium counts if it does not penetrate. If it does, the pairs detected there are kept instead: a corner
that two sides push in turns comes to rest where neither is missed by much.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from time import thread_time

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.core.chambers import Closed
from pliant.core.drives import Play
from pliant.core.scene import Scene
from pliant.core.situation import Situation, Viscous
from pliant.core.sliding import Sliding, scaled
from pliant.core.step import FORWARD, Step, balance, step
from pliant.core.tangent import BARELY, EXACT, INDEFINITE, SHIFTED, UNSTABLE
from pliant.core.view import View
from pliant.errors import InputError, is_number
from pliant.solvers.solution import STATUSES
from pliant.timing import Stopwatch

MAX_HALVINGS = 8  # of the step length in a line search
BLOW_UP = 1e4  # times the merit before: a step that ends there is too long
KEEP_PAIRS_AFTER = 15  # full steps with pairs detected anew
PATIENCE = 30  # iterations in a row with a tangent that is none of a stable state: see `Problem`
DEEPEST_KEPT = 1e-4  # of the robot's length: gaps that kept pairs may leave, a fifth of the bound


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
    """Where Newton's method stands: q, λ, contacts and their forces, and the figures of the last step."""

    q: np.ndarray
    lam: np.ndarray
    contacts: Contacts | None = None
    force: np.ndarray = field(default_factory=lambda: np.zeros(0))  # normal (n,), with friction (3n,)
    predicted: np.ndarray | None = None  # section forces that the step to q was to bring, see `Robot.predict`
    seen: np.ndarray | None = None  # coordinates at which the contacts were detected
    moved: float = 0.0  # largest motion in the last step [m]
    iterations: int = 0
    full: int = 0  # of these, those with step length 1
    residual: float = np.inf
    decrement: float = np.inf
    constraint: float = np.inf
    treatment: str = EXACT  # of the tangent, see `pliant.core.tangent`
    shift: float = 0.0
    negative: int = 0
    solver: str = STATUSES[0]  # what the solver said of the rows' laws
    converged: bool = False


@dataclass(frozen=True)
class Problem:
    """What is to be balanced: laws and gravity of a load step, and what is the same for all of them.

    `start` (nq,) is where slip counts from; `allowance` (detector.size,) ≤ 0 [m] what the gaps may be: below
    zero on the way out of an obstacle that the robot began in. `span` (m,) is δ of a row that moves as the
    body does: violations of lengths, volumes and angles become comparable. `weight` [N] is the scale of
    forces.
    """

    scene: Scene
    conditions: Conditions
    gravity: np.ndarray
    z: np.ndarray
    start: np.ndarray
    allowance: np.ndarray
    span: np.ndarray
    weight: float
    stiff: bool = True  # whether K has the contact stiffness
    unstable: bool = False  # whether an equilibrium that would buckle is as welcome as a stable one
    exchanging: bool = False  # whether contacts may support what would buckle: dear, and in another valley
    downhill: bool = False  # whether the energy is followed: tangents are shifted by the least that does
    patience: int = PATIENCE  # of these iterations, if none of them halves the residual: it stalls
    sliding: Sliding | None = None  # what cables with friction are thought to do
    viscous: Viscous = None  # what materials add to their stress while time passes
    closed: Closed | None = None  # chambers whose gas stays in
    play: Play | None = None  # which side of their teeth drives are thought to push with

    @property
    def ladder(self) -> tuple[str, ...]:
        """Treatments of the tangent, see `pliant.core.tangent`."""
        if self.downhill:
            return (EXACT, INDEFINITE, BARELY)
        return (EXACT, INDEFINITE, UNSTABLE, SHIFTED) if self.unstable else FORWARD


@dataclass(frozen=True)
class Look:
    """The problem seen from an iterate: the view, and the laws and spans of its rows, contacts among them."""

    view: View
    conditions: Conditions
    span: np.ndarray
    longest: float  # how far a step may go [m]: not past contacts that were not looked for
    gas: float = 0.0  # energy [J] of closed chambers beyond that of the springs which they are in the laws


def newton(
    problem: Problem, guess: Iterate, tolerance: Tolerance, work: Stopwatch, *, deadline: float = np.inf
) -> Iterate:
    """The equilibrium, or the last iterate on the way to it.

    It ends early where shifted tangents lead nowhere, and at the `deadline`, a time of `thread_time` [s].
    """
    given, robot = problem.conditions, problem.scene.robot
    now = replace(
        guess,
        lam=np.where(given.given, given.effort, guess.lam),
        iterations=0,
        full=0,
        moved=0.0,
        converged=False,
    )
    look = looked(problem, now, work)
    scale = max(problem.weight, 1e-3 * _norm(look.view.residual()) if look else 0.0, 1e-12)
    vain, best = 0, np.inf
    for k in range(int(tolerance.iterations)):
        if look is None or vain >= problem.patience or (k > 0 and thread_time() > deadline):
            return now
        move = moved(problem, look, work)
        if move is None:
            return now
        decrement = robot.farthest(move.dq)
        now, look = line_search(problem, replace(now, iterations=k), look, move.dq, move.lam, scale, work)
        if look is None:
            return replace(now, iterations=k + 1)
        view = look.view
        load = max(scale, _norm(view.H.transpose_dot(view.lam)))
        now = replace(
            now,
            iterations=k + 1,
            residual=_norm(view.residual()) / load,
            decrement=decrement,
            constraint=violation(look),
            treatment=move.condensed.treatment,
            shift=move.condensed.shift,
            negative=move.condensed.negative,
            solver=move.solution.status,
        )
        if is_converged(now, tolerance, robot.length):
            now, clear = _cleared(problem, now)
            if clear:
                return replace(now, converged=True)
            look = looked(problem, now, work)
        halved = now.residual < 0.5 * best
        vain = 0 if halved or now.treatment not in (SHIFTED, UNSTABLE) else vain + 1
        best = now.residual if halved else best
    return now


def moved(problem: Problem, look: Look, work: Stopwatch) -> Step | None:
    """The step that a look asks for; None where no tangent can be used.

    A tangent that only contacts would support is of no use where these open: then it is shifted.
    """
    move = _stepped(problem, look, problem.ladder, work)
    if move is None or move.condensed.treatment != INDEFINITE or move.solution.status == STATUSES[0]:
        return move
    return shifted(problem, look, work) or move


def shifted(problem: Problem, look: Look, work: Stopwatch) -> Step | None:
    """The step with a tangent that is shifted if it has to be."""
    return _stepped(problem, look, problem.ladder[-1:], work)


def _stepped(problem: Problem, look: Look, ladder: tuple[str, ...], work: Stopwatch) -> Step | None:
    solve = partial(balance, conditions=look.conditions, exchanging=problem.exchanging)
    return step(problem.scene, look.view, look.conditions, solve, ladder, work)


def looked(problem: Problem, now: Iterate, work: Stopwatch) -> Look | None:
    """None when the coordinates are inadmissible."""
    scene, robot = problem.scene, problem.scene.robot
    at = Situation(
        now.q,
        now.lam,
        problem.z,
        problem.gravity,
        slip_start=problem.start,
        predicted=now.predicted,
        viscous=problem.viscous,
    )
    longest, kept = 0.5 * robot.length, None
    if scene.detector is not None:
        longest = scene.search(now.moved)
        kept = now.seen if now.full >= KEEP_PAIRS_AFTER else None
        at = replace(at, contacts=now.contacts, force=now.force, followed_from=kept, search=longest)
    turning = problem.stiff and kept is None  # normals that are kept do not turn
    view = scene.look(at, work, stiff=turning, exact=True)
    if view is None:
        return None
    laws, gas = scaled(robot, problem.conditions, now.q, problem.z, view.delta), 0.0
    if problem.closed is not None:
        laws = problem.closed.laws(laws, view.delta)
        gas = problem.closed.energy(laws, view.delta)
    if view.contacts is None:
        return Look(view, laws, problem.span, longest, gas)
    contacts, rows = view.contacts, len(view.lam) - len(now.lam)
    conditions = laws.with_contacts(contacts.friction, problem.allowance[contacts.index], rows)
    span = np.concatenate([problem.span, np.full(rows, robot.length)])
    return Look(view, conditions, span, longest, gas)


def line_search(
    problem: Problem,
    now: Iterate,
    look: Look,
    dq: np.ndarray,
    lam: np.ndarray,
    scale: float,
    work: Stopwatch,
) -> tuple[Iterate, Look | None]:
    """The iterate after a step, halved while cells turn inside out or the residual blows up."""
    robot, rows, view = problem.scene.robot, len(now.lam), look.view
    before = imbalance(look, scale)
    longest = robot.farthest(dq)
    length = min(1.0, look.longest / longest) if longest > 0 else 1.0
    candidate, trial = now, None
    for _ in range(MAX_HALVINGS):
        mixed = view.lam + length * (lam - view.lam)
        candidate = replace(
            now,
            q=robot.retract(now.q, length * dq),
            predicted=robot.predict(now.q, length * dq),
            lam=mixed[:rows],
            contacts=view.contacts,
            force=mixed[rows:],
            seen=view.q,
            moved=length * longest,
            full=now.full + (length == 1.0),
        )
        trial = looked(problem, candidate, work)
        if trial is not None:
            after = imbalance(trial, scale)
            if np.isfinite(after) and after < BLOW_UP * max(before, 1.0):
                return candidate, trial
        length *= 0.5
    return candidate, trial


def _cleared(problem: Problem, now: Iterate) -> tuple[Iterate, bool]:
    """The iterate, and whether gaps are what kept pairs took them for: none deep, none open that pushes.

    If they are not, the pairs that are kept from now on are those detected here.
    """
    detector = problem.scene.detector
    if detector is None or now.full <= KEEP_PAIRS_AFTER:
        return now, True
    assert now.contacts is not None
    push = now.force[: len(now.contacts)]
    found = detector.redetect(now.q, now.contacts, push)
    force = found.carried_forces(now.contacts, now.force, found.scalars)
    off, pushing = found.gap - problem.allowance[found.index], force[: len(found)] > 0.0
    lost = np.count_nonzero(pushing) < np.count_nonzero(push > 0.0)  # they are farther than was looked for
    worst = max(float(-off.min(initial=0.0)), float(off[pushing].max(initial=0.0)))
    if worst < DEEPEST_KEPT * problem.scene.robot.length and not lost:
        return now, True
    return replace(now, contacts=found, force=force, seen=now.q), False


def is_converged(now: Iterate, tolerance: Tolerance, length: float) -> bool:
    """Whether forces balance and the last step was small, or that step was next to nothing.

    The latter is for loads that are too weak, or bodies too slender, for the former.
    """
    if now.constraint > tolerance.length or not np.isfinite(now.residual):
        return False
    balanced = now.residual < tolerance.residual and now.decrement < 1e3 * tolerance.length * length
    return balanced or (now.shift == 0.0 and now.decrement < tolerance.length * length)


def imbalance(look: Look, scale: float) -> float:
    """Of forces, in units of `scale` [N], and how far rows are off what laws ask, of their spans."""
    return _norm(look.view.residual()) / scale + violation(look)


def violation(look: Look) -> float:
    """How far lo ≤ λ ≤ hi ⊥ gap is violated, of δ's span: the gap inside, its wrong side at a bound."""
    c, lam = look.conditions, look.view.lam
    gap = look.view.delta - c.imposed + c.compliance * lam
    bad = np.abs(gap)
    bad = np.where(lam <= c.low, np.maximum(-gap, 0.0), np.where(lam >= c.high, np.maximum(gap, 0.0), bad))
    if c.frictional:
        bad[-2 * len(c.friction) :] = np.repeat(_sliding(look), 2)
    return float(np.max((bad / look.span)[~c.given], initial=0.0))


def _sliding(look: Look) -> np.ndarray:
    """How far slip (n,) [m] is from Coulomb's law: zero inside the cone, against the force on its edge."""
    mu, n, lam = look.conditions.friction, len(look.conditions.friction), look.view.lam
    normal, force = lam[-3 * n : -2 * n], lam[-2 * n :].reshape(n, 2)
    slip = look.view.delta[-2 * n :].reshape(n, 2)
    size = np.linalg.norm(force, axis=1)
    edge = (size > 0) & (size >= (1.0 - 1e-7) * mu * normal)
    against = np.where(edge[:, None], -force / np.where(size > 0, size, 1.0)[:, None], 0.0)
    along = np.maximum(np.einsum("ki,ki->k", slip, against), 0.0)
    bad = np.linalg.norm(slip - along[:, None] * against, axis=1)
    return np.where((normal > 0) & (mu > 0), bad, 0.0)


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))
