"""What one step of the inverse model returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from pliant.contact import Contacts
from pliant.contact.touch import ContactForce, Where, touch
from pliant.inverse.model import Model
from pliant.inverse.pose import Pose
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.inverse.words import sentence, touched
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True)
class InverseCertificate:
    """How a step went.

    | status | |
    |---|---|
    | "reached" | within 0.1 % of the length, in equilibrium |
    | "moving" | on the way: the task step is limited |
    | "at its limits" | it comes no nearer, nor did scouts from elsewhere: the `limits` named are in the way |
    | "out of reach" | it comes no nearer, nor did scouts, because of nothing but mechanics |
    | "about to buckle" | it went back to stable poses, for one step more would not be stable |
    | "no way found from here" | it comes no nearer, but a search failed: there may be another way |
    | "going back" | along poses that it or a scout has passed, to get on from there |
    | "looking for another way" | it comes no nearer, and waits for scouts |
    | "searching" | the budget is spent: it waits for a shorter step that will do, or for equilibrium |
    | "recovering" | pushed, it creeps to the equilibrium with locked drives |
    | "recovered" | it is there |
    | "backing out" | something is inside it: it goes back the way it came until it is clear |
    | "stuck" | neither helped |
    | "infeasible" | bounds and contacts that no effort can meet: the nearest was taken |
    | "solver not converged" | |
    """

    status: str
    decrement: float  # [m] how far the state is from equilibrium
    penetration: float  # [m] of the deepest point, measured on the surfaces as they are
    linearisations: int  # that the step took, for whatever purpose
    halvings: int  # of the step length that it took
    shift: float  # by how much the diagonal of K was raised, relative to its mean
    limits: tuple[str, ...]  # which actuator stands at which limit, in words
    moved: bool  # whether the robot stands elsewhere than before
    solver: Any = None  # the certificate of the quadratic program
    tangent: str = "exact"  # how K was treated, see `pliant.core.tangent`
    pivots: int = 0  # of the solver, in all these linearisations
    standoff: float = 0.0  # [m] of the farthest contact that pushes: more than the bound is not a touch

    def __str__(self) -> str:
        at = f" ({'; '.join(self.limits)})" if self.limits else ""
        how = "" if self.tangent == "exact" else f", tangent {self.tangent}"
        return (
            f"{self.status}{at}: decrement {self.decrement:.1e} m, penetration {self.penetration:.1e} m{how}"
        )


@dataclass(frozen=True)
class Outcome:
    """Where a step led, by row names."""

    robot: Robot
    state: State
    effort: Mapping[str, np.ndarray]  # λ of each row
    displacement: Mapping[str, np.ndarray]  # δ of each row
    error: Mapping[str, np.ndarray]  # target − δ of each effector
    command: Mapping[str, np.ndarray]  # to each drive: δ of a taut actuator, let out a little where slack
    contacts: Contacts
    contact_force: np.ndarray  # (n,) normal [N], pushing
    friction_force: np.ndarray  # (n, 2) along contacts.tangents [N]
    certificate: InverseCertificate
    timings: Mapping[str, float] = field(default_factory=dict)  # [s] of each stage
    met: tuple[str, ...] = ()  # what the robot touches, by name

    @cached_property
    def why(self) -> str:
        """How the step went, in the sentence that sessions and the studio's page show."""
        distance = {name: float(np.linalg.norm(value)) for name, value in self.error.items()}
        units = {name: self.robot.rows[name].interaction.unit for name in distance}
        return sentence(self.certificate.status, distance, units, self.certificate.limits, self.met)

    def __repr__(self) -> str:
        return f"<Outcome of {self.robot.name!r}: {self.why}>"

    def _repr_html_(self) -> str:
        """In a notebook: the deformed robot, to be turned, and the numbers of its rows."""
        return import_module("pliant.io.notebook").result_html(self)  # by name: pictures stand above

    def plot(self, path: Any = "result.png", **options: Any) -> Any:
        """Draw it to a picture and return its path, which a notebook shows as the picture.

        Options as of `pliant.io.picture.picture`.
        """
        return import_module("pliant.io.notebook").plot(self, path, **options)

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
    """A pose and what is said of it, by row names.

    Its arrays are copies: writing to them does not change the pose.
    """
    robot, roles, delta = model.robot, model.roles, pose.delta.copy()
    error = np.zeros(robot.bundle.rows)
    error[roles.effectors] = target - delta[roles.effectors]
    return Outcome(
        robot=robot,
        state=model.state(pose),
        effort=robot.split(pose.lam.copy()),
        displacement=robot.split(delta),
        error=by_name(robot, error, roles.effectors),
        command=commands(robot, roles, pose.lam, delta, model.settings),
        contacts=pose.contacts,
        contact_force=pose.normal.copy(),
        friction_force=pose.tangential.copy(),
        certificate=certificate,
        timings=timings,
        met=touched(pose.contacts, pose.normal, model.detector),
    )


def commands(
    robot: Robot, roles: Roles, effort: np.ndarray, delta: np.ndarray, settings: Settings
) -> dict[str, np.ndarray]:
    """The command to each drive, from λ and δ of all rows (m,).

    δ of a taut actuator; a slack one is let out a little more than it needs.
    """
    command = delta.copy()
    command[roles.actuators] = roles.commands(effort, delta, settings.slack * robot.length)
    return by_name(robot, command, roles.actuators)


def by_name(robot: Robot, values: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
    """The values (m,) of some rows (indices), by their names."""
    chosen = set(rows.tolist())
    return {name: values[span] for name, span in robot.spans.items() if span.start in chosen}
