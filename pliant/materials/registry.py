"""An example of every law, for suites that every law must pass."""

from __future__ import annotations

from .anisotropic import Orthotropic, TransverselyIsotropic
from .arruda_boyce import ArrudaBoyce
from .hooke import Hooke
from .incompressible import Incompressible
from .material import Material
from .mooney_rivlin import MooneyRivlin
from .mullins import Mullins
from .neo_hookean import NeoHookean
from .ogden import Ogden
from .saint_venant import StVenantKirchhoff
from .yeoh import Yeoh

registry: list[Material] = [
    Hooke(young=6e5, poisson=0.45),
    Hooke(young=6e5, poisson=0.45, small_strain=True),
    StVenantKirchhoff(young=6e5, poisson=0.45),
    NeoHookean(young=6e5, poisson=0.45),
    MooneyRivlin(c10=6e4, c01=2e4, bulk=2e6),
    Yeoh(c1=5e4, c2=2e3, c3=1e2, bulk=2e6),
    Ogden(mu=[6e4, 1.5e3, -8e3], alpha=[1.3, 5.0, -2.0], bulk=2e6),
    ArrudaBoyce(shear=1e5, locking=2.8, bulk=2e6),
    TransverselyIsotropic(
        fibre=(1.0, 2.0, 0.5),
        young_along=3e6,
        young_across=5e5,
        shear_along=2e5,
        poisson_along=0.35,
        poisson_across=0.4,
    ),
    Orthotropic(
        young=(1.2e6, 6e5, 4e5),
        poisson=(0.3, 0.25, 0.4),
        shear=(3e5, 2e5, 1.5e5),
        axes=((0, -1, 0), (1, 0, 0), (0, 0, 1)),
    ),
    Mullins(Yeoh(c1=5e4, c2=2e3, c3=1e2, bulk=2e6), r=1.6, m=3e4, beta=0.1),
    Incompressible(NeoHookean(young=6e5)),
    Incompressible(Ogden(mu=[1e5], alpha=[2.5]), ratio=150.0),
]
"""One instance of every law (and of the variants of a law)."""
