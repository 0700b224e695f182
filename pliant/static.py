"""Forward statics: find the state in which the robot rests, among obstacles or free.

Newton's method; when that fails the loads are ramped, and the ramp is refined until it succeeds. Where it
does not, the best state and its certificate come with the error.

A load step after which the robot would be on the other side of something, or have lost it after a long way,
is refined as well, so that what stands in the way is met. If the gap in the path stays however small the load
step is, the robot slips off or jumps: then that is an event of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pliant.contact import Detector, Obstacle, depth_bound
from pliant.contact.detect.crossing import Crossing
from pliant.core.rows import levers
from pliant.core.scene import Scene
from pliant.core.situation import Situation
from pliant.core.support import Support, unsupported
from pliant.core.view import linearise
from pliant.errors import ConvergenceError, InputError, SingularError
from pliant.laws import Law
from pliant.newton import Iterate, Problem, Tolerance, newton
from pliant.result import JUMPED, SLIPPED_ALONG, SLIPPED_OFF, TOO_DEEP, Certificate, Passage, Result, failed
from pliant.robot import Robot
from pliant.state import State
from pliant.timing import Stopwatch

SMALLEST_LOAD_STEP = 1.0 / 512.0
SMALLEST_GAP = 1.0 / 256.0  # of the load: a gap in the path over less is an event
REFINEMENT = 4.0  # of a load step that does not do
FAR_LOST = 0.05  # of the length: a contact that is lost after so long a way may have slipped off
MOST_ITERATIONS = 40  # times those of one load step, for all of them
DEFAULT_TOLERANCE = Tolerance()


def static(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    obstacles: Obstacle | Iterable[Obstacle] = (),
    detector: Detector | None = None,
    state: State | None = None,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    load_steps: int = 1,
) -> Result:
    """The equilibrium f(q) = f_ext + Hᵀλ under the rows' laws, from `state` (default: rest).

    Contacts with the robot's surroundings and with more `obstacles` (or those that a given `detector` knows)
    push and never pull; those with friction stick or slip by Coulomb's law, slip counting from the state at
    the beginning of each load step. `load_steps` is how many equal steps the loads are first tried in; more
    are taken where needed. Raises SingularError when something is not held, ConvergenceError (with the best
    result) when no equilibrium is found.
    """
    _check(robot, tolerance, load_steps)
    start = robot.checked(state)
    if detector is None and (obstacles or not robot.surroundings.empty(robot)):
        detector = robot.surroundings.detector(robot, obstacles)
    if detector is not None:
        detector.require_apart(start.q)
    ramp = _Ramp(robot, laws, start, detector)
    work, begin = Stopwatch(), perf_counter()
    if linearise(robot, start.q, start.effort, start.internal, start.gravity, tangent=False) is None:
        hint = "Start from rest, or from a state nearby; Hooke's law can start from such a state."
        raise InputError("state", expected="cells that are not inside out", got="inverted cells", hint=hint)
    path = _Path(Iterate(start.q, start.effort), start.internal)
    size, most = 1.0 / load_steps, MOST_ITERATIONS * int(tolerance.iterations)
    while path.reached < 1.0:
        aim = min(1.0, path.reached + size)
        found, z = _balance(ramp.at(aim, path.best, path.z), path.best, tolerance, work)
        path = path.counted(found)
        passed = ramp.passed(path.best, found) if found.converged else ()
        if found.converged and (not passed or aim - path.reached <= SMALLEST_GAP):
            path = path.to(aim, found, z, ramp.events(aim, path.best, found, passed))
            size = min(2.0 * size, 1.0 / load_steps)
            continue
        if passed:
            path = path.refusing(aim, found, z, ramp.events(aim, path.best, found, passed))
        size /= REFINEMENT
        if size < SMALLEST_LOAD_STEP or path.count.iterations > most:
            if path.refused is None:
                raise _not_found(ramp, path, found, work, begin)
            path = path.to(*path.refused)  # nothing but the jump leads on
            size = SMALLEST_GAP
    result = _result(ramp, path, work, begin)
    if result.certificate.status == TOO_DEEP:
        raise _too_deep(ramp, result)
    return result


def resting(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    obstacles: Iterable[Obstacle] = (),
    detector: Detector | None = None,
) -> State:
    """A state to begin with: the equilibrium under the laws, or the best state on the way to it.

    It is the undeformed one where nothing supports the robot.
    """
    try:
        return static(robot, laws, obstacles=obstacles, detector=detector).state
    except ConvergenceError as error:
        return error.result.state
    except SingularError:
        return robot.rest


def relaxed(
    robot: Robot,
    laws: Mapping[str, Law],
    state: State,
    detector: Detector,
    tolerance: Tolerance,
    *,
    stiff: bool | None = None,
) -> Result:
    """As `static` in one load step from a state nearby, and never an error: see the certificate.

    stiff: whether K has the contact stiffness; by default it has, and a second try is made without.
    """
    ramp, work, begin = _Ramp(robot, laws, state, detector), Stopwatch(), perf_counter()
    here = Iterate(state.q, state.effort)
    problem = ramp.at(1.0, here, state.internal)
    if stiff is not None:
        problem = replace(problem, stiff=stiff)
    found, z = _balance(problem, here, tolerance, work, retry=stiff is None)
    path = _Path(found, z, float(found.converged), Count(1, found.iterations))
    return _result(ramp, path, work, begin)


class Count(NamedTuple):
    """Load steps that converged, and Newton iterations in all."""

    steps: int
    iterations: int


@dataclass(frozen=True)
class _Path:
    """How far a load path has come: the last equilibrium, its internal variables and its share of the loads.

    `refused` is the nearest equilibrium beyond a gap in the path, if one was met: arguments of `to`.
    """

    best: Iterate
    z: np.ndarray
    reached: float = 0.0
    count: Count = Count(0, 0)  # noqa: RUF009  (frozen)
    events: tuple[Passage, ...] = ()
    refused: tuple[float, Iterate, np.ndarray, tuple[Passage, ...]] | None = None

    def counted(self, found: Iterate) -> _Path:
        """With the iterations of an attempt."""
        return replace(self, count=Count(self.count.steps, self.count.iterations + found.iterations))

    def to(self, share: float, found: Iterate, z: np.ndarray, events: tuple[Passage, ...]) -> _Path:
        """At the next equilibrium."""
        count = Count(self.count.steps + 1, self.count.iterations)
        last = {(event.what, event.opponent) for event in self.events[-1:]}
        new = [event for event in events if (event.what, event.opponent) not in last]  # it goes on and on
        return _Path(found, z, share, count, (*self.events, *new))

    def refusing(self, *jump: Any) -> _Path:
        """With an equilibrium that lies beyond a gap."""
        return replace(self, refused=jump)


def _not_found(ramp: _Ramp, path: _Path, found: Iterate, work: Stopwatch, begin: float) -> ConvergenceError:
    """The error of a load path that ends, with the best state on it."""
    best = found if path.count.steps == 0 else path.best
    result = _result(ramp, replace(path, best=replace(best, solver=found.solver)), work, begin)
    return ConvergenceError(
        f"No equilibrium of {ramp.robot.name!r} beyond {100 * path.reached:.1f} % of the load: "
        f"{result.certificate}. The best state is in error.result; smaller loads, or displacements "
        "imposed instead of efforts, may help.",
        result,
    )


def _check(robot: Robot, tolerance: Tolerance, load_steps: int) -> None:
    if not isinstance(robot, Robot):
        hint = "pl.Robot(body, rows) makes one of a body."
        raise InputError("robot", expected="a Robot", got=type(robot).__name__, hint=hint)
    if not isinstance(tolerance, Tolerance):
        raise InputError("tolerance", expected="a Tolerance", got=repr(tolerance))
    if not isinstance(load_steps, (int, np.integer)) or load_steps < 1:
        raise InputError("load_steps", expected="a whole number, at least 1", got=repr(load_steps))


class _Ramp:
    """Loads on the way from a start state to the laws asked for; s runs from 0 to 1."""

    def __init__(
        self, robot: Robot, laws: Mapping[str, Law] | None, start: State, detector: Detector | None
    ) -> None:
        self.robot, self.conditions, self.start = robot, robot.forward(laws), start
        self.delta0 = robot.bundle.delta(robot.bundle.positions(start.q))
        rest = robot.rest
        at_rest = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity, tangent=False)
        assert at_rest is not None
        self.weight = float(np.linalg.norm(at_rest.r))
        self.span = robot.length * levers(robot)
        detector = detector if detector is not None and detector.opponents else None
        support = Support.of(robot, self.conditions.supporting, touching=detector is not None)
        self.scene = Scene(robot, detector, support)
        self.crossing = None if detector is None else Crossing(detector)
        self.depth = np.zeros(0)  # gaps of what already penetrates
        if detector is not None:
            found = detector.detect(start.q)
            self.depth = found.deepest()

    def at(self, s: float, here: Iterate, z: np.ndarray) -> Problem:
        """The problem at a share s of the loads, its slip counted from `here`."""
        c, start = self.conditions, self.start
        blend = lambda a, b: a + s * (b - a)
        spring = c.compliance > 0  # a spring's rest value is not a load
        imposed = np.where(c.given | spring, c.imposed, blend(self.delta0, c.imposed))
        effort = np.where(c.given, blend(start.effort, c.effort), 0.0)
        return Problem(
            scene=self.scene,
            conditions=replace(c, effort=effort, imposed=imposed),
            gravity=blend(start.gravity, self.robot.gravity),
            z=z,
            start=here.q,
            allowance=(1.0 - s) * self.depth,
            span=self.span,
            weight=self.weight,
        )

    def passed(self, before: Iterate, after: Iterate) -> tuple[str, ...]:
        """Opponents that were crossed between two equilibria, or lost after a long way."""
        if self.crossing is None:
            return ()
        pushed, pushing = _pushing(before), _pushing(after)
        far = self._moved(before, after) > FAR_LOST * self.robot.length
        lost = sorted(pushed - pushing) if far else []
        return tuple(dict.fromkeys([*self.crossing.passed(before.q, after.q), *lost]))

    def events(
        self, share: float, before: Iterate, after: Iterate, passed: tuple[str, ...]
    ) -> tuple[Passage, ...]:
        """What is to be said of opponents that were passed without equilibria in between."""
        pushed, pushing, motion = _pushing(before), _pushing(after), self._moved(before, after)
        word = lambda name: (SLIPPED_ALONG if name in pushing else SLIPPED_OFF) if name in pushed else JUMPED
        return tuple(Passage(word(name), name, share, motion) for name in passed)

    def _moved(self, before: Iterate, after: Iterate) -> float:
        """How far [m] any node moves from one state to the other."""
        way = self.robot.positions(after.q) - self.robot.positions(before.q)
        return float(np.linalg.norm(way, axis=1).max())


def _pushing(at: Iterate) -> set[str]:
    """Names of the opponents that push."""
    if at.contacts is None:
        return set()
    normal = at.force[: len(at.contacts)]
    return {at.contacts.names[k] for k in np.unique(at.contacts.opponent[normal > 0.0])}


def _balance(problem: Problem, guess: Iterate, tolerance: Tolerance, work: Stopwatch, *, retry: bool = True):
    """Newton, and for incompressible materials the updates of the element pressures around it."""
    found, z = newton(problem, guess, tolerance, work), problem.z
    if retry and not found.converged and problem.scene.detector is not None:
        # Where it would slip off an obstacle, contact stiffness leads away from the equilibrium.
        problem = replace(problem, stiff=False)
        again = newton(problem, guess, tolerance, work)
        found = replace(again, iterations=found.iterations + again.iterations)
    if not len(z):
        return found, z
    total = found.iterations
    for _ in range(20):
        if not found.converged:
            break
        z, error = _update_internal(problem.scene.robot, found.q, z)
        if error < 1e-9:
            break
        found = newton(replace(problem, z=z), found, tolerance, work)
        total += found.iterations
    return replace(found, iterations=total), z


def _update_internal(robot: Robot, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, float]:
    parts = list(zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True))
    new = np.concatenate([b.update_internal(q[s], z[t]) for b, s, t in parts])
    return new, max(float(np.max(np.abs(b.volume_error(q[s])), initial=0.0)) for b, s, _ in parts)


def _loose(ramp: _Ramp, best: Iterate, z: np.ndarray) -> tuple[str, ...]:
    """Motions of free bodies that nothing supports, see `pliant.core.support`."""
    if ramp.scene.support.proximal is None:
        return ()
    at = Situation(best.q, best.lam, z, ramp.robot.gravity, best.contacts, best.force)
    view = ramp.scene.look(at, Stopwatch())
    if view is None:
        return ()
    contacts = np.ones(len(view.lam) - view.own, bool)
    return unsupported(ramp.robot, view, np.concatenate([~ramp.conditions.given, contacts]))


def _too_deep(ramp: _Ramp, result: Result) -> ConvergenceError:
    """What to raise where a robot balances inside something."""
    assert ramp.scene.detector is not None
    depths = ramp.scene.detector.penetrations(result.q)
    worst = max(depths, key=lambda name: depths[name])
    return ConvergenceError(
        f"{ramp.robot.name!r} balances {1e3 * result.certificate.penetration:.3g} mm deep in {worst!r}: "
        f"{result.certificate}. The state is in error.result; start from one that is outside.",
        result,
    )


def _result(ramp: _Ramp, path: _Path, work: Stopwatch, begin: float) -> Result:
    robot, s, best, z, count = ramp.robot, path.reached, path.best, path.z, path.count
    detector, depth = ramp.scene.detector, 0.0
    status = "converged" if s == 1.0 else failed(best.solver)
    if detector is not None and best.contacts is not None:
        depth = detector.depth(best.q, detector.detect(best.q))  # pairs that were kept are of another place
        status = TOO_DEEP if status == "converged" and depth > depth_bound(robot.length) else status
    certificate = Certificate(
        status,
        best.residual,
        best.decrement,
        best.constraint,
        count.iterations,
        count.steps,
        best.shift,
        best.negative,
        best.treatment,
        best.solver,
        _loose(ramp, best, z),
        depth,
    )
    gravity = ramp.at(s, best, z).gravity
    state = State(best.q, np.zeros(robot.ndof), best.lam, z, gravity)
    delta = robot.bundle.delta(robot.bundle.positions(best.q))
    n = 0 if best.contacts is None else len(best.contacts)
    slid = best.force[n:].reshape(-1, 2) if len(best.force) > n else np.zeros((n, 2))
    return Result(
        robot,
        state,
        robot.split(best.lam),
        robot.split(delta),
        certificate,
        {**work.timings, "total": perf_counter() - begin},
        best.contacts,
        best.force[:n],
        slid,
        path.events,
    )
