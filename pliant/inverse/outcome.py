"""What one step of the inverse model returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.contact import Contacts
from pliant.contact.touch import ContactForce, Where, touch
from pliant.inverse.model import Model, Pose
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True)
class InverseCertificate:
    """How a step went.

    status: "reached" (within 0.1 % of the length), "moving" (on the way, the task step is limited), "at its limits" (see
    `limits`), "out of reach", "about to buckle" (it went back to the last stable pose), "searching" (the budget
    is spent: the robot waits for a smaller step that will do), "recovering" (no step would do: the equilibrium with locked
    drives is sought, the robot waits), "recovered" (it was found) or "stuck" (it was not); "infeasible" (bounds and contacts that no effort
    can meet: the nearest was taken) or "solver not converged", whatever else there is to say.
    `decrement` [m]: how far the state is from equilibrium; `penetration` [m]: the deepest sample. `linearisations` and
    `halvings` (of the task step) that it took. `tangent`: how K was treated, see `pliant.core.tangent`; `shift`: by how much its
    diagonal was raised; `solver`: the certificate of the quadratic program.
    """

    status: str
    decrement: float
    penetration: float
    linearisations: int
    halvings: int
    shift: float
    limits: tuple[str, ...]
    moved: bool
    solver: Any = None
    tangent: str = "exact"

    def __str__(self) -> str:
        at = f" ({'; '.join(self.limits)})" if self.limits else ""
        how = "" if self.tangent == "exact" else f", tangent {self.tangent}"
        return (
            f"{self.status}{at}: decrement {self.decrement:.1e} m, penetration {self.penetration:.1e} m{how}"
        )


@dataclass(frozen=True)
class Outcome:
    """Efforts, displacements, commands and errors by row name; contacts and their forces [N]; certificate and timings [s]."""

    robot: Robot
    state: State
    effort: Mapping[str, np.ndarray]
    displacement: Mapping[str, np.ndarray]
    error: Mapping[str, np.ndarray]  # target − δ of each effector
    command: Mapping[
        str, np.ndarray
    ]  # what a drive is told: δ of a taut actuator, let out a little where slack
    contacts: Contacts
    contact_force: np.ndarray  # (n,) normal [N], pushing
    friction_force: np.ndarray  # (n, 2) along contacts.tangents [N]
    certificate: InverseCertificate
    timings: Mapping[str, float] = field(default_factory=dict)

    def touch(self, opponent: str | None = None, *, where: Where | None = None) -> ContactForce:
        """What the robot feels of the obstacles that it touches, as `Result.touch`."""
        rest = self.robot.rest.q
        return touch(
            self.contacts, self.contact_force, self.friction_force, rest, opponent=opponent, where=where
        )

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,)."""
        return self.state.q

    @cached_property
    def positions(self) -> np.ndarray:
        """Node positions, (k, 3) [m]."""
        return self.robot.positions(self.state.q)


def outcome(
    model: Model,
    pose: Pose,
    target: np.ndarray,
    certificate: InverseCertificate,
    timings: Mapping[str, float],
) -> Outcome:
    """A pose and what is said of it, by row names. Its arrays are copies: writing to them does not change the pose."""
    robot, roles, delta = model.robot, model.roles, pose.delta.copy()
    error = np.zeros(robot.bundle.rows)
    error[roles.effectors] = target - delta[roles.effectors]
    command = delta.copy()
    slack = roles.one_sided & (pose.lam[roles.actuators] <= 0)
    command[roles.actuators[slack]] -= model.settings.slack * robot.length
    of = lambda values, rows: {name: values[span] for name, span in robot.spans.items() if span.start in rows}
    return Outcome(
        robot,
        model.state(pose),
        robot.split(pose.lam.copy()),
        robot.split(delta),
        of(error, set(roles.effectors.tolist())),
        of(command, set(roles.actuators.tolist())),
        pose.contacts,
        pose.normal.copy(),
        pose.tangential.copy(),
        certificate,
        timings,
    )
