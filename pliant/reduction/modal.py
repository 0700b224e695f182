"""Modal bases: free vibrations about an equilibrium, slowest first, and how they change with amplitude."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.algebra import factorise
from pliant.bodies import Solid
from pliant.core.view import linearise
from pliant.errors import InputError, SingularError
from pliant.reduction.state_basis import StateBasis
from pliant.robot import Robot
from pliant.state import State

DIFFERENCE = 1e-5  # of the robot's length: step of differences
DENSE_SIZE = 300  # free coordinates up to which all vibrations are computed at once
ALIKE = 1e-4  # of the largest singular value of the shapes: what is below adds no shape
AT_REST = 1e-9  # of the robot's length: a smaller displacement of the state is none


def modal(
    robot: Robot, state: State | None = None, *, modes: int = 10, body: int = 0, derivatives: bool = False
) -> StateBasis:
    """The slowest vibrations K φ = ω² M φ about a state (default: rest), as shapes of one of the bodies.

    K has the geometric stiffness of the state's efforts. `values` are the ω [rad/s]. The displacement of the
    state itself comes first, if there is one: without it the reduced robot could not be there. With
    `derivatives`, the basis also has the change of the shapes with amplitude, −K⁻¹ (∂K/∂φⱼ) φᵢ, for large
    motions without any snapshots.
    """
    state = robot.checked(state)
    values, dq, factor = vibrations(robot, state, modes)
    if not isinstance(robot.bodies[body], Solid):
        raise InputError("body to reduce", expected="a Solid", got=type(robot.bodies[body]).__name__)
    if derivatives:
        dq = np.column_stack([dq, _derivatives(robot, state, dq, factor)])
    shapes = _shapes(robot, state, dq, body)
    rest = robot.bodies[body].coordinates.rest
    offset = state.q[robot.q_spans[body]][: rest.size].reshape(-1, 3) - rest
    if np.abs(offset).max() > AT_REST * robot.length:
        shapes = np.concatenate([offset[:, :, None], shapes], axis=2)
    kept = _independent(shapes) if derivatives else shapes
    return StateBasis(kept, "modal", values)


def vibrations(robot: Robot, state: State, modes: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """ω (k,) [rad/s], ascending; dq (ndof, k) with dqᵀM dq = I; and the factor of K."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    robot.check_supported()
    linear = linearise(robot, state.q, state.effort, state.internal, state.gravity)
    if linear is None or linear.K is None:
        raise SingularError(f"{robot.name!r}: the state has inverted elements, it does not vibrate.")
    factor = factorise(robot.symbolic, linear.K, indefinite=True)
    if factor.negative:
        raise SingularError(f"{robot.name!r} is unstable at this state: {factor.negative} motions grow.")
    free = np.concatenate([b.free for b in robot.bodies])
    size = int(free.sum())
    if not 1 <= modes < size:
        raise InputError("modes", expected=f"1 to {size - 1}", got=modes)
    M = mass_matrix(robot, state.q, free)
    operator: Any = LinearOperator  # its type stubs know the subclass's arguments only
    inverse = operator((robot.ndof, robot.ndof), matvec=lambda x: factor.solve(x.ravel()))
    if size > DENSE_SIZE and modes < 0.5 * size:
        start = np.where(free, np.random.default_rng(0).normal(size=len(free)), 0.0)  # the same in every run
        square, dq = eigsh(M, k=modes, M=M, sigma=0.0, OPinv=inverse, which="LM", v0=start)
    else:
        square, dq = _all(robot, linear.K, M, free, modes)
    order = np.argsort(square)
    return np.sqrt(square[order]), dq[:, order], factor


def mass_matrix(robot: Robot, q: np.ndarray, free: np.ndarray) -> Any:
    """M (ndof, ndof) [kg], sparse, zero where locked."""
    import pliant.sparse as sp

    parts = [b.pattern.to_csr(b.mass(q[s])) for b, s in zip(robot.bodies, robot.q_spans, strict=True)]
    from scipy.sparse import block_diag

    D = sp.csr_array((free.astype(float), (np.arange(len(free)), np.arange(len(free)))))
    return sp.csr_array(D @ block_diag(parts, format="csr") @ D)


def _all(robot: Robot, K: np.ndarray, M: Any, free: np.ndarray, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """ω² (k,) and dq (ndof, k) of a small robot, by a dense decomposition."""
    from scipy.linalg import eigh

    own = np.flatnonzero(free)
    square, shapes = eigh(robot.pattern.to_csr(K).toarray()[np.ix_(own, own)], M.toarray()[np.ix_(own, own)])
    dq = np.zeros((len(free), modes))
    dq[own] = shapes[:, :modes]
    return square[:modes], dq


def _shapes(robot: Robot, state: State, dq: np.ndarray, body: int) -> np.ndarray:
    """Changes dq (ndof, k) as motions (n, 3, k) of the nodes of one body."""
    span, own = robot.q_spans[body], robot.bodies[body]
    size, dq = own.coordinates.rest.size, dq[robot.dq_spans[body]]
    step = DIFFERENCE * robot.length / np.abs(dq).max(axis=0)
    q, out = state.q[span], []
    for k in range(dq.shape[1]):
        there, back = own.retract(q, step[k] * dq[:, k]), own.retract(q, -step[k] * dq[:, k])
        out.append((there - back)[:size].reshape(-1, 3) / (2.0 * step[k]))
    return np.stack(out, axis=2)


def _derivatives(robot: Robot, state: State, dq: np.ndarray, factor: Any) -> np.ndarray:
    """−K⁻¹ (∂K/∂φⱼ) φᵢ for i ≤ j, (ndof, k(k+1)/2), by differences of K."""
    out = []
    for j in range(dq.shape[1]):
        step = DIFFERENCE * robot.length / np.abs(robot.reach * dq[:, j]).max()
        sides = [_stiffness(robot, state, sign * step * dq[:, j]) for sign in (1.0, -1.0)]
        change = (sides[0] - sides[1]) / (2.0 * step)
        out += [-factor.solve(change @ dq[:, i]) for i in range(j + 1)]
    return np.column_stack(out)


def _stiffness(robot: Robot, state: State, dq: np.ndarray) -> Any:
    q = robot.retract(state.q, dq)
    linear = linearise(robot, q, state.effort, state.internal, state.gravity)
    assert linear is not None and linear.K is not None
    return robot.pattern.to_csr(linear.K)


def _independent(shapes: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the shapes, each scaled to the same size first."""
    flat = shapes.reshape(-1, shapes.shape[2])
    U, sigma, _ = np.linalg.svd(flat / np.linalg.norm(flat, axis=0), full_matrices=False)
    return U[:, sigma > ALIKE * sigma[0]].reshape(*shapes.shape[:2], -1)
