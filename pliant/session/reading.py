"""What a mode says after a step, before it becomes a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.frame import Held, Touch
from pliant.inverse.words import LEAST_FORCE, LEAST_SHARE, opponents_of
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True, eq=False)
class Reading:
    """State, efforts and displacements of all rows by name, commands of the actuators, and how it went."""

    state: State
    effort: Mapping[str, np.ndarray]
    displacement: Mapping[str, np.ndarray]
    command: Mapping[str, np.ndarray]
    touch: Touch
    status: str
    limits: tuple[str, ...] = ()
    trouble: str = ""  # what the solver complains about
    timings: Mapping[str, float] = field(default_factory=dict)
    speed: float = 0.0  # [m/s] of the fastest node
    held: Mapping[str, Held] = field(default_factory=dict)  # loose things that the robot touches

    @classmethod
    def at(cls, robot: Robot, state: State, command: Mapping[str, np.ndarray]) -> Reading:
        """Before the first step: where the robot is."""
        delta = robot.split(robot.bundle.delta(robot.bundle.positions(state.q)))
        return cls(state, robot.split(state.effort), delta, command, Touch.none(), "moving")


def touching(contacts: Contacts | None, normal: Any, friction: Any, detector: Detector) -> Touch:
    """The contacts that carry a force; normal (n,) and friction (n, 2) [N] along the tangents."""
    force = np.asarray(normal, float)
    if contacts is None or not force.any():
        return Touch.none()
    along = 0.0 if friction is None or not np.any(friction) else contacts.friction_on_samples(friction)
    contacts, force = contacts.on_samples(force)
    vector = force[:, None] * contacts.normal + along
    on = np.flatnonzero(force > max(LEAST_FORCE, LEAST_SHARE * force.max()))
    if not len(on):
        return Touch.none()
    opponents = opponents_of(detector)
    names = tuple(opponents[k] for k in contacts.opponent[on])
    return Touch(contacts.position[on], vector[on], names)


def at_nodes(robot: Robot, state: State, name: str) -> np.ndarray:
    """displacement [m], strain (the largest principal Green strain) or stress (von Mises) [Pa], (k,)."""
    q, z = state.q, state.internal
    if name == "displacement":
        return np.linalg.norm(robot.positions(q) - robot.positions(robot.rest.q), axis=1)
    spans = zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True)
    if name == "strain":
        parts = [np.abs(np.linalg.eigvalsh(b.strain(q[s], at="nodes"))).max(axis=1) for b, s, _ in spans]
    else:
        parts = [b.stress(q[s], "von_mises", at="nodes", z=z[t]) for b, s, t in spans]
    return np.concatenate(parts)
