"""The slow vibrations of a robot about an equilibrium, from efforts to readings, for observer and controller.

With M-orthonormal vibrations φ (ω ascending) and dq = Σ φᵢ ηᵢ,

    η̈ᵢ + (α + βωᵢ²) η̇ᵢ + ωᵢ² ηᵢ = φᵢ·Hₐᵀ u,     y = Σ Hᵧφᵢ ηᵢ + D u,     D = W_ya − Σ Hᵧφᵢ φᵢᵀHₐᵀ/ωᵢ²

u (a,) [N] are changes of the efforts, y (s,) changes of the readings. D is how the vibrations that are left
out follow u, without delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies.damping import per_body
from pliant.core.view import linearise
from pliant.errors import InputError
from pliant.reduction.modal import vibrations
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True, eq=False)
class LinearDynamics:
    """k vibrations: frequency ω (k,) [rad/s] and damping ratio ζ (k,); B (k, a), C (s, k), D (s, a) as above.

    `effort` (a,) and `reading` (s,) are those of the equilibrium itself. `shapes` (ndof, k) are the
    vibrations φ.
    """

    actuators: tuple[str, ...]
    sensors: tuple[str, ...]
    frequency: np.ndarray
    ratio: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    effort: np.ndarray
    reading: np.ndarray
    shapes: np.ndarray

    def __len__(self) -> int:
        return len(self.frequency)

    def discrete(self, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A (2k, 2k), B (2k, a) and C (s, 2k) of x = (η, η̇) over a time step [s] of constant u, exact."""
        from scipy.linalg import expm

        if not (np.isfinite(step) and step > 0):
            raise InputError("time_step", expected="more than zero [s]", got=step)
        k, a = self.B.shape
        w = self.frequency
        F = np.zeros((2 * k + a, 2 * k + a))
        F[:k, k : 2 * k] = np.eye(k)
        F[k : 2 * k, :k], F[k : 2 * k, k : 2 * k] = -np.diag(w**2), -np.diag(2.0 * self.ratio * w)
        F[k : 2 * k, 2 * k :] = self.B
        E = expm(step * F)
        return E[: 2 * k, : 2 * k], E[: 2 * k, 2 * k :], np.hstack([self.C, np.zeros_like(self.C)])


def linear_dynamics(
    robot: Robot,
    state: State,
    *,
    actuators: Sequence[str] | None = None,
    sensors: Sequence[str] | None = None,
    modes: int = 8,
    damping: Any = None,
) -> LinearDynamics:
    """The `modes` slowest vibrations of a robot, full or reduced, about an equilibrium state.

    `actuators` are rows whose effort is commanded (default: all actuators), `sensors` rows that are read
    (default: all effectors). `damping` is Rayleigh's, as given to `Simulation`.
    """
    act = _named(robot, actuators, "actuator")
    read = _named(robot, sensors, "effector")
    laws = per_body(damping, len(robot.bodies))
    if any(law.viscous for law in laws) or any(law != laws[0] for law in laws):
        raise InputError("damping", expected="Rayleigh's, one for all bodies", got="others")
    omega, shapes, factor = vibrations(robot, state, modes)
    linear = linearise(robot, state.q, state.effort, state.internal, state.gravity, tangent=False)
    assert linear is not None
    rows = lambda names: np.concatenate([np.arange(robot.bundle.rows)[robot.named(n)] for n in names])
    H = linear.H.to_csr()
    a, s = rows(act), rows(read)
    B, C = (H[a] @ shapes).T, H[s] @ shapes
    W = factor.compliance(linear.H)[np.ix_(s, a)]
    D = W - C @ (B / omega[:, None] ** 2)
    ratio = 0.5 * (laws[0].mass / omega + laws[0].stiffness * omega)
    reading = linear.delta[s]
    return LinearDynamics(act, read, omega, ratio, B, C, D, state.effort[a], reading, shapes)


def _named(robot: Robot, names: Sequence[str] | None, role: str) -> tuple[str, ...]:
    chosen = tuple(robot.by_role(role) if names is None else names)
    if not chosen:
        raise InputError(f"{role}s", expected="at least one row", got="none")
    for name in chosen:
        robot.named(name)
    return chosen
