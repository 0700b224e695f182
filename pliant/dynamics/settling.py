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


def settle(model: Model, task: Task, here: Moving, guess: np.ndarray, work: Workspace) -> Found:
    """The velocity and the efforts of the linearised step."""
    factor, shift, linear = factorised(model, task, here, guess, work)
    conditions, staying = here.conditions, _staying_open(task, here)
    while True:
        now = replace(conditions, given=conditions.given | staying) if staying.any() else conditions
        rows, delta = work.timed("condense", condense, factor, linear, now)
        effort = work.timed("solve", solve, rows.W, delta, now, here.start)
        u, lam = work.timed("recover", recover, rows, effort, now)
        closed = staying & (linear.delta + linear.H.dot(u) < conditions.imposed)
        if not closed.any():
            break
        staying = staying & ~closed
    v = here.v + u / task.stage.reach
    q = model.robot.retract(task.now.q, task.stage.shift + task.stage.step * v)
    contact = np.arange(len(lam)) >= len(task.now.effort)
    push = here.linear.H.transpose_dot(np.where(contact, lam, 0.0)) + here.extra
    motion = float(np.abs(model.robot.reach * u).max(initial=0.0))
    return Found(q, v, lam, here.contacts, push, factor, motion, shift)


def _staying_open(task: Task, here: Moving) -> np.ndarray:
    """Contact rows (m,) that do not push, and do not touch at the velocity at hand; none where there is friction."""
    staying = np.zeros(len(here.linear.delta), bool)
    rows = len(task.now.effort)
    if here.contacts is None or here.conditions.friction.any():
        return staying
    ahead = here.linear.delta + here.linear.H.dot(task.step * task.now.v) - here.conditions.imposed
    staying[rows:] = (here.start[rows:] == 0.0) & (np.minimum(ahead, here.linear.delta)[rows:] > 0.0)
    return staying
