"""How the inverse model behaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How the controller behaves; lengths are shares of the robot's length."""

    task_step: float = 0.02  # the goal of one step lies at most this far ahead
    energy: float = 1e-4  # ε: what keeps redundant actuators low
    inertia: float = 1e-3  # ρ: what keeps efforts where they were …
    inertia_in_contact: float = 1e-2  # … and where the robot touches something
    linearisations: int = 3  # at most, towards one goal
    budget: int = 15  # of linearisations in a step, for all step lengths: the next steps go on from there
    decrement: float = 1e-4  # above it, and if allowed, linearise again
    worst_decrement: float = 1e-3  # above it the step is taken again with half the step length
    penetration: float = 5e-4  # deeper, the step is taken again with half the step length
    halvings: int = 4  # of the step length, at most
    starts: int = 4  # of the solver
    frictional_starts: int = 2  # of the solver with friction: the last efforts, and those without friction
    scouts: bool = True  # whether the model looks for another way where the robot comes no nearer
    slack: float = 5e-3  # by how much a slack cable is let out
    rate: float = 100.0  # [Hz], for speed limits

    @property
    def exhaustive(self) -> bool:
        """Whether one step may try all its step lengths.

        If not, a path is followed with the step length that worked last; a full step is not tried every time.
        """
        return self.budget >= self.linearisations * (self.halvings + 1)
