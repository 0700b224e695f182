"""What fills chambers, and what it comes through: gas and liquid, flow by ISO 6358, lines. Arrays, no bodies.

A `Cavity` with a `Line` is a chamber with gas of its own. What one sends to it is a law of its row: a set
pressure (`Known(effort=…)`), the opening of a valve (`Valve(…)`), or a syringe's stroke
(`Known(displacement=…)`).
"""

from pliant.pneumatics.fluid import REFERENCE, Gas, Liquid
from pliant.pneumatics.line import Charge, Line
from pliant.pneumatics.orifice import Orifice

__all__ = ["REFERENCE", "Charge", "Gas", "Line", "Liquid", "Orifice"]
