"""What a solve returns, and what it raises: how far the load came, and why no farther."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from pliant.contact import depth_bound
from pliant.core.situation import Situation
from pliant.core.support import unsupported
from pliant.errors import ConvergenceError
from pliant.newton import Iterate
from pliant.result import (
    CONVERGED,
    CONVERGED_UNSTABLE,
    NOT_JUDGED,
    TOO_DEEP,
    UNSTABLE_STATE,
    Certificate,
    Result,
    failed,
)
from pliant.state import State
from pliant.static.loads import Loads
from pliant.static.path import Path, Walk
from pliant.timing import Stopwatch

WAY_OUT = "smaller loads, or displacements imposed instead of efforts, may help"
MORE = "budget=…, a number of seconds, allows more"


def make_result(
    loads: Loads, path: Path, work: Stopwatch, begin: float, stability: str = NOT_JUDGED, whole: float = 1.0
) -> Result:
    """The last equilibrium of a path and its certificate; whole: the share of the loads asked for."""
    robot, s, best, z, count = loads.robot, path.reached, path.best, path.z, path.count
    detector, depth, standoff = loads.scene.detector, 0.0, 0.0
    status = CONVERGED if s == whole else failed(best.solver)
    if status == CONVERGED and stability == UNSTABLE_STATE:
        status = CONVERGED_UNSTABLE
    if detector is not None and best.contacts is not None:
        push = best.force[: len(best.contacts)]
        here = detector.detect(best.q, held=best.contacts.key[push > 0.0])  # kept pairs are of another place
        depth, standoff = detector.depth(best.q, here), here.standoff(here.carried(best.contacts, push))
        status = TOO_DEEP if s == whole and depth > depth_bound(robot.length) else status
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
        _loose(loads, best, z),
        depth,
        stability,
        standoff,
    )
    gravity = loads.at(s, best, z).gravity
    state = State(best.q, np.zeros(robot.ndof), best.lam, loads.remembered(best, z), gravity)
    if (passing := loads.passing) is not None:
        later = passing.start.t + (s * passing.dt if passing.dt < np.inf else 0.0)
        state = state.with_(memory=passing.memory(s, best.q, z), t=later)
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


def _loose(loads: Loads, best: Iterate, z: np.ndarray) -> tuple[str, ...]:
    """Motions of free bodies that nothing supports, see `pliant.core.support`."""
    if loads.scene.support.proximal is None:
        return ()
    at = Situation(best.q, best.lam, z, loads.robot.gravity, best.contacts, best.force)
    view = loads.scene.look(at, Stopwatch())
    if view is None:
        return ()
    contacts = np.ones(len(view.lam) - view.own, bool)
    return unsupported(loads.robot, view, np.concatenate([~loads.conditions.given, contacts]))


def not_found(loads: Loads, end: Walk, work: Stopwatch, begin: float) -> ConvergenceError:
    """The error of a load path that ends, with the best state on it."""
    path = end.path
    best = end.last if path.count.steps == 0 else path.best
    kept = replace(path, best=replace(best, solver=end.last.solver))
    result = make_result(loads, kept, work, begin)
    words = loads.words(path.reached)
    where = f"{100 * path.reached:.1f} % of the load{f' ({words})' if words else ''}"
    more = f"{MORE}; {WAY_OUT}" if "budget" in end.reason else WAY_OUT
    return ConvergenceError(
        f"No equilibrium of {loads.robot.name!r} beyond {where}: {end.reason}; {result.certificate}. "
        f"The best state is in error.result; {more}.",
        result,
    )


def too_deep(loads: Loads, result: Result) -> ConvergenceError:
    """What to raise where a robot balances inside something."""
    assert loads.scene.detector is not None
    depths = loads.scene.detector.penetrations(result.q)
    worst = max(depths, key=lambda name: depths[name])
    return ConvergenceError(
        f"{loads.robot.name!r} balances {1e3 * result.certificate.penetration:.3g} mm deep in {worst!r}: "
        f"{result.certificate}. The state is in error.result; start from one that is outside.",
        result,
    )


def nowhere_stable(loads: Loads, result: Result) -> ConvergenceError:
    """What to raise where an equilibrium is unstable and no stable one is found from there."""
    return ConvergenceError(
        f"{loads.robot.name!r} is in balance but would buckle, and no stable state is found from there: "
        f'{result.certificate}. The unstable state is in error.result; unstable="keep" returns it. Supports '
        f"or rows that keep it from leaving (a torque turns a free end out of its plane: hold its axis) make "
        f"it stable, and {WAY_OUT}.",
        result,
    )
