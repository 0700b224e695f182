"""A dynamic controller on reduced linear dynamics: it damps the vibrations that its observer sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.laws import Known
from pliant.reduction.linear_dynamics import LinearDynamics
from pliant.reduction.observer import Observer

DEFAULT_DAMPING_RATIO = 0.2  # of the first vibration under control, unless a price is given
REACHED_SWAY = 0.1  # of the largest sway: vibrations that efforts move at least so far are within reach


class Damper:
    """A linear-quadratic controller: u = −F x̂ minimises Σ (energy of the vibrations) + price |u|².

        damper = Damper(model, time_step=0.005)
        sim.step(damper.step(measured_tip))

    It uses readings alone. `model` is the `linear_dynamics` of the robot, full or reduced; `damping(plant)`
    says whether vibrations that it leaves out are stable. `price` [J/N²] is that of effort: a smaller one
    damps more. By default the slowest vibration within reach gets a damping ratio of about 0.2. `limits` (a,
    2) [N] bound the efforts (default: (0, ∞), as cables pull); the observer is given the bounded efforts.
    """

    def __init__(
        self,
        model: LinearDynamics,
        *,
        time_step: float,
        price: float | None = None,
        limits: ArrayLike | None = None,
        observer: Observer | None = None,
    ) -> None:
        from scipy.linalg import solve_discrete_are

        self.model = model
        self.observer = Observer(model, time_step=time_step) if observer is None else observer
        if self.observer.model is not model or self.observer.time_step != time_step:
            raise InputError("observer", expected="one of the same model and time step", got="another")
        k, a = model.B.shape
        self.price = _price(model) if price is None else price
        if not (np.isfinite(self.price) and self.price > 0):
            raise InputError("price", expected="more than zero [J/N²]", got=price)
        A, B = self.observer.A, self.observer.B
        Q = 0.5 * np.diag(np.concatenate([model.frequency**2, np.ones(k)]))  # ½(ω²η² + η̇²), the energy
        R = self.price * np.eye(a)
        S = solve_discrete_are(A, B, Q, R)
        self.gain = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
        lo, hi = (np.zeros(a), np.full(a, np.inf)) if limits is None else np.asarray(limits, float).T
        self.low, self.high = lo, hi
        self.effort = model.effort.copy()

    def reset(self) -> None:
        """As if the robot had rested at its equilibrium."""
        self.observer.reset()
        self.effort = self.model.effort.copy()

    def step(self, reading: ArrayLike) -> dict[str, Known]:
        """The efforts for the next time step, as laws, after a reading (s,) of the sensors."""
        state = self.observer.update(reading, self.effort)
        self.effort = np.clip(self.model.effort - self.gain @ state, self.low, self.high)
        return {
            name: Known(effort=float(u)) for name, u in zip(self.model.actuators, self.effort, strict=True)
        }

    def damping(self, plant: LinearDynamics | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies [rad/s], ascending, and damping ratios of the closed loop, observer included.

        `plant` is what is controlled, with more vibrations than the model has: a ratio below zero says that
        the controller would excite one of them (spillover). By default it is the model itself.
        """
        poles = self._poles(self.model if plant is None else plant).astype(complex)
        s = np.log(poles[np.imag(poles) >= 0]) / self.observer.time_step
        order = np.argsort(np.abs(s))
        return np.abs(s)[order], (-np.real(s) / np.abs(s))[order]

    def _poles(self, plant: LinearDynamics) -> np.ndarray:
        """Poles of (x, x̂) per step, x of the plant."""
        A, B, C = plant.discrete(self.observer.time_step)
        o, F, L = self.observer, self.gain, self.observer.gain
        predicted = (np.eye(len(o.A)) - L @ o.C) @ (o.A - o.B @ F)
        measured = L @ (C @ -B @ F - (plant.D - self.model.D) @ F)
        return np.linalg.eigvals(np.block([[A, -B @ F], [L @ C @ A, predicted + measured]]))


def _price(model: LinearDynamics) -> float:
    """The price at which b F = 2 ζω of the slowest vibration within reach, with F ≈ b/√(2 price)."""
    b = np.linalg.norm(model.B, axis=1)
    sway = b / model.frequency**2  # how far a constant effort moves each
    k = int(np.argmax(sway > REACHED_SWAY * sway.max()))
    return 0.5 * float(b[k] / (2.0 * DEFAULT_DAMPING_RATIO * model.frequency[k])) ** 2
