"""The walk along a load path, from one equilibrium to the next.

First everything is tried at once. A load step that fails is taken again with a quarter of its size; the size
doubles where steps succeed, but halves the way to where a small step failed. Without contacts each step
begins where the last two equilibria point,

    q ⊕ (Δs/Δs') (q ⊖ q'),

and where supports move, with the body carried along. A load step after which the robot would be on the other
side of something, or have lost it after a long way, is refined as well, so that what stands in the way is
met. If the gap in the path stays however small the load step is, the robot slips off or jumps: an event.
Where the path ends, as at a limit point, it falls to the next stable state downhill, an event as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pliant.core.tangent import SHIFTED, UNSTABLE
from pliant.newton import Iterate, Problem, Tolerance
from pliant.result import LEFT, Passage
from pliant.static.balance import balance
from pliant.static.budget import Account, Report
from pliant.static.departure import departed
from pliant.static.loads import Loads
from pliant.static.stability import conservative
from pliant.timing import Stopwatch

SMALLEST_LOAD_STEP = 1.0 / 512.0
SMALLEST_GAP = 1.0 / 256.0  # of the load: a gap in the path over less is an event
REFINEMENT = 4.0  # of a load step that does not do
SMALL_STEP = 1.0 / 8.0  # load steps up to this size may follow equilibria that would buckle, and …
HASTE = 8  # … give up after so many iterations that lead nowhere: it is the load that is too much
FARTHEST_UNSTABLE = 0.1  # of the length: how far these may be from where they are expected
FARTHEST_PREDICTED = 0.25  # of the length: equilibria farther apart predict nothing


class Count(NamedTuple):
    """Load steps that converged, and Newton iterations in all."""

    steps: int
    iterations: int


@dataclass(frozen=True)
class Path:
    """How far a load path has come: the last equilibrium, its internal variables and its share of the loads.

    `refused` is the nearest equilibrium beyond a gap in the path, if one was met: arguments of `to`.
    `before` is the equilibrium before the last one and its share, if one predicts the next.
    """

    best: Iterate
    z: np.ndarray
    reached: float = 0.0
    count: Count = Count(0, 0)  # noqa: RUF009  (frozen)
    events: tuple[Passage, ...] = ()
    refused: tuple[float, Iterate, np.ndarray, tuple[Passage, ...]] | None = None
    before: tuple[float, Iterate] | None = None

    @classmethod
    def begun(cls, loads: Loads) -> Path:
        """At the start of the loads."""
        return cls(Iterate(loads.start.q, loads.start.effort), loads.start.internal)

    def counted(self, found: Iterate) -> Path:
        """With the iterations of an attempt."""
        return replace(self, count=Count(self.count.steps, self.count.iterations + found.iterations))

    def to(self, share: float, found: Iterate, z: np.ndarray, events: tuple[Passage, ...]) -> Path:
        """At the next equilibrium."""
        count = Count(self.count.steps + 1, self.count.iterations)
        last = {(event.what, event.opponent) for event in self.events[-1:]}
        new = [event for event in events if (event.what, event.opponent) not in last]  # it goes on and on
        before = (self.reached, self.best) if self.count.steps and not events else None
        return Path(found, z, share, count, (*self.events, *new), before=before)

    def refusing(self, *jump: Any) -> Path:
        """With an equilibrium that lies beyond a gap."""
        return replace(self, refused=jump)


class Walk(NamedTuple):
    """A walked path, the last attempt on it, and why it ended there: empty where all loads are in balance."""

    path: Path
    last: Iterate
    reason: str = ""


def walk(
    loads: Loads,
    tolerance: Tolerance,
    account: Account,
    work: Stopwatch,
    *,
    load_steps: int = 1,
    report: Report | None = None,
    fall: bool = False,
    begun: Path | None = None,
    until: float = 1.0,
) -> Walk:
    """The load path as far as it leads; with `fall`, on from where it falls to beyond its end.

    begun: where it begins, else at the start of the loads; until: the share of them at which it ends.
    """
    path, load_steps = begun or Path.begun(loads), max(load_steps, loads.least_steps)
    size, exchanging, wall = 1.0 / load_steps, False, np.inf
    # With things in the way the body is first left where it is, so that it does not go through them.
    carrying = loads.scene.detector is None or load_steps > 1 or loads.view is None
    if carrying and path.reached == 0.0:
        path = _with_supports_behind(loads, path)
    while path.reached < until:
        aim, spent = min(until, path.reached + size), path.count.iterations
        if report is not None:
            report(account.progress(path.reached, aim, spent))
        guess = predicted(loads, path, aim) if carrying else path.best
        problem = replace(loads.at(aim, path.best, path.z), exchanging=exchanging)
        small = aim - path.reached <= SMALL_STEP and loads.scene.detector is None
        if small:
            problem = replace(problem, patience=HASTE)
        if path.best.treatment == UNSTABLE:
            problem = replace(problem, unstable=True)
        found, z = _attempt(loads, problem, guess, tolerance, work, account.deadline(spent))
        path = path.counted(found)
        if small and not (found.converged or problem.unstable) and found.treatment == SHIFTED:
            problem, deadline = replace(problem, unstable=True), account.deadline(path.count.iterations)
            again, z = _attempt(loads, problem, guess, tolerance, work, deadline)
            path = path.counted(again)
            found = again if again.converged else found
        passed = loads.passed(path.best, found) if found.converged else ()
        if found.converged and (not passed or aim - path.reached <= SMALLEST_GAP):
            z = loads.robot.arrived(found.q, z, path.z)
            path = path.to(aim, found, z, loads.events(aim, path.best, found, passed))
            size = min(2.0 * size, 1.0 / load_steps)
            if path.reached + size > wall > path.reached + 2.0 * SMALLEST_LOAD_STEP:
                size = 0.5 * (wall - path.reached)
            continue
        if passed:
            path = path.refusing(aim, found, z, loads.events(aim, path.best, found, passed))
        size, wall = size / REFINEMENT, aim if small else wall
        spent = account.overdrawn(path.count.iterations)
        if size < SMALLEST_LOAD_STEP or spent:
            jump = path.refused
            if jump is None and fall and not spent:
                path, jump = _fallen(loads, path, tolerance, account, work)
            if jump is None and not (spent or exchanging or loads.scene.detector is None):
                size, exchanging = SMALLEST_GAP, True  # what is touched may be all that supports the robot
                continue
            if jump is None:
                return Walk(path, found, f"{spent}, and {_reason(found)}" if spent else _reason(found))
            path = path.to(*jump)  # nothing but the jump leads on
            size = SMALLEST_GAP
        if not carrying and path.count.steps == 0:
            path = _with_supports_behind(loads, path)
        carrying = True
    return Walk(path, path.best)


def _attempt(
    loads: Loads, problem: Problem, guess: Iterate, tolerance: Tolerance, work: Stopwatch, deadline: float
) -> tuple[Iterate, np.ndarray]:
    """The equilibrium of a load step; where it may be an unstable one, only if it is as near as expected."""
    found, z = balance(problem, guess, tolerance, work, deadline=deadline)
    if problem.unstable and found.converged:
        near = loads.moved(guess, found) < FARTHEST_UNSTABLE * loads.robot.length
        found = replace(found, converged=near)
    return found, z


def _fallen(
    loads: Loads, path: Path, tolerance: Tolerance, account: Account, work: Stopwatch
) -> tuple[Path, tuple[float, Iterate, np.ndarray, tuple[Passage, ...]] | None]:
    """The path with its iterations, and where the robot falls to with a little more load, as of `Path.to`.

    None where its forces have no potential, or it falls on and on.
    """
    aim = min(1.0, path.reached + SMALLEST_GAP)
    guess = path.best
    if loads.moves_supports:
        guess = replace(guess, q=loads.carried(guess.q, path.reached, aim), predicted=None)
    problem = loads.at(aim, guess, path.z)
    if loads.scene.detector is not None or not conservative(problem, guess):
        return path, None
    near = departed(problem, guess, work, account.deadline(path.count.iterations), push=False)
    if near is None:
        return path, None
    path = path.counted(near)
    found, z = balance(problem, near, tolerance, work, deadline=account.deadline(path.count.iterations))
    path = path.counted(found)
    if not found.converged:
        return path, None
    return path, (aim, found, z, (Passage(LEFT, "", aim, loads.moved(path.best, found)),))


def _with_supports_behind(loads: Loads, path: Path) -> Path:
    """The path with its supports where the body would have them, at the beginning of their way."""
    if not loads.moves_supports:
        return path
    return replace(path, best=replace(path.best, q=loads.carried(path.best.q, 0.0, 0.0)))


def predicted(loads: Loads, path: Path, aim: float) -> Iterate:
    """Where to begin a load step: the last equilibrium, moved on as the one before leads to expect."""
    robot, best = loads.robot, path.best
    carried = best
    if loads.moves_supports:
        carried = replace(best, q=loads.carried(best.q, path.reached, aim), predicted=None)
    if path.before is None or loads.scene.detector is not None:
        return carried
    share, before = path.before
    start = loads.carried(before.q, share, path.reached) if loads.moves_supports else before.q
    dq = robot.difference(start, best.q)
    ratio = (aim - path.reached) / (path.reached - share)
    if ratio * robot.farthest(dq) > FARTHEST_PREDICTED * robot.length:
        return carried
    dq = ratio * dq
    return replace(
        carried,
        q=robot.retract(carried.q, dq),
        predicted=robot.predict(carried.q, dq),
        lam=best.lam + ratio * (best.lam - before.lam),
    )


def _reason(found: Iterate) -> str:
    """Why no smaller load step helps, in words."""
    if found.treatment in (SHIFTED, UNSTABLE):
        return (
            "the tangent is indefinite there, as at a limit point, beyond which the load finds no equilibrium"
            " nearby"
        )
    return "Newton's method does not converge, however small the load step"
