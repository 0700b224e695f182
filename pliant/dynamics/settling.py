"""From a linearised step to where it leads: factorise, condense, solve, recover, with the contacts that matter.

Very many contacts may be near, and few push. Those that seem to stay open are given no force, and the step is solved again with
each of them that would be penetrated, until there is none: as W is positive, the solution is that of all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.core.step import balance, recover
from pliant.core.tangent import condense
from pliant.dynamics.implicit import Found, Moving, Task, condensed_step
from pliant.dynamics.model import Model
from pliant.timing import Stopwatch

FEW = 32  # contacts that are not worth the question


def settle(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Stopwatch) -> Found | None:
    """The velocity and the efforts of the linearised step; None where no tangent is of use."""
    conditions, staying = here.conditions, _staying_open(task, here)
    now = conditions if staying is None else replace(conditions, given=conditions.given | staying)
    found = condensed_step(model, task, here, guess, now, work)
    if found is None:
        return None
    while True:
        solution = work.timed("solve", balance, found, now)
        u, lam = work.timed("recover", recover, model.scene, found, now, solution)
        if staying is None:
            break
        closed = staying & (found.view.delta + found.view.H.dot(u) < conditions.imposed)
        if not closed.any():
            break
        staying = staying & ~closed
        now = replace(conditions, given=conditions.given | staying)
        again = found.view, found.factor, found.treatment, found.shift
        found = work.timed("condense", condense, now, *again)
    v = here.v + u / task.stage.reach
    q = model.robot.retract(task.now.q, task.stage.shift + task.stage.step * v)
    q.flags.writeable = False  # so that states share it
    motion = model.robot.farthest(u)
    return Found(q, v, lam, here.view.contacts, here.extra, found, motion, solution.status)


def _staying_open(task: Task, here: Moving) -> np.ndarray | None:
    """Contact rows (m,) that do not push, and do not touch at the velocity at hand; None where they are few or there is friction."""
    rows, view = len(task.now.effort), here.view
    if len(view.delta) <= rows + FEW or here.conditions.frictional:
        return None
    staying = np.zeros(len(view.delta), bool)
    ahead = view.delta + view.H.dot(task.step * task.now.v) - here.conditions.imposed
    staying[rows:] = (view.lam[rows:] == 0.0) & (np.minimum(ahead, view.delta)[rows:] > 0.0)
    return staying
