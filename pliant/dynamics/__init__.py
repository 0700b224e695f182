"""Dynamics: robots in motion, with inertia, damping and contact."""

from pliant.bodies.damping import Damping, KelvinVoigt, Maxwell, Prony, Rayleigh, StandardLinear
from pliant.dynamics.balance import Energy
from pliant.dynamics.moment import Moment
from pliant.dynamics.motion import Motion
from pliant.dynamics.simulation import Simulation

__all__ = [
    "Damping",
    "Energy",
    "KelvinVoigt",
    "Maxwell",
    "Moment",
    "Motion",
    "Prony",
    "Rayleigh",
    "Simulation",
    "StandardLinear",
]
