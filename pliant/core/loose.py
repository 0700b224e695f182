"""Motions that nothing holds: of things that only lie on something, such as a box on a smooth table, which may slide and turn on it."""

from __future__ import annotations

import numpy as np

from pliant.algebra import SparseRows
from pliant.bodies.rigid_motions import rigid_motions
from pliant.core.view import View
from pliant.robot import Robot

WORDS = ("along x", "along y", "along z", "about x", "about y", "about z")
TOUCHES = 1e-7  # of the robot's length: a gap that is none
NOTHING = 1e-6  # of the strongest hold: what holds no more than this does not


def loose(robot: Robot, view: View, solved: np.ndarray) -> tuple[str, ...]:
    """Rigid motions of free bodies that no row holds, in words such as "body 1 along x", or how many there are along no axis.

    `solved` (m,) says of all rows of the view whether their effort is solved for; those of them that act, and contacts that touch, hold
    what they act on.
    """
    touching = np.zeros(len(view.lam), bool)  # of contacts that could share a push, some have none
    if view.contacts is not None:
        touching[view.own : view.own + len(view.contacts)] = view.contacts.gap < TOUCHES * robot.length
    acting = np.flatnonzero(solved & ((view.lam != 0.0) | touching))
    H, words = view.H.take(acting), []
    for n, body in enumerate(robot.bodies):
        if body.rigid_modes() == 6:
            moved = _moved(robot, H, n, view.q)
            size = np.linalg.svd(moved, compute_uv=False) if len(acting) else np.zeros(0)
            least = NOTHING * float(size.max(initial=0.0))
            mine = [f"body {n} {WORDS[k]}" for k in range(6) if np.linalg.norm(moved[:, k]) <= least]
            others = 6 - int((size > least).sum()) - len(mine)
            words += mine + [f"body {n} in {others} other way{'s' * (others > 1)}"] * (others > 0)
    return tuple(words)


def _moved(robot: Robot, H: SparseRows, n: int, q: np.ndarray) -> np.ndarray:
    """H b (m, 6) for the six rigid motions b of a body."""
    B = np.zeros((robot.ndof, 6))
    B[robot.dq_spans[n]] = rigid_motions(robot.bodies[n], q[robot.q_spans[n]])
    return np.column_stack([H.dot(np.ascontiguousarray(b)) for b in B.T])
