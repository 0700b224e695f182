"""Where the model of an estimator stands, and what one linearisation led to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra import Factor
from pliant.contact import Contacts
from pliant.sensing.condensed import Condensed, System, Whitened
from pliant.sensing.least_squares import Fit
from pliant.step import Linear


@dataclass(frozen=True)
class Pose:
    """Where the model stands: coordinates, efforts of all rows, contacts with their forces, and the linearisation there.

    Efforts and forces are `scale` times the true ones.
    """

    q: np.ndarray
    lam: np.ndarray
    linear: Linear
    contacts: Contacts | None
    force: np.ndarray  # (n,) of the contacts [N]
    scale: float = 1.0  # a body s times softer under the true loads is this one under loads s times as large
    predicted: np.ndarray | None = (
        None  # what the motion to q was to bring to slender bodies, see `Robot.predict`
    )

    @property
    def delta(self) -> np.ndarray:
        """δ of all rows."""
        return self.linear.delta

    def residual(self) -> np.ndarray:
        """r + Hᵀλ, contacts included."""
        r = self.linear.residual(self.lam)
        if self.contacts is not None and self.force.any():
            r = r + self.contacts.rows(self.q).transpose_dot(self.force)
        return r


@dataclass(frozen=True)
class Move:
    """What one linearisation at `start` led to; x are unknown efforts and errors of commands, `columns` which of these were estimated."""

    start: Pose
    pose: Pose
    x: np.ndarray
    fit: Fit
    system: System
    white: Whitened
    columns: np.ndarray
    factor: Factor
    condensed: Condensed
    holds: np.ndarray
    shift: float
    longest: float  # [m]
