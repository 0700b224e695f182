"""Where no step will do: the equilibrium with all drives locked, sought over several steps so that none takes long."""

from __future__ import annotations

from pliant.inverse.model import Model, Pose
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.state import State

ITERATIONS = 80  # in all; in the second half, anew, as if all that is touched were flat


class Recovery:
    """A search that goes on from step to step."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.state: State | None = None  # on the way
        self.spent = 0  # iterations so far

    @property
    def underway(self) -> bool:
        """Whether a search was begun and has not ended."""
        return self.spent > 0

    def forget(self) -> None:
        """Something has changed: the next search begins anew."""
        self.state, self.spent = None, 0

    def once(self, pose: Pose) -> Result:
        """One iteration, and that is all."""
        return self.model.locked(pose, _tolerance(1))

    def advance(self, pose: Pose, iterations: int) -> Result | None:
        """So many iterations more from a pose; None if there are more to come."""
        half = ITERATIONS // 2
        curved = self.spent < half
        found = self.model.locked(pose, _tolerance(iterations), self.state, curved=curved)
        self.state, self.spent = found.state, self.spent + iterations
        if found.certificate.converged or self.spent >= ITERATIONS:
            self.forget()
            return found
        if curved and self.spent >= half:
            self.state = None
        return None


def _tolerance(iterations: int) -> Tolerance:
    return Tolerance(residual=1e-5, length=1e-6, iterations=iterations)
