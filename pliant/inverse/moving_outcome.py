"""What one step of the inverse model of a robot in motion returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.core.tangent import EXACT
from pliant.dynamics import Moment
from pliant.inverse.moving_choice import Choice
from pliant.inverse.outcome import InverseCertificate, Outcome
from pliant.result import UNSOLVED

REACHED = 1e-3  # of the length
AWAY = 1e-2  # of the length: further from where it should be at the horizon, something holds a robot back


@dataclass(frozen=True)
class MovingCertificate(InverseCertificate):
    """How a step went.

    status: "reached" (within 0.1 % of the length), "moving", "at its limits" or "out of reach" (the effectors will be more than 1 % of
    the length from their reference, held back by the `limits` named, or by nothing but mechanics), or "stuck": there is no next state,
    this is still the one before. "infeasible" and "solver not converged" as for the inverse model at rest.
    `foreseen` [m]: how far from their reference the effectors were expected at the horizon. `decrement` [m]: how far the end of the
    step is from what the scheme asks for; `halvings`: parts that the step was taken in, less one. `motion`: the certificate of the
    step in time; `solver`: that of the program that chose the efforts.
    """

    foreseen: float = 0.0
    motion: Any = None


@dataclass(frozen=True)
class MovingOutcome(Outcome):
    """An Outcome with velocities, time, and the reference: where the effectors are asked to be by now, by row name."""

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
    choice: Choice | None, moment: Moment | None, left: float, foreseen: float, depth: float, length: float
) -> MovingCertificate:
    """The certificate of a step that ended `left` [m] from its targets and `depth` [m] inside of obstacles."""
    limits = () if choice is None else choice.limits
    status = "reached" if left < REACHED * length else "moving"
    if status == "moving" and foreseen > AWAY * length:
        status = "at its limits" if limits else "out of reach"
    solver = None if choice is None else choice.solution.certificate
    status = status if solver is None else UNSOLVED.get(solver.status, status)
    shift, tangent = (0.0, EXACT) if choice is None else (choice.shift, choice.treatment)
    if moment is None:
        return MovingCertificate(
            "stuck", np.inf, depth, 0, 0, shift, limits, False, solver, tangent, foreseen=foreseen
        )
    step = moment.certificate
    return MovingCertificate(
        status, step.decrement, depth, step.iterations, step.load_steps - 1, shift, limits, True, solver, tangent,
        foreseen=foreseen, motion=step,
    )  # fmt: skip
