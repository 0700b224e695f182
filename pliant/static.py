"""Forward statics: iterate the step until the robot rests.

Newton with full steps, halved only on inversion or blow-up; when that fails the loads are ramped, and the ramp is halved
until it succeeds. Where it does not, the best state and its certificate come with the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from pliant.algebra import NotPositiveDefinite
from pliant.errors import ConvergenceError, InputError, is_number
from pliant.laws import Law
from pliant.result import Certificate, Result
from pliant.robot import Conditions, Robot
from pliant.state import State
from pliant.step import Linear, Workspace, linearise, step

MAX_HALVINGS = 8  # of one Newton step
SMALLEST_LOAD_STEP = 1.0 / 512.0


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


DEFAULT_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class Iterate:
    """Where Newton stands: coordinates, efforts, and what the last step said."""

    q: np.ndarray
    lam: np.ndarray
    iterations: int = 0
    residual: float = np.inf
    decrement: float = np.inf
    constraint: float = np.inf
    shift: float = 0.0
    negative: int = 0
    converged: bool = False


def static(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    state: State | None = None,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    load_steps: int = 1,
) -> Result:
    """The equilibrium f(q) = f_ext + Hᵀλ under the rows' laws, from `state` (default: rest).

    `load_steps` is how many equal steps the loads are first tried in; more are taken where needed.
    Raises SingularError when something is not held, ConvergenceError (with the best result) when no equilibrium is found.
    """
    if not isinstance(robot, Robot):
        raise InputError(
            "robot",
            expected="a Robot",
            got=type(robot).__name__,
            hint="pl.Robot(body, rows) makes one of a body.",
        )
    if not isinstance(tolerance, Tolerance):
        raise InputError("tolerance", expected="a Tolerance", got=repr(tolerance))
    if not isinstance(load_steps, (int, np.integer)) or load_steps < 1:
        raise InputError("load_steps", expected="a whole number, at least 1", got=repr(load_steps))
    conditions = robot.forward(laws)
    start = robot.checked(state)
    robot.check_held()
    work, begin = Workspace(), perf_counter()
    ramp = _Ramp(robot, conditions, start)
    if linearise(robot, start.q, start.effort, start.internal, start.gravity, tangent=False) is None:
        hint = "Start from rest, or from a state nearby; Hooke's law can start from such a state."
        raise InputError("state", expected="cells that are not inside out", got="inverted cells", hint=hint)
    z, best, reached, steps, iterations = start.internal, Iterate(start.q, start.effort), 0.0, 0, 0
    size = 1.0 / load_steps
    while reached < 1.0:
        aim = min(1.0, reached + size)
        found = _balance(robot, ramp, aim, best, z, tolerance, work)
        iterations += found[0].iterations
        if found[0].converged:
            (best, z), reached, steps = found, aim, steps + 1
            size = min(2.0 * size, 1.0 / load_steps)
            continue
        size /= 4.0
        if size < SMALLEST_LOAD_STEP:
            best = found[0] if steps == 0 else best
            result = _result(robot, ramp, reached, best, z, steps, iterations, work, begin)
            raise ConvergenceError(
                f"No equilibrium of {robot.name!r} beyond {100 * reached:.1f} % of the load: {result.certificate}. "
                "The best state is in error.result; smaller loads, or displacements imposed instead of efforts, may help.",
                result,
            )
    return _result(robot, ramp, 1.0, best, z, steps, iterations, work, begin)


class _Ramp:
    """Loads on the way from a start state to the conditions asked for; s runs from 0 to 1."""

    def __init__(self, robot: Robot, conditions: Conditions, start: State) -> None:
        self.robot, self.conditions, self.start = robot, conditions, start
        self.delta0 = robot.bundle.delta(robot.bundle.positions(start.q))
        at_rest = linearise(
            robot,
            robot.rest.q,
            np.zeros(robot.bundle.rows),
            robot.rest.internal,
            robot.gravity,
            tangent=False,
        )
        assert at_rest is not None
        self.weight = _norm(at_rest.r)
        # δ of a row that moves as the body does: violations of lengths, volumes and angles become comparable.
        self.span = np.maximum(robot.length * at_rest.H.norms(), 1e-300)

    def at(self, s: float) -> tuple[Conditions, np.ndarray]:
        c, start = self.conditions, self.start
        blend = lambda a, b: a + s * (b - a)
        spring = c.compliance > 0  # a spring's rest value is not a load
        imposed = np.where(c.given | spring, c.imposed, blend(self.delta0, c.imposed))
        effort = np.where(c.given, blend(start.effort, c.effort), 0.0)
        return replace(c, effort=effort, imposed=imposed), blend(start.gravity, self.robot.gravity)


def _balance(robot, ramp, s, guess, z, tolerance, work) -> tuple[Iterate, np.ndarray]:
    """Newton, and for incompressible materials the updates of the element pressures around it."""
    conditions, gravity = ramp.at(s)
    found = _newton(robot, ramp, conditions, gravity, guess, z, tolerance, work)
    if not len(z):
        return found, z
    total = found.iterations
    for _ in range(20):
        if not found.converged:
            break
        z, error = _update_internal(robot, found.q, z)
        if error < 1e-9:
            break
        found = _newton(robot, ramp, conditions, gravity, found, z, tolerance, work)
        total += found.iterations
    return replace(found, iterations=total), z


def _update_internal(robot: Robot, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, float]:
    parts = list(zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True))
    new = np.concatenate([b.update_internal(q[s], z[t]) for b, s, t in parts])
    return new, max(float(np.max(np.abs(b.volume_error(q[s])), initial=0.0)) for b, s, _ in parts)


def _newton(robot, ramp, conditions, gravity, guess, z, tolerance, work) -> Iterate:
    lam = np.where(conditions.given, conditions.effort, guess.lam)
    now = replace(guess, lam=lam, iterations=0, converged=False)
    linear = work.timed("linearise", linearise, robot, now.q, lam, z, gravity)
    scale = max(ramp.weight, 1e-3 * _norm(linear.residual(lam)) if linear else 0.0, 1e-12)
    for k in range(tolerance.iterations):
        if linear is None:
            return now
        try:
            move = step(robot, linear, conditions, work, now.lam)
        except NotPositiveDefinite:
            return now
        decrement = float(np.abs(robot.reach * move.dq).max(initial=0.0))
        now, linear = _advance(robot, ramp, conditions, gravity, z, now, linear, move, scale, work)
        if linear is None:
            return replace(now, iterations=k + 1)
        load = max(scale, _norm(linear.H.transpose_dot(now.lam)))
        now = replace(
            now,
            iterations=k + 1,
            residual=_norm(linear.residual(now.lam)) / load,
            decrement=decrement,
            constraint=_violation(linear.delta, now.lam, conditions, ramp.span),
            shift=move.shift,
            negative=move.negative,
        )
        if _converged(now, tolerance, robot.length):
            return replace(now, converged=True)
    return now


def _converged(now: Iterate, tolerance: Tolerance, length: float) -> bool:
    """Forces balance and the last step was small; or the step was next to nothing, where loads are too weak (or bodies too slender) for the first test."""
    if now.constraint > tolerance.length:
        return False
    balanced = now.residual < tolerance.residual and now.decrement < 1e3 * tolerance.length * length
    return balanced or (now.shift == 0.0 and now.decrement < tolerance.length * length)


def _advance(
    robot, ramp, conditions, gravity, z, now, linear, move, scale, work
) -> tuple[Iterate, Linear | None]:
    """The step, shortened while it inverts elements or blows the residual up."""
    before = _merit(linear, now.lam, conditions, scale, ramp.span)
    fraction, longest = 1.0, float(np.abs(robot.reach * move.dq).max(initial=0.0))
    if longest > 0.5 * robot.length:
        fraction = 0.5 * robot.length / longest
    candidate, trial = now, None
    for _ in range(MAX_HALVINGS):
        lam = now.lam + fraction * (move.lam - now.lam)
        candidate = replace(now, q=robot.retract(now.q, fraction * move.dq), lam=lam)
        trial = work.timed("linearise", linearise, robot, candidate.q, lam, z, gravity)
        if trial is not None:
            after = _merit(trial, lam, conditions, scale, ramp.span)
            if np.isfinite(after) and after < 1e4 * max(before, 1.0):
                return candidate, trial
        fraction *= 0.5
    return candidate, trial


def _merit(linear: Linear, lam: np.ndarray, conditions: Conditions, scale: float, span: np.ndarray) -> float:
    return _norm(linear.residual(lam)) / scale + _violation(linear.delta, lam, conditions, span)


def _violation(delta: np.ndarray, lam: np.ndarray, conditions: Conditions, span: np.ndarray) -> float:
    """How far lo ≤ λ ≤ hi ⊥ gap is violated, as a share of δ's span: the gap where λ is inside, its wrong side at a bound."""
    gap = delta - conditions.imposed + conditions.compliance * lam
    at_low, at_high = lam <= conditions.low, lam >= conditions.high
    bad = np.where(at_low, np.maximum(-gap, 0.0), np.where(at_high, np.maximum(gap, 0.0), np.abs(gap)))
    return float(np.max((bad / span)[~conditions.given], initial=0.0))


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


def _result(robot, ramp, s, best, z, steps, iterations, work, begin) -> Result:
    status = "converged" if s == 1.0 else "not converged"
    certificate = Certificate(
        status, best.residual, best.decrement, best.constraint, iterations, steps, best.shift, best.negative
    )
    gravity = ramp.at(s)[1]
    state = State(best.q, np.zeros(robot.ndof), best.lam, z, gravity)
    delta = robot.bundle.delta(robot.bundle.positions(best.q))
    timings = {**work.timings, "total": perf_counter() - begin}
    return Result(robot, state, robot.split(best.lam), robot.split(delta), certificate, timings)
