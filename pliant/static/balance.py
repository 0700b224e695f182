"""One equilibrium: Newton's method, and around it what it is not a method for.

That are the element pressures of incompressible materials, which way cables with friction slide, and with
which side of their teeth drives push.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.core.drives import Play
from pliant.core.sliding import Sliding
from pliant.newton import Iterate, Problem, Tolerance, newton
from pliant.robot import Robot
from pliant.timing import Stopwatch

MOST_UPDATES, VOLUME_ERROR = 20, 1e-9  # of element pressures; relative change of volume that is none
MOST_GUESSES = 40  # of what cables with friction do


def balance(
    problem: Problem,
    guess: Iterate,
    tolerance: Tolerance,
    work: Stopwatch,
    *,
    retry: bool = True,
    deadline: float = np.inf,
) -> tuple[Iterate, np.ndarray]:
    """The equilibrium, or the last iterate on the way to it, and its internal variables.

    retry: where it fails among obstacles, once more without contact stiffness.
    """
    found, z = newton(problem, guess, tolerance, work, deadline=deadline), problem.z
    if retry and not found.converged and problem.scene.detector is not None:
        # Where it would slip off an obstacle, contact stiffness leads away from the equilibrium.
        problem = replace(problem, stiff=False)
        again = newton(problem, guess, tolerance, work, deadline=deadline)
        found = replace(again, iterations=found.iterations + again.iterations)
    if not len(z):
        return found, z
    total, wrong, flipped = found.iterations, problem.sliding, problem.play
    for k in range(MOST_UPDATES if wrong is None and flipped is None else MOST_GUESSES):
        if not found.converged:
            break
        z, error = update_internal(problem.scene.robot, found.q, z) if k < MOST_UPDATES else (z, 0.0)
        found, wrong = _slid(problem.sliding, found)
        flipped = _flipped(problem, found)
        if error < VOLUME_ERROR and wrong is None and flipped is None:
            break
        if wrong is not None:
            problem, z = replace(problem, sliding=wrong, conditions=wrong.conditions), wrong.internal(z)
        if flipped is not None:
            problem = replace(problem, play=flipped)
        if problem.play is not None:
            problem = replace(problem, conditions=problem.play.on(problem.conditions))
        found = newton(replace(problem, z=z), found, tolerance, work, deadline=deadline)
        total += found.iterations
    right = wrong is None and flipped is None
    return replace(found, iterations=total, converged=found.converged and right), z


def _flipped(problem: Problem, found: Iterate) -> Play | None:
    """The play of drives with other sides where the equilibrium contradicts them; None where it does not."""
    bundle = problem.scene.robot.bundle
    return None if problem.play is None else problem.play.after(bundle.delta(bundle.positions(found.q)))


def _slid(sliding: Sliding | None, found: Iterate) -> tuple[Iterate, Sliding | None]:
    """The equilibrium with the tensions of cables that stick; the next guess unless the last was right."""
    if sliding is None:
        return found, None
    wrong, lam = sliding.after(found.q, found.lam)
    return replace(found, lam=lam), wrong


def update_internal(robot: Robot, q: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, float]:
    """Element pressures after an update, and the largest relative change of volume."""
    parts = list(zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True))
    new = np.concatenate([*(b.update_internal(q[s], z[t]) for b, s, t in parts), z[robot.row_z]])
    return new, max(float(np.max(np.abs(b.volume_error(q[s])), initial=0.0)) for b, s, _ in parts)
