"""Fibres: threads that are glued to a solid, and how they are wound."""

from pliant.bodies.fibres.fibres import Fibres
from pliant.bodies.fibres.recipes import braid, helix, rings, straight

__all__ = ["Fibres", "braid", "helix", "rings", "straight"]
