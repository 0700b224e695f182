"""What a solve returns: the state, named efforts and displacements, and a certificate of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.contact import Contacts
from pliant.contact.touch import ContactForce, Where, touch
from pliant.robot import Robot
from pliant.state import State


def _frozen(values: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    copies = {name: np.array(value) for name, value in values.items()}
    for value in copies.values():
        value.setflags(write=False)
    return MappingProxyType(copies)


@dataclass(frozen=True)
class Certificate:
    """How far a result may be trusted.

    `residual` is ‖r + Hᵀλ‖ relative to the loads; `decrement` the largest coordinate of K⁻¹(r + Hᵀλ) [m]: how
    far the state still is from equilibrium; `constraint` the worst violation of the laws, relative to how far
    a row's δ changes when the robot moves by its own length. `tangent`: how K was treated in the last
    iteration, "exact" or another word of `pliant.core.tangent`; `shift` > 0: by how much its diagonal was
    raised; `negative` > 0: K has negative pivots (past a limit point). `solver`: what the solver of the rows'
    laws said, "solved", "infeasible" (laws that contradict each other) or "not converged"; where no
    equilibrium was found, that is in the status: "infeasible" or "solver not converged" instead of "not
    converged". `loose`: motions of free bodies that nothing holds, in words; the state is one of many then,
    that nearest to where the solve began. `penetration` [m]: depth of the deepest point, in obstacles that of
    the surfaces as they are; above `depth_bound` the status is "too deep", not "converged". `standoff` [m]:
    the largest gap of a contact that pushes, which is no more than that bound, either. `stability`:
    "stable", "unstable" (the status is "converged, unstable" then), "stable, after leaving an unstable
    state", or "not judged": with friction or follower forces, where something lies loose, and in solves that
    do not ask.
    """

    status: str
    residual: float
    decrement: float
    constraint: float
    iterations: int
    load_steps: int
    shift: float = 0.0
    negative: int = 0
    tangent: str = "exact"
    solver: str = "solved"
    loose: tuple[str, ...] = ()
    penetration: float = 0.0
    stability: str = "not judged"
    standoff: float = 0.0

    @property
    def converged(self) -> bool:
        """Whether the stated tolerances were met; an unstable equilibrium meets them as well."""
        return self.status in (CONVERGED, CONVERGED_UNSTABLE)

    def __str__(self) -> str:
        return (
            f"{self.status} after {self.iterations} iterations in {self.load_steps} load step(s): residual "
            f"{self.residual:.1e}, decrement {self.decrement:.1e} m, "
            f"constraints {self.constraint:.1e}{self.depth}{self.notes}"
        )

    @property
    def depth(self) -> str:
        """Penetration in words, if there is any."""
        return f", penetration {self.penetration:.1e} m" if self.penetration > 0.0 else ""

    @property
    def notes(self) -> str:
        """What else is worth saying, in words; mostly nothing."""
        note = f", tangent shifted by {self.shift:.0e}" if self.shift else ""
        note += f", tangent {self.tangent}" if self.tangent in ("flat", "clamped") else ""
        note += f", {self.negative} negative pivots" if self.negative else ""
        note += f", {self.stability}" if self.stability == LEFT_UNSTABLE else ""
        note += "" if self.solver == "solved" else f", solver: {self.solver}"
        return f"{note}, nothing holds {'; '.join(self.loose)}" if self.loose else note


CONVERGED, CONVERGED_UNSTABLE, TOO_DEEP = "converged", "converged, unstable", "too deep"
STANDING_OFF = "standing off"
STABLE, UNSTABLE_STATE, NOT_JUDGED = "stable", "unstable", "not judged"
LEFT_UNSTABLE = "stable, after leaving an unstable state"
UNSOLVED = {"infeasible": "infeasible", "not converged": "solver not converged"}


def failed(solver: str) -> str:
    """The status of a result that was not found, after what the solver of the rows' laws said."""
    return UNSOLVED.get(solver, "not converged")


SLIPPED_OFF, SLIPPED_ALONG, JUMPED = "slipped off", "slipped along", "jumped past"
LEFT = "left an unstable state"


@dataclass(frozen=True)
class Passage:
    """An event on a load path: the robot lost or passed an opponent without equilibria in between.

    `what`: "slipped off" where the opponent pushed before and not afterwards, "slipped along" where it pushes
    in another place then, "jumped past" where it did not push before; "left an unstable state", with no
    opponent, where it would have buckled. `share` of the loads at which it
    happened, `motion` [m] the farthest of any node from one equilibrium to the other.
    """

    what: str
    opponent: str
    share: float
    motion: float

    def __str__(self) -> str:
        whom = f" {self.opponent!r}" if self.opponent else ""
        return (
            f"{self.what}{whom} at {100 * self.share:.1f} % of the load, moving by {1e3 * self.motion:.3g} mm"
        )


@dataclass(frozen=True)
class Result:
    """An equilibrium (or the best state on the way to it).

    `events`: where the load path has a gap because the robot slipped off something, or jumped past it.
    """

    robot: Robot
    state: State
    effort: Mapping[str, np.ndarray]  # λ by row name
    displacement: Mapping[str, np.ndarray]  # δ by row name
    certificate: Certificate
    timings: Mapping[str, float] = field(default_factory=dict)  # [s] per stage
    contacts: Contacts | None = None  # what touched or could have, None without surroundings
    contact_force: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (n,) normal [N], pushing
    friction_force: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 2))
    )  # (n, 2) along contacts.tangents [N]
    events: tuple[Passage, ...] = ()

    def __post_init__(self) -> None:
        for name in ("effort", "displacement"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        object.__setattr__(self, "timings", MappingProxyType(dict(self.timings)))

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,)."""
        return self.state.q

    @cached_property
    def positions(self) -> np.ndarray:
        """Node positions, (k, 3) [m]."""
        x = self.robot.positions(self.state.q)
        x.setflags(write=False)
        return x

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.robot.name!r}: {self.certificate}>"

    def _repr_html_(self) -> str:
        """In a notebook: the deformed robot, to be turned, and the numbers of its rows."""
        return import_module("pliant.io.notebook").result_html(self)  # by name: pictures stand above

    def plot(self, path: Any = "result.png", **options: Any) -> Any:
        """Draw it to a picture and return its path, which a notebook shows as the picture.

        Options as of `pliant.io.picture.picture`.
        """
        return import_module("pliant.io.notebook").plot(self, path, **options)

    def touch(self, opponent: str | None = None, *, where: Where | None = None) -> ContactForce:
        """The force of obstacles on the robot [N], its centre of pressure [m] and its moment.

        opponent: the obstacle of that name only. where: contacts on a patch only, a function (n, 3) → (n,)
        bool of positions at rest.
        """
        rest = self.robot.rest.q
        return touch(
            self.contacts, self.contact_force, self.friction_force, rest, opponent=opponent, where=where
        )
