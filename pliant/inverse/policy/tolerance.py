"""How exactly the policy asks for an equilibrium."""

from __future__ import annotations

from pliant.newton import Tolerance

RESIDUAL = 1e-5  # of the loads: imbalance of a state that counts as an equilibrium
DECREMENT = 1e-6  # of the length: decrement of a state that counts as an equilibrium


def tolerance(iterations: int) -> Tolerance:
    """Of a state that counts as an equilibrium, sought in so many iterations."""
    return Tolerance(residual=RESIDUAL, length=DECREMENT, iterations=iterations)
