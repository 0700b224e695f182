"""The implicit midpoint rule: half a step of Euler's, then as far again. It keeps momenta and energy.

By itself it keeps the energy V of a body that is not linear up to a bounded ripple only. With the force of
the midpoint corrected along the deformation,

    r → r(q_m) + γ d,      γ = (V(qₙ) − V(qₙ₊₁) − r(q_m)·Δ) / (d·Δ),      Δ = s v

the work of the force over the step is what V loses (a discrete gradient, Gonzalez 1996). d = M w, with w the
part of v that is no rigid motion of a free body (M-orthogonal to those): the correction has no resultant and
no torque, so momenta stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.bodies.rigid_motions import rigid_motions
from pliant.core.view import View
from pliant.dynamics.implicit import Moving, Task, elastic
from pliant.dynamics.inertia import Inertia
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes.scheme import Scheme, Stage

RIGID = 1e-14  # of M v·Δ: a deformation that does less work than this is none


def stage(now: Motion, step: float) -> Stage:
    """The middle of the step."""
    return Stage(0.5 * step, step, now.v, np.zeros(len(now.v)), now.memory, now.v)


def conserving(
    model: Model, task: Task, here: Moving, at: View, energy: float, lam: np.ndarray, z: np.ndarray
) -> Moving:
    """The linearised step with the correction that its velocity asks for; `energy` [J] is V(qₙ)."""
    stage, inertia = task.stage, model.inertia
    moved = stage.reach * here.v
    end = elastic(model, task, model.robot.retract(task.now.q, stage.shift + moved), lam, z, tangent=False)
    if end is None:
        return here
    M = inertia.mass(at.q)
    d = inertia.product(M, _deforming(inertia, M, at.q, here.v))
    along = float(d @ moved)
    if along <= RIGID * float(inertia.product(M, here.v) @ moved):
        return here
    force = (energy - end.energy - float(at.r @ moved)) / along * d
    return replace(here, extra=force, view=replace(here.view, r=here.view.r + force))


def _deforming(inertia: Inertia, M: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v without the rigid motions of the bodies that have no support."""
    robot, w = inertia.robot, v.copy()
    for n in inertia.free_bodies:
        B = np.zeros((robot.ndof, 6))
        B[robot.dq_spans[n]] = rigid_motions(robot.bodies[n], q[robot.q_spans[n]])
        MB = np.column_stack([inertia.product(M, b) for b in np.ascontiguousarray(B.T)])
        w -= B @ np.linalg.solve(B.T @ MB, MB.T @ v)
    return w


MIDPOINT = Scheme(stage, order=2, iterations=20, predicts=True, conserves=True, correct=conserving)
