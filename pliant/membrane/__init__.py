"""Cable membranes in the plane: rigid bodies on joints, cables that wrap round them, and a soft hand."""

from pliant.membrane.bodies import At, Motor, Pin, PlanarBody, Spring
from pliant.membrane.cable import Cable, Membrane, Over
from pliant.membrane.finger import Finger
from pliant.membrane.hand import Hand, soft_hand
from pliant.membrane.joints import Fixed, Free, Prismatic, Revolute, Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.moment import PlanarMoment, PlanarState
from pliant.membrane.shapes import Disc, Polygon, box, regular
from pliant.membrane.simulation import Simulation
from pliant.membrane.staging import frame_of, stage_of
from pliant.membrane.wrapping import LEFT, RIGHT, Pulley, TautPath, wrap

__all__ = [
    "LEFT",
    "RIGHT",
    "At",
    "Cable",
    "Disc",
    "Finger",
    "Fixed",
    "Free",
    "Hand",
    "Mechanism",
    "Membrane",
    "Motor",
    "Over",
    "Pin",
    "PlanarBody",
    "PlanarMoment",
    "PlanarState",
    "Polygon",
    "Prismatic",
    "Pulley",
    "Revolute",
    "Simulation",
    "Spring",
    "TautPath",
    "Translating",
    "box",
    "frame_of",
    "regular",
    "soft_hand",
    "stage_of",
    "wrap",
]
