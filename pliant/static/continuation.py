"""Continuation: equilibria along a load path that may turn back, as when an arch snaps through.

The share s of the loads is an unknown like q. A step has a length, and the point is corrected at right angles
to the tangent t of the path (Riks 1979, Ramm 1981):

    K dq = r + Hᵀλ + ds ∂r/∂s,      H dq = imposed − δ + ds ∂imposed/∂s,      ⟨t_q, dq⟩ + t_s ds = 0,

with motions measured by their root mean square, in units of that under all loads if the robot stayed as stiff
as it begins: a path turns as gently as it can then. At a limit point s turns while q goes on: there the
tangent is singular on the motions that the rows allow, and that is the greatest load. Contacts without
friction are rows like any other: those that push keep their gaps closed along ds, and which of them push is
decided at every correction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from pliant.contact import Obstacle
from pliant.core.step import balance, step
from pliant.core.tangent import EXACT, SHIFTED, UNSTABLE
from pliant.core.view import View, linearise
from pliant.errors import ConvergenceError, InputError, is_number
from pliant.laws import Law
from pliant.newton import Iterate, Look, Problem, Tolerance, is_converged, looked, newton, violation
from pliant.result import STABLE, Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static.balance import VOLUME_ERROR, update_internal
from pliant.static.budget import Account, Budget, Report
from pliant.static.loads import Loads
from pliant.static.path import Count, Path
from pliant.static.report import make_result
from pliant.static.stability import judged
from pliant.timing import Stopwatch

FEW_ITERATIONS, MOST_CORRECTIONS = 4, 15  # of a step that may grow; of one that is taken again, shorter
ASIDE, NO_JUMP = 1.0, 1e-3  # of a step's length, and at least: farther aside it has met another path
SHORTEST, LONGEST = 1e-4, 4.0  # steps, of the first one
LEAST_MOTION, MOST_MOTION = (
    1e-6,
    1.0,
)  # of the length: the motion under all loads that counts as much as these
DEFAULT_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class LoadPath:
    """Equilibria along a path: shares (n,) of the loads, and the results there, from the start on.

    `limits`: shares of the loads at which the path turns back, each from a parabola through three equilibria.
    """

    shares: np.ndarray
    results: tuple[Result, ...]
    limits: tuple[float, ...]

    def displacement(self, name: str) -> np.ndarray:
        """δ of a row along the path, (n, m)."""
        return np.array([result.displacement[name] for result in self.results])

    def effort(self, name: str) -> np.ndarray:
        """λ of a row along the path, (n, m)."""
        return np.array([result.effort[name] for result in self.results])

    @property
    def stable(self) -> np.ndarray:
        """Which of the equilibria are stable, (n,) bool."""
        return np.array([result.certificate.stability == STABLE for result in self.results])


@dataclass(frozen=True)
class Point:
    """An equilibrium on the path: the share of the loads, the iterate and its internal variables."""

    s: float
    at: Iterate
    z: np.ndarray


@dataclass(frozen=True)
class Direction:
    """A direction of the path: dq (ndof,), dλ of the rows, contacts below the robot's own, and ds."""

    dq: np.ndarray
    lam: np.ndarray
    ds: float


def continuation(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    obstacles: Obstacle | Iterable[Obstacle] = (),
    state: State | None = None,
    until: float = 1.0,
    steps: int = 200,
    first: float = 0.05,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    budget: Budget | float | None = None,
    progress: Report | None = None,
) -> LoadPath:
    """Equilibria from `state` (default: rest) along the path of the loads, through limit points.

    It ends where the share `until` of the loads is reached, or after so many `steps`. `first` is the length
    of the first step, about the share of the loads in it; later ones are up to four times as long. What the
    robot touches, its surroundings and `obstacles`, is without friction. Raises ConvergenceError, with the
    last result, where the path cannot be followed.
    """
    if not (is_number(until) and np.isfinite(until) and until != 0):
        raise InputError("until", expected="a share of the loads, not zero", got=repr(until))
    if not isinstance(steps, (int, np.integer)) or steps < 1:
        raise InputError("steps", expected="a whole number, at least 1", got=repr(steps))
    arc = checked_arc(robot, laws, state, tolerance, first, obstacles)
    account = Account.opened(Budget.of(budget), int(tolerance.iterations))
    points, size, spent = [arc.begin()], float(first), 0
    tangent = arc.tangent(points[0], None, float(np.sign(until)))
    while len(points) <= steps:
        here = points[-1]
        if progress is not None:
            progress(account.progress(here.s, here.s + size * tangent.ds, spent))
        found = arc.corrected(here, tangent, size)
        spent += found.at.iterations
        overdrawn = account.overdrawn(spent)
        if overdrawn or (not found.at.converged and size < SHORTEST * first):
            raise arc.lost(here, overdrawn or "steps along the path do not converge, however short")
        if not found.at.converged:
            size *= 0.25
            continue
        if (found.s - until) * (here.s - until) <= 0.0:
            points.append(arc.at_share(until, found))
            break
        points.append(found)
        tangent = arc.tangent(found, tangent, 1.0)
        growth = float(np.sqrt(FEW_ITERATIONS / max(found.at.iterations, 1)))
        size = min(size * float(np.clip(growth, 0.5, 2.0)), LONGEST * first)
    shares = np.array([p.s for p in points])
    return LoadPath(shares, tuple(arc.result(p) for p in points), arc.limits(points))


@dataclass(frozen=True)
class Arc:
    """Steps of given length along the path of some loads."""

    loads: Loads
    tolerance: Tolerance
    work: Stopwatch

    def begin(self) -> Point:
        """The equilibrium where the loads begin."""
        path = Path.begun(self.loads)
        return self.at_share(0.0, Point(0.0, path.best, path.z))

    def at_share(self, s: float, near: Point) -> Point:
        """The equilibrium at a share of the loads, near a point."""
        found = newton(self._problem(s, near), near.at, self.tolerance, self.work)
        if not found.converged:
            raise self.lost(near, f"no equilibrium at {100 * s:.1f} % of the load")
        return Point(s, found, near.z)

    def tangent(self, at: Point, before: Direction | None, sign: float) -> Direction:
        """The direction of the path at a point, of length 1, onwards from the direction before."""
        move = self._linear(at)
        if move is None:
            raise self.lost(at, "the tangent cannot be used")
        _, _, t = move
        if before is not None:
            sign = 1.0 if self._product(before.dq, t.dq) + before.ds * t.ds >= 0.0 else -1.0
        size = sign / float(np.sqrt(self._product(t.dq, t.dq) + t.ds**2))
        return Direction(size * t.dq, size * t.lam, size * t.ds)

    def corrected(self, here: Point, t: Direction, size: float) -> Point:
        """The equilibrium a step of a length along a direction, at right angles to it; see its iterate."""
        robot, own = self.loads.robot, len(here.at.lam)
        start = replace(
            here.at,
            q=robot.retract(here.at.q, size * t.dq),
            predicted=robot.predict(here.at.q, size * t.dq),
            lam=here.at.lam + size * t.lam[:own],
            moved=robot.farthest(size * t.dq),
            full=0,
            converged=False,
        )
        now = ahead = Point(here.s + size * t.ds, start, here.z)
        for k in range(MOST_CORRECTIONS):
            linear = self._linear(now)
            if linear is None:
                break
            view, to, along = linear
            ds = -self._product(t.dq, to.dq) / (self._product(t.dq, along.dq) + t.ds * along.ds)
            dq = to.dq + ds * along.dq
            if robot.farthest(dq) > 0.5 * robot.length:
                break
            lam = to.lam + ds * along.lam
            at = replace(
                now.at,
                q=robot.retract(now.at.q, dq),
                predicted=robot.predict(now.at.q, dq),
                lam=lam[:own],
                contacts=view.contacts,
                force=lam[own:],
                seen=view.q,
                moved=robot.farthest(dq),
                iterations=k + 1,
                decrement=robot.farthest(dq),
            )
            now = self._measured(Point(now.s + ds, at, now.z))
            if now.at.converged:
                z, error = update_internal(robot, now.at.q, now.z) if len(now.z) else (now.z, 0.0)
                if error < VOLUME_ERROR:
                    near = self._apart(ahead, now) < max(ASIDE * size, NO_JUMP)
                    z = robot.arrived(now.at.q, z, z)
                    return replace(now, at=replace(now.at, converged=near), z=z)
                now = replace(now, z=z)
        return replace(now, at=replace(now.at, converged=False))

    def result(self, point: Point) -> Result:
        """The result at a point, judged stable or not."""
        path = Path(point.at, point.z, point.s, Count(1, point.at.iterations))
        word = judged(self._problem(point.s, point), point.at, self.work)
        return make_result(self.loads, path, self.work, 0.0, word, whole=point.s)

    def limits(self, points: list[Point]) -> tuple[float, ...]:
        """Shares at which the path turns, from the parabola s(l) through a point and its neighbours."""
        robot, found = self.loads.robot, []
        for a, b, c in zip(points, points[1:], points[2:]):
            if (b.s - a.s) * (c.s - b.s) < 0.0:
                dq = [robot.difference(x.at.q, y.at.q) for x, y in ((a, b), (b, c))]
                before, after = (float(np.sqrt(self._product(d, d))) for d in dq)
                p = np.polyfit([-before, 0.0, after], [a.s, b.s, c.s], 2)
                found.append(float(p[2] - p[1] ** 2 / (4.0 * p[0])))
        return tuple(found)

    def lost(self, at: Point, reason: str) -> ConvergenceError:
        """The error of a path that cannot be followed, with the last result on it."""
        path = Path(at.at, at.z, at.s, Count(1, at.at.iterations))
        result = make_result(self.loads, path, self.work, 0.0, whole=at.s)
        words = self.loads.words(at.s)
        where = f"{100 * at.s:.1f} % of the load{f' ({words})' if words else ''}"
        hint = "A smaller first=… takes shorter steps."
        return ConvergenceError(
            f"The path of {self.loads.robot.name!r} ends at {where}: {reason}. {hint}", result
        )

    def _problem(self, s: float, near: Point) -> Problem:
        return self.loads.at(s, near.at, near.z)

    def look(self, point: Point) -> tuple[Problem, Look | None]:
        """The problem at a point, and what is seen there; None where cells are inside out."""
        problem = self._problem(point.s, point)
        c = problem.conditions
        at = replace(point.at, lam=np.where(c.given, c.effort, point.at.lam))
        return problem, looked(problem, at, self.work)

    def _linear(self, point: Point) -> tuple[View, Direction, Direction] | None:
        """What is seen at a point, the step to equilibrium at its share of the loads, and that for all loads
        more; λ of the former is that after the step.
        """
        problem, look = self.look(point)
        if look is None:
            return None
        solve = partial(balance, conditions=look.conditions)
        ladder = (EXACT, UNSTABLE, SHIFTED)
        move = step(problem.scene, look.view, look.conditions, solve, ladder, self.work)
        if move is None:
            return None
        return look.view, Direction(move.dq, move.lam, 0.0), self._more(look, move.condensed, move.lam)

    def _more(self, look: Look, at, lam: np.ndarray) -> Direction:
        """dq and dλ per ds: K dq = ∂r/∂s + Hᵀ dλ with the rows that act at their changing displacement."""
        loads, c, view = self.loads, look.conditions, look.view
        contacts = np.zeros(len(view.lam) - view.own)  # their efforts and gaps are no loads
        effort = np.concatenate([loads.conditions.effort - loads.start.effort, contacts])
        effort = np.where(c.given, effort, 0.0)
        load = view.H.transpose_dot(effort) + self._weight(look)
        moved = np.where(loads.springs, 0.0, loads.conditions.imposed - loads.imposed0)
        imposed = np.where(c.given, 0.0, np.concatenate([moved, contacts]))
        inside = lam[c.solved]
        rows = np.flatnonzero((inside > c.low[c.solved]) & (inside < c.high[c.solved]))
        dq, change = at.factor.solve(load), effort
        if len(rows):
            H, W = at.H.take(rows), at.W[np.ix_(rows, rows)] + np.diag(c.compliance[c.solved][rows])
            mu = np.linalg.solve(W, imposed[c.solved][rows] - H.dot(dq))
            dq = dq + at.factor.solve(H.transpose_dot(mu))
            change[c.solved[rows]] = mu
        return Direction(dq, loads.scene.support.efforts(change, view.H, dq), 1.0)

    def _weight(self, look: Look) -> np.ndarray:
        """∂r/∂s (ndof,) by gravity, in which r is linear."""
        change = self.loads.robot.gravity - self.loads.start.gravity
        if not change.any():
            return np.zeros(self.loads.robot.ndof)
        v = look.view.at
        more = linearise(self.loads.robot, v.q, v.effort, v.internal, v.gravity + change, tangent=False)
        assert more is not None
        return more.r - look.view.r

    def _measured(self, point: Point) -> Point:
        """The point with its residuals, and whether they are small."""
        problem, look = self.look(point)
        if look is None:
            return point
        view = look.view
        size, force = np.linalg.norm(view.residual()), np.linalg.norm(view.H.transpose_dot(view.lam))
        load = max(problem.weight, float(force), 1e-12)
        at = replace(point.at, residual=float(size) / load, constraint=violation(look), treatment=UNSTABLE)
        return replace(
            point, at=replace(at, converged=is_converged(at, self.tolerance, self.loads.robot.length))
        )

    def _apart(self, a: Point, b: Point) -> float:
        """How far two points are apart."""
        dq = self.loads.robot.difference(a.at.q, b.at.q)
        return float(np.sqrt(self._product(dq, dq) + (b.s - a.s) ** 2))

    def _product(self, a: np.ndarray, b: np.ndarray) -> float:
        """⟨a, b⟩: motions by their mean square, 1 for that which all loads would make at the start."""
        return float((self.loads.robot.reach**2 * a) @ b) / self._unit

    @cached_property
    def _unit(self) -> float:
        """The square of that motion, all coordinates together [m²]."""
        robot, linear = self.loads.robot, self._linear(self.begin())
        square = 0.0 if linear is None else float(np.sum((robot.reach * linear[2].dq) ** 2))
        least, most = (robot.ndof / 3 * (share * robot.length) ** 2 for share in (LEAST_MOTION, MOST_MOTION))
        return float(np.clip(square, least, most))


def checked_arc(
    robot: Robot,
    laws: Mapping[str, Law] | None,
    state: State | None,
    tolerance: Tolerance,
    first: float,
    obstacles: Obstacle | Iterable[Obstacle] = (),
) -> Arc:
    """Steps along the path of a robot's loads, or an InputError."""
    if not isinstance(robot, Robot):
        raise InputError("robot", expected="a Robot", got=type(robot).__name__)
    if not isinstance(tolerance, Tolerance):
        raise InputError("tolerance", expected="a Tolerance", got=repr(tolerance))
    if not (is_number(first) and 0 < first < np.inf):
        raise InputError("first", expected="a positive share of the loads", got=repr(first))
    if robot.bundle.internal:
        hint = "static takes both along, one load after the other."
        expected, got = "no friction, and chambers without a line", "some with"
        raise InputError("cables and chambers", expected=expected, got=got, hint=hint)
    start, detector = robot.checked(state), None
    if obstacles or not robot.surroundings.empty(robot):
        detector = robot.surroundings.detector(robot, obstacles)
        friction = robot.surroundings.friction
        if any(friction.values()) if isinstance(friction, Mapping) else friction > 0.0:
            hint = "Surroundings(..., friction=0) follows the path without; static takes friction along."
            raise InputError("contacts", expected="no friction", got="some", hint=hint)
        detector.require_apart(start.q)
    return Arc(Loads(robot, laws, start, detector, unstable=True), tolerance, Stopwatch())
