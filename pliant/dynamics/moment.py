"""What a step in time returns: the robot at the end of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.dynamics.certificate import StepCertificate
from pliant.result import Result


@dataclass(frozen=True, repr=False)
class Moment(Result):
    """The robot at the end of a step: a Result with velocities and time.

    Efforts and contact forces are those of the step.
    """

    certificate: StepCertificate

    @property
    def v(self) -> np.ndarray:
        """Velocities (ndof,): [m/s], of rotations [rad/s] in the axes of their region."""
        return self.state.v

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.state.t
