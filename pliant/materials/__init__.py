"""Materials: stored energy, stress and tangent of each law, and a table of what soft robots are made of."""

from . import measures
from .anisotropic import Orthotropic, TransverselyIsotropic
from .arruda_boyce import ArrudaBoyce
from .hooke import Hooke
from .incompressible import Incompressible
from .library import library
from .material import NPARAM, Isotropic, Material
from .mooney_rivlin import MooneyRivlin
from .mullins import Mullins
from .neo_hookean import NeoHookean
from .ogden import Ogden
from .registry import registry
from .saint_venant import StVenantKirchhoff
from .yeoh import Yeoh

__all__ = [
    "NPARAM",
    "ArrudaBoyce",
    "Hooke",
    "Incompressible",
    "Isotropic",
    "Material",
    "MooneyRivlin",
    "Mullins",
    "NeoHookean",
    "Ogden",
    "Orthotropic",
    "StVenantKirchhoff",
    "TransverselyIsotropic",
    "Yeoh",
    "library",
    "measures",
    "registry",
]
