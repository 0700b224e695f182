"""Mass and damping of a whole robot, on the pattern of K."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numba import njit

from pliant.arrays import read_only_view
from pliant.bodies.damping import Damping
from pliant.errors import InputError
from pliant.robot import Robot

NO_BLOCKS = np.zeros((0, 3, 3))


class Inertia:
    """M(q) and c(q, v) of M v̇ + c = r, and Rayleigh's D = αM + βK, with α and β those of each body.

    A block that couples two bodies has no damping of its own.
    """

    def __init__(self, robot: Robot, damping: Sequence[Damping]) -> None:
        self.robot = robot
        self._check()
        body = np.full(robot.pattern.size, -1)
        for n, span in enumerate(robot.dq_spans):
            body[span.start // 3 : span.stop // 3] = n
        own = body[robot.pattern.rows]
        same = own == body[robot.pattern.cols]
        spread = lambda values: np.where(same, np.array(values, float)[own], 0.0)[:, None, None]
        self.alpha, self.beta = spread([d.mass for d in damping]), spread([d.stiffness for d in damping])
        self.free_bodies = [n for n, loose in enumerate(robot.loose_motions) if loose == 6]  # without support
        self.has_alpha, self.has_beta = bool(self.alpha.any()), bool(self.beta.any())

    def _check(self) -> None:
        for n, body in enumerate(self.robot.bodies):
            body.mass()  # says so if the density is not known
            if not body.total_mass > 0:
                name = f"body {n}" if len(self.robot.bodies) > 1 else "the body"
                hint = "Give it a density > 0 [kg/m³]; statics needs none."
                raise InputError(
                    f"mass of {name}", expected="more than zero [kg]", got=body.total_mass, hint=hint
                )

    def pose(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq as far as M and c depend on it: a rod's mesh, costly to carry along, stays behind."""
        robot = self.robot
        parts = zip(robot.bodies, robot.q_spans, robot.dq_spans, strict=True)
        moved = [b.turned(q[s], dq[d]) for b, s, d in parts]
        return moved[0] if len(moved) == 1 else np.concatenate(moved)

    def mass(self, q: np.ndarray) -> np.ndarray:
        """M on the robot's pattern (nb, 3, 3) [kg]; rigid regions stand as in q."""
        return self._mass(q) if self._turns else self._constant_mass

    def _mass(self, q: np.ndarray) -> np.ndarray:
        robot = self.robot
        M = np.zeros((len(robot.pattern.rows), 3, 3))
        for n, body in enumerate(robot.bodies):
            M[robot.body_placement[robot.block_spans[n]]] = body.mass(q[robot.q_spans[n]])
        return read_only_view(M)

    @cached_property
    def _turns(self) -> bool:
        """Whether anything turns that M depends on."""
        return any(len(body.region_block) for body in self.robot.bodies)

    @cached_property
    def _constant_mass(self) -> np.ndarray:
        return self._mass(self.robot.rest.q)

    @cached_property
    def weight(self) -> float:
        """Of the whole robot [N]."""
        mass = sum(body.total_mass for body in self.robot.bodies)
        return float(np.linalg.norm(self.robot.gravity)) * mass

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N]; None where nothing turns."""
        robot = self.robot
        if len(robot.bodies) == 1:
            return robot.body.gyroscopic(q, v)
        c = np.zeros(robot.ndof)
        for n, body in enumerate(robot.bodies):
            own = body.gyroscopic(q[robot.q_spans[n]], v[robot.dq_spans[n]])
            if own is not None:
                c[robot.dq_spans[n]] = own
        return c if c.any() else None

    def damping_force(self, M: np.ndarray, K: np.ndarray | None, v: np.ndarray) -> np.ndarray | float:
        """D v = αMv + βKv, (ndof,) [N]; without K only the first."""
        if not (self.has_alpha or K is not None) or not v.any():
            return 0.0
        # Frozen or not, the kernel sees one type and compiles once.
        pattern, (alpha, beta) = self.robot.pattern, self._factors
        K, v = read_only_view(NO_BLOCKS if K is None else K), read_only_view(v)
        return _damped(pattern.rows, pattern.cols, alpha, beta, M, K, v)

    def tangent(
        self, M: np.ndarray, K: np.ndarray, K_rayleigh: np.ndarray | None, h: float, s: float
    ) -> np.ndarray:
        """K̃ = (M/h + αM + βK_rayleigh + h K)/s on the pattern (nb, 3, 3)."""
        alpha, beta = self._factors
        K = read_only_view(K)
        K_rayleigh = read_only_view(NO_BLOCKS if K_rayleigh is None else K_rayleigh)
        return _tangent(alpha, beta, M, K, K_rayleigh, h, s)

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """α and β of each block, (nb,)."""
        return self.alpha.reshape(-1), self.beta.reshape(-1)

    def product(self, A: np.ndarray, x: np.ndarray) -> np.ndarray:
        """A x of values A (nb, 3, 3) on the robot's pattern."""
        pattern = self.robot.pattern
        return _product(pattern.rows, pattern.cols, read_only_view(A), read_only_view(x))


@njit(cache=True, error_model="numpy")
def _tangent(alpha, beta, M, K, K_rayleigh, h, s):
    """`Inertia.tangent` in one pass over these large arrays; without β if K_rayleigh is empty."""
    tangent, with_beta = np.empty(K.shape), len(K_rayleigh) > 0
    for k in range(len(K)):
        m, d = (1.0 / h + alpha[k]) / s, beta[k] / s
        for a in range(3):
            for b in range(3):
                tangent[k, a, b] = m * M[k, a, b] + h / s * K[k, a, b]
                if with_beta:
                    tangent[k, a, b] += d * K_rayleigh[k, a, b]
    return tangent


@njit(cache=True, error_model="numpy")
def _damped(rows, cols, alpha, beta, M, K, x):
    """(αM + βK) x as `_product`; without K if it is empty."""
    y, with_beta = np.zeros(len(x)), len(K) > 0
    for k in range(len(rows)):
        i, j = 3 * rows[k], 3 * cols[k]
        for a in range(3):
            for b in range(3):
                value = alpha[k] * M[k, a, b]
                if with_beta:
                    value += beta[k] * K[k, a, b]
                y[i + a] += value * x[j + b]
                if i != j:
                    y[j + b] += value * x[i + a]
    return y


@njit(cache=True, error_model="numpy")
def _product(rows, cols, A, x):
    """Symmetric, of which the lower blocks are stored; diagonal blocks are full."""
    y = np.zeros(len(x))
    for k in range(len(rows)):
        i, j = 3 * rows[k], 3 * cols[k]
        for a in range(3):
            for b in range(3):
                y[i + a] += A[k, a, b] * x[j + b]
                if i != j:
                    y[j + b] += A[k, a, b] * x[i + a]
    return y
