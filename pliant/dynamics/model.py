"""Model: a robot with all that its motion depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.bodies.damping import Damping
from pliant.contact import Contacts, Detector
from pliant.contact.detect import search_distance
from pliant.contact.detect.detector import NO_KEYS
from pliant.core.rows import levers
from pliant.core.scene import Scene
from pliant.core.support import Support
from pliant.dynamics.inertia import Inertia
from pliant.dynamics.schemes.scheme import Scheme
from pliant.dynamics.viscosity import Viscosity
from pliant.robot import Robot

RECOVERY_SPEED = 5.0  # lengths of the robot per second: how fast what penetrates is pushed out


@dataclass(frozen=True)
class Model:
    """What stays the same from step to step."""

    scene: Scene
    inertia: Inertia
    viscosity: Viscosity
    scheme: Scheme
    iterations: int  # linearisations in a step, at most
    tolerance: float  # [m] of the last correction
    recovery: float  # [m/s] how fast what penetrates is pushed out
    span: np.ndarray  # (m,) how far δ of a row changes when it moves by the robot's length

    @classmethod
    def of(
        cls,
        robot: Robot,
        detector: Detector,
        damping: Sequence[Damping],
        scheme: Scheme,
        iterations: int,
        tolerance: float,
    ) -> Model:
        """A robot, what it can touch, and the damping of each of its bodies."""
        return cls(
            scene=Scene(robot, detector, Support.none(robot)),
            inertia=Inertia(robot, damping),
            viscosity=Viscosity(robot, damping),
            scheme=scheme,
            iterations=iterations,
            tolerance=tolerance,
            recovery=RECOVERY_SPEED * robot.length,
            span=robot.length * levers(robot),
        )

    @property
    def robot(self) -> Robot:
        """The scene's."""
        return self.scene.robot

    @property
    def detector(self) -> Detector:
        """The scene's."""
        assert self.scene.detector is not None
        return self.scene.detector

    def contacts(
        self,
        q: np.ndarray,
        v: np.ndarray,
        step: float,
        pushing: np.ndarray = NO_KEYS,
        *,
        travel: float | None = None,
    ) -> Contacts | None:
        """Contacts at q that the motion v is about to close within a step [s].

        These are nearer than twice the motion, or than a small share of the alarm distance. With a `travel`
        [m] that the robot may go besides: all that are nearer than twice both, or than the alarm distance.
        `pushing`: keys of contacts that do.
        None if there is nothing to touch.
        """
        if not self.detector.opponents:
            return None
        search, near = search_distance.in_time(step * self.robot.farthest(v), self.detector.alarm, travel)
        contacts = self.detector.detect(q, search, held=pushing)
        if len(contacts.stencil.point):  # modes have no stencil
            contacts = self._closing(contacts, q, v, step, near)
        return contacts

    def fall(self, step: float) -> float:
        """How far [m] a robot falls in a step when it begins to."""
        return step * step * float(np.linalg.norm(self.robot.gravity))

    def _closing(
        self, contacts: Contacts, q: np.ndarray, v: np.ndarray, step: float, near: float
    ) -> Contacts:
        """Without pairs of the robot's own bodies that are farther apart than `near` [m] and come no nearer.

        There may be very many of these.
        """
        far = ~contacts.rigid & (contacts.gap > near)
        if not far.any():
            return contacts
        predicted = self.robot.retract(q, step * v)
        nearer = np.minimum(np.einsum("ki,ki->k", contacts.normal, contacts.motion(predicted, q)), 0.0)
        return contacts.take(np.flatnonzero(~far | (contacts.gap + search_distance.MOTION * nearer < near)))
