"""Descent over actuator efforts with friction: a quadratic program per region, and a look beyond its borders.

On a region, where contact modes stay, the cost is replaced by that of linear errors (Gauss and Newton),
bounds and the margins of the contact modes by linear inequalities. A line search along the step to the
minimum of that program looks for a fall of the true cost. Where no step helps, the contacts whose margins are
active at the minimum change their modes one by one, then all of them: another region begins there, and the
descent goes on if the cost falls in it. Where it does not, the point is a local minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pliant.solvers.friction.cone import change
from pliant.solvers.friction.forward import ACCEPTABLE
from pliant.solvers.friction.task import Point, Region, Task
from pliant.solvers.qp import qp
from pliant.solvers.solution import Reals

LEAST_FALL = 1e-13  # of the cost that a program promises, relative to the cost, that is worth a step …
RESOLVED = 1e-10  # … where the cost counts at least as this share of what it is without efforts
SUFFICIENT = 1e-3  # share of the promised fall that a step must bring
SHORTEST = 1e-3  # step length of a line search
ACTIVE = 1e-9  # multiplier of a margin, relative to the terms of the gradient, that makes it active
LEAST_RELIEF = 1e-9  # share of a violation that is worth a step
PENALTY = 2.0  # on violations, in units of what makes a step worth it


class Program(NamedTuple):
    """The quadratic program of a region: its step, what that promises, what stops it."""

    step: Reals
    fall: float  # of the cost …
    relief: float  # … and of the violation of displacement bounds
    penalty: float  # on violations, that makes the step worth it
    active: list[int]  # margins of the region that are active at the minimum, the largest multiplier first
    stationarity: float


class Descent(NamedTuple):
    """Where a descent ended."""

    point: Point
    stationarity: float
    steps: int


def descend(task: Task, point: Point, limit: int) -> Descent:
    """From a point to a local minimum."""
    penalty, steps = 0.0, 0
    while True:
        region = task.region(point)
        program, better = minimise(task, point, region), None
        for other in _programs(task, point, region, program):
            penalty, steps = max(penalty, other.penalty), steps + 1
            better = _line_search(task, point, other, penalty)
            if better is not None:
                break
        if better is None or steps >= limit:
            return Descent(better or point, program.stationarity, steps)
        point = better


def _programs(task: Task, point: Point, region: Region, program: Program) -> Iterator[Program]:
    """The program of the region, then those of its neighbours, as far as they promise anything."""
    cost = max(point.cost, RESOLVED * float(task.e0 @ task.e0))
    choices = [[k] for k in program.active]
    if len(choices) > 1:
        choices.append(program.active)
    if _promises(program, point, cost):
        yield program
    for choice in choices:
        mode = region.mode.copy()
        for k in choice:
            change.py_func(mode, int(region.row[k]), int(region.side[k]), len(task.contacts.lo))
        other = minimise(task, point, task.region(point, mode))
        if _promises(other, point, cost):
            yield other


def _promises(program: Program, point: Point, cost: float) -> bool:
    return program.relief > LEAST_RELIEF * point.violation or program.fall > LEAST_FALL * cost


def minimise(task: Task, point: Point, region: Region) -> Program:
    """The minimum of the region's quadratic program about a point."""
    lam, (lo, hi), (dlo, dhi) = point.effort, task.effort, task.displacement
    H = 2.0 * (region.E.T @ region.E + task.Q)
    c = 2.0 * (point.error @ region.E + task.Q @ lam - task.p)
    limited = np.flatnonzero(np.isfinite(dlo) | np.isfinite(dhi))
    slack = np.maximum(region.g, 0.0)
    lower = np.concatenate([(dlo - point.displacement)[limited], -slack])
    upper = np.concatenate([(dhi - point.displacement)[limited], np.full(len(slack), np.inf)])
    rows = np.vstack([region.A[limited], region.G])
    solution = qp(H, c, np.minimum(lo - lam, 0.0), np.maximum(hi - lam, 0.0), rows, lower, upper)
    d, force = np.asarray(solution.effort), solution.row_multiplier
    fall = -float(d @ c + 0.5 * d @ H @ d)
    relief = point.violation - task.violation(point.displacement + region.A @ d)
    price = float(np.abs(force[: len(limited)] * task.unit[limited]).max(initial=0.0))
    if relief > LEAST_RELIEF * point.violation:
        price = max(price, -fall / relief)
    terms = 2.0 * (np.abs(point.error) @ np.abs(region.E) + np.abs(task.Q) @ np.abs(lam) + np.abs(task.p))
    size = float((terms / task.unit).max(initial=0.0)) or 1.0
    pull = force[len(limited) :] * np.sqrt(((region.G / task.unit) ** 2).sum(axis=1))
    active = [int(k) for k in np.argsort(-pull) if pull[k] > ACTIVE * size]
    stationarity = float(np.abs(H @ d / task.unit).max(initial=0.0)) / size
    return Program(d, fall, relief, PENALTY * price, active, stationarity)


def _line_search(task: Task, point: Point, program: Program, penalty: float) -> Point | None:
    """The point at the longest of ever halved steps that lowers the true cost enough; None if none does."""
    here, step = point.cost + penalty * point.violation, 1.0
    promise = max(program.fall + penalty * program.relief, 0.0)
    while step > SHORTEST:
        new = task.at(np.clip(point.effort + step * program.step, *task.effort), point.x)
        lawful = new.residual <= max(point.residual, ACCEPTABLE)
        if lawful and new.cost + penalty * new.violation < here - SUFFICIENT * step * promise:
            return new
        step *= 0.5
    return None
