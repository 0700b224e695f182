"""Creep: Newton's method in short strides, whose states on the way are of use.

What stands far from equilibrium, because something has pushed it, moves there in view: no iteration goes
farther than a stride, nor leaves an obstacle by more than a part of one, so that the robot yields to what has
come into it from the side on which it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.newton import Iterate, Look, Problem, imbalance, line_search, looked, moved
from pliant.timing import Stopwatch

EMERGING = 0.5  # of a stride: how far an iteration leaves what the robot is in
RUNAWAY = 10.0  # times the imbalance at the beginning, or after the first iteration


@dataclass(frozen=True)
class Strides:
    """How a robot creeps: metres."""

    stride: float  # an iteration, at most
    farthest: float  # all iterations together: the first that goes beyond is the last
    enough: float  # the equilibrium is so near that an iteration need not be followed by another


def creep(problem: Problem, guess: Iterate, iterations: int, strides: Strides, work: Stopwatch) -> Iterate:
    """The iterate after so many iterations, or when it is near equilibrium or has gone far.

    Its decrement is how far [m] the last iteration wanted to go: infinite if there was none, or if it ended
    because forces ran away. With what pushes the contact stiffness grows, and with that what pushes where
    strides are cut short. It ends, too, where contacts contradict each other, or the laws: the forces of
    such a step mean nothing.
    """
    robot = problem.scene.robot
    begin, given = robot.positions(guess.q), problem.conditions
    now = replace(guess, lam=np.where(given.given, given.effort, guess.lam), iterations=0, decrement=np.inf)
    look, scale = looked(problem, now, work), max(problem.weight, 1e-12)
    most = 0.0 if look is None else imbalance(look, scale)
    for k in range(iterations):
        move = None if look is None else moved(problem, _emerging(look, strides), work)
        if look is None or move is None or not move.feasible:
            break
        look = replace(look, longest=min(look.longest, strides.stride))
        before, now = now, replace(now, iterations=k + 1, decrement=robot.farthest(move.dq))
        now, look = line_search(problem, now, look, move.dq, move.lam, scale, work)
        if look is None:
            return replace(before, iterations=k + 1)
        most = max(most, imbalance(look, scale)) if k == 0 else most
        if problem.stiff and imbalance(look, scale) > RUNAWAY * most:
            return replace(before, iterations=k + 1, decrement=np.inf)
        far = float(np.linalg.norm(robot.positions(now.q) - begin, axis=1).max(initial=0.0))
        if now.decrement <= strides.enough or far > strides.farthest:
            break
    return now


def _emerging(look: Look, strides: Strides) -> Look:
    """The look with gaps that may stay below zero where the robot is deep in something."""
    contacts, c = look.view.contacts, look.conditions
    if contacts is None or not len(contacts):
        return look
    imposed, rows = c.imposed.copy(), slice(look.view.own, look.view.own + len(contacts))
    imposed[rows] = np.minimum(imposed[rows], np.minimum(0.0, contacts.gap + EMERGING * strides.stride))
    return replace(look, conditions=replace(c, imposed=imposed))
