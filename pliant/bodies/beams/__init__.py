"""Beams: rods with six coordinates per node, alone or as trees."""

from pliant.bodies.beams.beam import Beam
from pliant.bodies.beams.sections import Circle, Rectangle, Section, Stiffness

__all__ = ["Beam", "Circle", "Rectangle", "Section", "Stiffness"]
