"""Model: a robot with all that its motion depends on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts, Detector
from pliant.core.scene import Scene
from pliant.dynamics.inertia import Inertia
from pliant.dynamics.schemes import Scheme
from pliant.dynamics.viscosity import Viscosity
from pliant.robot import Robot

CLOSE = 0.05  # of the alarm distance: what may close in a step whatever the motion is


@dataclass(frozen=True)
class Model:
    """What stays the same from step to step.

    `recovery` [m/s]: how fast what penetrates is pushed out. `conserve`: whether the energy of the bodies is kept exactly, see
    `conserve`. `span` (m,) is δ of a row that moves as the robot does.
    """

    scene: Scene
    inertia: Inertia
    viscosity: Viscosity
    scheme: Scheme
    iterations: int
    tolerance: float  # [m] of the last correction
    recovery: float
    conserve: bool
    span: np.ndarray

    @property
    def robot(self) -> Robot:
        """The scene's."""
        return self.scene.robot

    @property
    def detector(self) -> Detector:
        """The scene's."""
        assert self.scene.detector is not None
        return self.scene.detector

    def look(self, q: np.ndarray, v: np.ndarray, step: float, *, way: float | None = None) -> Contacts | None:
        """Contacts at q that the motion v is about to close within a step: nearer than twice its way, or than a small part of the alarm distance.

        With a `way` [m] that the robot may go besides: all that are nearer than twice both, or than the alarm distance.
        """
        if not self.detector.opponents:
            return None
        motion, near = step * self.robot.farthest(v), self.detector.alarm
        if way is None:
            way, near = 0.0, CLOSE * near
        found = self.detector.detect(q, max(near, 2.0 * (motion + way)))
        if len(found.stencil.point):  # modes have no stencil
            found = self._closing(found, q, v, step, near)
        return found

    def fall(self, step: float) -> float:
        """How far [m] a robot falls in a step when it begins to."""
        return step * step * float(np.linalg.norm(self.robot.gravity))

    def _closing(self, found: Contacts, q: np.ndarray, v: np.ndarray, step: float, near: float) -> Contacts:
        """Without pairs of the robot's own bodies that are farther apart than `near` [m] and do not come nearer: there may be very many."""
        far = (np.diff(found.stencil.ptr) == 4) & (found.gap > near)
        if not far.any():
            return found
        ahead = self.robot.retract(q, step * v)
        nearer = np.minimum(np.einsum("ki,ki->k", found.normal, found.motion(ahead, q)), 0.0)
        return found.take(np.flatnonzero(~far | (found.gap + 2.0 * nearer < near)))


def one_sided(conditions: Conditions) -> np.ndarray:
    """Which rows (m,) hold with an effort that has bounds: cables and stops."""
    return ~conditions.given & (np.isfinite(conditions.low) | np.isfinite(conditions.high))
