"""What acts on a robot or reads it, one file each; what it is for is said by the law attached to it."""

from pliant.drive import Drive
from pliant.interactions.attachment import Attachment
from pliant.interactions.barycentre import Barycentre
from pliant.interactions.between_frames import Joint, Travel, Turn
from pliant.interactions.cable import Cable
from pliant.interactions.cavity import Cavity
from pliant.interactions.centre_of_mass import CentreOfMass
from pliant.interactions.combined import Combined
from pliant.interactions.curvature import Curvature
from pliant.interactions.interaction import Interaction
from pliant.interactions.magnet import Magnet
from pliant.interactions.motor import Motor
from pliant.interactions.orientation import Orientation
from pliant.interactions.point_force import PointForce
from pliant.interactions.position import Position
from pliant.interactions.registry import Specimen, registry
from pliant.interactions.slider import Slider
from pliant.interactions.stretch import Stretch
from pliant.interactions.surface_force import SurfaceForce

__all__ = [
    "Attachment",
    "Barycentre",
    "Cable",
    "Cavity",
    "CentreOfMass",
    "Combined",
    "Curvature",
    "Drive",
    "Interaction",
    "Joint",
    "Magnet",
    "Motor",
    "Orientation",
    "PointForce",
    "Position",
    "Slider",
    "Specimen",
    "Stretch",
    "SurfaceForce",
    "Travel",
    "Turn",
    "registry",
]
