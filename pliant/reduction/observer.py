"""An observer: how a robot vibrates, from a few readings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats
from pliant.reduction.linear_dynamics import LinearDynamics

LEAST_DISTURBED = 0.1  # of the strongest: disturbance of vibrations that the actuators hardly push


class Observer:
    """The steady Kalman filter of linear dynamics: x̂ (2k,) = (η, η̇), corrected by each reading.

        x̂ ← x̂⁻ + L (y − C x̂⁻ − D u),       x̂⁻ = A x̂ + B u

    `time_step` [s] is that between readings. `noise` is the standard deviation of a reading, in its unit,
    with what the vibrations left out add to it. `disturbance` [N] is that of forces that the model does not
    know of, as actuators would make them. Much noise and little disturbance make a slow and careful observer.
    """

    def __init__(
        self, model: LinearDynamics, *, time_step: float, noise: float = 1e-3, disturbance: float = 0.05
    ) -> None:
        from scipy.linalg import solve_discrete_are

        for name, value in (("noise", noise), ("disturbance", disturbance)):
            if not (np.isfinite(value) and value > 0):
                raise InputError(name, expected="more than zero", got=value)
        self.model, self.time_step = model, time_step
        self.A, self.B, self.C = model.discrete(time_step)
        k = len(model)
        # Each vibration is disturbed as hard as the actuators could push it, but independently: a filter that
        # takes disturbances for the actuators' own is slow where these two cancel.
        push = disturbance * time_step * np.linalg.norm(model.B, axis=1)
        Q = np.diag(np.concatenate([np.zeros(k), np.maximum(push, LEAST_DISTURBED * push.max()) ** 2]))
        R = noise**2 * np.eye(len(self.C))
        P = solve_discrete_are(self.A.T, self.C.T, Q, R)
        self.gain = np.linalg.solve(self.C @ P @ self.C.T + R, self.C @ P).T
        self.state = np.zeros(2 * k)

    def reset(self) -> None:
        """At rest."""
        self.state = np.zeros_like(self.state)

    def update(self, reading: ArrayLike, effort: ArrayLike) -> np.ndarray:
        """x̂ after a reading (s,), under efforts (a,) [N] that were applied during the step before it."""
        y = as_floats("reading", reading, "numbers").ravel() - self.model.reading
        if y.shape != (len(self.C),) or not np.isfinite(y).all():
            raise InputError("reading", expected=f"{len(self.C)} finite numbers", got=repr(reading))
        u = as_floats("effort", effort, "numbers").ravel() - self.model.effort
        predicted = self.A @ self.state + self.B @ u
        self.state = predicted + self.gain @ (y - self.C @ predicted - self.model.D @ u)
        return self.state

    @property
    def poles(self) -> np.ndarray:
        """Poles (2k,) per step of the error x − x̂, inside the unit circle."""
        return np.linalg.eigvals((np.eye(len(self.A)) - self.gain @ self.C) @ self.A)
