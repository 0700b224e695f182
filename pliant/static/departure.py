"""Leaving an equilibrium that is not stable: along its softest direction, then downhill to a stable one.

The potential energy is followed: Newton steps with a positive definite tangent, none longer than a tenth of
the robot, each shortened until the energy falls, until the tangent is positive by itself and Newton's method
can finish. Laws that a step breaks count with a penalty that outweighs what breaking them gains.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from pliant.core.tangent import SHIFTED
from pliant.newton import Iterate, Look, Problem, looked, moved
from pliant.static.stability import softest
from pliant.timing import Stopwatch

FIRST_PUSHES = (0.1, 0.05, 0.02, 0.01, 0.003, 0.001)  # of the length: how far to leave along the direction
LONGEST_STEP = 0.1  # of the length, downhill
MOST_DOWNHILL, MOST_SHORTER = 300, 8
AT_REST = 1e-7  # of the length: shorter steps with a shifted tangent lead nowhere: an equilibrium again
NEAR_ENOUGH = 1e-3  # of the length: steps with a positive tangent that are shorter are Newton's to finish


def departed(problem: Problem, found: Iterate, work: Stopwatch, deadline: float = np.inf) -> Iterate | None:
    """Near a state that is stable, downhill from an equilibrium that is not; None where none is found."""
    problem = replace(problem, stiff=True, unstable=False)
    look = looked(problem, found, work)
    way = None if look is None else softest(problem.scene, look)
    if look is None or way is None:
        return None
    now, look = _pushed(problem, found, look, way[1], work)
    for k in range(MOST_DOWNHILL):
        if look is None or perf_counter() > deadline:
            return None
        move = moved(problem, look, work)
        if move is None:
            return None
        now = replace(now, iterations=k + 1)
        far = problem.scene.robot.farthest(move.dq)
        near = AT_REST if move.condensed.treatment == SHIFTED else NEAR_ENOUGH
        if far < near * problem.scene.robot.length:
            return now
        longest = min(LONGEST_STEP * problem.scene.robot.length, look.longest)
        now, look = _downhill(
            problem, now, look, move.dq, move.lam, min(1.0, longest / max(far, 1e-300)), work
        )
    return None


def _pushed(
    problem: Problem, found: Iterate, look: Look, phi: np.ndarray, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    """The equilibrium left along φ: the farthest of a few pushes after which the energy is lower."""
    weight, before = _penalty(look, look.view.lam), potential(look, np.zeros(len(look.view.lam)))
    lowest: tuple[Iterate, Look | None] = found, None
    for share in FIRST_PUSHES:
        dq = share * problem.scene.robot.length * phi
        now = _stepped(problem, found, look, dq, look.view.lam)
        trial = looked(problem, now, work)
        if trial is not None:
            lowest = now, trial
            if potential(trial, _on(trial, weight)) < before:
                return now, trial
    return lowest


def _downhill(
    problem: Problem,
    now: Iterate,
    look: Look,
    dq: np.ndarray,
    lam: np.ndarray,
    length: float,
    work: Stopwatch,
) -> tuple[Iterate, Look | None]:
    """A step, shortened until the potential energy falls."""
    weight = _penalty(look, lam)
    before, trial, after = potential(look, weight), None, now
    for _ in range(MOST_SHORTER):
        after = _stepped(problem, now, look, length * dq, look.view.lam + length * (lam - look.view.lam))
        trial = looked(problem, after, work)
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
    energy = view.energy - float(c.effort[c.given] @ view.delta[c.given])
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
