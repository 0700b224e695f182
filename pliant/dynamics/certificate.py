"""How far a step in time may be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.conditions import Conditions
from pliant.contact import Contacts
from pliant.core.view import View
from pliant.dynamics.implicit import StageSolution, Task
from pliant.dynamics.model import Model
from pliant.result import Certificate

KEEPS_ENERGY = "midpoint"  # the scheme whose steps are asked what they kept of it
FLIGHT = 1e-3  # of momentum over h: a force to compare with for a body that just flies
NO_FORCE = 1e-12  # [N] a force to compare with where there is none
NO_ENERGY = 1e-18  # [J] the same of energy


@dataclass(frozen=True)
class Imbalance:
    """Forces left at the stage (ndof,) [N], the size [N] of those that should balance, and those of damping.

    A step whose linearisation leaves forces is an exact step of its scheme with their opposites pushing.
    `gain`: the work of these, relative to the kinetic energy and the work of inertia.
    """

    left: np.ndarray
    scale: float
    damping: np.ndarray | float
    gain: float


@dataclass(frozen=True)
class StepCertificate(Certificate):
    """How far a step may be trusted.

    `decrement` [m] is how far the end of the step is from what the scheme asks for: one more correction,
    estimated, with the stiffness of contacts only as far as the pattern of K has room for it. `residual` is
    the imbalance of forces there, relative to them. status: "converged" if the decrement is below the
    tolerance, "linearised" if it is not but only one linearisation was asked for; "infeasible" or "solver not
    converged" if the laws of the rows could not be met; "too deep" if `penetration` exceeds 0.1 mm and
    5e-4 of the robot's length at the end of a step that would be "converged" or "linearised", "standing off"
    if instead a contact that pushes has so large a gap there, also after more linearisations; "energy not
    kept" if a scheme that is to keep the energy did not.

    `scheme` is the one that took this step: the simulation's own, "two stages" (of second order too, where
    nothing has gone before) or "euler". `fallback` says why it was not the simulation's own, in words.
    `energy_drift` [J] is what a scheme that keeps energy lost of it (< 0) or gained in this step, less the
    work of rows, contacts and Rayleigh's damping. It is nan for other schemes, and where it is not judged:
    losses of viscous materials and liquids are not counted.
    """

    scheme: str = ""
    fallback: str = ""
    energy_drift: float = np.nan

    def __str__(self) -> str:
        steps = f" in {self.load_steps} parts" if self.load_steps > 1 else ""
        scheme = f" by {self.scheme}" if self.scheme else ""
        scheme += f" ({self.fallback})" if self.fallback else ""
        return (
            f"{self.status} after {self.iterations} linearisation(s){steps}{scheme}: residual "
            f"{self.residual:.1e}, decrement {self.decrement:.1e} m, constraints {self.constraint:.1e}"
            f"{self.depth}{self.drift}{self.notes}"
        )

    @property
    def drift(self) -> str:
        """The energy that was not kept, in words; not judged where losses are not counted."""
        if not np.isnan(self.energy_drift):
            return f", energy drift {self.energy_drift:.1e} J"
        return ", energy drift not judged" if self.scheme == KEEPS_ENERGY else ""


def imbalance(
    model: Model,
    task: Task,
    there: View,
    K_rayleigh: np.ndarray | None,
    solved: StageSolution,
    push: np.ndarray | float,
) -> Imbalance:
    """What is left of the forces at the stage; `push` (ndof,) [N] is that of the contacts there."""
    inertia, stage, v = model.inertia, task.stage, solved.v
    M, rows = inertia.mass(there.q), there.H.shape[0]
    carried = inertia.product(M, v)
    momentum = inertia.product(M, stage.v - v) / stage.step
    pull = there.H.transpose_dot(solved.lam[:rows]) + push
    left = there.r + momentum + pull
    c = inertia.gyroscopic(there.q, v)
    if c is not None:
        left -= c
    damping = inertia.damping_force(M, K_rayleigh, v)
    left -= damping
    size = lambda force: float(np.sqrt(force @ force))
    scale = max(inertia.weight, FLIGHT * size(carried) / stage.step, size(momentum), size(pull), NO_FORCE)
    moved = stage.shift + stage.reach * v
    inertial = 0.5 * float(v @ carried) + abs(float(momentum @ moved))
    return Imbalance(left, scale, damping, -float(left @ moved) / max(inertial, NO_ENERGY))


def violation(
    model: Model,
    c: Conditions,
    delta: np.ndarray,
    lam: np.ndarray,
    contacts: Contacts | None,
    force: np.ndarray,
) -> float:
    """How far the laws are violated at the end of the step, relative to the robot's length.

    δ of a row counts by how far it changes when the robot moves by its length.
    """
    gap = np.where(c.compliance > 0, 0.0, delta - c.imposed)  # a spring violates nothing
    below, above = np.maximum(-gap, 0.0), np.maximum(gap, 0.0)
    each = np.where(lam <= c.low, below, np.where(lam >= c.high, above, np.abs(gap)))
    worst = float(np.max(np.where(c.given | c.lined, 0.0, each / model.span), initial=0.0))
    return worst if contacts is None else max(worst, contacts.violation(force) / model.robot.length)
