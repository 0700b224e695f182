"""Going downhill to a stable equilibrium: from one that would buckle, or where a load path ends.

The potential energy is followed: Newton steps with a positive definite tangent, none longer than a tenth of
the robot, until the tangent is positive by itself and steps are so short that Newton's method can finish. An
unstable equilibrium is left along its softest direction. Stiff bodies that bend far have narrow, curved
valleys: one step climbs their side and the next comes back lower than it began. So a few steps are watched
together, and only if the energy is not lower after them the first is taken again, shortened until it falls.
Laws that a step breaks count with a penalty that outweighs what breaking them gains.
"""

from __future__ import annotations

from dataclasses import replace
from time import thread_time

import numpy as np

from pliant.core.step import Step
from pliant.core.tangent import BARELY, INDEFINITE
from pliant.newton import Iterate, Look, Problem, looked, moved, shifted
from pliant.static.stability import anew, softest
from pliant.timing import Stopwatch

PUSHES = (0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 1e-4)  # of the length: how far along the softest direction
MOST_PUSHES, CLOSING_STEPS = 8, 2  # pushes in a row after which the energy is no lower
LONGEST_STEP = 0.1  # of the length, downhill
FARTHEST = 10.0  # lengths: a robot that is farther from where it began falls for ever
MOST_DOWNHILL, MOST_SHORTER, WATCHED = 300, 12, 4
SHORTER_INDEFINITE = 4  # of these, with a tangent that is negative where rows support it
STUCK, MOST_STUCK = 1e-3, 20  # of a step: shorter ones lead nowhere, and how many in a row are enough
SLOW = 3e-4  # of the length: shorter steps with a shifted tangent are waiting for a push
NEAR_ENOUGH = 1e-5  # of the length: steps with a positive tangent that are shorter are Newton's to finish


def departed(
    problem: Problem, found: Iterate, work: Stopwatch, deadline: float = np.inf, *, push: bool = True
) -> Iterate | None:
    """Near a state that is stable, downhill from where it was `found`; None where none is.

    push: it begins with a push along the softest direction, as an equilibrium does that is not stable. Where
    steps become short while the tangent is still indefinite, it is pushed on.
    """
    robot, touching = problem.scene.robot, problem.scene.detector is not None
    problem = replace(problem, stiff=True, unstable=False, downhill=True, exchanging=touching)
    found = anew(found)
    now, look, begun, pushes, stuck = found, looked(problem, found, work), not push, 0, 0
    lowest = np.inf  # energy where it was pushed
    move = None if look is None else moved(problem, look, work)
    for k in range(MOST_DOWNHILL):
        if look is None or move is None or stuck > MOST_STUCK or thread_time() > deadline:
            return None
        if robot.farthest(robot.difference(found.q, now.q)) > FARTHEST * robot.length:
            return None
        far, shifted = robot.farthest(move.dq), move.condensed.treatment == BARELY
        if (begun and not shifted and far < NEAR_ENOUGH * robot.length) or pushes > MOST_PUSHES:
            return now
        if not begun or (shifted and far < SLOW * robot.length):
            energy = potential(look, _penalty(look, look.view.lam))
            pushes, lowest = (0, energy) if energy < lowest else (pushes + 1, lowest)
            now, look = _pushed(problem, found, now, look, work)
            begun = True
        else:
            now, look = _watched(problem, now, look, move, work)
            stuck = stuck + 1 if now.moved < STUCK * far else 0
        now = replace(now, iterations=k + 1)
        move = None if look is None else moved(problem, look, work)
    return None


def _watched(
    problem: Problem, now: Iterate, look: Look, move: Step, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    """A few steps after which the potential energy is lower, the last of them; else a shorter first one."""
    weight = _penalty(look, move.lam)
    before, after, trial, following = potential(look, weight), now, look, move
    for _ in range(WATCHED):
        after, trial = _shortened(problem, after, trial, following, _longest(problem, trial, following), work)
        if trial is None:
            break
        if potential(trial, _on(trial, weight)) < before:
            return after, trial
        following = moved(problem, trial, work)
        if following is None:
            break
    return _downhill(problem, now, look, move, work)


def _longest(problem: Problem, look: Look, move: Step) -> float:
    """The length of a step that is not too far, at most one."""
    far = max(problem.scene.robot.farthest(move.dq), 1e-300)
    return min(1.0, LONGEST_STEP * problem.scene.robot.length / far, look.longest / far)


def _shortened(
    problem: Problem, now: Iterate, look: Look, move: Step, length: float, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    """A part of a step."""
    lam = look.view.lam + length * (move.lam - look.view.lam)
    return _tried(problem, now, look, length * move.dq, lam, work)


def _pushed(
    problem: Problem, found: Iterate, now: Iterate, look: Look, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    """The state moved on along its softest direction, away from where it was found.

    By the farthest of a few pushes after which the energy is lower, once a few steps have closed what a
    straight push opened or broke; else by the one that raises it least.
    """
    way = softest(problem.scene, look)
    if way is None:
        return now, None
    robot, phi = problem.scene.robot, way[1]
    gone = robot.difference(found.q, now.q)
    phi = -phi if float(gone @ (robot.reach**2 * phi)) < 0.0 else phi
    weight = _penalty(look, look.view.lam)
    before, least, best = potential(look, weight), np.inf, (now, look)
    for share in PUSHES:
        after, trial = _tried(problem, now, look, share * robot.length * phi, look.view.lam, work)
        for _ in range(CLOSING_STEPS):
            move = None if trial is None else moved(problem, trial, work)
            if trial is None or move is None:
                break
            after, trial = _shortened(problem, after, trial, move, _longest(problem, trial, move), work)
        energy = np.inf if trial is None else potential(trial, _on(trial, weight))
        if energy < least:
            least, best = energy, (after, trial)
        if energy < before:
            break
    return best


def _tried(
    problem: Problem, now: Iterate, look: Look, dq: np.ndarray, lam: np.ndarray, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    after = _stepped(problem, now, look, dq, lam)
    return after, looked(problem, after, work)


def _downhill(
    problem: Problem, now: Iterate, look: Look, move: Step, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    """A step, shortened until the potential energy falls.

    One that only rows support may end in another valley, beyond a ridge: the tangent is shifted then.
    """
    weight, length = _penalty(look, move.lam), _longest(problem, look, move)
    before, trial, after = potential(look, weight), None, now
    for n in range(MOST_SHORTER):
        if n == SHORTER_INDEFINITE and move.condensed.treatment == INDEFINITE:
            move = shifted(problem, look, work) or move
            weight, length = _penalty(look, move.lam), _longest(problem, look, move)
            before = potential(look, weight)
        after, trial = _shortened(problem, now, look, move, length, work)
        if trial is not None and potential(trial, _on(trial, weight)) < before:
            break
        length *= 0.5
    return after, trial


def _stepped(problem: Problem, now: Iterate, look: Look, dq: np.ndarray, lam: np.ndarray) -> Iterate:
    robot, own = problem.scene.robot, len(now.lam)
    return replace(
        now,
        q=robot.retract(now.q, dq),
        predicted=robot.predict(now.q, dq),
        lam=lam[:own],
        contacts=look.view.contacts,
        force=lam[own:],
        seen=look.view.q,
        moved=robot.farthest(dq),
    )


def potential(look: Look, weight: np.ndarray) -> float:
    """The energy [J] less the work of given efforts, with springs, and a penalty on laws not kept."""
    c, view = look.conditions, look.view
    gap = view.delta - c.imposed
    energy = view.energy + look.gas - float(c.effort[c.given] @ view.delta[c.given])
    spring = ~c.given & (c.compliance > 0.0)
    energy += float((gap[spring] ** 2 / (2.0 * c.compliance[spring])).sum())
    rigid = ~c.given & (c.compliance == 0.0)
    bad = np.where(c.low == 0.0, np.maximum(-gap, 0.0), np.abs(gap))  # contacts and cables push one way only
    return energy + float((weight * bad)[rigid].sum())


def _penalty(look: Look, lam: np.ndarray) -> np.ndarray:
    """Forces that outweigh what is gained by violating a law: twice the efforts."""
    return 2.0 * np.abs(lam)


def _on(look: Look, weight: np.ndarray) -> np.ndarray:
    """Penalties on the rows of another look: the robot's own keep theirs, contacts have the largest."""
    own, rows = look.view.own, len(look.view.lam)
    most = float(weight[own:].max(initial=0.0)) if len(weight) > own else 0.0
    return np.concatenate([weight[:own], np.full(rows - own, most)])
