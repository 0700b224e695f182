"""What a motion has kept of its energy and its momentum."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.bodies.rigid_motions import pole, rigid_motions
from pliant.core.view import linearise
from pliant.dynamics.attempt import Arrival
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.robot import Robot

KEPT = 1e-9  # of the energy: a step that loses or gains no more has kept it
NOT_KEPT = "energy not kept"


class Energy(NamedTuple):
    """[J]; the potential is elastic, less the work of gravity since rest."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """[J]."""
        return self.kinetic + self.potential


def energy(model: Model, state: Motion) -> Energy:
    """Kinetic and potential energy in a state."""
    robot, inertia = model.robot, model.inertia
    kinetic = 0.5 * float(state.v @ inertia.product(inertia.mass(state.q), state.v))
    at = linearise(robot, state.q, state.effort, state.internal, robot.gravity, tangent=False)
    return Energy(kinetic, np.inf if at is None else at.energy)


def loaded(robot: Robot) -> bool:
    """Whether rows put loads on the robot that have no potential (liquids)."""
    p = robot.bundle.positions(robot.rest.q)
    return robot.bundle.loads(robot.rest.q, p, robot.gravity) is not None


class Balance:
    """Energy and momentum of a motion since a state, and the work that was done on it."""

    def __init__(self, model: Model, start: Motion) -> None:
        self.model, self.start, self.work = model, start, 0.0
        self._last: Energy | None = None  # after the last step that was judged

    def judged(self, arrival: Arrival) -> Arrival:
        """The end of a step, counted; with what it lost of the energy if its scheme is to keep that."""
        self.work += arrival.work
        if not self.model.scheme.conserves or not self._known:
            return arrival
        before, now = self._last or self._first, energy(self.model, arrival.motion)
        self._last, certificate = now, arrival.certificate
        drift = now.total - before.total - arrival.work
        size = max(abs(value) for value in (*before, *now))
        kept = abs(drift) <= KEPT * size or certificate.status not in ("converged", "linearised")
        status = certificate.status if kept else NOT_KEPT
        return replace(arrival, certificate=replace(certificate, status=status, energy_drift=drift))

    def energy_drift(self, now: Motion) -> float:
        """Energy gained that nothing has given [J]; nan if not all losses are known."""
        return energy(self.model, now).total - self._first.total - self.work if self._known else np.nan

    def momentum_drift(self, now: Motion) -> tuple[np.ndarray, np.ndarray] | None:
        """Linear and angular momentum (3,) gained that gravity has not given; None if a body is supported."""
        robot = self.model.robot
        if len(self.model.inertia.free_bodies) < len(robot.bodies):
            return None
        mass = sum(body.total_mass for body in robot.bodies)
        (p, L), (p_first, L_first) = self._momenta(now), self._momenta(self.start)
        return p - p_first - mass * (now.t - self.start.t) * np.asarray(robot.gravity), L - L_first

    @cached_property
    def _known(self) -> bool:
        """Whether all work is counted: that of viscous stress and of liquids is not."""
        return not (self.model.viscosity.present or loaded(self.model.robot))

    @cached_property
    def _first(self) -> Energy:
        return energy(self.model, self.start)

    def _momenta(self, state: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular momentum (3,), the latter about the centre of mass."""
        robot, inertia = self.model.robot, self.model.inertia
        M = inertia.mass(state.q)
        mass, moment, linear, angular = 0.0, np.zeros(3), np.zeros(3), np.zeros(3)
        for body, qs, ds in zip(robot.bodies, robot.q_spans, robot.dq_spans, strict=True):
            B, (at, size) = np.zeros((6, robot.ndof)), pole(body, state.q[qs])
            B[:, ds] = rigid_motions(body, state.q[qs]).T
            MB, m = np.stack([inertia.product(M, b) for b in B]), body.total_mass
            p, L, C = MB[:3] @ state.v, size * MB[3:] @ state.v, size * B[:3] @ MB[3:].T
            arm = np.array([C[1, 2], C[2, 0], C[0, 1]]) / m  # from the pole to the body's centre of mass
            mass, moment = mass + m, moment + m * (at + arm)
            linear, angular = linear + p, angular + L + np.cross(at, p)
        return linear, angular - np.cross(moment / mass, linear)
