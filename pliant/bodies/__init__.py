"""Bodies: solids of volume elements, with rigid regions."""

from pliant.bodies.body import Body
from pliant.bodies.rigid import Ball, Hinge, Joint, Prismatic, Rigid
from pliant.bodies.solid import Solid

__all__ = ["Ball", "Body", "Hinge", "Joint", "Prismatic", "Rigid", "Solid"]
