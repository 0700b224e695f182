"""The static solve: a robot under its laws, among obstacles or free.

Newton's method; when that fails the loads are ramped, and the ramp is refined until it succeeds (`path.py`).
Where the equilibrium at its end would buckle, it is left for a stable one (`stability.py`). Where nothing is
found, the best state and its certificate come with the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from pliant.bodies.poor_elements import warn_where_folded
from pliant.contact import Detector, Obstacle
from pliant.errors import ConvergenceError, InputError, SingularError
from pliant.laws import Law
from pliant.newton import Iterate, Tolerance
from pliant.result import LEFT, LEFT_UNSTABLE, STABLE, TOO_DEEP, UNSTABLE_STATE, Passage, Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static.balance import balance
from pliant.static.budget import Account, Budget, Report
from pliant.static.departure import departed
from pliant.static.loads import Loads
from pliant.static.memory import Passing
from pliant.static.path import Count, Path, Walk, walk
from pliant.static.report import make_result, not_found, nowhere_stable, too_deep
from pliant.static.stability import judged
from pliant.timing import Stopwatch

DEFAULT_TOLERANCE = Tolerance()
LEAVE, KEEP, IGNORE = "leave", "keep", "ignore"
MOST_DEPARTURES = 5  # of unstable states, one after the other
CAREFUL = 32  # load steps of a second walk among obstacles
DEGREES = 16  # load steps, each left where it is unstable, if the last one cannot be left


def static(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    obstacles: Obstacle | Iterable[Obstacle] = (),
    detector: Detector | None = None,
    state: State | None = None,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    load_steps: int = 1,
    unstable: str = LEAVE,
    budget: Budget | float | None = None,
    progress: Report | None = None,
    damping: Any = None,
    dt: float | None = None,
) -> Result:
    """The equilibrium f(q) = f_ext + Hᵀλ under the rows' laws, from `state` (default: rest).

    Contacts with the robot's surroundings and with more `obstacles` (or those that a given `detector` knows)
    push and never pull; those with friction stick or slip by Coulomb's law, slip counting from the state at
    the beginning of each load step. `load_steps` is how many equal steps the loads are first tried in; more
    are taken where needed. `unstable`: an equilibrium that would buckle is left for a stable one ("leave"),
    returned with the status "converged, unstable" ("keep"), or not asked for ("ignore"). `damping`: laws of
    viscous materials, as for `Simulation`; `dt` [s] is the time that passes while the loads are brought up,
    infinite for what is settled: `state.memory` remembers it for the next solve. `budget`: a
    `Budget`, or seconds. `progress` is called with a `Progress` before each load step. Raises SingularError
    when something is not held, ConvergenceError (with the best result) when no equilibrium is found.
    """
    _check(robot, tolerance, load_steps, unstable, progress)
    account = Account.opened(Budget.of(budget), int(tolerance.iterations))
    start = robot.checked(state)
    if detector is None and (obstacles or not robot.surroundings.empty(robot)):
        detector = robot.surroundings.detector(robot, obstacles)
    if detector is not None:
        detector.require_apart(start.q)
    passing = Passing.begun(robot, damping, dt, start)
    loads, work = Loads(robot, laws, start, detector, unstable=unstable == KEEP, passing=passing), Stopwatch()
    if not loads.admissible:
        hint = "Start from rest, or from a state nearby; Hooke's law can start from such a state."
        raise InputError("state", expected="cells that are not inside out", got="inverted cells", hint=hint)
    fall = unstable == LEAVE
    end = walk(loads, tolerance, account, work, load_steps=load_steps, report=progress, fall=fall)
    if end.reason and detector is not None and load_steps < CAREFUL and unstable != IGNORE:
        end = _carefully(loads, end, tolerance, account, work, progress, fall=fall)
    if end.reason:
        raise not_found(loads, end, work, account.clock)
    if unstable == IGNORE:
        result = make_result(loads, end.path, work, account.clock)
    else:
        result = _judged(loads, end.path, tolerance, account, work, leave=unstable == LEAVE)
    if result.certificate.status == TOO_DEEP:
        raise too_deep(loads, result)
    return result


def _carefully(
    loads: Loads,
    end: Walk,
    tolerance: Tolerance,
    account: Account,
    work: Stopwatch,
    report: Report | None,
    *,
    fall: bool,
) -> Walk:
    """The walk again in small steps, if it comes farther: large ones may lead past an obstacle, or into it.

    From there nothing may lead on, however small the steps are then.
    """
    count = Count(0, end.path.count.iterations)
    if account.overdrawn(count.iterations):
        return end
    begun = replace(Path.begun(loads), count=count)
    options = {"load_steps": CAREFUL, "report": report, "fall": fall, "begun": begun}
    again = walk(loads, tolerance, account, work, **options)
    return again if again.path.reached > end.path.reached else end


def _judged(
    loads: Loads, path: Path, tolerance: Tolerance, account: Account, work: Stopwatch, *, leave: bool
) -> Result:
    """The result of a path, judged stable or not; left for a stable state where it is not and shall be."""
    word = judged(loads.at(1.0, path.best, path.z), path.best, work)
    if word != UNSTABLE_STATE or not leave:
        fell = word == STABLE and any(event.what == LEFT for event in path.events)
        return _told(loads, path, account, work, LEFT_UNSTABLE if fell else word)
    end, word = _left(loads, path, tolerance, account, work)
    if word == UNSTABLE_STATE:
        end, word = _by_degrees(loads, end.count, tolerance, account, work)
    if word == UNSTABLE_STATE:
        path = replace(path, count=Count(path.count.steps, end.count.iterations))
        raise nowhere_stable(loads, make_result(loads, path, work, account.clock, word))
    return _told(loads, end, account, work, LEFT_UNSTABLE if word == STABLE else word)


def _told(loads: Loads, path: Path, account: Account, work: Stopwatch, word: str) -> Result:
    """The result of a path with its word for the stability, and a warning where that cannot be trusted."""
    if word == LEFT_UNSTABLE:
        warn_where_folded(loads.robot.bodies)
    return make_result(loads, path, work, account.clock, word)


def _left(
    loads: Loads, path: Path, tolerance: Tolerance, account: Account, work: Stopwatch
) -> tuple[Path, str]:
    """A path that ends where the robot would buckle, gone on to where it does not, and the word for that.

    The word is that it is unstable where no stable state is found.
    """
    share, began, spent = path.reached, path.best, path.count.iterations
    for _ in range(MOST_DEPARTURES):
        problem = loads.at(share, path.best, path.z)
        near = departed(problem, path.best, work, account.deadline(spent))
        if near is None:
            break
        path = path.counted(near)
        problem = replace(problem, exchanging=loads.scene.detector is not None)
        spent = path.count.iterations
        found, z = balance(problem, near, tolerance, work, deadline=account.deadline(spent))
        path = path.counted(found)
        if not found.converged or account.overdrawn(path.count.iterations):
            break
        path = replace(path, best=found, z=z, before=None)
        word = judged(problem, found, work)
        if word != UNSTABLE_STATE:
            gone = Passage(LEFT, "", share, loads.moved(began, found))
            return replace(path, events=(*path.events, gone)), word
    return path, UNSTABLE_STATE


def _by_degrees(
    loads: Loads, count: Count, tolerance: Tolerance, account: Account, work: Stopwatch
) -> tuple[Path, str]:
    """The same in small load steps, each of which is left as soon as it is unstable.

    Where stability ends the way to a stable state is short; far beyond, it may lead through folds that the
    mesh cannot make. The count is that of what was tried before.
    """
    path = replace(Path.begun(loads), count=Count(0, count.iterations))
    for share in np.linspace(0.0, 1.0, DEGREES + 1)[1:].tolist():
        end = walk(loads, tolerance, account, work, load_steps=DEGREES, fall=True, begun=path, until=share)
        path, word = end.path, UNSTABLE_STATE
        if not end.reason:
            word = judged(loads.at(share, path.best, path.z), path.best, work)
        if word == UNSTABLE_STATE and not end.reason:
            path, word = _left(loads, path, tolerance, account, work)
        if word == UNSTABLE_STATE:
            break
    return path, word


def resting(
    robot: Robot,
    laws: Mapping[str, Law] | None = None,
    *,
    obstacles: Iterable[Obstacle] = (),
    detector: Detector | None = None,
) -> State:
    """A state to begin with: the equilibrium under the laws, or the best state on the way to it.

    It is the undeformed one where nothing supports the robot. Nobody asks whether it is stable.
    """
    try:
        return static(robot, laws, obstacles=obstacles, detector=detector, unstable=IGNORE).state
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
    passing: Passing | None = None,
) -> Result:
    """As `static` in one load step from a state nearby, and never an error: see the certificate.

    stiff: whether K has the contact stiffness; by default it has, and a second try is made without. passing:
    the time in which materials come there. Nobody asks whether it is stable.
    """
    loads = Loads(robot, laws, state, detector, passing=passing)
    work, begin = Stopwatch(), perf_counter()
    here = Iterate(state.q, state.effort)
    problem = loads.at(1.0, here, state.internal)
    if stiff is not None:
        problem = replace(problem, stiff=stiff)
    found, z = balance(problem, here, tolerance, work, retry=stiff is None)
    path = Path(found, z, float(found.converged), Count(1, found.iterations))
    return make_result(loads, path, work, begin)


def _check(robot: Any, tolerance: Any, load_steps: Any, unstable: Any, progress: Any) -> None:
    if not isinstance(robot, Robot):
        hint = "pl.Robot(body, rows) makes one of a body."
        raise InputError("robot", expected="a Robot", got=type(robot).__name__, hint=hint)
    if not isinstance(tolerance, Tolerance):
        raise InputError("tolerance", expected="a Tolerance", got=repr(tolerance))
    if not isinstance(load_steps, (int, np.integer)) or load_steps < 1:
        raise InputError("load_steps", expected="a whole number, at least 1", got=repr(load_steps))
    if unstable not in (LEAVE, KEEP, IGNORE):
        raise InputError("unstable", expected="'leave', 'keep' or 'ignore'", got=repr(unstable))
    if progress is not None and not callable(progress):
        raise InputError("progress", expected="a function of a Progress", got=repr(progress))
