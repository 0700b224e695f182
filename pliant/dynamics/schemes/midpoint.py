"""The implicit midpoint rule: half a step of Euler's, then as far again. It keeps momenta and energy.

By itself it keeps the energy V of a body that is not linear up to a ripple only, and a body that turns feels
the chords of its motion as strain. So the stress in the middle is the mean of those at both ends, which does
not feel how the body turns meanwhile (Simo and Tarnow 1992), and what is left is corrected by a scalar of
each body (a discrete gradient, Gonzalez 1996):

    S = (Sₙ + Sₙ₊₁)/2 + γ (Sₙ₊₁ − Sₙ),      γ such that  r·Δ = V(qₙ) − V(qₙ₊₁),      Δ = s v

S acts on the middle pose and is symmetric, so the forces of a body have no resultant and no torque: momenta
stay as they are. (What hexahedra with incompatible modes remember is no tensor; resultants of the change are
taken out for all alike.) Rods and shells have no such stress. Their force of the middle is corrected by
γ M w, with w the part of v that is no rigid motion of a free body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.bodies.overstress import Overstress
from pliant.bodies.rigid_motions import rigid_motions
from pliant.core.view import View, linearise
from pliant.dynamics.implicit import Task
from pliant.dynamics.inertia import Inertia
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes.scheme import Scheme, Stage

RIGID = 1e-14  # of M v·Δ: a deformation that does less work than this is none
LARGEST_GAMMA = 1.0  # beyond, S would be nowhere between the stresses of both ends


def stage(now: Motion, step: float) -> Stage:
    """The middle of the step."""
    return Stage(0.5 * step, step, now.v, np.zeros(len(now.v)), now.memory, now.v)


def conserving(model: Model, task: Task) -> Callable[..., View | None]:
    """Looks at the robot in the middle q of a step with velocity v, with forces that keep the energy.

    The function takes q, v, λ and `tangent`; it returns None where a cell is inside out.
    """
    robot, now = model.robot, task.now
    z, parts = (
        now.internal,
        list(zip(robot.bodies, robot.q_spans, robot.z_spans, robot.dq_spans, strict=True)),
    )

    def energies(q: np.ndarray) -> np.ndarray:
        each = [b.linearise(q[s], robot.gravity, z[i], tangent=False)[0] for b, s, i, _ in parts]
        return np.array(each)

    def stresses(q: np.ndarray) -> list[np.ndarray | None]:
        return [b.stress_memory(q[s], z[i]) for b, s, i, _ in parts]

    V, S = energies(now.q), stresses(now.q)

    def look(q: np.ndarray, v: np.ndarray, lam: np.ndarray, *, tangent: bool = True) -> View | None:
        moved = task.stage.reach * v
        end = robot.retract(now.q, moved)
        V_end, S_end, S_middle = energies(end), stresses(end), stresses(q)
        if not np.isfinite(V_end).all():
            return None

        def at(gamma: float, *, tangent: bool = False) -> View | None:
            """The robot in the middle under the stress of this γ."""
            viscous = [
                None if m is None or a is None or b is None else Overstress(1.0, _between(a, b, gamma) - m)
                for a, b, m in zip(S, S_end, S_middle, strict=True)
            ]
            return linearise(robot, q, lam, z, robot.gravity, tangent=tangent, viscous=viscous)

        plain = linearise(robot, q, lam, z, robot.gravity, tangent=False)
        mean, wide = at(0.0, tangent=tangent), at(1.0)
        if plain is None or mean is None or wide is None:
            return None
        inertia, M = model.inertia, model.inertia.mass(q)
        change, d = _balanced(inertia, M, q, np.stack([mean.r - plain.r, wide.r - mean.r]))
        r, pull = plain.r + change, inertia.product(M, _deforming(inertia, M, q, v))
        for (_, _, _, own), before, after, stress in zip(parts, V, V_end, S, strict=True):
            direction = pull[own] if stress is None else d[own]
            along = float(direction @ moved[own])
            if abs(along) > RIGID * float(inertia.product(M, v)[own] @ moved[own]):
                gamma = (before - after - float(r[own] @ moved[own])) / along
                limit = np.inf if stress is None else LARGEST_GAMMA
                r[own] += np.clip(gamma, -limit, limit) * direction
        return replace(mean, r=r)

    return look


def _between(a: np.ndarray, b: np.ndarray, gamma: float) -> np.ndarray:
    return 0.5 * (a + b) + gamma * (b - a)


def _balanced(inertia: Inertia, M: np.ndarray, q: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Forces (k, ndof) without resultants and torques on bodies that have no support."""
    for MB, B in _rigid(inertia, M, q):
        forces = forces - np.linalg.solve(B.T @ MB, B.T @ forces.T).T @ MB.T
    return forces


def _deforming(inertia: Inertia, M: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v without the rigid motions of the bodies that have no support."""
    w = v.copy()
    for MB, B in _rigid(inertia, M, q):
        w -= B @ np.linalg.solve(B.T @ MB, MB.T @ v)
    return w


def _rigid(inertia: Inertia, M: np.ndarray, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """M B and B (ndof, 6), the rigid motions of each body that has no support."""
    robot, found = inertia.robot, []
    for n in inertia.free_bodies:
        B = np.zeros((robot.ndof, 6))
        B[robot.dq_spans[n]] = rigid_motions(robot.bodies[n], q[robot.q_spans[n]])
        found.append((np.column_stack([inertia.product(M, b) for b in np.ascontiguousarray(B.T)]), B))
    return found


MIDPOINT = Scheme(
    "midpoint", stage, order=2, iterations=60, predicts=True, conserves=True, correct=conserving
)
