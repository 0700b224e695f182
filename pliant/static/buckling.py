"""Buckling: the first load at which an equilibrium is no longer stable, and the motion that it then makes.

The path of the loads is followed from its start, large motions before included, until the softest direction φ
of the constrained tangent (`stability.py`) has no stiffness left, φᵀKφ = 0. That point is closed in upon
along the path, so that it is found whether the path goes on there (a bifurcation, as of a column) or turns
back (a limit point, as of an arch). Nothing is linearised about the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pliant.contact import Obstacle
from pliant.errors import InputError, is_number
from pliant.laws import Law
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static.budget import Account, Budget, Report
from pliant.static.continuation import Arc, Direction, Point, checked_arc
from pliant.static.stability import softest

BIFURCATION, LIMIT_POINT = "bifurcation", "limit point"
MOST_STEPS, MOST_REFINEMENTS = 100, 40
OVERSHOOT, GROWTH = 1.1, 2.0  # how far past the expected point a step goes; how much longer than the last
SMALLEST_STEP = 1e-7  # share of the loads
CLOSE = 1e-8  # of the step in which it lies: how closely the point is found
PROBE = 1e-6  # of the length: a motion that is small enough to be a direction
DEFAULT_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class Buckling:
    """The first critical point of a load path.

    `factor`: share of the loads there, above 1 where they are safe. `mode` (k, 3): how the nodes begin to
    move, the farthest by 1. `kind`: "bifurcation", where another path leads off, or "limit point", where the
    load has its maximum. `result`: the equilibrium there.
    """

    factor: float
    mode: np.ndarray
    kind: str
    result: Result

    def __str__(self) -> str:
        return f"{self.kind} at {self.factor:.4g} times the load"


def buckling(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    obstacles: Obstacle | Iterable[Obstacle] = (),
    state: State | None = None,
    most: float = 1e3,
    first: float = 0.05,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    budget: Budget | float | None = None,
    progress: Report | None = None,
) -> Buckling:
    """Where the robot first buckles, if its loads grow in proportion from those of `state` (default: none).

    Loads are what `laws` and the robot's own laws give, and its gravity. `first` is the share of them in the
    first step. For conservative loads; contacts with its surroundings and with `obstacles` are without
    friction, and those that push keep their gaps closed in the mode. Raises ConvergenceError where nothing
    buckles up to `most` times the loads.
    """
    if not (is_number(most) and 0 < most < np.inf):
        raise InputError("most", expected="a positive factor of the loads", got=repr(most))
    arc = checked_arc(robot, laws, state, tolerance, first, obstacles)
    account, spent = Account.opened(Budget.of(budget), int(tolerance.iterations)), 0
    here = arc.begin()
    tangent, size = arc.tangent(here, None, 1.0), float(first)
    soft = _softness(arc, here)
    if soft <= 0.0 and arc.loads.scene.support.proximal is None:  # else what it touches does not push yet
        raise arc.lost(here, "it is unstable before the loads grow")
    for _ in range(MOST_STEPS):
        overdrawn = account.overdrawn(spent)
        if overdrawn or here.s > most or size < SMALLEST_STEP:
            reason = overdrawn or ("nothing buckles" if here.s > most else "steps do not converge")
            raise arc.lost(here, reason)
        if progress is not None:
            progress(account.progress(here.s, here.s + size * tangent.ds, spent))
        found = arc.corrected(here, tangent, size)
        spent += found.at.iterations
        if not found.at.converged:
            size *= 0.25
            continue
        after = _softness(arc, found)
        if after <= 0.0:
            return _critical(arc, here, tangent, size, (soft, after))
        ahead = OVERSHOOT * size * after / (soft - after) if after < soft else np.inf
        size = min(GROWTH * size, max(ahead, SMALLEST_STEP))
        here, soft, tangent = found, after, arc.tangent(found, tangent, 1.0)
    raise arc.lost(here, f"nothing buckles in {MOST_STEPS} steps")


def _softness(arc: Arc, point: Point) -> float:
    """φᵀKφ of the softest direction, of the mean stiffness."""
    return _softest(arc, point)[0]


def _softest(arc: Arc, point: Point) -> tuple[float, np.ndarray]:
    look = arc.look(point)[1]
    found = None if look is None else softest(arc.loads.scene, look)
    if found is None:
        raise arc.lost(point, "the tangent cannot be used")
    return found


def _critical(arc: Arc, here: Point, tangent: Direction, size: float, soft: tuple[float, float]) -> Buckling:
    """The point within a step at which the stiffness of the softest direction vanishes (Illinois' method)."""
    low, high, (a, b) = 0.0, size, soft
    point, phi, side = here, np.zeros(0), 0
    for _ in range(MOST_REFINEMENTS):
        middle = (low * b - high * a) / (b - a)
        point = arc.corrected(here, tangent, middle)
        if not point.at.converged:
            raise arc.lost(here, "its critical point cannot be closed in upon")
        value, phi = _softest(arc, point)
        if value > 0.0:
            low, a, b, side = middle, value, 0.5 * b if side == 1 else b, 1
        else:
            high, b, a, side = middle, value, 0.5 * a if side == -1 else a, -1
        if high - low < CLOSE * size or abs(value) < CLOSE * soft[0]:
            break
    end = arc.tangent(arc.corrected(here, tangent, size), tangent, 1.0)
    kind = LIMIT_POINT if end.ds * tangent.ds < 0.0 else BIFURCATION
    return Buckling(point.s, _mode(arc, point, phi), kind, arc.result(point))


def _mode(arc: Arc, point: Point, phi: np.ndarray) -> np.ndarray:
    """The motion of the nodes (k, 3) along a direction, the farthest by 1."""
    robot, q = arc.loads.robot, point.at.q
    x = robot.positions(robot.retract(q, PROBE * robot.length * phi)) - robot.positions(q)
    return x / np.linalg.norm(x, axis=1).max()
