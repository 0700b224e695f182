"""What one step of a robot in motion returns, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.core.tangent import EXACT
from pliant.dynamics import Moment
from pliant.inverse.moving.choice import Choice
from pliant.inverse.outcome import InverseCertificate, Outcome
from pliant.result import UNSOLVED

REACHED = 1e-3  # of the length: distance from a target that is reached
KEPT_BACK = 1e-2  # of the length: farther from its goal at the horizon, something keeps a robot back


@dataclass(frozen=True)
class MovingCertificate(InverseCertificate):
    """How a step went.

    status: "reached" (within 0.1 % of the length), "moving", "at its limits" or "out of reach" (the effectors
    will be more than 1 % of the length from their reference, kept back by the `limits` named, or by nothing
    but mechanics), or "stuck": there is no next state, this is still the one before. "infeasible" and "solver
    not converged" as for the inverse model at rest. `decrement` [m]: how far the end of the step is from what
    the scheme asks for; `halvings`: parts that the step was taken in, less one; `solver`: the certificate of
    the program that chose the efforts.
    """

    foreseen: float = 0.0  # [m] how far from their reference the effectors were predicted at the horizon
    motion: Any = None  # the certificate of the step in time


@dataclass(frozen=True)
class MovingOutcome(Outcome):
    """An Outcome with velocities, time, and the reference: where effectors are asked to be by now."""

    reference: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def v(self) -> np.ndarray:
        """Velocities (ndof,): [m/s], of rotations [rad/s] in the axes of their region."""
        return self.state.v

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.state.t


def certify(
    choice: Choice | None,
    moment: Moment | None,
    *,
    left: float,
    foreseen: float,
    depth: float,
    standoff: float,
    length: float,
) -> MovingCertificate:
    """What is said of a step that ended `left` [m] from its targets and `depth` [m] inside of obstacles."""
    limits = () if choice is None else choice.limits
    status = "reached" if left < REACHED * length else "moving"
    if status == "moving" and foreseen > KEPT_BACK * length:
        status = "at its limits" if limits else "out of reach"
    solver = None if choice is None else choice.solution.certificate
    status = status if solver is None else UNSOLVED.get(solver.status, status)
    step = None if moment is None else moment.certificate
    return MovingCertificate(
        status="stuck" if step is None else status,
        decrement=np.inf if step is None else step.decrement,
        penetration=depth,
        standoff=standoff,
        linearisations=0 if step is None else step.iterations,
        halvings=0 if step is None else step.load_steps - 1,
        shift=0.0 if choice is None else choice.shift,
        limits=limits,
        moved=step is not None,
        solver=solver,
        tangent=EXACT if choice is None else choice.treatment,
        foreseen=foreseen,
        motion=step,
    )
