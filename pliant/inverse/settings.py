"""How the inverse model behaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How the controller behaves; lengths are shares of the robot's length."""

    task_step: float = 0.02  # the goal of one step lies at most this far ahead
    energy: float = 1e-4  # ε: what keeps redundant actuators low
    inertia: float = 1e-3  # ρ: what keeps efforts where they were
    inertia_in_contact: float = 1e-2
    linearisations: int = 3  # at most, towards one goal
    budget: int = 15  # of linearisations in a step, all goals together: what is not found then is sought in the next ones
    decrement: float = 1e-4  # above it, and if allowed, linearise again
    worst_decrement: float = 1e-3  # above it the step is taken again with half the task step
    penetration: float = 5e-4  # the same
    halvings: int = 4
    starts: int = 4  # of the solver
    rough_starts: int = 2  # of the solver with friction: the last efforts, and what would do without friction
    slack: float = 5e-3  # by how much a slack cable is let out
    rate: float = 100.0  # [Hz], for speed limits

    @property
    def patient(self) -> bool:
        """Whether one step may try all its goals. If not, a path is followed at the pace that worked, not tried at full pace at
        every step."""
        return self.budget >= self.linearisations * (self.halvings + 1)
