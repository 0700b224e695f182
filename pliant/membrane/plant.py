"""What a controller of a hand talks to: a plant that takes joint positions and tells where everything is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.errors import ConvergenceError, InputError
from pliant.membrane.equilibrium import HELD
from pliant.membrane.hand import Hand, Held

LONGEST_STEP = 2e-3  # [s] of the joints' motion
STEP_ROUNDING = 1e-9  # of a step: what rounding may add to a duration
STIFFNESS = 500.0  # [1/s²], of the inner loop per unit of inertia, as in the thesis; damping is critical
MASS = 0.2  # [kg], that a slider moves
INERTIA = (3.5, 1.0, 0.7)  # of θ_p, θ_l, θ_d with their motors, in units of mass × size², mass, mass × size²


@dataclass(frozen=True, eq=False)
class Reading:
    """time [s]; joints (3f,); pose (3,) and velocity (3,) of the object [m, m, rad]."""

    time: float
    joints: np.ndarray
    pose: np.ndarray
    velocity: np.ndarray


class Plant(Protocol):
    """A hand that moves: simulated or real. Its inner loop drives the joints to the command."""

    def read(self) -> Reading:
        """Where everything is now."""
        ...

    def advance(self, command: np.ndarray, duration: float) -> Reading:
        """Joint positions (3f,) as the inner loop's target for a `duration` [s].

        Returns where everything is then.
        """
        ...


def joint_inertia(hand: Hand, mass: float = MASS) -> np.ndarray:
    """(3f,) inertia of the joints [kg·m², kg, kg·m²] of fingers whose sliders move this mass [kg]."""
    if not mass > 0.0:
        raise InputError("mass of a finger", expected="a number > 0 [kg]", got=mass)
    unit = np.array([hand.size**2, 1.0, hand.size**2])
    return mass * np.tile(INERTIA * unit, len(hand.fingers))


def joint_loads(held: Held) -> np.ndarray:
    """(3f,) efforts of the skins on the joints, −∂E/∂θ [N·m, N, N·m]."""
    return held.ends_jacobian.T @ held.rest.skin_forces.pull.ravel()


class QuasiStatic:
    """Joints with inertia under an inner loop, the object at rest at every instant.

        I θ̈ = I (s (θ_cmd − θ) − 2√s θ̇) + load

    load is what the skins pull with: the inner loop has no integral action, so the joints give way to it.
    `hand` is the true one, which need not be the controller's. finger_mass [kg] sets the inertia of the
    joints, see `joint_inertia`; `stiffness` s [1/s²].
    """

    def __init__(
        self,
        hand: Hand,
        joints: Any = None,
        pose: Any = None,
        *,
        finger_mass: float = MASS,
        stiffness: float = STIFFNESS,
    ) -> None:
        if not stiffness > 0.0:
            raise InputError("stiffness", expected="a number > 0 [1/s²]", got=stiffness)
        self.hand, self.stiffness, self._inertia = hand, float(stiffness), joint_inertia(hand, finger_mass)
        q = hand.middle if joints is None else hand.joints(joints)
        self._time, self._q, self._rate = 0.0, q.copy(), np.zeros_like(q)
        self._held = hand.rest(q, pose)
        self._velocity = np.zeros(3)

    @property
    def held(self) -> Held:
        """The object at rest with the present joints."""
        return self._held

    def read(self) -> Reading:
        """Where everything is now."""
        return Reading(self._time, self._q.copy(), self._held.pose.copy(), self._velocity.copy())

    def advance(self, command: np.ndarray, duration: float) -> Reading:
        """Move for `duration` [s] towards the command (3f,)."""
        count = max(1, int(np.ceil(duration / LONGEST_STEP - STEP_ROUNDING)))
        h, before = duration / count, self._held.pose
        s = self.stiffness
        for _ in range(count):
            # implicit in the inner loop, which is stiff; the load is that of the last state
            push = s * (command - self._q) + joint_loads(self._held) / self._inertia
            self._rate = (self._rate + h * push) / (1.0 + 2.0 * np.sqrt(s) * h + s * h * h)
            self._q = self._q + h * self._rate
            self._held = self._rest(self._held)
        self._time += duration
        self._velocity = (self._held.pose - before) / duration
        return self.read()

    def _rest(self, last: Held) -> Held:
        """At rest with the new joints; an object that nothing holds stays where it is."""
        try:
            return self.hand.rest(self._q, last.pose)
        except InputError as error:
            raise ConvergenceError(
                f"The hand has lost its object after {self._time:.3g} s: {error}", last
            ) from None

    @property
    def holding(self) -> bool:
        """Whether the object is held, by every skin."""
        return self._held.status == HELD and bool(self._held.rest.touching.all())
