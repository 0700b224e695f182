"""From a linearised step to where it leads: factorise, condense, solve, recover, with the contacts that matter.

Very many contacts may be near, and few push. Those that seem to stay open are given no force, and the step is solved again with
each of them that would be penetrated, until there is none: as W is positive, the solution is that of all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.dynamics.implicit import Found, Moving, Task, factorised
from pliant.dynamics.model import Model
from pliant.step import Workspace, condense, recover, solve

FEW = 32  # contacts that are not worth the question


def settle(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Workspace) -> Found:
    """The velocity and the efforts of the linearised step."""
    factor, shift, linear = factorised(model, task, here, guess, work)
    conditions, staying = here.conditions, _staying_open(task, here)
    while True:
        now = conditions if staying is None else replace(conditions, given=conditions.given | staying)
        rows, delta = work.timed("condense", condense, factor, linear, now)
        effort = work.timed("solve", solve, rows.W, delta, now, here.start)
        u, lam = work.timed("recover", recover, rows, effort, now)
        if staying is None:
            break
        closed = staying & (linear.delta + linear.H.dot(u) < conditions.imposed)
        if not closed.any():
            break
        staying = staying & ~closed
    v = here.v + u / task.stage.reach
    q = model.robot.retract(task.now.q, task.stage.shift + task.stage.step * v)
    q.flags.writeable = False  # so that states share it
    pushing = lam.copy()
    pushing[: len(task.now.effort)] = 0.0
    push = here.linear.H.transpose_dot(pushing) + here.extra
    motion = model.robot.farthest(u)
    return Found(q, v, lam, here.contacts, push, factor, motion, shift)


def _staying_open(task: Task, here: Moving) -> np.ndarray | None:
    """Contact rows (m,) that do not push, and do not touch at the velocity at hand; None where they are few or there is friction."""
    rows, all_rows = len(task.now.effort), len(here.linear.delta)
    if all_rows <= rows + FEW or here.conditions.rough:
        return None
    staying = np.zeros(all_rows, bool)
    ahead = here.linear.delta + here.linear.H.dot(task.step * task.now.v) - here.conditions.imposed
    staying[rows:] = (here.start[rows:] == 0.0) & (np.minimum(ahead, here.linear.delta)[rows:] > 0.0)
    return staying
