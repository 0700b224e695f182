"""Fibres: threads that are glued to a solid, and how they are wound."""

from pliant.bodies.fibres.fibres import Fibres, glued
from pliant.bodies.fibres.recipes import NEUTRAL, braid, helix, rings, straight

__all__ = ["NEUTRAL", "Fibres", "braid", "glued", "helix", "rings", "straight"]
