"""Bodies: solids of volume elements, beams and shells, with rigid regions; and rigid bodies."""

from typing import TYPE_CHECKING

from pliant.bodies.body import Body
from pliant.bodies.fibres import Fibres
from pliant.bodies.rigid import Ball, Hinge, Joint, Prismatic, Rigid
from pliant.bodies.solid import Solid
from pliant.lazy import lazy

if TYPE_CHECKING:
    from pliant.bodies.beams import Beam, Circle, Rectangle, Stiffness
    from pliant.bodies.reduced import Reduced
    from pliant.bodies.rigid_body import RigidBody
    from pliant.bodies.shells import Membrane, Net, Shell, Strings
else:
    __getattr__ = lazy(
        __name__,
        {
            **dict.fromkeys(("Beam", "Circle", "Rectangle", "Stiffness"), "pliant.bodies.beams"),
            "Reduced": "pliant.bodies.reduced",
            "RigidBody": "pliant.bodies.rigid_body",
            **dict.fromkeys(("Membrane", "Net", "Shell", "Strings"), "pliant.bodies.shells"),
        },
    )

__all__ = [
    "Ball",
    "Beam",
    "Body",
    "Circle",
    "Fibres",
    "Hinge",
    "Joint",
    "Membrane",
    "Net",
    "Prismatic",
    "Rectangle",
    "Reduced",
    "Rigid",
    "RigidBody",
    "Shell",
    "Solid",
    "Stiffness",
    "Strings",
]
