"""Contact: obstacles by signed distance, samples of bodies, and the detector that turns both into rows."""

from pliant.contact.basis import ContactBasis
from pliant.contact.contacts import Contacts, Stencil, depth_bound
from pliant.contact.detect.detector import Detector
from pliant.contact.detect.samples import Samples
from pliant.contact.obstacles import (
    Box,
    Capsule,
    Cylinder,
    ForkedPipe,
    HalfSpace,
    Obstacle,
    Pipe,
    Plane,
    Sphere,
    TriangleMesh,
)
from pliant.contact.surroundings import Surroundings

__all__ = [
    "Box",
    "Capsule",
    "ContactBasis",
    "Contacts",
    "Cylinder",
    "Detector",
    "ForkedPipe",
    "HalfSpace",
    "Obstacle",
    "Pipe",
    "Plane",
    "Samples",
    "Sphere",
    "Stencil",
    "Surroundings",
    "TriangleMesh",
    "depth_bound",
]
