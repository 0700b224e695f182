"""Where the model of an estimator is, and what one linearisation led to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.contact import Contacts
from pliant.core.view import View
from pliant.sensing.condensed import Condensed, System, Whitened
from pliant.sensing.judgement import AS_STATED, Judgement
from pliant.sensing.least_squares import Fit
from pliant.sensing.weights import Weights


@dataclass(frozen=True)
class Pose:
    """Where the model is: the scene linearised there. Efforts and forces are `scale` times the true ones."""

    view: View
    scale: float = 1.0  # a body s times softer under the true loads is this one under loads s times as large

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,)."""
        return self.view.q

    @property
    def lam(self) -> np.ndarray:
        """Efforts of the robot's rows (m,)."""
        return self.view.lam[: self.view.own]

    @property
    def delta(self) -> np.ndarray:
        """δ of the robot's rows (m,)."""
        return self.view.delta[: self.view.own]

    @property
    def contacts(self) -> Contacts | None:
        """What touches, or could."""
        return self.view.contacts

    @property
    def force(self) -> np.ndarray:
        """Forces of the contacts (n,) [N]."""
        return self.view.force


@dataclass(frozen=True)
class Move:
    """What one linearisation at `start` led to.

    x are unknown efforts and errors of commands, `columns` which of these were estimated, `active` the active
    set of the rows that the model solves for; `weights` are those of the fit, after a `judgement` of the
    residuals.
    """

    start: Pose
    pose: Pose
    x: np.ndarray
    fit: Fit
    system: System
    white: Whitened
    columns: np.ndarray
    condensed: Condensed
    active: np.ndarray
    longest: float  # [m]
    weights: Weights
    judgement: Judgement = AS_STATED

    @property
    def shift(self) -> float:
        """By how much K was raised to be of use."""
        return self.condensed.tangent.shift
